"""How is a text file laid out: its encoding, its separator, and the line that names the columns?"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from auditbook.errors import InputError
from auditbook.tables.faults import show
from auditbook.tables.table_format import TableFormat
from auditbook.tables.text_records import Record, check_bytes, each_record, open_bytes, open_text

_MARKS = (",", ";", "\t", "|")
_SAMPLE = 200
_MOST = 0.9
"""Share of the first records that have as many cells as the header, from which on a separator is certain."""


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out."""

    encoding: str
    separator: str
    names: tuple[str, ...]
    skipped: int  # Lines up to and with the one that names the columns
    longer: bool  # True where the first records have one cell more than the header
    notes: tuple[str, ...] = ()


def find_layout(path: Path, separator: str, form: TableFormat) -> Layout:
    """Find how a text file is laid out; an InputError where that is not certain."""
    encoding, notes = _find_encoding(path, form)
    skip, named, skipped_note = _find_start(path, encoding, form)
    notes += skipped_note
    mark = form.separator or named
    if mark is None:
        mark, separator_note = _find_separator(path, encoding, skip, separator)
        notes += separator_note
    records = _sample(path, encoding, mark, skip)
    if not records:
        raise InputError(f"{path.name}: the file has no header line; the first line must name the columns")
    names = [name if name.strip() else f"Unnamed: {place}" for place, name in enumerate(records[0].cells)]
    _check_first_line(path.name, records)
    longer = len(records) > 1 and all(len(record.cells) == len(names) + 1 for record in records[1:])
    return Layout(encoding, mark, tuple(names), records[0].end, longer, notes)


def name_mark(mark: str) -> str:
    """Name a separator."""
    return "tabs" if mark == "\t" else f"'{mark}'"


def _find_encoding(path: Path, form: TableFormat) -> tuple[str, tuple[str, ...]]:
    """Find a file's encoding: the one that is given, UTF-16 where its first bytes say so, else UTF-8."""
    with open_bytes(path) as stream:
        head = stream.read(4)
    if form.encoding is None and head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", (f"{path.name}: read as UTF-16, which its first bytes say",)
    encoding = form.encoding or "utf-8-sig"
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        raise InputError(
            f"{path.name}: [data] format encoding: {encoding!r} is no encoding; allowed are names such as "
            "'utf-8', 'windows-1252', 'latin-1', 'utf-16'"
        ) from None
    if not encoding.lower().replace("_", "-").startswith("utf-16"):
        check_bytes(path)
    return encoding, ()


def _find_start(path: Path, encoding: str, form: TableFormat) -> tuple[int, str | None, tuple[str, ...]]:
    """Count the lines before the header; a line such as ``sep=;`` names the separator."""
    if form.skip_rows:
        return form.skip_rows, None, ()
    with open_text(path, encoding) as stream:
        lines = [line.rstrip("\r\n") for line in islice(iter(lambda: stream.readline(1 << 16), ""), _SAMPLE)]
    said = re.fullmatch(r"\"?sep=(.)\"?", lines[0].strip("\ufeff"), re.IGNORECASE) if lines else None
    if said:
        return 1, said[1], (f"{path.name}: line 1 ({show(lines[0])}) names the separator and is no record",)
    remarks = next((place for place, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if not 0 < remarks < len(lines) or _is_header(path.name, remarks, lines[remarks - 1], lines[remarks]):
        return 0, None, ()
    what = "line 1 begins" if remarks == 1 else f"lines 1 to {remarks} begin"
    return remarks, None, (f"{path.name}: {what} with # and {'is' if remarks == 1 else 'are'} no record",)


def _is_header(file: str, line: int, remark: str, record: str) -> bool:
    """Tell whether a line that begins with # names the columns, as ``#id,age`` does; ask where it may."""
    if not any(remark.count(mark) == record.count(mark) > 0 for mark in _MARKS):
        return False
    if re.match(r"#\w", remark) and line == 1:
        return True
    raise InputError(
        f"{file}: line {line} ({show(remark)}) begins with # and has as many cells as the line after it: "
        f"if it is a remark, write [data] format = {{ skip_rows = {line} }}; if it names the columns, delete "
        "the #"
    )


def _find_separator(path: Path, encoding: str, skip: int, expected: str) -> tuple[str, tuple[str, ...]]:
    """Find the mark that divides the header and the first records into as many cells."""
    fitting = [mark for mark in _MARKS if _fits(_sample(path, encoding, mark, skip))]
    if len(fitting) > 1:
        marks = " and ".join(name_mark(mark) for mark in fitting)
        raise InputError(
            f"{path.name}: the cells can be separated by {marks}; say which, for example [data] format = "
            f'{{ separator = "{fitting[0]}" }}'.replace("\t", "\\t")
        )
    if not fitting:  # a line above the names has cells of its own: what most lines have says the mark
        fitting = [mark for mark in _MARKS if _parts_most(_sample(path, encoding, mark, skip))]
    if len(fitting) != 1 or fitting == [expected]:
        return expected, ()
    return fitting[0], (f"{path.name}: the cells are separated by {name_mark(fitting[0])}",)


def _sample(path: Path, encoding: str, separator: str, skip: int) -> list[Record]:
    """Read the header and the first records, up to a very long one, but for those that are blank."""
    records: list[Record] = []
    try:
        for record in each_record(path, encoding=encoding, separator=separator, skip=skip):
            if any(map(str.strip, record.cells)):
                records.append(record)
            if len(records) == _SAMPLE:
                break
    except csv.Error:
        if not records:
            raise InputError(
                f"{path.name}: the first line holds a cell beyond {csv.field_size_limit():,} characters: "
                'probably a double quote is opened and not closed; close it, or write it twice ("") where '
                "it belongs to the text"
            ) from None
    return records


def _fits(records: Sequence[Record]) -> bool:
    """Tell whether a separator makes several columns of the header and of nearly all first records."""
    width = len(records[0].cells) if records else 0
    same = sum(len(record.cells) in (width, width + 1) for record in records[1:])
    return width > 1 and same >= _MOST * (len(records) - 1)


def _parts_most(records: Sequence[Record]) -> bool:
    """Tell whether a separator makes the same several columns of nearly all first records but the first."""
    widths = Counter(len(record.cells) for record in records[1:])
    width, often = widths.most_common(1)[0] if widths else (0, 0)
    return width > 1 and often >= _MOST * (len(records) - 1)


def _check_first_line(file: str, records: Sequence[Record]) -> None:
    """Refuse a file with a title or a remark above the line that names the columns."""
    if len(records) < 4:
        return
    width, often = Counter(len(record.cells) for record in records).most_common(1)[0]
    first = len(records[0].cells)
    if often < len(records) / 2 or width <= first + 1:
        return
    header = next(record for record in records if len(record.cells) == width)
    raise InputError(
        f"{file}: line {records[0].line} ({show(', '.join(records[0].cells[:3]))}) holds {first} "
        f"{'cell' if first == 1 else 'cells'}, most lines {width:,}: if the columns are named on line "
        f"{header.line}, write [data] format = {{ skip_rows = {header.line - 1} }}"
    )
