"""How do the tables of several files become one, each column of one kind in all of them?"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.errors import InputError, nearest
from auditbook.tables.plain import PlainTable
from auditbook.tables.text_columns import EXACT
from auditbook.tables.values import as_text


def join_tables(files: Sequence[Path], tables: Sequence[PlainTable]) -> PlainTable:
    """Put the tables of several files, which must have the same columns, under each other.

    A column is of one kind in all of them: text where it is text in one, and no date in one and text in
    another.
    """
    if len(tables) == 1:
        return tables[0]
    names = list(tables[0].frame.columns)
    for path, table in zip(files[1:], tables[1:], strict=True):
        check_same(files[0].name, names, path.name, list(table.frame.columns))
    columns = {name: _join(name, [table.frame[name] for table in tables], files) for name in names}
    categories = {
        name: tuple(dict.fromkeys(value for table in tables for value in table.categories.get(name, ())))
        for name in names
        if any(name in table.categories for table in tables)
    }
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return PlainTable(pd.DataFrame(columns), categories, tuple(notes))


def check_same(first: str, names: Sequence[str], other: str, found: Sequence[str]) -> None:
    """Refuse files that do not have the same columns."""
    for here, there, listed, known in ((other, first, found, names), (first, other, names, found)):
        more = [name for name in listed if name not in known]
        if more:
            some = ", ".join(map(repr, more[:5])) + (", …" if len(more) > 5 else "")
            raise InputError(
                f"[data] path: {here} has columns that {there} has not: {some}{nearest(more[0], known)}; "
                "give the files the same columns, or name them in cohorts of their own"
            )


def _join(name: str, parts: Sequence[pd.Series], files: Sequence[Path]) -> pd.Series:
    """Put the parts of a column under each other, exact and of one kind."""
    kinds = {part.dtype.kind for part in parts if part.notna().any()}
    if kinds == {"M"}:
        return pd.concat([pd.to_datetime(part) for part in parts], ignore_index=True)
    if "M" in kinds:
        dated, other = (
            next(
                path.name for path, part in zip(files, parts, strict=True) if (part.dtype.kind == "M") == date
            )
            for date in (True, False)
        )
        raise InputError(
            f"[data] path: '{name}' holds dates in {dated} and none in {other}; write it in one way in "
            "all files"
        )
    if kinds <= {"i", "f"} and not _is_wide(parts):
        return pd.Series(np.concatenate([part.to_numpy(dtype=_number_kind(parts)) for part in parts]))
    if len(kinds) == 1 and not kinds <= {"i", "f"}:
        return pd.Series(np.concatenate([_as_objects(part) for part in parts])).infer_objects()
    return pd.Series(np.concatenate([as_text(part) for part in parts]))


def _number_kind(parts: Sequence[pd.Series]) -> type:
    return int if all(part.dtype.kind == "i" for part in parts) else float


def _as_objects(part: pd.Series) -> NDArray[np.object_]:
    cells = part.to_numpy(dtype=object, copy=True)
    cells[part.isna().to_numpy()] = None
    return cells


def _is_wide(parts: Sequence[pd.Series]) -> bool:
    """Tell whether whole numbers would lose digits beside blanks or numbers with a fraction."""
    whole = [part for part in parts if part.dtype.kind == "i"]
    return len(whole) < len(parts) and any(part.abs().max() > EXACT for part in whole)
