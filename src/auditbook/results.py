"""What did a run find: write its result files, and read them back as every chapter does."""

import json
from collections import namedtuple
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from auditbook.columns import COLUMNS, DTYPES, TABLES, Kind
from auditbook.errors import InputError, RunError, nearest
from auditbook.labels import Labels, read_labels, relabel_pockets
from auditbook.plain_text import restore_hidden, show_hidden
from auditbook.settings import Protocol

FORMULA_STARTS = (*"=+-@\t\r'", *"\uff1d\uff0b\uff0d\uff20")
"""What a spreadsheet takes for the start of a formula, wide signs of East Asia too; and what shields it."""


def write_results(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write result tables by name, each in exactly the columns that are declared for it."""
    for name, table in tables.items():
        difference = TABLES[name].explain_difference(list(table.columns))
        if difference:
            raise RunError(f"the table for {name}.csv {difference}: columns.toml declares another")
        write_table(table, folder / f"{name}.csv")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write one table: the same table always gives the same bytes.

    A text that a spreadsheet would take for a formula gets a leading apostrophe, and what cannot be seen is
    written as its code (see `plain_text`); `read_table` takes both back.
    """
    guarded = table.copy()
    for name in guarded.columns:
        if guarded[name].dtype == object:
            guarded[name] = guarded[name].map(_guard)
    guarded.columns = guarded.columns.map(_guard)
    guarded.to_csv(path, index=False, float_format="%.10g", lineterminator="\n", encoding="utf-8")


def _guard(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    shown = show_hidden(cell)
    return f"'{shown}" if shown.startswith(FORMULA_STARTS) else shown


def _unguard(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA_STARTS) else cell


def read_table(path: Path, *, to_show: bool = False) -> pd.DataFrame:
    """Read one table in the kinds that are declared for its columns; names stay text whatever they look like.

    Text columns hold str (blank is the empty string); numbers are float or int, nan where blank. A file that
    is no result table of a run is read by the names of its columns. What cannot be seen in a name stays
    written as its code where the table is read `to_show` it.
    """
    read_text = _unguard if to_show else lambda cell: restore_hidden(_unguard(cell))
    declared = TABLES[path.stem].columns if path.stem in TABLES else COLUMNS.values()
    text: dict[Hashable, type[str]] = {column.name: str for column in declared if column.kind == "text"}
    table = pd.read_csv(path, dtype=text, keep_default_na=False, na_values={})
    for column in declared:
        for name in filter(column.holds, table.columns):
            table[name] = _as_kind(table[name], column.kind, read_text)
    for name in table.select_dtypes("object").columns.difference(list(text)):
        if not any(column.holds(name) for column in declared):
            table[name] = _read_undeclared(table[name])
    return table.copy()  # in few blocks, of which rows are taken sooner than column by column


def rows(table: pd.DataFrame) -> list[Any]:
    """List the rows of a result table as named tuples, whose fields carry the names of the columns.

    Examples
    --------
    >>> [row.n for row in rows(pd.DataFrame({"n": [3, 4]}))]
    [3, 4]
    """
    make = _make_row(tuple(table.columns))
    return [make(*cells) for cells in zip(*(table[name].tolist() for name in table.columns), strict=True)]


@cache
def _make_row(columns: tuple[str, ...]) -> type[Any]:
    return namedtuple("Row", columns, rename=True)


def match_rows(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Select the rows of a table whose columns have these values.

    Examples
    --------
    >>> match_rows(pd.DataFrame({"map": ["forest", "ridge"], "n": [3, 4]}), map="ridge").n.tolist()
    [4]
    """
    kept = np.ones(len(table), dtype=bool)
    for column, value in values.items():
        cells = table[column]
        is_text = cells.dtype == object and isinstance(value, str)
        kept &= (cells.to_numpy() == value) if is_text else (cells == value).to_numpy(dtype=bool)
    return table[kept]


def _as_kind(cells: pd.Series, kind: Kind, read_text: Callable[[str], str]) -> pd.Series:
    """Turn cells that pandas read as text, because some are blank or all are text, into what they are."""
    if kind == "text":
        return cells.map(read_text)
    if cells.dtype != object:
        return cells
    if cells.empty:
        return cells.astype(DTYPES[kind])
    if kind == "truth":
        return cells.map({"True": 1.0, "False": 0.0})  # blank where the question does not arise
    return pd.to_numeric(cells.map(lambda cell: cell or float("nan")))


def _read_undeclared(cells: pd.Series) -> pd.Series:
    """Read a column that no table declares: numbers, nan where blank, if nothing else stands in it."""
    numbers = pd.to_numeric(cells, errors="coerce")
    return numbers if (numbers.notna() | (cells == "")).all() and numbers.notna().any() else cells


@dataclass(frozen=True)
class Run:
    """One finished run. Each result table is an attribute, read when first asked for: ``run.verdicts``."""

    folder: Path  # Its tables lie in ``results``
    info: dict[str, Any]  # What ``run.json`` says: cohort, data, configuration, seed, profile, versions
    # What of a table others may see, by its name; without, the tables are exact
    guard: Callable[[str, pd.DataFrame], pd.DataFrame] | None = field(default=None, repr=False)

    @property
    def protocol(self) -> Protocol:
        """The constants that the run used."""
        known = {each.name for each in fields(Protocol)}
        values = {key: value for key, value in self.info["protocol"].items() if key in known}
        values |= {key: tuple(values[key]) for key in ("metrics", "audit_sizes") if key in values}
        values["thresholds"] = MappingProxyType(dict(values["thresholds"]))
        return Protocol(**values)

    def holds(self, name: str) -> bool:
        """Tell whether this kind of run made a result table."""
        return name in self.__dict__ or (self.folder / "results" / f"{name}.csv").is_file()

    def __getattr__(self, name: str) -> pd.DataFrame:
        """Read a result table, which from then on is an attribute like any other."""
        if name not in TABLES:
            raise AttributeError(f"a run has no table '{name}'{nearest(name, TABLES)}")
        exact = self._read(name)
        self.__dict__[name] = table = self.guard(name, exact) if self.guard else exact
        return table

    def _read(self, name: str) -> pd.DataFrame:
        """Read a result table; refuse one that another version wrote, rather than show it half blank."""
        path = self.folder / "results" / f"{name}.csv"
        table = read_table(path, to_show=True) if path.is_file() else pd.DataFrame()
        lacking = TABLES[name].list_lacking(table.columns)
        if lacking:
            wrong = f"has no column {', '.join(lacking)}" if path.is_file() else "is not there"
            raise InputError(
                f"{path} {wrong}: the run is of another version of auditbook, or of a command that does "
                "not make all tables; make it again with: auditbook audit COHORT"
            )
        labels = read_labels(self.info) if name == "pockets" else Labels()
        return relabel_pockets(table, self.pocket_features, labels) if labels else table


def read_run(folder: Path) -> Run:
    """Open the run in a folder, such as ``runs/texas-twin``; tables are read when first asked for.

    Raises InputError if the folder holds no finished run.
    """
    path = folder / "run.json"
    if not path.is_file():
        raise InputError(
            f"{folder} holds no finished run (no run.json); make one with: auditbook audit COHORT"
        )
    return Run(folder, json.loads(path.read_text(encoding="utf-8")))
