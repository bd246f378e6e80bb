"""Which table do lines of JSON hold, one object a record?"""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from auditbook.errors import InputError
from auditbook.tables.cell_types import join_parts, type_cells
from auditbook.tables.faults import show
from auditbook.tables.plain import PlainTable, plain_table
from auditbook.tables.text_columns import read_dates
from auditbook.tables.text_records import open_text

_BATCH = 50_000


def read_json_lines(path: Path) -> PlainTable:
    """Read lines of JSON objects; a key that a record lacks is missing there."""
    lines = _each_object(path)
    batches: list[dict[str, pa.Array]] = []
    sizes: list[int] = []
    while batch := list(islice(lines, _BATCH)):
        keys = dict.fromkeys(name for item in batch for name in item)
        batches.append({key: type_cells(path.name, key, [item.get(key) for item in batch]) for key in keys})
        sizes.append(len(batch))
    names = list(dict.fromkeys(name for batch in batches for name in batch))
    if not names:
        raise InputError(f"{path.name}: no line holds an object with a key; export the table again")
    columns = [
        join_parts([batch.get(name, pa.nulls(size)) for batch, size in zip(batches, sizes, strict=True)])
        for name in names
    ]
    table = plain_table(pa.Table.from_arrays(columns, names=names), name=path.name)
    for name, column in zip(names, columns, strict=True):
        dates = read_dates(column) if pa.types.is_string(column.type) else None
        if dates is not None:
            table.frame[name] = dates
    return table


def _each_object(path: Path) -> Iterator[dict[str, Any]]:
    """Read the objects of a file, line by line."""
    with open_text(path, "utf-8-sig") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                item = json.loads(line, object_pairs_hook=_hold_pairs)
            except (ValueError, RecursionError) as error:
                known = isinstance(error, json.JSONDecodeError)
                reason = error if known else "lists in lists too deep, or a number of thousands of digits"
                raise InputError(
                    f"{path.name}: line {number:,} is not JSON ({reason}); each line holds one object, such "
                    'as {"age": 64, "died": 0}'
                ) from None
            if not isinstance(item, dict):
                raise InputError(
                    f"{path.name}: line {number:,} holds {show(item)}, not an object; each line holds one, "
                    'such as {"age": 64, "died": 0}'
                )
            _check_item(f"{path.name}: line {number:,}", line, item)
            yield item


class _Twice(dict[str, Any]):
    """An object in which a key stands more than once; the last one counts."""


def _hold_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Hold the pairs of an object, marked where a key stands more than once."""
    held = dict(pairs)
    return held if len(held) == len(pairs) else _Twice(pairs)


def _check_item(where: str, line: str, item: dict[str, Any]) -> None:
    """Refuse an object with a key that stands twice, or with half a character, which no text can hold."""
    if isinstance(item, _Twice):
        raise InputError(f"{where} holds a key twice ({show(line.strip()[:80])}); rename one of each")
    if "\\ud" in line.lower():
        try:
            json.dumps(item, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x}"
            raise InputError(
                f"{where} holds half a character ({half}), as where text was cut off; write it whole"
            ) from None
