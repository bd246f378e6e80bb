"""Which table does a file of typed columns hold: parquet or feather?"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from auditbook.errors import InputError
from auditbook.tables.plain import PlainTable, check_names, plain_table


def read_parquet_file(path: Path) -> PlainTable:
    """Read a parquet file."""
    import pyarrow.parquet as pq

    with explaining_arrow(path.name, "parquet"):
        check_names(path.name, pq.read_schema(path).names)
        return plain_table(hold_whole(pq.read_table(path)), name=path.name)


def read_feather_file(path: Path) -> PlainTable:
    """Read a feather (Arrow) file of version 1 or 2."""
    from pyarrow import feather

    with explaining_arrow(path.name, "feather"):
        return plain_table(hold_whole(feather.read_table(path)), name=path.name)


@contextmanager
def explaining_arrow(file: str, kind: str) -> Iterator[None]:
    """Say in one sentence why a file cannot be read."""
    try:
        yield
    except (pa.ArrowException, MemoryError) as error:
        raise InputError(_explain(file, kind, error)) from None


def hold_whole(table: pa.Table) -> pa.Table:
    """Refuse a damaged table before anything reads beyond its ends."""
    table.validate(full=True)
    return table


def _explain(file: str, kind: str, error: Exception) -> str:
    told = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return f"{file}: not a readable {kind} file: {told}; export it again"
