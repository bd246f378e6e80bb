"""Which number stands for what a cell says, whatever its column is stored as?"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.util import hash_array

from auditbook.tables.values import as_text

Hashes = NDArray[np.uint64]

MISSING = "\x00missing"
"""Stands for a missing text while it is hashed."""


def mix(values: NDArray[np.uint64]) -> Hashes:
    """Scramble 64-bit numbers so that neighbours in value end far apart (the finaliser of splitmix64).

    References
    ----------
    Steele, G. L., Lea, D. and Flood, C. H. (2014). Fast splittable pseudorandom number generators.
    doi:10.1145/2660193.2660195
    """
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def hash_numbers(values: NDArray[np.number]) -> Hashes:
    """Hash numbers by their value: 1 is 1.0, one zero has no sign, and what is missing is alike."""
    cells = np.asarray(values, dtype=np.float64)
    cells = np.where(np.isnan(cells), np.nan, cells + 0.0)
    return mix(np.ascontiguousarray(cells).view(np.uint64))


def hash_text(cells: NDArray[np.object_]) -> Hashes:
    """Hash text, None where missing."""
    codes, words = pd.factorize(cells, use_na_sentinel=True)
    hashed = hash_array(np.array([*words, MISSING], dtype=object), categorize=False)
    return np.asarray(hashed[codes], dtype=np.uint64)


def hash_cells(column: pd.Series) -> Hashes:
    """Hash each cell of a plain column by what it says.

    Numbers and truth values count by their value, dates by their moment, all else by its text.

    Examples
    --------
    >>> bool((hash_cells(pd.Series([1, 2])) == hash_cells(pd.Series([1.0, 2.0]))).all())
    True
    """
    if column.dtype.kind in "biuf":
        return hash_numbers(column.to_numpy())
    if column.dtype.kind == "M":
        return hash_numbers(column.to_numpy(dtype="datetime64[us]").view(np.int64))
    held = pd.api.types.infer_dtype(column, skipna=True) if column.dtype == object else ""
    if held == "boolean":
        return hash_numbers(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return hash_text(column.to_numpy() if held == "string" else as_text(column))
