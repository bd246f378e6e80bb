"""Which files hold a cohort's table, and how do several become one?"""

import glob
import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.errors import InputError, nearest, printable
from auditbook.tables import (
    PlainTable,
    TableFormat,
    as_text,
    check_file,
    hash_file,
    is_there,
    read_table_file,
)

_EXACT = 2**53


def find_files(paths: Sequence[Path], *, where: str, source: str) -> tuple[Path, ...]:
    """Find the files that paths and patterns name, in order of name within a pattern; each is checked.

    `where` stands at the front of a message, and `source` says at its end where the data can be had.
    """
    found = []
    for path in paths:
        if is_there(path):
            matched = [path]
        elif any(mark in str(path) for mark in "*?"):
            matched = [Path(name) for name in sorted(glob.glob(str(path).replace("[", "[[]")))]
        else:
            matched = []
        if not matched:
            told = "matches no file" if any(mark in str(path) for mark in "*?") else "does not exist"
            advice = "check the path, or name the file on the command line: --data PATH."
            raise InputError(printable(f"{where}: {path} {told}; {advice}{source}"))
        found += matched
    twice = next((path for path in found if found.count(path) > 1), None)
    if twice is not None:
        raise InputError(printable(f"{where}: {twice} is named twice, so that its records count twice"))
    for path in found:
        check_file(path)
    return tuple(found)


def name_files(files: Sequence[Path]) -> str:
    """Name the files of one table in a message."""
    more = len(files) - 1
    return files[0].name + (f" and {more} other file{'s' * (more > 1)}" if more else "")


def hash_files(files: Sequence[Path]) -> str:
    """Hash the bytes of one file, or those of several in their order (SHA-256, hexadecimal)."""
    hashes = [hash_file(path) for path in files]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def read_files(files: Sequence[Path], *, text_columns: Collection[str], form: TableFormat) -> PlainTable:
    """Read one table that may lie in several files, which must have the same columns.

    A column is of one kind in all of them: text where it is text in one, and no date in one and text in
    another.
    """
    tables = [read_table_file(path, text_columns=text_columns, form=form) for path in files]
    if len(tables) == 1:
        return tables[0]
    names = list(tables[0].frame.columns)
    for path, table in zip(files[1:], tables[1:], strict=True):
        _check_same(files[0].name, names, path.name, list(table.frame.columns))
    columns = {name: _join(name, [table.frame[name] for table in tables], files) for name in names}
    categories = {
        name: tuple(dict.fromkeys(value for table in tables for value in table.categories.get(name, ())))
        for name in names
        if any(name in table.categories for table in tables)
    }
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return PlainTable(pd.DataFrame(columns), categories, tuple(notes))


def _check_same(first: str, names: Sequence[str], other: str, found: Sequence[str]) -> None:
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
    return len(whole) < len(parts) and any(part.abs().max() > _EXACT for part in whole)
