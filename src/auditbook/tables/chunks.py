"""How does a table of any length become plain tables of a bounded length, the same cells as read whole?"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from auditbook.tables.column_looks import Reading, Specimen, find_readings, settle_specimen
from auditbook.tables.columnar_chunks import ColumnarFile, look_at_columnar, open_feather, open_parquet
from auditbook.tables.data_files import check_file
from auditbook.tables.join_files import check_same, join_tables
from auditbook.tables.plain import PlainTable
from auditbook.tables.read_table import explaining_damage, read_table_file
from auditbook.tables.table_format import TableFormat
from auditbook.tables.text_chunks import TextFile, look_through, open_text_file, take_columns
from auditbook.tables.text_records import is_packed, open_bytes

_FIRST, _GROWN = 1 << 16, 4
"""Bytes from which the length of a line is told, and how much longer text is than packed with gzip."""

CHUNK_ROWS = 1 << 19
"""Rows of a chunk (ours): a few tens of megabytes."""


@dataclass(frozen=True)
class _WholeFile:
    """A file of a kind that is read whole."""

    path: Path
    table: PlainTable


_File = TextFile | ColumnarFile | _WholeFile


@dataclass(frozen=True)
class Chunk:
    """Some rows of a table that are not read yet, or not brought to plain form; may be sent to a worker."""

    reading: Reading | None
    categories: dict[str, tuple[object, ...]]
    rows: int  # At most so many at once
    part: pa.Table | PlainTable | None = None  # The rows themselves
    file: ColumnarFile | None = None  # Else the file that they stand in, and its row groups
    groups: tuple[int, ...] = ()
    first: int = 0  # Rows of the table before these

    @property
    def length(self) -> int:
        """Rows that it holds."""
        if isinstance(self.part, PlainTable):
            return len(self.part.frame)
        if self.part is not None:
            return int(self.part.num_rows)
        return sum(self.file.sizes[one] for one in self.groups) if self.file is not None else 0

    def each_table(self) -> Iterator[PlainTable]:
        """Read the rows: the columns that are needed, in plain form."""
        if isinstance(self.part, PlainTable):
            yield self.part
            return
        parts: Any = [self.part] if self.part is not None else []
        if self.file is not None:
            parts = self.file.each_part(self.groups, self.rows)
        for part in parts:
            if self.reading is not None and part.num_rows:
                yield PlainTable(self.reading.read(part), self.categories)


@dataclass(frozen=True)
class ChunkedTable:
    """A table that is read chunk by chunk."""

    names: tuple[str, ...]  # All its columns
    categories: dict[str, tuple[object, ...]]  # As `PlainTable` has them, of the columns that are needed
    notes: tuple[str, ...]  # What was found by itself, a sentence each
    rows: int  # Of a chunk, at the most
    form: TableFormat
    files: tuple[_File, ...] = field(repr=False)
    readings: tuple[Reading, ...] = field(repr=False)

    def each_chunk(self) -> Iterator[Chunk]:
        """Go through the table from its first row to its last."""
        first = 0
        for file, reading in zip(self.files, self.readings, strict=True):
            with explaining_damage(file.path, self.form):
                for chunk in self._each_of(file, reading):
                    yield replace(chunk, first=first)
                    first += chunk.length

    def _each_of(self, file: _File, reading: Reading) -> Iterator[Chunk]:
        """Go through one file."""
        if isinstance(file, ColumnarFile):
            for groups in _gather_groups(file.sizes, self.rows):
                yield Chunk(reading, self.categories, self.rows, file=file, groups=groups)
        elif isinstance(file, TextFile):
            for part in _gather(file.each_part(), self.rows):
                yield Chunk(reading, self.categories, self.rows, part=part)
        else:
            frame = file.table.frame
            for begin in range(0, len(frame), self.rows):
                some = reading.settle(frame.iloc[begin : begin + self.rows].reset_index(drop=True))
                yield Chunk(None, self.categories, self.rows, part=PlainTable(some, self.categories))


def open_chunks(
    files: Sequence[Path],
    *,
    columns: Collection[str],
    text_columns: Collection[str] = (),
    form: TableFormat,
    rows: int = CHUNK_ROWS,
) -> ChunkedTable:
    """Open a table, in one file or several, of which some columns are read chunk by chunk.

    Which kind a column is of is decided over the whole table, as `read_table_file` decides it: a text file
    is looked through once for that, a parquet file only where a column of text may hold numbers.

    Parameters
    ----------
    files : sequence of Path
        As `read_table_file` reads them, with the same columns. Text, parquet and feather files are never in
        memory as a whole; others are.
    columns : collection of str
        The columns that are needed; those that the table does not have are left out.
    text_columns : collection of str
        Columns that hold names.
    form : TableFormat
        How the files are written.
    rows : int
        Rows of a chunk, at the most.

    Raises
    ------
    InputError
        As `read_table_file` does, and for a column that can only be read as a whole.
    """
    opened = []
    for path in files:
        with explaining_damage(path, form):
            opened.append(_open(path, form, text_columns))
    names = _name_columns(opened[0])
    for file in opened[1:]:
        check_same(files[0].name, names, file.path.name, _name_columns(file))
    needed = [name for name in names if name in set(columns)]
    taken = [_take(file, needed) for file in opened]
    specimens = []
    for file in taken:
        with explaining_damage(file.path, form):
            specimens.append(_look(file, text_columns, form))
    joined = join_tables(files, [specimen.table for specimen in specimens])
    names = [name for name in names if name not in needed or name in joined.frame]
    readings = tuple(find_readings(specimens, joined, text_columns=text_columns, form=form))
    return ChunkedTable(
        tuple(names), dict(joined.categories), joined.notes, rows, form, tuple(taken), readings
    )


def _open(path: Path, form: TableFormat, text_columns: Collection[str]) -> _File:
    """Open a file by what its name says it is."""
    kind = check_file(path)
    if kind == ".parquet":
        return open_parquet(path)
    if kind == ".feather" and _is_second_version(path):
        return open_feather(path)
    if kind in (".csv", ".tsv", ".txt"):
        return open_text_file(path, "," if kind == ".csv" else "\t", form=form)
    return _WholeFile(path, read_table_file(path, text_columns=text_columns, form=form))


def _is_second_version(path: Path) -> bool:
    """Tell whether a feather file is of version 2, which can be read in parts."""
    with path.open("rb") as stream:
        return stream.read(6) == b"ARROW1"


def _name_columns(file: _File) -> list[str]:
    if isinstance(file, TextFile):
        return list(file.places)
    return list(file.columns if isinstance(file, ColumnarFile) else file.table.frame.columns)


def _take(file: _File, columns: list[str]) -> _File:
    """Read no other column; a file that was read whole holds them all."""
    if isinstance(file, TextFile):
        return take_columns(file, columns)
    return replace(file, columns=tuple(columns)) if isinstance(file, ColumnarFile) else file


def _look(file: _File, text_columns: Collection[str], form: TableFormat) -> Specimen:
    """Find of which kind each column of a file is."""
    if isinstance(file, _WholeFile):
        return Specimen(file.path.name, file.table, {}, frozenset())
    if isinstance(file, TextFile):
        found = look_through(file, text_columns=text_columns, form=form)
    else:
        found = look_at_columnar(file, text_columns=text_columns)
    return settle_specimen(found, text_columns=text_columns)


def _gather_groups(sizes: Sequence[int], rows: int) -> Iterator[tuple[int, ...]]:
    """Put small row groups together, up to a number of rows; a larger one stands alone."""
    gathered: list[int] = []
    for number, size in enumerate(sizes):
        if gathered and sum(sizes[one] for one in gathered) + size > rows:
            yield tuple(gathered)
            gathered = []
        gathered.append(number)
    if gathered:
        yield tuple(gathered)


def _gather(parts: Iterator[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Cut and join the parts of a text file to tables of a number of rows."""
    held: list[pa.Table] = []
    for part in parts:
        held.append(part)
        while sum(one.num_rows for one in held) >= rows:
            whole = pa.concat_tables(held)
            yield whole.slice(0, rows)
            held = [whole.slice(rows)] if whole.num_rows > rows else []
    if held:
        yield pa.concat_tables(held)


def estimate_rows(path: Path) -> int:
    """Estimate how many rows a data file holds without reading it through; 0 for a kind that is read whole.

    A parquet or feather file says it; of a text file the first lines tell how long a line is.
    """
    kind = check_file(path)
    if kind == ".parquet":
        return sum(open_parquet(path).sizes)
    if kind == ".feather" and _is_second_version(path):
        return sum(open_feather(path).sizes)
    if kind not in (".csv", ".tsv", ".txt"):
        return 0
    with open_bytes(path) as stream:
        read = stream.read(_FIRST)
    grown = _GROWN if is_packed(path) else 1
    return int(path.stat().st_size * grown * read.count(b"\n") / max(len(read), 1))
