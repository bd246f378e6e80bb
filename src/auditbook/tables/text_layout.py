"""How is a text file laid out: its encoding, separator, names of columns, and where the records begin?"""

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from auditbook.errors import InputError
from auditbook.tables.table_format import TableFormat

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Record:
    """A record of a text file."""

    line: int  # Where it begins; the file's first line is 1
    cells: list[str]


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out."""

    encoding: str
    separator: str
    names: tuple[str, ...]
    skipped: int  # Lines up to and with the one that names the columns
    notes: tuple[str, ...] = ()


def find_layout(path: Path, separator: str, form: TableFormat) -> Layout:
    """Find how a text file is laid out."""
    _check_bytes(path)
    encoding, separator = form.encoding or "utf-8-sig", form.separator or separator
    names, skipped = _read_header(path, encoding, separator, form.skip_rows)
    if form.separator is None:
        _check_separator(path.name, names)
    return Layout(encoding, separator, tuple(names), skipped)


def open_bytes(path: Path) -> BinaryIO:
    """Open a file, packed with gzip or not."""
    return cast(BinaryIO, gzip.open(path)) if path.name.lower().endswith(".gz") else path.open("rb")


def open_text(path: Path, encoding: str) -> TextIO:
    """Open a text file, packed with gzip or not, its line ends as they are."""
    if path.name.lower().endswith(".gz"):
        return cast(TextIO, gzip.open(path, "rt", encoding=encoding, newline=""))
    return path.open(encoding=encoding, newline="")


def each_record(path: Path, *, encoding: str, separator: str, skip: int = 0) -> Iterator[Record]:
    """Read the records of a text file after some lines; blank lines are none."""
    with open_text(path, encoding) as stream:
        for _ in range(skip):
            stream.readline()
        reader = csv.reader(stream, delimiter=separator)
        begin = skip + 1
        for cells in reader:
            if cells:
                yield Record(begin, cells)
            begin = skip + reader.line_num + 1


def _read_header(path: Path, encoding: str, separator: str, skip: int) -> tuple[list[str], int]:
    """Return the column names as a file writes them, repeats included, and the line on which they end."""
    with open_text(path, encoding) as stream:
        for _ in range(skip):
            stream.readline()
        reader = csv.reader(stream, delimiter=separator)
        try:
            header = next((cells for cells in reader if any(cell.strip() for cell in cells)), [])
        except csv.Error:
            raise InputError(
                f"{path.name}: the line that names the columns holds a cell of more than "
                f"{csv.field_size_limit():,} characters: probably a double quote is opened there and not "
                "closed; export the table again"
            ) from None
    if not header:
        raise InputError(f"{path.name}: the file has no header line; the first line must name the columns")
    names = [name or f"Unnamed: {position}" for position, name in enumerate(header)]
    return names, skip + reader.line_num


def _check_separator(file: str, names: list[str]) -> None:
    """Refuse a header that other marks than the separator divide."""
    if len(names) == 1 and any(mark in names[0] for mark in ",;\t|"):
        mark = next(mark for mark in ";\t|," if mark in names[0])
        shown = "tabs" if mark == "\t" else f"'{mark}'"
        raise InputError(
            f"{file}: the cells are separated by {shown}; allowed: commas in .csv, tabs in .tsv (a "
            "spreadsheet offers both when it exports, with a point in numbers such as 0.5)"
        )


def _check_bytes(path: Path) -> None:
    """Read through a file once, and refuse one that holds what no text holds."""
    line = 1
    with open_bytes(path) as stream:
        while block := stream.read(_BLOCK):
            place = block.find(b"\0")
            if place >= 0:
                line += block.count(b"\n", 0, place)
                raise InputError(
                    f"{path.name}: line {line:,} holds binary data (a NUL), not text; export the table as "
                    "CSV (UTF-8)"
                )
            line += block.count(b"\n")
