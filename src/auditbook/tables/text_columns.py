"""Of which kind is a column that a file holds as text: truth values, numbers, dates, or words?"""

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from auditbook.tables.values import FALSE, TRUE

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$"
_WHOLE = r"^[+-]?\d+$"
_DATE = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?( ?([Zz]|[+-]\d\d:?\d\d))?)?$"
_ZONE = r" ?([Zz]|[+-]\d\d:?\d\d)$"
_BELOW_MICROSECONDS = r"(\.\d{6})\d*$"
_LEADING_ZERO = r"^0\d+$"
_FIRST = 100

EXACT = 2**53
"""Every whole number up to here is a float of its own."""


def read_text_column(
    column: pa.ChunkedArray, *, decimal: str | None = None, thousands: str | None = None
) -> pd.Series:
    """Read a column of text as truth values, numbers or ISO dates if all its cells are such, else as text."""
    cells, codes = _distinct(column)
    trimmed = pc.utf8_trim_whitespace(cells)
    filled = pc.not_equal(trimmed, "")
    present = trimmed.filter(filled)
    if not len(present):
        return pd.Series(np.full(len(codes), np.nan))
    present = _rewrite(present, decimal or ".", thousands)
    places = np.flatnonzero(filled.to_numpy(zero_copy_only=False))
    kind = _read_kind(present, _renumber(codes, places, len(cells)))
    return _spread(cells, codes) if kind is None else kind


def keep_text(column: pa.ChunkedArray) -> pd.Series:
    """Hold a column of text as it stands; None where missing."""
    cells, codes = _distinct(column)
    return _spread(cells, codes)


def read_dates(column: pa.ChunkedArray) -> pd.Series | None:
    """Read a column of text in which every filled cell is an ISO date; None for another."""
    cells, codes = _distinct(column)
    return _dates(cells, codes) if len(cells) and _all_match(cells, _DATE) else None


def read_decimals(column: pa.ChunkedArray) -> pd.Series:
    """Read decimals as numbers, or as text where floats cannot keep them apart."""
    cells, codes = _distinct(column.cast(pa.string()))
    if not len(cells):
        return pd.Series(np.full(len(codes), np.nan))
    if (numbers := read_numbers(cells, codes)) is not None:
        return numbers
    return _spread(pa.array([trim_zeros(cell) for cell in cells.to_pylist()], pa.string()), codes)


def read_numbers(cells: pa.StringArray, codes: NDArray[np.int32]) -> pd.Series | None:
    """Read distinct cells that are numbers; None where a float or int64 cannot hold each of them exactly."""
    missing = bool((codes < 0).any())
    if pc.all(pc.match_substring_regex(cells, _WHOLE)).as_py():
        whole = _cast(cells, pa.int64())
        if whole is None or (missing and max(whole.max(), -whole.min()) > EXACT):
            return None
        return pd.Series(_with_gaps(whole.astype(float), codes) if missing else whole[codes])
    values = _cast(cells, pa.float64())
    if values is None or not _holds_apart(cells, values):
        return None
    return settle(_with_gaps(values, codes))


def settle(values: NDArray[np.float64]) -> pd.Series:
    """Bring numbers to int64 where all are there and whole, so that no file's types make a difference."""
    if len(values) and np.isfinite(values).all() and np.abs(values).max() <= EXACT:
        whole = values.astype(np.int64)
        if (whole == values).all():
            return pd.Series(whole)
    return pd.Series(values)


