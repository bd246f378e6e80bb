"""How does a table lose the peculiarities of its file: a few plain types, each value exact?"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.tables.text_columns import EXACT, keep_text, read_decimals, settle

NO_TEXT = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
"""Signs that no text holds."""


@dataclass(frozen=True)
class PlainTable:
    """A table without the peculiarities of its file."""

    # Numbers are int64 (whole, none missing) or float64 (nan where missing), truth values bool or object with
    # None, dates datetime64, everything else object holding str (None where missing); whole numbers and
    # decimals that float64 or int64 cannot hold are text. RangeIndex
    frame: pd.DataFrame
    # Values that a column declares beside those that occur, in the declared order
    categories: Mapping[str, tuple[object, ...]]
    # What the file did not say and was found by itself, a sentence each: separator, encoding, sheet
    notes: tuple[str, ...] = ()


def check_names(file: str, names: list[str]) -> None:
    """Refuse two columns of one name."""
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise InputError(
            f"{file}: column names that stand twice: {', '.join(map(repr, repeated))}; rename one of each"
        )


def plain_table(table: pd.DataFrame | pa.Table, *, name: str = "the table") -> PlainTable:
    """Bring nullable, category, Arrow and object columns to one plain form."""
    if isinstance(table, pd.DataFrame):
        table = _to_arrow(table)
    check_names(name, table.column_names)
    kept = [item for item in table.column_names if not re.fullmatch(r"__index_level_\d+__", item)]
    columns: dict[str, pd.Series] = {}
    notes: list[str] = []
    categories: dict[str, tuple[object, ...]] = {}
    for item in kept:
        column = table.column(item)
        if pa.types.is_nested(column.type):
            raise InputError(
                f"{name}: column '{item}' holds lists or tables, not single values; leave it out"
            )
        if pa.types.is_dictionary(column.type):
            categories[item] = _declared(column)
            column = column.cast(column.type.value_type)
        if _is_binary(column.type):
            column = _read_binary(column)
        if column is None:
            notes.append(f"column '{item}' holds binary data, neither numbers nor text: it is left out")
        else:
            columns[item] = _plain_column(column)
    return PlainTable(pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows)), categories, tuple(notes))


def _is_binary(kind: pa.DataType) -> bool:
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)


def _to_arrow(frame: pd.DataFrame) -> pa.Table:
    """Turn a frame into an Arrow table; a column of mixed kinds becomes text."""
    arrays = []
    for position in range(frame.shape[1]):
        series = frame.iloc[:, position]
        try:
            arrays.append(pa.array(series, from_pandas=True))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            arrays.append(pa.array([None if pd.isna(item) else str(item) for item in series], pa.string()))
    chunks = [item if isinstance(item, pa.ChunkedArray) else pa.chunked_array([item]) for item in arrays]
    return pa.Table.from_arrays(chunks, names=[str(name) for name in frame.columns])


def _declared(column: pa.ChunkedArray) -> tuple[object, ...]:
    """Return the values that a dictionary column declares, in order, without repeats."""
    values: dict[object, None] = {}
    for chunk in column.chunks:
        values.update(dict.fromkeys(chunk.dictionary.to_pylist()))
    return tuple(value for value in values if value is not None)


def _plain_column(column: pa.ChunkedArray) -> pd.Series:
    """Convert one Arrow column to numpy's int64, float64, bool, datetime64 or object."""
    kind = column.type
    if pa.types.is_null(kind):
        return pd.Series(np.full(len(column), np.nan))
    if pa.types.is_floating(kind):
        return settle(_widen(column))
    if pa.types.is_decimal(kind):
        return read_decimals(column)
    if pa.types.is_integer(kind):
        return _plain_whole(column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pd.Series(_on_the_wall(column).cast(pa.timestamp("us"), safe=False).to_pandas())
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return pd.Series(_name_spans(column), dtype=object)
    if pa.types.is_boolean(kind):
        return pd.Series(column.to_pandas().to_numpy())
    return keep_text(column)


def _widen(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return floats as float64; a shorter float becomes the shortest decimal that it stands for."""
    if pa.types.is_float32(column.type):
        column = column.cast(pa.string()).cast(pa.float64())
    if not pa.types.is_float16(column.type):
        return np.asarray(column.to_numpy())
    values, places = np.unique(
        column.cast(pa.float32()).to_numpy().astype(np.float16), return_inverse=True, equal_nan=False
    )
    return np.array([float(str(value)) for value in values], dtype=float)[places]


def _plain_whole(column: pa.ChunkedArray) -> pd.Series:
    """Hold whole numbers as int64; as float64 where some are missing, as text where that is not exact."""
    if column.null_count == len(column):
        return pd.Series(np.full(len(column), np.nan))
    bounds = pc.min_max(column).as_py()
    largest = max(abs(bounds["min"]), abs(bounds["max"]))
    if largest >= 2**63 or (column.null_count and largest > EXACT):
        return keep_text(column.cast(pa.string()))
    return pd.Series(column.cast(pa.float64() if column.null_count else pa.int64()).to_numpy())


def _on_the_wall(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Take times of a time zone as a clock there shows them; in UTC where no such zone is known."""
    zone = getattr(column.type, "tz", None)
    if zone is None:
        return column
    try:
        return pc.local_timestamp(column)
    except (pa.ArrowInvalid, pa.ArrowKeyError, pa.ArrowNotImplementedError):
        return column.cast(pa.timestamp(column.type.unit))


def _name_spans(column: pa.ChunkedArray) -> list[str | None]:
    """Write times of day and durations as text; the count of its units where one is too long to name."""
    try:
        return [None if item is None else str(item) for item in column.to_pylist()]
    except (OverflowError, ValueError, pa.ArrowInvalid):
        counts = column.cast(pa.int64()).to_pylist()
        return [None if item is None else f"{item} {column.type.unit}" for item in counts]


def _read_binary(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Read text that a file keeps as bytes; None where they are none, such as pictures and hashes."""
    try:
        text = column.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return None
    return None if pc.any(pc.match_substring_regex(text, NO_TEXT)).as_py() else text
