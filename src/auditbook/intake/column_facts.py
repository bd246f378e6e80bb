"""What do the cells of a column say of it: its kind, its values, how many and how often?"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import pandas as pd

from auditbook.cohort import ID_SHARE
from auditbook.tables import as_numbers, as_text, held_number, is_missing, read_people_numbers

Kind = Literal["number", "text", "truth", "date"]

KEPT = 60
"""Values of a column that are kept, the most frequent ones."""

_DATE = re.compile(
    r"\s*(\d{4}([-./])\d{1,2}\2\d{1,2}|\d{1,2}([-./])\d{1,2}\3\d{2,4})([ T]\d{1,2}:\d{2}.*)?\s*"
)
_DAY = re.compile(r"(19|20|21)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_LOOKED_AT = 2_000
_NUMBERS = 0.8


@dataclass(frozen=True)
class ColumnFacts:
    """What the cells of one column say."""

    name: str
    kind: Kind
    rows: int
    missing: int
    distinct: int
    values: Mapping[str, int]  # the most frequent values as text, and all odd ones, with their counts
    odd: tuple[str, ...]  # values that are no numbers, where most are
    low: float  # smallest number; nan where the column holds none
    high: float
    whole: bool  # True where every number is whole
    share: float  # share of the cells there that are plain numbers
    number: bool  # True where the column holds numbers, not text that looks like them
    floats: bool  # True where these are no integers, or written for people, or some cells are blank

    @property
    def held_numbers(self) -> dict[str, float]:
        """Numbers that cells such as "> 89" stand for; none in a column of words."""
        if self.number or self.share < _NUMBERS:
            return {}
        found = {value: held_number(value) for value in self.odd}
        return {value: number for value, number in found.items() if number is not None}

    @property
    def present(self) -> int:
        """The cells that are not missing."""
        return self.rows - self.missing

    @property
    def few(self) -> bool:
        """True where all values are kept."""
        return self.distinct <= KEPT

    @property
    def unique(self) -> bool:
        """True where hardly a value stands twice."""
        return self.present > 2 and self.distinct > ID_SHARE * self.present

    @property
    def identifies(self) -> bool:
        """True where the values are names or integers with hardly one twice."""
        return self.unique and not self.floats


def describe_columns(frame: pd.DataFrame) -> dict[str, ColumnFacts]:
    """Describe every column of a plain table."""
    return {name: describe_column(name, frame[name]) for name in frame.columns}


def describe_column(name: str, column: pd.Series) -> ColumnFacts:
    """Describe one column of a plain table."""
    missing = is_missing(column)
    counts = pd.Series(as_text(column)[~missing], dtype=object).value_counts()
    counts = counts.iloc[np.lexsort((counts.index.to_numpy(dtype=str), -counts.to_numpy()))]
    people = read_people_numbers(column) if column.dtype == object else None
    cells = as_numbers(column).cells if people is None else people.cells
    there = cells[~np.isnan(cells)]
    present = int((~missing).sum())
    share = len(there) / present if present else 0.0
    odd = _list_odd(counts) if share >= _NUMBERS else ()
    kept = {**counts[:KEPT].to_dict(), **{value: counts[value] for value in odd}}
    return ColumnFacts(
        name=name,
        kind=_kind_of(column, counts.index[:_LOOKED_AT]),
        rows=len(column),
        missing=int(missing.sum()),
        distinct=len(counts),
        values=MappingProxyType({str(value): int(count) for value, count in kept.items()}),
        odd=odd,
        low=float(there.min()) if len(there) else np.nan,
        high=float(there.max()) if len(there) else np.nan,
        whole=bool(len(there) and (there == np.floor(there)).all()),
        share=share,
        number=column.dtype.kind in "iuf",
        floats=column.dtype.kind == "f" or (people is not None and bool(people.ways)),
    )


def _list_odd(counts: pd.Series) -> tuple[str, ...]:
    """List the most frequent values that are no numbers."""
    bad = as_numbers(pd.Series(counts.index, dtype=object)).bad
    return tuple(map(str, counts.index[bad][:KEPT]))


def _kind_of(column: pd.Series, values: pd.Index) -> Kind:
    """Tell numbers, text, truth values and dates apart; days may be written as 20240331."""
    if column.dtype.kind == "M":
        return "date"
    if column.dtype.kind == "b":
        return "truth"
    texts = [str(value) for value in values]
    if len(texts) > 1 and all(_DAY.fullmatch(text) for text in texts):
        return "date"
    if column.dtype.kind in "iuf":
        return "number"
    return "date" if texts and all(_DATE.fullmatch(text) for text in texts) else "text"
