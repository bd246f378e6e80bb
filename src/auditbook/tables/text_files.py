"""How does a text file (csv, tsv, also packed) become columns, each read as a whole?"""

from collections.abc import Collection
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
from auditbook.tables.text_faults import explain_rows, find_repeated_header
from auditbook.tables.text_layout import Layout, find_layout

_CELLS = pa.dictionary(pa.int32(), pa.string())
_BLOCK = 1 << 24


def read_text_file(
    path: Path, separator: str, *, text_columns: Collection[str], form: TableFormat
) -> PlainTable:
    """Read a separated text file with strict rules about rows and names."""
    layout = find_layout(path, separator, form)
    check_names(path.name, list(layout.names))
    table = _read_cells(path, layout)
    _check_repeated_header(path, layout, table)
    columns = {}
    for position, name in enumerate(layout.names):
        column = table.column(position)
        columns[name] = keep_text(column) if name in text_columns else read_text_column(column)
    return PlainTable(pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows)), {}, layout.notes)


def _read_cells(path: Path, layout: Layout) -> pa.Table:
    """Read every cell as text, empty ones as missing."""
    places = [str(position) for position in range(len(layout.names))]
    try:
        with pa.input_stream(
            path, compression="gzip" if path.name.lower().endswith(".gz") else None
        ) as stream:
            return arrow_csv.read_csv(
                stream,
                read_options=arrow_csv.ReadOptions(
                    column_names=places,
                    skip_rows=layout.skipped,
                    block_size=_BLOCK,
                    encoding=layout.encoding.removesuffix("-sig"),
                ),
                parse_options=arrow_csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(places, _CELLS),
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                ),
            )
    except pa.ArrowInvalid as error:
        raise explain_rows(path, layout, str(error).splitlines()[0][:200]) from None


def _check_repeated_header(path: Path, layout: Layout, table: pa.Table) -> None:
    """Refuse a file in which the line that names the columns stands again among the records."""
    if not table.num_rows:
        return
    again = np.ones(table.num_rows, dtype=bool)
    for position, name in enumerate(layout.names):
        same = pc.equal(table.column(position).cast(pa.string()), name).fill_null(False)
        again &= same.to_numpy()
        if not again.any():
            return
    lines = find_repeated_header(path, layout)
    if lines:
        raise InputError(_tell_repeated_header(path.name, lines))


def _tell_repeated_header(file: str, lines: list[int]) -> str:
    """Say on which lines the names of the columns stand again."""
    listed = ", ".join(f"{line:,}" for line in lines[:5])
    more = f" and {len(lines) - 5:,} more" if len(lines) > 5 else ""
    where = "line" if len(lines) == 1 else "lines"
    them, it = ("that line", "it") if len(lines) == 1 else ("these lines", "them")
    return (
        f"{file}: the names of the columns stand again on {where} {listed}{more}, as when several exports "
        f"are joined; delete {them}, or name the exports one by one: {it} would count as a record"
    )
