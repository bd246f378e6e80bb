"""Where does a text file stop being a table: on which line, what stands there, and what is to be done?"""

import csv
from pathlib import Path

from auditbook.errors import InputError
from auditbook.faults import show
from auditbook.tables.text_layout import Layout, Record, each_record


def explain_rows(path: Path, layout: Layout, reason: str) -> InputError:
    """Name the first record that has not as many cells as the header, else a reader's own reason."""
    last = Record(layout.skipped + 1, [])
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


def find_repeated_header(path: Path, layout: Layout) -> list[int]:
    """List the lines that name the columns once more."""
    records = each_record(path, encoding=layout.encoding, separator=layout.separator, skip=layout.skipped)
    return [record.line for record in records if record.cells == list(layout.names)]


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
    count = f"{len(record.cells):,} cells where the header has {expected:,}"
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
