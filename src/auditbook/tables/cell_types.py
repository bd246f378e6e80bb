"""Of which type is a column whose cells come one by one, as from lines of JSON or the rows of a database?"""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from auditbook.errors import InputError
from auditbook.tables.text_columns import EXACT
from auditbook.tables.values import name_value

_WIDEST = 2**63 - 1
_DIGITS = 76
"""An Arrow decimal has no more digits."""
_ALIKE = {
    str: pa.string(),
    bool: pa.bool_(),
    float: pa.float64(),
    date: pa.date32(),
    time: pa.time64("us"),
    timedelta: pa.duration("us"),
}
"""Types of Python that an Arrow type holds as they are."""
_BUFFERS = (bytes, bytearray, memoryview)
_BYTES = set(_BUFFERS)


def type_cells(where: str, name: str, cells: Sequence[object]) -> pa.Array:
    """Hold the cells of a column as what all of them are; text where they are of several kinds."""
    kinds = set(map(type, cells)) - {type(None)}
    if kinds & {list, dict, tuple, set}:
        raise InputError(f"{where}: column {name!r} holds lists or tables, not single values; leave it out")
    if not kinds:
        return pa.nulls(len(cells))
    if kinds <= _BYTES:
        return pa.array([bytes(cell) if isinstance(cell, _BUFFERS) else None for cell in cells], pa.binary())
    if len(kinds) == 1 and (kind := next(iter(kinds))) in _ALIKE:
        return pa.array(cells, _ALIKE[kind], from_pandas=True)
    typed = _type_times(cells) if kinds == {datetime} else _type_numbers(cells, kinds)
    return _as_words(cells) if typed is None else typed


def _type_times(cells: Sequence[object]) -> pa.Array | None:
    """Hold moments, all with a time zone or all without; None where they are mixed."""
    zones = {cell.tzinfo is not None for cell in cells if isinstance(cell, datetime)}
    return pa.array(cells) if len(zones) == 1 else None


def _type_numbers(cells: Sequence[object], kinds: set[type]) -> pa.Array | None:
    """Hold numbers as whole numbers, floats or decimals; None where none of these holds each exactly."""
    whole = [cell for cell in cells if isinstance(cell, int)] if int in kinds else []
    widest = max(map(abs, whole), default=0)
    if kinds == {int} and widest <= _WIDEST:
        return pa.array(cells, pa.int64())
    if kinds <= {int, float} and float in kinds and widest <= EXACT:
        floats = [float(cell) if isinstance(cell, int | float) else None for cell in cells]
        return pa.array(floats, pa.float64(), from_pandas=True)
    if kinds <= {int, Decimal} and Decimal in kinds:
        return _type_decimals(cells)
    return None


def _type_decimals(cells: Sequence[object]) -> pa.Array | None:
    """Hold decimals, no number as missing; None where one is infinite or too long."""
    exact = [Decimal(cell) if isinstance(cell, int | Decimal) else None for cell in cells]
    known = [None if cell is None or cell.is_nan() else cell for cell in exact]
    if any(cell is not None and cell.is_infinite() for cell in known):
        return None
    try:
        return pa.array(known, None if any(known) or Decimal(0) in known else pa.null())
    except pa.ArrowInvalid:
        return None


def _as_words(cells: Sequence[object]) -> pa.Array:
    return pa.array([None if cell is None else name_value(cell) for cell in cells], pa.string())


def join_parts(parts: Sequence[pa.Array]) -> pa.ChunkedArray:
    """Join the parts of a column; text where they are of several kinds."""
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if len(kinds) > 1:
        kinds = {_common_kind(parts, kinds)}
    kind = kinds.pop() if kinds else pa.null()
    if kind == pa.string():
        parts = [part if part.type == kind else _as_words(part.to_pylist()) for part in parts]
    return pa.chunked_array([part.cast(kind) for part in parts], kind)


def _common_kind(parts: Sequence[pa.Array], kinds: set[pa.DataType]) -> pa.DataType:
    """Find the type that holds parts of several types exactly; text where none other does."""
    if kinds <= {pa.int64(), pa.float64()} and all(map(_is_exact, parts)):
        return pa.float64()
    if all(pa.types.is_decimal(kind) or kind == pa.int64() for kind in kinds):
        decimals = [kind for kind in kinds if pa.types.is_decimal(kind)]
        scale = max(kind.scale for kind in decimals)
        whole = max(*(kind.precision - kind.scale for kind in decimals), 19 if pa.int64() in kinds else 0)
        if whole + scale <= _DIGITS:
            return pa.decimal256(whole + scale, scale)
    return pa.string()


def _is_exact(part: pa.Array) -> bool:
    """Tell whether floats hold every whole number of a part."""
    if not pa.types.is_integer(part.type):
        return True
    bounds = pc.min_max(part).as_py()
    return bounds["min"] is None or max(abs(bounds["min"]), abs(bounds["max"])) <= EXACT
