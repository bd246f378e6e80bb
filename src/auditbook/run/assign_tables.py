"""Who is each new record, and which findings apply to it?"""

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import ID_SHARE
from auditbook.pockets import Contrast
from auditbook.tables import as_text

Names = NDArray[np.object_]


def keep_identifiers(table: pd.DataFrame, named: Sequence[str], read: set[str]) -> pd.DataFrame:
    """Keep, as text, the columns that say who a record is.

    These are the cohort's sites and units, and columns that the maps do not read of which hardly a value
    stands twice.
    """
    free = [name for name in table.columns if name not in read and table[name].dtype.kind in "iO"]
    telling = [name for name in free if table[name].nunique() > ID_SHARE * len(table)]
    kept = [name for name in dict.fromkeys([*named, *telling]) if name in table]
    return pd.DataFrame({name: as_text(table[name]) for name in kept}, index=table.index)


def list_groups(pocket_groups: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Find the attribute and the group that each comparison, by its name in the tables, is about."""
    found = {}
    for attribute, part in pocket_groups.groupby("attribute", sort=False):
        for focal, reference in permutations(part["group"].astype(str).unique(), 2):
            found[Contrast(str(attribute), focal, reference, 0, 0).name] = (str(attribute), focal)
    return found


def keep_own(
    findings: pd.DataFrame, groups: Mapping[str, Names], about: Mapping[str, tuple[str, str]]
) -> pd.DataFrame:
    """Keep of the findings about a group those of the records that belong to it."""
    pairs = zip(findings["record"].astype(int), findings["contrast"], strict=True)
    kept = [not contrast or _belongs(record, about.get(contrast), groups) for record, contrast in pairs]
    return findings[np.array(kept, dtype=bool)].reset_index(drop=True)


def _belongs(record: int, about: tuple[str, str] | None, groups: Mapping[str, Names]) -> bool:
    """Tell whether a record belongs to the group that a finding is about; unknown is no."""
    if about is None or about[0] not in groups:
        return False
    attribute, group = about
    return bool(groups[attribute][record] == group)


def find_unknown(
    findings: pd.DataFrame, groups: Mapping[str, Names], about: Mapping[str, tuple[str, str]]
) -> list[str]:
    """List the attributes with findings of which the new table does not say the groups."""
    told = [about[contrast][0] for contrast in findings["contrast"].unique() if contrast in about]
    return [name for name in dict.fromkeys(told) if name not in groups]


def count_by_model(findings: pd.DataFrame) -> dict[str, int]:
    """Count the records to review of each model."""
    counts = findings.groupby("model", sort=False)["record"].nunique()
    return {str(name): int(count) for name, count in counts.items()}
