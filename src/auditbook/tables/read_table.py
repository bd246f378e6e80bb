"""How does a data file become a plain table: the same table whatever the file's format and types?"""

import hashlib
import zlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from auditbook.errors import InputError
from auditbook.tables.people_numbers import settle_people_numbers
from auditbook.tables.plain import PlainTable, check_names, plain_table
from auditbook.tables.table_format import AS_FOUND, TableFormat
from auditbook.tables.text_files import read_text_file

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")

_MAGIC = {
    b"PAR1": "a parquet file; name it .parquet",
    b"\x1f\x8b": "compressed with gzip; name it .csv.gz or .tsv.gz",
    b"PK\x03\x04": "a zip archive or an Excel workbook; export the sheet as CSV (UTF-8)",
    b"\xff\xfe": "UTF-16 text; save it as CSV (UTF-8)",
    b"\xfe\xff": "UTF-16 text; save it as CSV (UTF-8)",
}


def read_table_file(
    path: Path, *, text_columns: Collection[str] = (), form: TableFormat = AS_FOUND
) -> PlainTable:
    """Read csv, tsv (also gzipped) or parquet into a plain table; text is UTF-8.

    Only the empty cell is missing in text files: words such as NA, None or nan are values. Columns of a text
    file that hold names, `text_columns`, are read as text so that ``00123`` stays. Raises InputError if the
    file is missing, unreadable, not what its name says, not UTF-8, without columns or with two columns of one
    name.
    """
    try:
        table = _read_file(path, text_columns, form)
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
    notes = settle_people_numbers(table.frame, text_columns=text_columns)
    return replace(table, notes=(*table.notes, *notes))


def _read_file(path: Path, text_columns: Collection[str], form: TableFormat) -> PlainTable:
    """Read a file by what its name says it is."""
    kind = check_file(path)
    if kind == ".parquet":
        check_names(path.name, pq.read_schema(path).names)
        return plain_table(pq.read_table(path), name=path.name)
    separator = "\t" if kind.startswith(".tsv") else ","
    return read_text_file(path, separator, text_columns=text_columns, form=form)


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


def hash_file(path: Path) -> str:
    """Hash a file's bytes (SHA-256, hexadecimal)."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_frame(frame: pd.DataFrame) -> str:
    """Hash a table's column names and values (SHA-256, hexadecimal); the order of rows counts."""
    digest = hashlib.sha256("\x1f".join(frame.columns).encode())
    digest.update(np.ascontiguousarray(pd.util.hash_pandas_object(frame, index=False)).tobytes())
    return digest.hexdigest()
