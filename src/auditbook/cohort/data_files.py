"""Which files hold a cohort's table, and how do several become one?"""

import glob
import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

from auditbook.errors import InputError, printable
from auditbook.tables import (
    PlainTable,
    TableFormat,
    check_file,
    hash_file,
    is_there,
    join_tables,
    read_table_file,
)


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
    """Read one table that may lie in several files, which must have the same columns."""
    return join_tables(files, [read_table_file(path, text_columns=text_columns, form=form) for path in files])
