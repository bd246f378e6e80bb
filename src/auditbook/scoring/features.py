"""What do the models see of a record? One preprocessing for all, fitted on the training records alone.

Numbers and truth values are imputed by the training median, with an indicator of what was missing. Dates
become days. Categories of few levels become one column a level; categories of many levels are replaced by a
shrunken event rate (target encoding), fitted out of fold over whole units. Outcomes of audited records are
never an argument.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError
from auditbook.scoring.split import Split, fold_units

MAX_ONE_HOT = 20
"""Categories with more levels than this (ours) are target encoded."""
NEARLY_DISTINCT = 0.9
"""Texts with more distinct values than this share of their records (ours) are taken for identifiers."""
LARGEST = 1e37
"""Larger numbers count as this one (ours): the libraries hold features in single precision, up to 3e38."""

Kind = Literal["number", "truth value", "date", "category"]


@dataclass(frozen=True)
class LeftOutColumn:
    """A column that no model sees."""

    column: str  # Its name in the cohort
    reason: str  # Why, in words


@dataclass(frozen=True)
class Features:
    """Feature matrices of the two parts; columns have positions, not names, for the libraries."""

    train: NDArray[np.float64]  # shape (n_train, p): All values finite
    audit: NDArray[np.float64]  # shape (n_audit, p): Likewise
    names: tuple[str, ...]  # length p: What each column is, back to the cohort's columns
    # Columns that are constant, all missing, or name the record or its unit
    left_out: tuple[LeftOutColumn, ...]
    # shape (n_train,): For fitting out of fold; None when each record is a unit
    unit: NDArray[np.intp] | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 in hexadecimal over shapes and contents of the two matrices."""
        digest = hashlib.sha256(repr([self.train.shape, self.audit.shape]).encode())
        for matrix in (self.train, self.audit):
            digest.update(np.ascontiguousarray(matrix).data)
        return digest.hexdigest()

    @property
    def train_unit(self) -> NDArray[np.intp]:
        """Unit of each training record, shape (n_train,)."""
        return np.arange(len(self.train)) if self.unit is None else self.unit


@dataclass(frozen=True)
class _Column:
    """A column as numbers: floats with nan where missing, or codes of sorted levels with -1 where missing."""

    name: str
    kind: Kind
    data: NDArray
    levels: tuple[str, ...] = ()

    @property
    def is_category(self) -> bool:
        return self.kind == "category"


def column_kind(column: pd.Series) -> Kind:
    """Tell what a column holds, whatever pandas stores it as; everything mixed is a category.

    Examples
    --------
    >>> column_kind(pd.Series([True, None, False]))
    'truth value'
    """
    found = pd.api.types.infer_dtype(column.dropna(), skipna=True)
    if isinstance(column.dtype, pd.CategoricalDtype) or found == "categorical":
        return "category"
    if pd.api.types.is_bool_dtype(column.dtype) or found == "boolean":
        return "truth value"
    if found in ("integer", "floating", "mixed-integer-float", "decimal"):
        return "number"
    if found in ("datetime64", "datetime", "date", "timedelta64", "timedelta"):
        return "date"
    return "number" if found == "empty" else "category"


def build_features(
    table: pd.DataFrame,
    columns: Sequence[str],
    *,
    train_outcome: ArrayLike,
    unit: ArrayLike,
    split: Split,
    seed: int,
) -> Features:
    """Turn columns of a cohort into the matrices that every model is trained on and scores.

    Parameters
    ----------
    table : DataFrame, shape (n, any)
        The cohort's records; `columns` are features.
    train_outcome : int array, shape (n_train,)
        Outcomes of the training records only, in the order of ``split.train``.
    unit : array of str, shape (n,)
        Unit of each record; out-of-fold encodings are fitted on other units than they are used for.
    split : Split
        Training and audited records.
    seed : int
        Seed of the folds.

    Raises
    ------
    InputError
        If no column is left to learn from.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [30, None, 50, 40], "sex": ["F", "M", "F", "F"]})
    >>> parts = Split(np.array([0, 1, 2]), np.array([3]))
    >>> unit, outcome = ["a", "b", "c", "d"], [0, 1, 1]
    >>> build_features(table, ["age", "sex"], train_outcome=outcome, unit=unit, split=parts, seed=1).names
    ('age', 'age is missing', 'sex = F', 'sex = M')
    """
    unit, _ = pd.factorize(np.asarray(unit, dtype=object), sort=True)
    read = [_read_column(table[name], name) for name in columns]
    reasons = {column.name: _reason_to_leave_out(column, unit, split) for column in read}
    kept = [column for column in read if reasons[column.name] is None]
    if not kept:
        raise InputError(_explain_no_features(reasons))
    numbers = [column for column in kept if not column.is_category]
    categories = [column for column in kept if column.is_category]
    few = [column for column in categories if _count_levels(column, split) <= MAX_ONE_HOT]
    many = [column for column in categories if _count_levels(column, split) > MAX_ONE_HOT]
    blocks = [_impute(numbers, split), _one_hot(few, split)]
    if many:
        blocks.append(_encode_rates(many, np.asarray(train_outcome), unit, split, seed))
    names = tuple(name for block in blocks for name in block.names)
    train, audit = (np.hstack([getattr(block, part) for block in blocks]) for part in ("train", "audit"))
    varying = np.ptp(train, axis=0) > 0
    left_out = tuple(LeftOutColumn(name, reason) for name, reason in reasons.items() if reason is not None)
    kept_names = tuple(name for name, varies in zip(names, varying, strict=True) if varies)
    return Features(train[:, varying], audit[:, varying], kept_names, left_out, unit[split.train])


