"""Which records stand in a text file, each with the line on which it begins?"""

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from auditbook.errors import InputError

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Record:
    """A record of a text file."""

    line: int  # Where it begins; the file's first line is 1
    end: int  # Where it ends
    cells: list[str]


def is_packed(path: Path) -> bool:
    """Tell whether a file is packed with gzip, by its name."""
    return path.name.lower().endswith(".gz")


def open_bytes(path: Path) -> BinaryIO:
    """Open a file, packed with gzip or not."""
    return cast(BinaryIO, gzip.open(path)) if is_packed(path) else path.open("rb")


def open_text(path: Path, encoding: str) -> TextIO:
    """Open a text file, packed with gzip or not, its line ends as they are."""
    if is_packed(path):
        return cast(TextIO, gzip.open(path, "rt", encoding=encoding, newline=""))
    return path.open(encoding=encoding, newline="")


def each_record(path: Path, *, encoding: str, separator: str, skip: int = 0) -> Iterator[Record]:
    """Read the records of a text file after some lines; lines without a cell are none."""
    with open_text(path, encoding) as stream:
        for _ in range(skip):
            if not stream.readline():
                break
        reader = csv.reader(stream, delimiter=separator)
        begin = skip + 1
        for cells in reader:
            end = skip + reader.line_num
            if cells:
                yield Record(begin, end, cells)
            begin = end + 1


def check_bytes(path: Path) -> None:
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
