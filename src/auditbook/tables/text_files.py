"""How does a text file (csv, tsv, also packed) become columns, each read as a whole?"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from auditbook.errors import InputError
from auditbook.tables.plain import PlainTable, check_names
from auditbook.tables.table_format import TableFormat
from auditbook.tables.text_columns import keep_text, read_text_column
from auditbook.tables.text_decimals import find_decimals
from auditbook.tables.text_faults import explain_rows, find_repeated_header, tell_longer, tell_repeated_header
from auditbook.tables.text_layout import Layout, find_layout
from auditbook.tables.text_records import each_record, is_packed

_CELLS = pa.dictionary(pa.int32(), pa.string())
_BLOCK = 1 << 24


@dataclass(frozen=True)
class Cells:
    """The cells of a text file, as text; columns in the order of their names."""

    columns: dict[str, pa.ChunkedArray]
    rows: int
    notes: tuple[str, ...]


def read_text_file(
    path: Path, separator: str, *, text_columns: Collection[str], form: TableFormat
) -> PlainTable:
    """Read a separated text file with strict rules about rows and names."""
    layout = find_layout(path, separator, form)
    check_names(path.name, list(layout.names))
    cells = _name_cells(path, layout, _read_cells(path, layout))
    _check_repeated_header(path, layout, cells)
    return read_cells(path.name, layout, cells, text_columns=text_columns, form=form)


def read_cells(
    file: str, layout: Layout, cells: Cells, *, text_columns: Collection[str], form: TableFormat
) -> PlainTable:
    """Read the cells of a text file, column by column."""
    columns = {
        name: keep_text(column)
        if name in text_columns
        else read_text_column(column, decimal=form.decimal, thousands=form.thousands)
        for name, column in cells.columns.items()
    }
    frame = pd.DataFrame(columns, index=pd.RangeIndex(cells.rows))
    notes = (*layout.notes, *cells.notes)
    if form.decimal is None and form.thousands is None and layout.separator != ",":
        notes += find_decimals(file, frame, text_columns)
    return PlainTable(frame, {}, notes)


def _read_cells(path: Path, layout: Layout) -> pa.Table:
    """Read every cell as text, empty ones as missing."""
    try:
        with pa.input_stream(path, compression="gzip" if is_packed(path) else None) as stream:
            return arrow_csv.read_csv(stream, **csv_options(layout))
    except pa.ArrowInvalid as error:
        raise explain_rows(path, layout, str(error).splitlines()[0][:200]) from None


def csv_options(layout: Layout, kept: Sequence[int] | None = None) -> dict[str, object]:
    """Say how the cells of a text file are read: as text, all of them or those at some places of a record."""
    places = [str(position) for position in range(len(layout.names) + layout.longer)]
    return {
        "read_options": arrow_csv.ReadOptions(
            column_names=places,
            skip_rows=layout.skipped,
            block_size=_BLOCK,
            encoding=layout.encoding.removesuffix("-sig"),
        ),
        "parse_options": arrow_csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(places, _CELLS),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
            include_columns=None if kept is None else [places[at] for at in kept],
        ),
    }


def _name_cells(path: Path, layout: Layout, table: pa.Table) -> Cells:
    """Give the columns their names; a cell beyond them is blank everywhere, or a row number of R."""
    columns, notes = list(table.columns), []
    if layout.longer and columns[-1].null_count == table.num_rows:
        columns.pop()
        notes.append(f"{path.name}: each record ends in one blank cell more than the header; it is left out")
    elif layout.longer and _counts_rows(columns[0]):
        columns.pop(0)
        notes.append(
            f"{path.name}: the first cell of each record, its number in R, has no name and is left out"
        )
    elif layout.longer:
        first = next(
            each_record(path, encoding=layout.encoding, separator=layout.separator, skip=layout.skipped)
        )
        raise InputError(tell_longer(path.name, len(layout.names), first))
    named = dict(zip(layout.names, columns, strict=True))
    blank = [
        name
        for place, (name, column) in enumerate(named.items())
        if name == f"Unnamed: {place}" and column.null_count == table.num_rows
    ]
    if blank and len(blank) < len(named):
        what = "a column" if len(blank) == 1 else f"{len(blank)} columns"
        notes.append(f"{path.name}: {what} without name and without a filled cell left out")
        named = {name: column for name, column in named.items() if name not in blank}
    return Cells(named, table.num_rows, tuple(notes))


def _counts_rows(column: pa.ChunkedArray) -> bool:
    """Tell whether a column numbers the rows of a file: 1, 2, 3, …"""
    numbered = pa.array(np.arange(1, len(column) + 1)).cast(pa.string())
    return column.null_count == 0 and bool(pc.all(pc.equal(column.cast(pa.string()), numbered)).as_py())


def _check_repeated_header(path: Path, layout: Layout, cells: Cells) -> None:
    """Refuse a file in which the line that names the columns stands again among the records."""
    again = np.ones(cells.rows, dtype=bool)
    for name, column in cells.columns.items():
        again &= pc.equal(column.cast(pa.string()), name).fill_null(False).to_numpy()
        if not again.any():
            return
    lines = find_repeated_header(path, layout)
    if lines:
        raise InputError(tell_repeated_header(path.name, lines))