def _explain_no_features(reasons: dict[str, str | None]) -> str:
    listed = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
    found = listed or "none was given"
    return f"[features]: no column is left to train on ({found}); include some, or give scores"


def _read_column(column: pd.Series, name: str) -> _Column:
    """Read one column into floats or codes."""
    kind = column_kind(column)
    if kind == "category":
        missing = column.isna().to_numpy(dtype=bool)
        codes = np.full(len(column), -1)
        codes[~missing], levels = pd.factorize(column[~missing].astype(str).to_numpy(dtype=object), sort=True)
        return _Column(name, kind, codes, tuple(levels))
    values = read_days(column) if kind == "date" else read_floats(column)
    return _Column(name, kind, np.clip(np.where(np.isfinite(values), values, np.nan), -LARGEST, LARGEST))


def read_floats(column: pd.Series) -> NDArray[np.float64]:
    """Read numbers or truth values of any storage; nan where missing.

    Examples
    --------
    >>> read_floats(pd.Series([True, None, False])).tolist()
    [1.0, nan, 0.0]
    """
    if column.dtype == object:
        column = column.where(column.notna(), np.nan).astype(float)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def read_days(column: pd.Series) -> NDArray[np.float64]:
    """Read dates as days since 1970, and durations as days; nan where missing.

    Examples
    --------
    >>> read_days(pd.Series(pd.to_datetime(["1970-01-02", None]))).tolist()
    [1.0, nan]
    """
    found = pd.api.types.infer_dtype(column.dropna(), skipna=True)
    plain = column.astype(object) if not isinstance(column.dtype, np.dtype) else column
    if found.startswith("timedelta"):
        return (pd.to_timedelta(plain, errors="coerce") / pd.Timedelta(days=1)).to_numpy(dtype=np.float64)
    moments = pd.to_datetime(plain, errors="coerce", utc=True)
    return ((moments - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)).to_numpy(dtype=np.float64)


def _count_levels(column: _Column, split: Split) -> int:
    """Count the levels of a category that the training records have."""
    codes = column.data[split.train]
    return len(pd.unique(codes[codes >= 0]))


def _reason_to_leave_out(column: _Column, unit: NDArray, split: Split) -> str | None:
    """Say why the training records give nothing to learn from this column; None when they do."""
    values = column.data[split.train]
    present = values[values >= 0] if column.is_category else values[~np.isnan(values)]
    distinct = len(pd.unique(present))
    if distinct == 0:
        return "all missing in the training part"
    if distinct == 1 and len(present) == len(values):
        return "constant in the training part"
    if not column.is_category:
        return None
    if distinct > MAX_ONE_HOT and distinct > NEARLY_DISTINCT * len(present):
        return f"text with {distinct} distinct values in {len(present)} training records"
    return "names the unit, which is held out" if _names_units(values, unit[split.train]) else None


def _names_units(codes: NDArray, unit: NDArray) -> bool:
    """Tell whether a category is another name of the unit: one value a unit, one unit a value."""
    unit_codes, units = pd.factorize(unit)
    if len(units) == len(unit) or len(pd.unique(codes)) != len(units):
        return False
    return len(pd.unique(codes.astype(np.int64) * len(units) + unit_codes)) == len(units)


@dataclass(frozen=True)
class _Block:
    """Some columns of the two matrices, with their names."""

    train: NDArray[np.float64]
    audit: NDArray[np.float64]
    names: list[str]


def _stack(columns: list[_Column], positions: NDArray[np.int64]) -> NDArray:
    """Put columns side by side for some records, shape (n, n_columns)."""
    return np.column_stack([column.data[positions] for column in columns] or [np.empty((len(positions), 0))])


def _fit_block(
    encoder: Any, columns: list[_Column], split: Split, name_outputs: Callable[[Any], list[str]]
) -> _Block:
    """Fit an encoder that needs no outcome on the training records and apply it to both parts."""
    if not columns:
        return _Block(np.empty((len(split.train), 0)), np.empty((len(split.audit), 0)), [])
    train = encoder.fit_transform(_stack(columns, split.train))
    return _Block(train, encoder.transform(_stack(columns, split.audit)), name_outputs(encoder))


def _impute(columns: list[_Column], split: Split) -> _Block:
    """Impute numbers by the training median, and mark what was missing in training."""
    from sklearn.impute import SimpleImputer

    names = [column.name for column in columns]
    return _fit_block(
        SimpleImputer(strategy="median", add_indicator=True),
        columns,
        split,
        lambda imputer: (
            names + [f"{names[position]} is missing" for position in imputer.indicator_.features_]
        ),
    )


def _one_hot(columns: list[_Column], split: Split) -> _Block:
    """Give each level seen in training, and missing, a column; an unseen level has zeros everywhere."""
    from sklearn.preprocessing import OneHotEncoder

    return _fit_block(
        OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float64),
        columns,
        split,
        lambda encoder: [
            f"{column.name} = {column.levels[code]}" if code >= 0 else f"{column.name} is missing"
            for column, codes in zip(columns, encoder.categories_, strict=True)
            for code in codes
        ],
    )


def _encode_rates(columns: list[_Column], outcome: NDArray, unit: NDArray, split: Split, seed: int) -> _Block:
    """Replace levels by shrunken event rates: out of fold in training, from all of training in the audit."""
    from sklearn.preprocessing import TargetEncoder

    encoder = TargetEncoder(target_type="binary", cv=fold_units(unit[split.train], seed=seed))
    train = encoder.fit_transform(_stack(columns, split.train), outcome)
    audit = encoder.transform(_stack(columns, split.audit))
    return _Block(train, audit, [f"event rate by {column.name}" for column in columns])
