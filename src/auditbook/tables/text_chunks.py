"""How is a text file read part by part, in little memory, as it would be read as a whole?"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from auditbook.errors import InputError
from auditbook.tables.column_looks import CellLook, Specimen, list_looks
from auditbook.tables.plain import check_names
from auditbook.tables.table_format import TableFormat
from auditbook.tables.text_faults import explain_rows, find_repeated_header, tell_longer, tell_repeated_header
from auditbook.tables.text_files import Cells, csv_options, read_cells
from auditbook.tables.text_layout import Layout, find_layout
from auditbook.tables.text_records import each_record, is_packed


@dataclass(frozen=True)
class TextFile:
    """A text file of which some columns are read part by part."""

    path: Path
    layout: Layout
    places: dict[str, int]  # By column where its cells stand in a record

    def each_part(self) -> Iterator[pa.Table]:
        """Read the needed columns part by part, every cell as text and empty ones as missing."""
        for part in _read_places(self.path, self.layout, list(self.places.values())):
            named = part.rename_columns(list(self.places))
            _check_header(self, named)
            yield named


def open_text_file(path: Path, separator: str, *, form: TableFormat) -> TextFile:
    """Find how a text file is laid out, and where the cells of its columns stand."""
    layout = find_layout(path, separator, form)
    check_names(path.name, list(layout.names))
    shift = _find_shift(path, layout) if layout.longer else 0
    return TextFile(path, layout, {name: at + shift for at, name in enumerate(layout.names)})


def take_columns(file: TextFile, columns: Collection[str]) -> TextFile:
    """Read some of the columns only."""
    return TextFile(file.path, file.layout, {name: at for name, at in file.places.items() if name in columns})


def look_through(file: TextFile, *, text_columns: Collection[str], form: TableFormat) -> Specimen:
    """Look through the file once, and read its different cells by the rules for a whole file."""
    looks = {name: CellLook() for name in file.places if name not in text_columns}
    if looks:
        for part in take_columns(file, looks).each_part():
            for name, look in looks.items():
                look.add(part.column(name))
    texts = {name: CellLook() for name in file.places if name in text_columns}
    columns = list_looks(looks | texts)
    rows = len(next(iter(columns.values()))) if columns else 0
    cells = Cells(columns, rows, ())
    table = read_cells(file.path.name, file.layout, cells, text_columns=text_columns, form=form)
    many = frozenset(name for name, look in looks.items() if look.many)
    return Specimen(file.path.name, table, {name: columns[name] for name in looks}, many)


def _read_places(path: Path, layout: Layout, places: Sequence[int]) -> Iterator[pa.Table]:
    """Read the cells at some places of every record."""
    try:
        with pa.input_stream(path, compression="gzip" if is_packed(path) else None) as stream:
            reader = arrow_csv.open_csv(stream, **csv_options(layout, places))
            while (part := _next_part(reader)) is not None:
                yield pa.Table.from_batches([part])
    except pa.ArrowInvalid as error:
        raise explain_rows(path, layout, str(error).splitlines()[0][:200]) from None


def _next_part(reader: arrow_csv.CSVStreamingReader) -> pa.RecordBatch | None:
    try:
        return reader.read_next_batch()
    except StopIteration:
        return None


def _find_shift(path: Path, layout: Layout) -> int:
    """Find which cell of each record has no name: the last, blank everywhere, or R's number of the row."""
    last, rows, blank, counted = len(layout.names), 0, True, True
    for part in _read_places(path, layout, [0, last]):
        blank = blank and part.column(1).null_count == part.num_rows
        numbers = pa.array(np.arange(rows + 1, rows + part.num_rows + 1)).cast(pa.string())
        first = part.column(0).cast(pa.string())
        counted = counted and first.null_count == 0 and bool(pc.all(pc.equal(first, numbers)).as_py())
        rows += part.num_rows
    if blank:
        return 0
    if counted:
        return 1
    first_record = next(
        each_record(path, encoding=layout.encoding, separator=layout.separator, skip=layout.skipped)
    )
    raise InputError(tell_longer(path.name, len(layout.names), first_record))


def _check_header(file: TextFile, part: pa.Table) -> None:
    """Refuse a file in which the line that names the columns stands again among the records."""
    again = np.ones(part.num_rows, dtype=bool)
    for name in part.column_names:
        again &= pc.equal(part.column(name).cast(pa.string()), name).fill_null(False).to_numpy()
        if not again.any():
            return
    lines = find_repeated_header(file.path, file.layout)
    if lines:
        raise InputError(tell_repeated_header(file.path.name, lines))
