"""Which table does a file of typed columns hold: parquet or feather?"""

from pathlib import Path

import pyarrow as pa

from auditbook.errors import InputError
from auditbook.tables.plain import PlainTable, check_names, plain_table


def read_parquet_file(path: Path) -> PlainTable:
    """Read a parquet file."""
    import pyarrow.parquet as pq

    try:
        check_names(path.name, pq.read_schema(path).names)
        return plain_table(_hold_whole(pq.read_table(path)), name=path.name)
    except (pa.ArrowException, MemoryError) as error:
        raise InputError(_explain(path.name, "parquet", error)) from None


def read_feather_file(path: Path) -> PlainTable:
    """Read a feather (Arrow) file of version 1 or 2."""
    from pyarrow import feather

    try:
        return plain_table(_hold_whole(feather.read_table(path)), name=path.name)
    except (pa.ArrowException, MemoryError) as error:
        raise InputError(_explain(path.name, "feather", error)) from None


def _hold_whole(table: pa.Table) -> pa.Table:
    """Refuse a damaged table before anything reads beyond its ends."""
    table.validate(full=True)
    return table


def _explain(file: str, kind: str, error: Exception) -> str:
    told = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return f"{file}: not a readable {kind} file: {told}; export it again"
