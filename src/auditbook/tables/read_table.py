"""How does a data file become a plain table: the same table whatever the file's format and types?"""

import csv
import gzip
import hashlib
import re
import warnings
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from auditbook.errors import InputError

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")

_MAGIC = {
    b"PAR1": "a parquet file; name it .parquet",
    b"\x1f\x8b": "compressed with gzip; name it .csv.gz or .tsv.gz",
    b"PK\x03\x04": "a zip archive or an Excel workbook; export the sheet as CSV (UTF-8)",
    b"\xff\xfe": "UTF-16 text; save it as CSV (UTF-8)",
    b"\xfe\xff": "UTF-16 text; save it as CSV (UTF-8)",
}


@dataclass(frozen=True)
class PlainTable:
    """A table without the peculiarities of its file."""

    # Numbers are int64 or float64 (nan where missing), truth values bool or object with None, dates
    # datetime64, everything else object holding str (None where missing). RangeIndex
    frame: pd.DataFrame
    # Values that a column declares beside those that occur, in the declared order
    categories: Mapping[str, tuple[object, ...]]


def read_table_file(path: Path, *, text_columns: Collection[str] = ()) -> PlainTable:
    """Read csv, tsv (also gzipped) or parquet into a plain table; text is UTF-8.

    Only the empty cell is missing in text files: words such as NA, None or nan are values. Columns of a text
    file that hold names, `text_columns`, are read as text so that ``00123`` stays. Raises InputError if the
    file is missing, unreadable, not what its name says, not UTF-8, without columns or with two columns of one
    name.
    """
    kind = check_file(path)
    try:
        if kind == ".parquet":
            _check_names(path.name, pq.read_schema(path).names)
            return plain_table(pq.read_table(path), name=path.name)
        return _read_text(path, "\t" if kind.startswith(".tsv") else ",", text_columns)
    except InputError:
        raise
    except pa.ArrowInvalid as error:
        raise InputError(f"{path.name}: not a readable parquet file: {_first_line(error)}") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InputError(
            f"{path.name}: not UTF-8 (byte {byte:#04x}); it is probably Latin-1 or Windows-1252: save it "
            "as CSV (UTF-8), or convert it: iconv -f WINDOWS-1252 -t UTF-8"
        ) from None
    except (EOFError, zlib.error) as error:
        raise InputError(
            f"{path} cannot be read: {_first_line(error)}; it is cut off or damaged: export or copy it again"
        ) from None
    except OSError as error:
        reason = error.strerror or _first_line(error)
        raise InputError(f"{path} cannot be read: {reason}") from None


