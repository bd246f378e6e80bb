"""How is a file of typed columns, parquet or feather, read part by part?"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from auditbook.tables.column_looks import CellLook, Specimen, list_looks
from auditbook.tables.columnar import explaining_arrow, hold_whole
from auditbook.tables.people_numbers import may_be_numbers
from auditbook.tables.plain import PlainTable, check_names, plain_table

_HEAD, _STEP = 1_000, 1 << 20


@dataclass(frozen=True)
class ColumnarFile:
    """A parquet or feather file of which some columns are read part by part."""

    path: Path
    kind: str  # "parquet" or "feather"
    columns: tuple[str, ...]
    sizes: tuple[int, ...]  # Rows of each row group, or of each batch

    def each_part(self, groups: Sequence[int] | None = None, rows: int = _STEP) -> Iterator[pa.Table]:
        """Read some row groups (None: all), at most so many rows at once."""
        numbers = list(range(len(self.sizes))) if groups is None else list(groups)
        each = _each_parquet if self.kind == "parquet" else _each_feather
        with explaining_arrow(self.path.name, self.kind):
            for part in each(self, numbers, rows):
                yield hold_whole(part)


def _each_parquet(file: ColumnarFile, groups: list[int], rows: int) -> Iterator[pa.Table]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file.path) as source:
        for batch in source.iter_batches(rows, row_groups=groups, columns=list(file.columns)):
            yield pa.Table.from_batches([batch])


def _each_feather(file: ColumnarFile, groups: list[int], rows: int) -> Iterator[pa.Table]:
    with pa.memory_map(str(file.path)) as source:
        reader = pa.ipc.open_file(source)
        for number in groups:
            whole = pa.Table.from_batches([reader.get_batch(number)]).select(list(file.columns))
            yield from (whole.slice(begin, rows) for begin in range(0, whole.num_rows, rows))


def open_parquet(path: Path) -> ColumnarFile:
    """Read what a parquet file says of itself."""
    import pyarrow.parquet as pq

    with explaining_arrow(path.name, "parquet"):
        names, found = pq.read_schema(path).names, pq.read_metadata(path)
        check_names(path.name, names)
        sizes = tuple(found.row_group(number).num_rows for number in range(found.num_row_groups))
    return ColumnarFile(path, "parquet", tuple(names), sizes)


def open_feather(path: Path) -> ColumnarFile:
    """Read what a feather file of version 2 says of itself."""
    with explaining_arrow(path.name, "feather"), pa.memory_map(str(path)) as source:
        reader = pa.ipc.open_file(source)
        check_names(path.name, reader.schema.names)
        sizes = tuple(reader.get_batch(number).num_rows for number in range(reader.num_record_batches))
        return ColumnarFile(path, "feather", tuple(reader.schema.names), sizes)


def look_at_columnar(file: ColumnarFile, *, text_columns: Collection[str]) -> Specimen:
    """Read the first rows, what columns declare, and the different cells of what may be numbers."""
    head = next(file.each_part(rows=_HEAD), pa.table({name: pa.nulls(0) for name in file.columns}))
    table = plain_table(head, name=file.path.name)
    written = [
        name for name in map(str, table.frame) if name not in text_columns and _may_be(head, table, name)
    ]
    declared = [name for name in head.column_names if pa.types.is_dictionary(head.schema.field(name).type)]
    looks = {name: CellLook() for name in written}
    categories: dict[str, dict[object, None]] = {name: {} for name in declared}
    for part in replace(file, columns=(*written, *declared)).each_part() if written or declared else ():
        for name, look in looks.items():
            look.add(part.column(name).cast(pa.string()))
        for name, listed in plain_table(part.select(declared)).categories.items():
            categories[name].update(dict.fromkeys(listed))
    whole = replace(table, categories={name: tuple(listed) for name, listed in categories.items()})
    return _put_together(file.path.name, whole, looks)


def _may_be(head: pa.Table, table: PlainTable, name: str) -> bool:
    """Tell whether a column of text may hold numbers that people wrote for people."""
    kind = head.schema.field(name).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind)) and may_be_numbers(
        table.frame[name]
    )


def _put_together(file: str, table: PlainTable, looks: dict[str, CellLook]) -> Specimen:
    """Put the different cells of columns that were looked through in place of their first rows."""
    columns = list_looks(looks, rows=len(table.frame))
    rows = max([len(table.frame), *map(len, columns.values())])
    more = [0] * (rows - len(table.frame)) if len(table.frame) else []
    frame = table.frame.iloc[[*range(len(table.frame)), *more]].reset_index(drop=True)
    frame = frame.assign(**plain_table(pa.table(columns)).frame) if columns else frame
    many = frozenset(name for name, look in looks.items() if look.many)
    return Specimen(file, replace(table, frame=frame), columns, many)
