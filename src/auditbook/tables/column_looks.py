"""Of which kind is a column that is read part by part: decided over the whole file, by the rules for one?

A file is looked through once before any part is read. Of a column of text with few different cells all are
kept, and the rules for whole files read these; of one with many a sample says how its numbers are written.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from auditbook.errors import InputError
from auditbook.tables.people_numbers import settle_people_numbers
from auditbook.tables.plain import PlainTable, plain_table
from auditbook.tables.table_format import AS_FOUND, TableFormat
from auditbook.tables.text_columns import keep_text, read_text_column
from auditbook.tables.values import as_text

FEW = 50_000
"""Different cells up to which all those of a column are kept (ours)."""


@dataclass
class CellLook:
    """The different cells of one column of text, as far as its file was looked through."""

    cells: dict[str, None] = field(default_factory=dict)  # In the order in which they occur
    missing: bool = False
    many: bool = False  # More than `FEW`: those that are kept are a sample

    def add(self, column: pa.ChunkedArray | pa.Array) -> None:
        """Look at another part of the column."""
        self.missing = self.missing or column.null_count > 0
        if not self.many:
            self.cells.update(dict.fromkeys(pc.unique(column).drop_null().to_pylist()))
            self.many = len(self.cells) > FEW

    def list_cells(self, rows: int) -> list[str | None]:
        """List a missing cell where there is any and each other once, the last again up to `rows` cells."""
        listed = [*([None] if self.missing or not self.cells else []), *self.cells]
        return listed + listed[-1:] * (rows - len(listed))


def list_looks(looks: Mapping[str, CellLook], *, rows: int = 0) -> dict[str, pa.ChunkedArray]:
    """Put the cells that were kept beside each other, as columns of one length: at least `rows`."""
    rows = max([rows, *(len(look.cells) + 1 for look in looks.values())])
    return {
        name: pa.chunked_array([pa.array(look.list_cells(rows), pa.string())]) for name, look in looks.items()
    }


@dataclass(frozen=True)
class Specimen:
    """A small table that says of which kind each column of a file is."""

    file: str
    table: PlainTable
    cells: Mapping[str, pa.ChunkedArray]  # By column of text that was looked through, what stands in its rows
    many: frozenset[str]  # Columns among these of which only a sample is here


def settle_specimen(specimen: Specimen, *, text_columns: Collection[str]) -> Specimen:
    """Read numbers written for people, which must not be told from a sample of a column's cells."""
    before = dict(specimen.table.frame)
    notes = settle_people_numbers(specimen.table.frame, text_columns=text_columns)
    for name in specimen.many:
        if before[name].dtype == object and specimen.table.frame[name].dtype != object:
            raise InputError(
                f"{specimen.file}: column '{name}' holds more than {FEW:,} different numbers with signs or "
                "marks between thousands; such a column cannot be read part by part: say with [data] format "
                "how numbers are written, or write them plainly"
            )
    table = PlainTable(specimen.table.frame, specimen.table.categories, (*specimen.table.notes, *notes))
    return Specimen(specimen.file, table, specimen.cells, specimen.many)


@dataclass(frozen=True)
class Reading:
    """How the cells of one file are read, in whatever part of it they stand."""

    values: Mapping[str, pd.Series]  # By column of text with few different cells what each is, by the cell
    texts: frozenset[str]  # Columns that are text, here or in another file of the same table
    commas: frozenset[str] = frozenset()  # Columns that were found to have decimal commas
    form: TableFormat = AS_FOUND

    def read(self, part: pa.Table) -> pd.DataFrame:
        """Read a part of the file into plain columns."""
        typed = [name for name in part.column_names if not _is_text(part.schema.field(name).type)]
        plain = dict(plain_table(part.select(typed)).frame) if typed else {}
        columns = {
            name: plain[name] if name in plain else self._read(part, name)
            for name in part.column_names
            if name in plain or name not in typed
        }
        return self.settle(pd.DataFrame(columns, index=pd.RangeIndex(part.num_rows)))

    def settle(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Write numbers as text in the columns that are text in another file."""
        changed = {
            name: pd.Series(as_text(frame[name]))
            for name in frame
            if name in self.texts and frame[name].dtype != object
        }
        return frame.assign(**changed) if changed else frame

    def _read(self, part: pa.Table, name: str) -> pd.Series:
        """Read a column of text."""
        column = part.column(name)
        if name in self.values:
            return _look_up(self.values[name], column)
        if name in self.texts:
            return keep_text(column)
        if name in self.commas:
            return read_text_column(column, decimal=",", thousands=".")
        return read_text_column(column, decimal=self.form.decimal, thousands=self.form.thousands)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _look_up(values: pd.Series, column: pa.ChunkedArray) -> pd.Series:
    """Put what each cell is in its place."""
    parts = []
    for chunk in column.chunks:
        coded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        names = pd.Index([*coded.dictionary.to_pylist(), None], dtype=object)
        places = values.index.get_indexer(names)
        parts.append(places[coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)])
    codes = np.concatenate(parts) if parts else np.empty(0, np.intp)
    return values.iloc[codes].reset_index(drop=True)


def find_readings(
    specimens: list[Specimen], joined: PlainTable, *, text_columns: Collection[str], form: TableFormat
) -> Iterator[Reading]:
    """Say for each file how its parts are read, so that a column is of one kind in all files."""
    begin = 0
    for specimen in specimens:
        rows = len(specimen.table.frame)
        frame, begin = joined.frame.iloc[begin : begin + rows].reset_index(drop=True), begin + rows
        values = {
            name: _index_values(frame[name], cells)
            for name, cells in specimen.cells.items()
            if name not in specimen.many and name not in text_columns
        }
        texts = {
            name
            for name in map(str, frame)
            if name not in values and (name in text_columns or _is_words(frame[name]))
        }
        commas = frozenset(name for name in specimen.many if _has_commas(specimen, name, form))
        yield Reading(values, frozenset(texts), commas, form)


def _has_commas(specimen: Specimen, name: str, form: TableFormat) -> bool:
    """Tell whether a column is numbers only because its commas were found to be decimal."""
    plainly = read_text_column(specimen.cells[name], decimal=form.decimal, thousands=form.thousands)
    return bool(plainly.dtype == object and specimen.table.frame[name].dtype != object)


def _is_words(column: pd.Series) -> bool:
    """Tell whether a column is text, and no truth values of which some are missing."""
    return column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "boolean"


def _index_values(values: pd.Series, cells: pa.ChunkedArray) -> pd.Series:
    """Say what each different cell of a column is, by the cell."""
    found = pd.Series(values.to_numpy(), index=pd.Index(cells.to_pylist(), dtype=object))
    return found[~found.index.duplicated()]
