"""What would an audit look like, when the data cannot be shared? Synthetic twins that anyone may have.

No record here is a person. `twin_table` draws hospital stays from a declared recipe
(`auditbook.cohort.twins.recipe`) so that the published figures about the Texas-100X cohort are met: group
sizes, pairwise counts, rates of long stays, hospital volumes, lengths of stay, and how well a model can tell
long stays from short ones. The page *A synthetic twin* of the book (book/texas-twin.md) says what is
planted, what is fitted and what is assumed, and how near each target the twin comes.

Four smaller twins stand for the applications of the pocket audit; each says in its module what it is made
of: `care_table` (care management), `icu_table` (severity in intensive care), `readmission_table` (stays of
people with diabetes) and `chest_xray_table` (two classifiers of images). `TABLES` holds all five by the name
that a cohort file calls them.

References
----------
Joy, Vo and Chua (2026), Verdict flip rate, https://doi.org/10.48550/arXiv.2608.30846.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import pandas as pd

from auditbook.cohort.twins import care, chest_xray, icu, readmission
from auditbook.cohort.twins.care import care_table
from auditbook.cohort.twins.chest_xray import chest_xray_table
from auditbook.cohort.twins.icu import icu_table
from auditbook.cohort.twins.readmission import readmission_table
from auditbook.cohort.twins.sizes import SMALLEST_SIZE
from auditbook.cohort.twins.twin import FULL_SIZE, twin_table


class MakesTable(Protocol):
    """Draws the records of a twin."""

    def __call__(self, *, rows: int, seed: int, cache_dir: Path) -> pd.DataFrame:
        """Return `rows` records; what takes long to draw is kept in `cache_dir`."""


class _Draws(Protocol):
    def __call__(self, *, rows: int, seed: int) -> pd.DataFrame: ...


def _at_once(draw: _Draws) -> MakesTable:
    """Make a twin that is drawn in seconds look like one that is kept."""

    def make(*, rows: int, seed: int, cache_dir: Path) -> pd.DataFrame:
        return draw(rows=rows, seed=seed)

    return make


TABLES: Mapping[str, MakesTable] = MappingProxyType(
    {
        "texas-twin": twin_table,
        "care-twin": _at_once(care_table),
        "icu-twin": _at_once(icu_table),
        "readmission-twin": _at_once(readmission_table),
        "chest-xray-twin": _at_once(chest_xray_table),
    }
)
"""The twins by name: called with `rows`, `seed` and `cache_dir`."""

FULL_SIZES: Mapping[str, int] = MappingProxyType(
    {
        "texas-twin": FULL_SIZE,
        "care-twin": care.FULL_SIZE,
        "icu-twin": icu.FULL_SIZE,
        "readmission-twin": readmission.FULL_SIZE,
        "chest-xray-twin": chest_xray.FULL_SIZE,
    }
)
"""Records of the table that each twin stands for."""

__all__ = [
    "FULL_SIZE",
    "FULL_SIZES",
    "SMALLEST_SIZE",
    "TABLES",
    "care_table",
    "chest_xray_table",
    "icu_table",
    "readmission_table",
    "twin_table",
]
