"""Which result tables does a run have, and what does each column of theirs hold?"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd

Kind = Literal["text", "truth", "count", "share", "number"]
DTYPES: Mapping[Kind, np.dtype] = MappingProxyType(
    {
        **{"text": np.dtype(object), "truth": np.dtype(bool), "count": np.dtype(np.int64)},
        **{"share": np.dtype(np.float64), "number": np.dtype(np.float64)},
    }
)
"""What a column without a blank cell holds; with blanks, counts and truth values become numbers with nan."""


@dataclass(frozen=True)
class Column:
    """A column of a result table, or a family of columns such as ``di_<attribute>``."""

    name: str
    kind: Kind
    meaning: str  # Markdown
    title: str = ""  # What stands above it where it is shown
    digits: int | None = None  # After the point where it is shown; without, as its kind has it

    @property
    def family(self) -> str:
        """What differs within a family of columns; blank for a single column."""
        return self.name.partition("<")[2].removesuffix(">")

    def holds(self, name: str) -> bool:
        """Whether a name in a file belongs to this column or family."""
        return name.startswith(self.name.partition("<")[0]) if self.family else name == self.name


@dataclass(frozen=True)
class ResultTable:
    """A result table: its name without ``.csv``, what a row is, and its columns in their order."""

    name: str
    about: str  # Markdown
    columns: tuple[Column, ...]

    def names(self, **families: Iterable[str]) -> list[str]:
        """List the names of all columns, each family written out, with an underscore if taken."""
        single = {column.name for column in self.columns}
        return [
            f"{name}_" if column.family and name in single else name
            for column in self.columns
            for one in (families[column.family] if column.family else ("",))
            for name in (column.name.replace(f"<{column.family}>", one),)
        ]

    def find(self, name: str) -> Column | None:
        """Find the column that a name in a file belongs to; a single column comes before a family."""
        found = [column for column in self.columns if column.holds(name)]
        return min(found, key=lambda column: bool(column.family), default=None)

    def list_lacking(self, names: Iterable[str]) -> list[str]:
        """List the declared columns, families aside, that a frame or file does not have."""
        given = set(names)
        return [one.name for one in self.columns if not one.family and one.name not in given]

    def explain_difference(self, names: Sequence[str]) -> str:
        """Say how the columns of a frame or file differ from the declared ones; blank if they do not."""
        lacking = self.list_lacking(names)
        if lacking:
            return f"has no column {', '.join(lacking)}"
        columns = [self.find(name) for name in names]
        extra = [name for name, column in zip(names, columns, strict=True) if column is None]
        if extra:
            return f"has an undeclared column {', '.join(extra)}"
        found = [column for column, _ in groupby(columns)]
        wanted = [column for column in self.columns if column in found or not column.family]
        return "" if found == wanted else "has its columns in another order"


def _read_tables() -> Mapping[str, ResultTable]:
    """Read the catalogue; what a column leaves out is as in the first table with a column of that name."""
    declared = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    first: dict[str, dict[str, Any]] = {}
    tables: dict[str, ResultTable] = {}
    for name, entry in declared.items():
        columns = []
        for column in declared[entry.get("like", name)]["columns"]:
            given = {"name": column} if isinstance(column, str) else column
            known = first.setdefault(given["name"], {"title": given["name"].replace("_", " ")} | given)
            columns.append(Column(**(known | given)))
        tables[name] = ResultTable(name, entry["about"], tuple(columns))
    return MappingProxyType(tables)


TABLES = _read_tables()
"""The result tables by name."""
COLUMNS: Mapping[str, Column] = MappingProxyType(
    {column.name: column for table in reversed([*TABLES.values()]) for column in table.columns}
)
"""The columns by name; where several tables have one, that of the first."""


def fill_table(name: str, rows: Any, **families: Iterable[str]) -> pd.DataFrame:
    """Lay rows, or columns by name, out in the declared columns of a result table."""
    return pd.DataFrame(rows, columns=TABLES[name].names(**families))


def empty_table(name: str) -> pd.DataFrame:
    """Make a result table without a row, and without a column of any family."""
    return _make_empty(name).copy()


@cache
def _make_empty(name: str) -> pd.DataFrame:
    columns = TABLES[name].columns
    kinds = {column.name: DTYPES[column.kind] for column in columns if not column.family}
    return fill_table(name, None, **{column.family: () for column in columns if column.family}).astype(kinds)


def stack_tables(name: str, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put parts of a result table below each other, in its declared columns; without parts it is empty."""
    filled = [_blank_numbers(name, part) for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True)[TABLES[name].names()] if filled else empty_table(name)


def _blank_numbers(name: str, part: pd.DataFrame) -> pd.DataFrame:
    """Hold columns of numbers that are blank throughout as numbers, so that they lend other parts no type."""
    numbers = [column.name for column in TABLES[name].columns if column.kind not in ("text", "truth")]
    blank = [
        each for each in numbers if part.get(each, pd.Series()).dtype == object and part[each].isna().all()
    ]
    return part.astype(dict.fromkeys(blank, np.float64)) if blank else part
