"""What do the maps see of a record? Columns as numbers, by a rule that is fixed on the graph records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.errors import InputError, nearest
from auditbook.scoring import LARGEST, NEARLY_DISTINCT, Kind, column_kind, read_days, read_floats
from auditbook.tables import as_numbers, as_text

MANY = 20
"""Text of more levels than this may be an identifier."""
KINDS: tuple[Kind, ...] = ("number", "truth value", "date", "category")


@dataclass(frozen=True)
class Column:
    """One column as it is read into numbers."""

    name: str  # Its name in the table
    kind: Kind  # How it is read
    # Levels of a category, sorted; a level's code is its position (an arbitrary order, as published)
    levels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Encoding:
    """How a table becomes a matrix.

    Attributes
    ----------
    columns : tuple of Column, length p
        The columns that vary among the graph records.
    """

    columns: tuple[Column, ...]

    def encode(self, table: pd.DataFrame) -> NDArray[np.float64]:
        """Read the columns of a table."""
        absent = [column.name for column in self.columns if column.name not in table.columns]
        if absent:
            raise InputError(*(_explain_absent(name, table) for name in absent))
        matrix = np.empty((len(table), len(self.columns)))
        for position, column in enumerate(self.columns):
            matrix[:, position] = _read(table[column.name], column)
        return matrix

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return names, kinds and levels as arrays."""
        levels = [level for column in self.columns for level in column.levels]
        return {
            "column_names": np.array([column.name for column in self.columns], dtype=np.str_),
            "column_kinds": np.array([column.kind for column in self.columns], dtype=np.str_),
            "level_counts": np.array([len(column.levels) for column in self.columns], dtype=np.int64),
            "level_names": np.array(levels, dtype=np.str_),
        }


def fit_encoding(table: pd.DataFrame) -> Encoding:
    """Fix how columns are read, from the graph records.

    Columns that do not vary, and text that names nearly every record, are left out; no column may remain.

    Examples
    --------
    >>> graph = pd.DataFrame({"age": [30, None, 50], "sex": ["M", "F", "M"], "one": [1, 1, 1]})
    >>> encoding = fit_encoding(graph)
    >>> encoding.encode(pd.DataFrame({"sex": ["F", "other"], "age": ["41", None]})).tolist()
    [[41.0, 0.0], [nan, nan]]
    """
    found = []
    for name in table.columns:
        kind = column_kind(table[name])
        levels: tuple[str, ...] = ()
        if kind == "category":
            text = as_text(table[name])
            levels = tuple(sorted({value for value in text if value is not None}))
        column = Column(str(name), kind, levels)
        if _is_useful(_read(table[name], column), column):
            found.append(column)
    return Encoding(tuple(found))


def load_encoding(arrays: Mapping[str, NDArray[Any]]) -> Encoding:
    """Rebuild an encoding from `Encoding.arrays`; KeyError or ValueError if they are not those of one."""
    names, kinds = arrays["column_names"].tolist(), arrays["column_kinds"].tolist()
    ends = np.cumsum(arrays["level_counts"]).tolist()
    levels = arrays["level_names"].tolist()
    if not set(kinds) <= set(KINDS) or (ends[-1] if ends else 0) != len(levels):
        raise ValueError("kinds or levels of columns are damaged")
    starts = [0, *ends[:-1]]
    parts = zip(names, kinds, starts, ends, strict=True)
    return Encoding(tuple(Column(name, kind, tuple(levels[a:b])) for name, kind, a, b in parts))


def _explain_absent(name: str, table: pd.DataFrame) -> str:
    hint = nearest(name, [str(other) for other in table.columns])
    return f"column {name!r} is missing, which the map was learned from{hint}"


def _read(cells: pd.Series, column: Column) -> NDArray[np.float64]:
    """Read a column as its kind says; nan where that is not possible."""
    if column.kind == "category":
        codes = pd.Categorical(as_text(cells), categories=list(column.levels)).codes
        return np.where(codes < 0, np.nan, codes).astype(np.float64)
    if column.kind == "date":
        values = read_days(cells)
    elif column_kind(cells) in ("number", "truth value"):
        values = read_floats(cells)
    else:
        values = as_numbers(cells).cells
    return np.clip(np.where(np.isfinite(values), values, np.nan), -LARGEST, LARGEST)


def _is_useful(values: NDArray[np.float64], column: Column) -> bool:
    """Tell whether a column can tell records apart without naming them."""
    present = values[~np.isnan(values)]
    distinct = len(np.unique(present))
    if distinct == 0 or (distinct == 1 and len(present) == len(values)):
        return False
    is_text = column.kind == "category"
    return not (is_text and distinct > MANY and distinct > NEARLY_DISTINCT * len(present))
