"""Which table stands in a workbook (xlsx, xlsm, ods): on which sheet, under which names, of which kinds?"""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from auditbook.errors import InputError, nearest
from auditbook.tables.faults import show
from auditbook.tables.plain import PlainTable, plain_table
from auditbook.tables.table_format import TableFormat
from auditbook.tables.values import name_value

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

_Cell = int | float | str | bool | time | date | datetime | timedelta
_Row = Sequence[_Cell]

_DIGITS = 10**15
"""A spreadsheet keeps fifteen digits of a number."""


def read_workbook(path: Path, form: TableFormat) -> PlainTable:
    """Read the one sheet of a workbook that holds cells, or the sheet that is named."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with CalamineWorkbook.from_path(path) as book:
            sheet, notes = _choose_sheet(path.name, book, form.sheet)
            rows = list(book.get_sheet_by_name(sheet).iter_rows())[form.skip_rows :]
    except CalamineError as error:
        raise InputError(
            f"{path.name}: not a workbook that can be read ({error}); save it again, without a password"
        ) from None
    where = f"{path.name}: sheet {sheet!r}"
    filled = [row for row in dropwhile(_is_blank, rows) if not _is_blank(row)]
    if not filled:
        raise InputError(f'{where} has no cells; name another: [data] format = {{ sheet = "…" }}')
    _check_title(where, rows, form.skip_rows)
    table, kept = _name_columns(where, filled)
    return PlainTable(table.frame, {}, (*notes, *kept, *_warn_digits(where, table)))


def _choose_sheet(file: str, book: "CalamineWorkbook", asked: str | None) -> tuple[str, tuple[str, ...]]:
    """Choose the sheet that is named, else the only one that holds cells."""
    if asked is not None and asked not in book.sheet_names:
        listed = ", ".join(map(repr, book.sheet_names))
        raise InputError(
            f"{file}: [data] format sheet: there is no sheet {asked!r}{nearest(asked, book.sheet_names)}; "
            f"there are {listed}"
        )
    if asked is not None:
        return asked, ()
    heights = {name: book.get_sheet_by_name(name).height for name in book.sheet_names}
    filled = [name for name, height in heights.items() if height]
    if len(filled) > 1:
        listed = ", ".join(f"{name!r} ({heights[name]:,} rows)" for name in filled)
        example = max(filled, key=lambda name: heights[name])
        raise InputError(
            f"{file}: several sheets hold cells: {listed}; say which holds the table: [data] format = "
            f"{{ sheet = {show(example).replace(chr(39), chr(34))} }}"
        )
    if not filled:
        raise InputError(f"{file}: no sheet holds a cell; export the table again")
    return filled[0], () if len(heights) == 1 else (
        f"{file}: read is sheet {filled[0]!r}; the others are blank",
    )


def _is_blank(row: _Row) -> bool:
    return all(isinstance(cell, str) and not cell.strip() for cell in row)


def _check_title(where: str, rows: Sequence[_Row], skipped: int) -> None:
    """Refuse a sheet with a title above the row that names the columns."""
    counts = [sum(not _is_blank([cell]) for cell in row) for row in rows]
    first = next(place for place, count in enumerate(counts) if count)
    begun = counts[first : first + 50]
    widest = max(begun)
    if begun[0] != 1 or widest <= 2:
        return
    shown = next(cell for cell in rows[first] if not _is_blank([cell]))
    above = skipped + first + next(place for place, count in enumerate(begun) if count > widest / 2)
    raise InputError(
        f"{where}: row {skipped + first + 1} ({show(shown)}) holds one cell, others up to {widest}: if the "
        f"columns are named in row {above + 1}, write [data] format = {{ skip_rows = {above} }}, or "
        "delete the rows above it"
    )


def _name_columns(where: str, rows: Sequence[_Row]) -> tuple[PlainTable, tuple[str, ...]]:
    """Put the cells under their names; columns without a name and a filled cell are left out."""
    width = max(len(row) for row in rows)
    header = [name_value(cell).strip() for cell in rows[0]] + [""] * (width - len(rows[0]))
    arrays, names, blank = [], [], 0
    for place, name in enumerate(header):
        cells = [row[place] if place < len(row) else "" for row in rows[1:]]
        if not name and all(cell == "" for cell in cells):
            blank += 1
            continue
        names.append(name or f"Unnamed: {place}")
        arrays.append(_type_column(cells))
    what = "a column" if blank == 1 else f"{blank} columns"
    notes = (f"{where}: {what} without name and without a filled cell left out",) if blank else ()
    return plain_table(pa.Table.from_arrays(arrays, names=names), name=where), notes


def _type_column(cells: Sequence[_Cell]) -> pa.Array:
    """Hold a column as numbers, truth values or times where all its filled cells are such, else as text."""
    filled = [None if cell == "" else cell for cell in cells]
    kinds = {type(cell) for cell in filled if cell is not None}
    if kinds <= {bool}:
        return pa.array(filled, pa.bool_() if kinds else pa.null())
    if kinds <= {int, float}:
        return pa.array(
            [float(cell) if isinstance(cell, int | float) else None for cell in filled], pa.float64()
        )
    if kinds <= {date, datetime}:
        return pa.array([_as_time(cell) for cell in filled], pa.timestamp("us"))
    return pa.array([None if cell is None else _write(cell) for cell in filled], pa.string())


def _as_time(cell: _Cell | None) -> datetime | None:
    """Take a day as its first moment."""
    if isinstance(cell, datetime):
        return cell
    return datetime.combine(cell, time()) if isinstance(cell, date) else None


def _write(cell: _Cell) -> str:
    """Write a cell of a column of several kinds; a day without a time of day."""
    if isinstance(cell, datetime) and cell.time() == time():
        return str(cell.date())
    return name_value(cell)


def _warn_digits(where: str, table: PlainTable) -> tuple[str, ...]:
    """Say which columns hold numbers with more digits than a spreadsheet keeps."""
    numbers = table.frame.select_dtypes("number")
    wide = [name for name in numbers if (np.abs(numbers[name].to_numpy(dtype=float)) >= _DIGITS).any()]
    return tuple(
        f"{where}: column {name!r} holds numbers of more than 15 digits, of which a spreadsheet keeps 15: "
        "their ends may have been lost before this file was written; have them exported as text"
        for name in wide
    )