def _distinct(column: pa.ChunkedArray) -> tuple[pa.StringArray, NDArray[np.int32]]:
    """Return the different cells of a column, and for each row its cell's position (-1 where missing)."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    if not column.num_chunks:
        return pa.array([], pa.string()), np.empty(0, np.int32)
    parts = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in column.chunks]
    cells = column.chunk(column.num_chunks - 1).dictionary
    return cells.cast(pa.string()), np.concatenate(parts).astype(np.int32, copy=False)


def _renumber(codes: NDArray[np.int32], kept: NDArray[np.intp], total: int) -> NDArray[np.int32]:
    """Point the rows at the cells that are kept; -1 where theirs is not among them."""
    if len(kept) == total:
        return codes
    places = np.full(total + 1, -1, dtype=np.int32)
    places[kept] = np.arange(len(kept), dtype=np.int32)
    return places[codes]


def _read_kind(cells: pa.StringArray, codes: NDArray[np.int32]) -> pd.Series | None:
    """Read distinct cells, none of them blank, as the one kind that all of them are of; None if text."""
    first = cells.slice(0, _FIRST)
    if len(cells) <= len(TRUE + FALSE) and set(cells.to_pylist()) <= {*TRUE, *FALSE}:
        return _truth(cells, codes)
    if _all_match(first, _DATE):
        return _dates(cells, codes) if _all_match(cells, _DATE) else None
    if not _all_match(first, _NUMBER) or not _all_match(cells, _NUMBER):
        return None
    if pc.any(pc.match_substring_regex(cells, _LEADING_ZERO)).as_py():
        return None
    return read_numbers(cells, codes) if pc.any(pc.match_substring_regex(cells, r"\d")).as_py() else None


def _rewrite(cells: pa.StringArray, decimal: str, thousands: str | None) -> pa.StringArray:
    """Write numbers with a decimal point and nothing between thousands, where all cells are numbers."""
    if decimal == "." and thousands is None:
        return cells
    point, mark = re.escape(decimal), re.escape(thousands or "")
    parted = rf"[+-]?\d{{1,3}}({mark}\d{{3}})+({point}\d*)?|" if thousands else ""
    if not _all_match(cells, rf"^({parted}[+-]?(\d+({point}\d*)?|{point}\d+)([eE][+-]?\d+)?)$"):
        return cells
    plain = pc.replace_substring(cells, thousands, "") if thousands else cells
    return pc.replace_substring(plain, decimal, ".")


def _all_match(cells: pa.StringArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(cells, pattern)).as_py())


def _truth(cells: pa.StringArray, codes: NDArray[np.int32]) -> pd.Series:
    """Read truth values; objects with None where some are missing."""
    truth = np.array([cell in TRUE for cell in cells.to_pylist()])
    if (codes >= 0).all():
        return pd.Series(truth[codes])
    return pd.Series(np.array([*truth.tolist(), None], dtype=object)[codes])


def _dates(cells: pa.StringArray, codes: NDArray[np.int32]) -> pd.Series | None:
    """Read ISO dates by the clock of the place where they were written; None if one is in no calendar."""
    plain = pc.replace_substring_regex(cells, _ZONE, "")
    plain = pc.replace_substring_regex(plain, _BELOW_MICROSECONDS, r"\1")
    times = _cast(plain, pa.timestamp("us"))
    if times is None:
        return None
    return pd.Series(np.append(times, np.datetime64("NaT", "us"))[codes])


def _cast(cells: pa.StringArray, kind: pa.DataType) -> NDArray[Any] | None:
    """Convert text to numbers or times; None where it cannot be done."""
    try:
        return np.asarray(pc.utf8_ltrim(cells, characters="+").cast(kind).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return None


def _with_gaps(values: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.append(values, np.nan)[codes]


def _spread(cells: pa.StringArray, codes: NDArray[np.int32]) -> pd.Series:
    return pd.Series(np.array([*cells.to_pylist(), None], dtype=object)[codes])


def _holds_apart(cells: pa.StringArray, values: NDArray[np.float64]) -> bool:
    """Tell whether floats keep decimals apart, and are exact where these are beyond every float's digits."""
    wide = np.flatnonzero(np.isfinite(values) & (np.abs(values) >= EXACT))
    written = cells.take(pa.array(wide))
    plain = written.filter(pc.invert(pc.match_substring_regex(written, "[eE]"))).to_pylist()
    if any(Decimal(cell) != Decimal(float(cell)) for cell in plain):
        return False
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    shared = np.flatnonzero(counts[inverse] > 1)
    same = {Decimal(cell) for cell in cells.take(pa.array(shared)).to_pylist()}
    return len(same) == int((counts > 1).sum())


def trim_zeros(cell: str) -> str:
    """Write a decimal without zeros at the end of its fraction."""
    written = f"{Decimal(cell):f}"
    return written.rstrip("0").rstrip(".") if "." in written else written
