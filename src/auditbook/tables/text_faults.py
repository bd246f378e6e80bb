"""Where does a text file stop being a table: on which line, what stands there, and what is to be done?"""

import csv
from collections.abc import Iterable
from pathlib import Path

from auditbook.errors import InputError
from auditbook.tables.faults import show
from auditbook.tables.text_layout import Layout
from auditbook.tables.text_records import Record, each_record, open_bytes


class EncodingError(InputError):
    """A text file is not in the encoding that it was read in."""


def explain_rows(path: Path, layout: Layout, reason: str) -> InputError:
    """Name the first record that has not as many cells as the header, else a reader's own reason."""
    last = Record(layout.skipped + 1, layout.skipped + 1, [])
    try:
        for record in each_record(
            path, encoding=layout.encoding, separator=layout.separator, skip=layout.skipped
        ):
            if len(last.cells) not in (0, len(layout.names)):
                break
            last = record
        else:
            return _explain_last(path.name, last, layout, reason)
    except csv.Error:
        return InputError(_unclosed(path.name, last.line))
    return InputError(_wrong_number(path.name, last, len(layout.names)))


def tell_longer(file: str, names: int, record: Record) -> str:
    """Say that every record has one cell more than the header."""
    return (
        f"{file}: every row has more cells than the header: {names:,} columns are named, and line "
        f"{record.line:,} ({show(', '.join(record.cells[:3]))}) holds {len(record.cells):,} cells; add the "
        "name that lacks in the first line; in R, write.csv(x, row.names = FALSE) leaves row names out"
    )


def find_repeated_header(path: Path, layout: Layout) -> list[int]:
    """List the lines that name the columns once more."""
    records = each_record(path, encoding=layout.encoding, separator=layout.separator, skip=layout.skipped)
    return [record.line for record in records if record.cells == list(layout.names)]


def tell_repeated_header(file: str, lines: list[int]) -> str:
    """Say on which lines the names of the columns stand again."""
    listed = ", ".join(f"{line:,}" for line in lines[:5])
    more = f" and {len(lines) - 5:,} more" if len(lines) > 5 else ""
    where = "line" if len(lines) == 1 else "lines"
    them, it = ("that line", "it would count as a record")
    if len(lines) > 1:
        them, it = "these lines", "they would count as records"
    return (
        f"{file}: the names of the columns stand again on {where} {listed}{more}, as when several exports "
        f"are joined; delete {them}, or name the exports one by one: {it}"
    )


def explain_encoding(path: Path, given: str | None) -> InputError:
    """Name the first line of a file that is not in its encoding, and what another makes of it."""
    encoding = given or "utf-8"
    with open_bytes(path) as stream:
        if given is None and stream.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            return InputError(f"{path.name}: its UTF-16 text is cut off or damaged; export or copy it again")
        stream.seek(0)
        # Lines of bytes are lines of text only where a line's end is one byte.
        lines: Iterable[bytes] = stream if len("\n".encode(encoding)) == 1 else ()
        for number, line in enumerate(lines, start=1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                return EncodingError(_tell_encoding(path.name, number, line, error))
            except UnicodeError:
                break
    return InputError(
        f"{path.name}: its text is not {encoding}; say what it is, or delete it: [data] format encoding"
    )


def _tell_encoding(file: str, number: int, line: bytes, error: UnicodeDecodeError) -> str:
    """Say which byte is not in the encoding, and how the text around it reads in Windows-1252."""
    encoding = "UTF-8" if error.encoding.replace("-", "").lower() == "utf8" else error.encoding
    around = (
        line[max(0, error.start - 12) : error.start + 12].decode("windows-1252", errors="replace").strip()
    )
    cure = '[data] format = { encoding = "windows-1252" }'
    return (
        f"{file}: line {number:,}: not {encoding} (byte {line[error.start]:#04x}); if {show(around)} is "
        f'right, write {cure}; else name its encoding there ("mac-roman"), or save it as CSV (UTF-8)'
    )


def _explain_last(file: str, record: Record, layout: Layout, reason: str) -> InputError:
    """Say what is wrong with a file all of whose records but perhaps the last are whole."""
    expected = len(layout.names)
    if len(record.cells) > expected:
        return InputError(_wrong_number(file, record, expected))
    if len(record.cells) == expected:
        return InputError(f"{file}: not a table that can be read: {reason}; export it again")
    if any("\n" in cell or "\r" in cell for cell in record.cells) and record.cells[-1].count("\n") > 1:
        return InputError(_unclosed(file, record.line))
    return InputError(
        f"{file}: the last line ({record.line:,}) holds {len(record.cells):,} of {expected:,} cells: the "
        "file was cut off, or a line stands below the table; export it again, or take that line out"
    )


def _wrong_number(file: str, record: Record, expected: int) -> str:
    """Say that a record has more or fewer cells than the header."""
    cells = "1 cell" if len(record.cells) == 1 else f"{len(record.cells):,} cells"
    count = f"{cells} where the header has {expected:,}"
    shown = show(", ".join(record.cells[:3]))
    if len(record.cells) > expected:
        return (
            f"{file}: a row has more cells than the header: line {record.line:,} ({shown}) holds {count}; "
            "put text that holds a separator in double quotes"
        )
    return (
        f"{file}: a row has fewer cells than the header: line {record.line:,} ({shown}) holds {count}; a "
        "line break within a cell belongs in double quotes, and a blank cell needs its separator: export the "
        "table again"
    )


def _unclosed(file: str, line: int) -> str:
    return (
        f"{file}: a double quote is opened in or after line {line:,} and not closed; close it, or write it "
        'twice ("") where it belongs to the text'
    )
