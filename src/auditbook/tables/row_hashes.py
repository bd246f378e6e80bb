"""Are these the same rows, in whatever order and in whatever batches they come?"""

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from auditbook.tables.hash_cells import Hashes, hash_numbers, hash_text, mix
from auditbook.tables.text_columns import EXACT, trim_zeros

_SECOND = np.uint64(0x9E6C63D0876A9A47)
"""Makes of a row's hash another one, so that two sums of 64 bits are kept."""


class RowHash:
    """Sums of the hashes of rows: 128 bits that the order of rows and batches does not change."""

    def __init__(self) -> None:
        self.rows, self.sums, self.names = 0, [0, 0], ""

    def add(self, batch: pa.Table) -> None:
        """Add the rows of a batch; all batches have the same columns."""
        row = hash_rows(batch)
        for place, hashed in enumerate((mix(row), mix(row ^ _SECOND))):
            self.sums[place] = (self.sums[place] + int(hashed.sum(dtype=np.uint64))) % 2**64
        self.rows += batch.num_rows
        self.names = "\x1f".join(sorted(batch.column_names))

    def digest(self) -> str:
        """Hash names, number of rows and sums (SHA-256, hexadecimal)."""
        told = f"{self.names}\x1e{self.rows}\x1e{self.sums[0]:016x}{self.sums[1]:016x}"
        return hashlib.sha256(told.encode()).hexdigest()


def hash_rows(batch: pa.Table) -> Hashes:
    """Hash each row by what it says, shape (n_rows,): alike in whatever order rows and columns come.

    >>> first, second, again = hash_rows(pa.table({"age": [30, 31, 30]})).tolist()
    >>> first == again, first == second
    (True, False)
    """
    row = np.zeros(batch.num_rows, dtype=np.uint64)
    for name, column in zip(batch.column_names, batch.columns, strict=True):
        row += mix(_hash_column(column) ^ _seed(name))
    return row


def _seed(name: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))


def _hash_column(column: pa.ChunkedArray) -> Hashes:
    """Hash each cell by what it says: a whole number alike as integer, float or decimal."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _hash_column(column.cast(kind.value_type))
    if pa.types.is_null(kind):
        return hash_numbers(np.full(len(column), np.nan))
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        return _hash_whole(column)
    if pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return hash_numbers(column.cast(pa.float64()).to_numpy())
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _hash_whole(column.cast(pa.timestamp("us"), safe=False).cast(pa.int64()))
    if pa.types.is_decimal(kind):
        return _hash_decimals(column)
    return hash_text(column.to_numpy() if _is_bytes(kind) else column.cast(pa.string()).to_numpy())


def _is_bytes(kind: pa.DataType) -> bool:
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)


def _hash_whole(column: pa.ChunkedArray) -> Hashes:
    """Hash whole numbers by their value where floats hold it, else by all their digits."""
    cells = column.cast(pa.int64()).fill_null(0).to_numpy()
    hashed = np.where(np.abs(cells) <= EXACT, hash_numbers(cells), mix(cells.view(np.uint64)))
    missing = column.is_null().to_numpy()
    return np.where(missing, hash_numbers(np.array([np.nan])), hashed)


def _hash_decimals(column: pa.ChunkedArray) -> Hashes:
    """Hash decimals by their digits, without zeros at the end of a fraction."""
    words = pc.unique(column.cast(pa.string()))
    places = pc.index_in(column.cast(pa.string()), value_set=words).to_numpy()
    trimmed = [None if word is None else trim_zeros(word) for word in words.to_pylist()]
    return hash_text(np.array([*trimmed, None], dtype=object)[places])
