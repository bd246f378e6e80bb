"""What does a cell say: text, a number, nothing, or a value that the cohort file names?"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.key_types import Value
from auditbook.tables.faults import show

Mask = NDArray[np.bool_]

TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")


@dataclass(frozen=True)
class Numbers:
    """A column as numbers."""

    cells: NDArray[np.float64]  # shape (n,): The numbers; nan where the cell is missing or is no number
    bad: Mask  # shape (n,): True where a cell is there but is no finite number


def as_text(column: pd.Series) -> NDArray[np.object_]:
    """Write each cell as text, the same for every type of column that can hold it; None where missing.

    Text stays as it stands; whole numbers are without a decimal point (``1.0`` is ``"1"``).

    Examples
    --------
    >>> as_text(pd.Series([1.0, float("nan"), 2.5])).tolist()
    ['1', None, '2.5']
    """
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) == "string":
        text = column.to_numpy(dtype=object, copy=True)
        text[column.isna().to_numpy()] = None
        return text
    codes, values = pd.factorize(column, use_na_sentinel=True)
    names = np.array([*(name_value(value) for value in values), None], dtype=object)
    return np.asarray(names[codes])


def name_value(value: object) -> str:
    """Write one value as text; a whole number without a decimal point."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def as_numbers(column: pd.Series) -> Numbers:
    """Read each cell as a number; text that is one counts, words such as nan do not; true is 1."""
    missing = is_missing(column)
    if column.dtype == object:
        nothing: Any = None
        present = column.where(pd.Series(~missing, index=column.index), nothing)
        values = _parse(present)
    elif column.dtype.kind in "biuf":
        values = column.to_numpy(dtype=float)
    else:
        values = np.full(len(column), np.nan)
    bad = ~np.isfinite(values) & ~missing
    return Numbers(np.where(bad, np.nan, values), bad)


def _parse(column: pd.Series) -> NDArray[np.float64]:
    """Read text as the float nearest to it, which pandas misses by a bit in a third of long decimals."""
    codes, found = pd.factorize(column, use_na_sentinel=True)
    near = pd.to_numeric(pd.Series(found, dtype=object), errors="coerce").to_numpy(float, na_value=np.nan)
    pairs = zip(found, near, strict=True)
    exact = [
        float(cell) if isinstance(cell, str) and np.isfinite(number) else number for cell, number in pairs
    ]
    return np.array([*exact, np.nan], float)[codes]


def is_missing(column: pd.Series, values: Iterable[Value] = ()) -> Mask:
    """Tell which cells are missing: null, blank, or a value that means so, matched as `matches` does."""
    if column.dtype == object:
        codes, found = pd.factorize(column, use_na_sentinel=True)
        blank = np.array(
            [isinstance(value, str) and not value.strip() for value in found] + [True], dtype=bool
        )
        missing = blank[codes]
    else:
        missing = column.isna().to_numpy(dtype=bool)
    for value in values:
        missing = missing | matches(column, value)
    return np.asarray(missing)


def matches(column: pd.Series, value: Value) -> Mask:
    """Tell which cells equal a value of the cohort file.

    Text equals the same text, blanks and capitals included. A number equals every cell that is this
    number, also as text (``1`` matches 1, 1.0, "1" and true). ``true`` equals true, "true", "True",
    "TRUE" and 1; ``false`` likewise with 0. Blank text equals a missing cell.
    """
    if isinstance(value, str):
        return is_missing(column) if not value.strip() else np.asarray(as_text(column) == value)
    equal = as_numbers(column).cells == float(value)
    if isinstance(value, bool):
        equal = equal | np.isin(as_text(column).astype(str), TRUE if value else FALSE)
    return np.asarray(equal)


def list_values(column: pd.Series, *, limit: int = 8) -> str:
    """List the most frequent values of a column, blanks made visible."""
    text = pd.Series(as_text(column)).dropna()
    counts = text.value_counts()
    counts = counts.iloc[np.lexsort((counts.index.to_numpy(dtype=str), -counts.to_numpy()))]
    quoted = column.dtype == object
    names = [show(name) if quoted else name for name in counts.index[:limit]]
    shown = [f"{name} ({count:,})" for name, count in zip(names, counts, strict=False)]
    more = f" and {len(counts) - limit:,} more" if len(counts) > limit else ""
    return ", ".join(shown) + more if shown else "nothing but missing cells"
