"""Which group does a new record belong to, by what a run says of its attributes?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.column_roles import MISSING_GROUP, derive_groups
from auditbook.cohort.crossed import JOINT
from auditbook.cohort.recode import put_numbers
from auditbook.cohort.schema import AttributeTable
from auditbook.tables import Faults

Names = NDArray[np.object_]


def find_new_groups(groupings: Mapping[str, Mapping[str, Any]], table: pd.DataFrame) -> dict[str, Names]:
    """Name the group of each new record, by attribute.

    Parameters
    ----------
    groupings : mapping
        By attribute how its column becomes groups, as ``run.json`` holds it.
    table : DataFrame
        New records in plain form.

    Returns
    -------
    dict of str to array of str, shape (n,)
        The attributes whose columns are there. A cell that says nothing, or nothing that is a group, counts
        as missing.
    """
    found = {
        name: _read_groups(name, grouping, table[grouping["column"]])
        for name, grouping in groupings.items()
        if grouping["column"] in table
    }
    for name, grouping in groupings.items():
        parts = [found[part] for part in grouping["cross"] if part in found]
        if parts and len(parts) == len(grouping["cross"]):
            found[name] = _cross(parts)
    return found


def _read_groups(name: str, grouping: Mapping[str, Any], column: pd.Series) -> Names:
    """Read one column as the cohort's own was read."""
    item = AttributeTable(
        name=name,
        column=grouping["column"],
        groups=grouping["groups"],
        bins=tuple(grouping["bins"]),
        labels=tuple(grouping["labels"]),
        missing_values=tuple(grouping["missing_values"]),
    )
    cells = put_numbers(column, grouping["numbers"]) if grouping["numbers"] else column
    read = derive_groups(item, cells, declared=(), keep=np.zeros(len(cells), bool), faults=Faults(""))
    return np.array([MISSING_GROUP if group is None else group for group in read.names], dtype=object)


def _cross(parts: list[Names]) -> Names:
    """Join the names of the parts; one that lacks a part is missing."""
    joined = [
        MISSING_GROUP if MISSING_GROUP in names else JOINT.join(names) for names in zip(*parts, strict=True)
    ]
    return np.array(joined, dtype=object)
