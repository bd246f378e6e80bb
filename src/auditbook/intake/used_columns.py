"""Which columns does a cohort file use, what for, and which of their cells count?"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from auditbook.cohort import AttributeTable, CohortFile, find_features, recode_table
from auditbook.tables import Faults, Mask, Numbers, PlainTable, as_numbers, as_text, is_missing, matches

Role = Literal["outcome", "bins", "groups", "score", "site", "unit", "weight", "feature"]


@dataclass(frozen=True)
class UsedColumn:
    """A column with its first role, and its cells after the cohort file's words for missing and numbers."""

    file: CohortFile
    name: str
    role: Role
    where: str  # The table of the cohort file, such as "[attributes.age]"
    cells: pd.Series  # Rows that are dropped are not in it; its index counts the rows of the table
    attribute: AttributeTable | None = None  # The attribute that stands in it

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many cells hold each value, the most frequent first, then by name; blanks are left out."""
        return count_values(self.cells)

    @cached_property
    def numbers(self) -> Numbers:
        """The cells as numbers."""
        return as_numbers(self.cells)

    @property
    def is_text(self) -> bool:
        """True where the cells are text, or of several kinds."""
        return self.cells.dtype == object

    @property
    def key(self) -> str:
        """The key of the cohort file that names the column."""
        return self.where if self.role == "feature" else f"{self.where} column"


def list_used(file: CohortFile, table: PlainTable) -> list[UsedColumn]:
    """List the columns that a cohort file uses, each once, those that verdicts rest on first."""
    frame = keep_rows(file, table.frame)
    recoded = recode_table(file, PlainTable(frame.reset_index(drop=True), {}), Faults(file.path.name)).frame
    recoded.index = frame.index
    found: dict[str, UsedColumn] = {}
    for name, role, where, attribute in _name_roles(file, table.frame):
        if name in recoded and name not in found:
            cells = recoded[name]
            if attribute is not None and attribute.missing_values:
                cells = cells.mask(is_missing(cells, attribute.missing_values))
            found[name] = UsedColumn(file, name, role, where, cells, attribute)
    return list(found.values())


def keep_rows(file: CohortFile, frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out the rows that the cohort file drops; the index still counts the rows of the table."""
    out: Mask = np.zeros(len(frame), bool)
    for rule in (rule for rule in file.data.drop if rule.column in frame):
        for value in rule.values:
            out |= matches(frame[rule.column], value)
    return frame.loc[~out]


def _name_roles(
    file: CohortFile, frame: pd.DataFrame
) -> Iterator[tuple[str, Role, str, AttributeTable | None]]:
    """Name columns with their roles, outcome and attributes before features."""
    yield file.outcome.column, "outcome", "[outcome]", None
    for other in file.outcomes:
        yield other.column, "outcome", f"[outcomes.{other.name}]", None
    for item in (item for item in file.attributes if not item.cross):
        yield item.column, "bins" if item.bins else "groups", f"[attributes.{item.name}]", item
    for score in file.scores:
        yield score.column, "score", f"[scores.{score.name}]", None
    if file.site.column:
        yield file.site.column, "site", "[site]", None
    for name in file.unit.names:
        yield name, "unit", "[unit]", None
    for name in file.weight.columns.values():
        yield name, "weight", "[weight]", None
    if file.panel.models or file.pockets.run:
        for name in find_features(file, frame, Faults(file.path.name)).names:
            yield name, "feature", "[features]", None


def count_values(cells: pd.Series) -> dict[str, int]:
    """Count the values of a column as text, the most frequent first, then by name; blanks are left out."""
    codes, values = pd.factorize(as_text(cells), use_na_sentinel=True)
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    order = sorted(range(len(values)), key=lambda code: (-counts[code], values[code]))
    return {values[code]: int(counts[code]) for code in order if values[code].strip()}


def write_counts(counts: Iterable[tuple[str, int]], *, most: int = 5) -> str:
    """Write values with their counts, the first of many."""
    pairs = list(counts)
    told = ", ".join(f"{value!r} ({count:,})" for value, count in pairs[:most])
    return told + (f" and {len(pairs) - most:,} more" if len(pairs) > most else "")
