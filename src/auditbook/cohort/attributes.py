"""Which number has each record's group, in every attribute and cross of a cohort file?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort.column_roles import GroupColumn, build_attribute, number_groups
from auditbook.cohort.crossed import cross_attributes, number_crossings
from auditbook.cohort.schema import CohortFile
from auditbook.records import Attribute
from auditbook.tables import Faults

Groups = Sequence[GroupColumn | None]


def build_attributes(
    file: CohortFile, groups: Groups, kept: NDArray[np.intp], faults: Faults
) -> tuple[Attribute, ...]:
    """Build the attributes of the kept rows; those of absent columns, and crosses of faulty ones, are not."""
    faults_before = len(faults.found)
    how: dict[str, Any] = {"max_groups": file.protocol.max_groups, "faults": faults}
    built = {
        item.name: build_attribute(item, GroupColumn(column.names[kept], column.declared), **how)
        for item, column in zip(file.attributes, groups, strict=True)
        if column is not None and len(kept)
    }
    sound = len(faults.found) == faults_before
    for item in file.attributes:
        if item.cross and sound and built.keys() >= set(item.cross):
            built[item.name] = cross_attributes(item, [built[name] for name in item.cross], **how)
    return tuple(built[name] for name in file.attribute_names if name in built)


def number_attributes(file: CohortFile, groups: Groups, kept: NDArray[np.intp]) -> tuple[Attribute, ...]:
    """Build the attributes of the kept rows of a part of a table, which need not hold every group."""
    built = {
        item.name: number_groups(item, GroupColumn(column.names[kept], column.declared))
        for item, column in zip(file.attributes, groups, strict=True)
        if column is not None
    }
    for item in file.attributes:
        if item.cross:
            built[item.name] = number_crossings(item, [built[name] for name in item.cross])
    return tuple(built[name] for name in file.attribute_names)