def is_there(path: Path) -> bool:
    """Tell whether a path exists; an InputError when the system does not let us know."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; check its name and permissions") from None
    return True


def check_file(path: Path) -> str:
    """Check that a data file is there and what its name says it is."""
    kind = next((suffix for suffix in reversed(SUFFIXES) if path.name.lower().endswith(suffix)), None)
    if not is_there(path):
        raise InputError(f"{path} does not exist; check the path, or name the data with --data PATH")
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a table; name the file in it")
    if kind is None:
        raise InputError(f"{path.name}: not a kind of table that can be read; allowed: {', '.join(SUFFIXES)}")
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; check its permissions") from None
    if not head:
        raise InputError(f"{path.name}: the file is empty (0 bytes); export the table again")
    _check_head(path, kind, head)
    return kind


def _check_head(path: Path, kind: str, head: bytes) -> None:
    """Compare the first bytes of a file with what its name says."""
    expected = {".parquet": b"PAR1", ".csv.gz": b"\x1f\x8b", ".tsv.gz": b"\x1f\x8b"}.get(kind)
    if expected and head.startswith(expected):
        return
    for magic, what in _MAGIC.items():
        if head.startswith(magic):
            raise InputError(f"{path.name}: not {kind} but {what}")
    if expected:
        raise InputError(f"{path.name}: not {kind} inside, whatever its name; export the table again")
    if b"\x00" in head:
        raise InputError(f"{path.name}: holds binary data, not text; export the table as CSV (UTF-8)")


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def _read_text(path: Path, separator: str, text_columns: Collection[str]) -> PlainTable:
    """Read a separated text file with strict rules about rows and names."""
    names = _read_header(path, separator)
    _check_names(path.name, names)
    if len(names) == 1 and any(mark in names[0] for mark in ",;\t|"):
        mark = next(mark for mark in ";\t|," if mark in names[0])
        shown = "tabs" if mark == "\t" else f"'{mark}'"
        raise InputError(
            f"{path.name}: the cells are separated by {shown}; allowed: commas in .csv, tabs in .tsv (a "
            "spreadsheet offers both when it exports, with a point in numbers such as 0.5)"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame = pd.read_csv(
                path,
                sep=separator,
                dtype={name: str for name in text_columns if name in names},
                keep_default_na=False,
                na_values=[""],
                encoding="utf-8-sig",
                index_col=False,
                low_memory=False,
                skip_blank_lines=True,
            )
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise InputError(
                f"{path.name}: a row has more cells than the header: {_first_line(error)}; put text "
                "that holds a separator in double quotes"
            ) from None
    frame.columns = pd.Index(names)
    if len(frame) and pd.isna(frame.iloc[-1, -1]):
        _check_last_row(path, separator, len(names))
    return plain_table(frame, name=path.name)


def _check_last_row(path: Path, separator: str, expected: int) -> None:
    """Refuse a file whose last record lacks cells, as one that was cut off does."""
    last: list[str] = []
    try:
        for row in _each_row(path, separator):
            last = row
    except csv.Error:  # a cell too long for this reader
        return
    if len(last) < expected:
        raise InputError(
            f"{path.name}: the last line holds {len(last)} of {expected} cells: the file was cut off, or a "
            "line stands below the table; export it again, or take that line out"
        )


def _each_row(path: Path, separator: str) -> Iterator[list[str]]:
    """Read the rows of a text file that are not blank, the header among them."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as stream:
        yield from (row for row in csv.reader(stream, delimiter=separator) if row)


def _read_header(path: Path, separator: str) -> list[str]:
    """Return the column names as the file writes them, repeats included."""
    header = next(_each_row(path, separator), [])
    if not header:
        raise InputError(f"{path.name}: the file has no header line; the first line must name the columns")
    return [name or f"Unnamed: {position}" for position, name in enumerate(header)]


def _check_names(file: str, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(
            f"{file}: column names that stand twice: {', '.join(map(repr, repeated))}; rename one of each"
        )


def plain_table(table: pd.DataFrame | pa.Table, *, name: str = "the table") -> PlainTable:
    """Bring nullable, category, Arrow and object columns to one plain form."""
    if isinstance(table, pd.DataFrame):
        table = _to_arrow(table)
    _check_names(name, table.column_names)
    kept = [item for item in table.column_names if not re.fullmatch(r"__index_level_\d+__", item)]
    columns: dict[str, pd.Series] = {}
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
        columns[item] = _plain_column(column)
    return PlainTable(pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows)), categories)


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
    if pa.types.is_null(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return pd.Series(column.cast(pa.float64()).to_numpy())
    if pa.types.is_integer(kind):
        return pd.Series(
            column.cast(pa.float64() if column.null_count else pa.int64(), safe=False).to_numpy()
        )
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pd.Series(column.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).to_pandas())
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return pd.Series([None if item is None else str(item) for item in column.to_pylist()], dtype=object)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return pd.Series([_decode(item) for item in column.to_pylist()], dtype=object)
    return pd.Series(column.to_pandas().to_numpy(dtype=object if not pa.types.is_boolean(kind) else None))


def _decode(item: bytes | None) -> str | None:
    return None if item is None else item.decode("utf-8", errors="backslashreplace")


def hash_file(path: Path) -> str:
    """Hash a file's bytes (SHA-256, hexadecimal)."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_frame(frame: pd.DataFrame) -> str:
    """Hash a table's column names and values (SHA-256, hexadecimal); the order of rows counts."""
    digest = hashlib.sha256("\x1f".join(frame.columns).encode())
    digest.update(np.ascontiguousarray(pd.util.hash_pandas_object(frame, index=False)).tobytes())
    return digest.hexdigest()
