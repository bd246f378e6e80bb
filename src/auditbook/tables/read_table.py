"""How does a data file become a plain table: the same table whatever the file's format and types?"""

import hashlib
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from auditbook.errors import InputError
from auditbook.tables.columnar import read_feather_file, read_parquet_file
from auditbook.tables.data_files import check_file
from auditbook.tables.json_lines import read_json_lines
from auditbook.tables.people_numbers import settle_people_numbers
from auditbook.tables.plain import PlainTable
from auditbook.tables.sheets import read_workbook
from auditbook.tables.statistics_packages import read_r_file, read_statistics_file
from auditbook.tables.table_format import AS_FOUND, TableFormat
from auditbook.tables.text_faults import explain_encoding
from auditbook.tables.text_files import read_text_file


def read_table_file(
    path: Path, *, text_columns: Collection[str] = (), form: TableFormat = AS_FOUND
) -> PlainTable:
    """Read a data file of any kind into a plain table: the same table whatever the kind.

    Only the empty cell is missing in text files: words such as NA, None or nan are values. What a file does
    not say (separator, decimal comma, sheet) is found where that is certain, and told in the table's notes.

    Parameters
    ----------
    path : Path
        A csv, tsv or txt file (also .gz), parquet, feather, jsonl, xlsx, xlsm, ods, dta, sav, sas7bdat, xpt
        or rds.
    text_columns : collection of str
        Columns that hold names: read as text from a text file, so that ``00123`` stays.
    form : TableFormat
        How the file is written, as ``[data] format`` of a cohort file says.

    Returns
    -------
    PlainTable
        Its rows in the order of the file.

    Raises
    ------
    InputError
        If the file is missing, unreadable, not what its name says, without columns, with two columns of one
        name, or written in a way that can be read as two different tables.
    """
    with explaining_damage(path, form):
        table = _read_file(path, text_columns, form)
    notes = settle_people_numbers(table.frame, text_columns=text_columns)
    return replace(table, notes=(*table.notes, *notes))


@contextmanager
def explaining_damage(path: Path, form: TableFormat) -> Iterator[None]:
    """Say in one sentence why the bytes of a file cannot be read."""
    try:
        yield
    except UnicodeError:
        raise explain_encoding(path, form.encoding) from None
    except (EOFError, zlib.error) as error:
        raise InputError(
            f"{path} cannot be read: {_first_line(error)}; it is cut off or damaged: export or copy it again"
        ) from None
    except OSError as error:
        reason = error.strerror or _first_line(error)
        raise InputError(f"{path} cannot be read: {reason}") from None


def _read_file(path: Path, text_columns: Collection[str], form: TableFormat) -> PlainTable:
    """Read a file by what its name says it is."""
    kind = check_file(path)
    if kind == ".parquet":
        return read_parquet_file(path)
    if kind == ".feather":
        return read_feather_file(path)
    if kind == ".jsonl":
        return read_json_lines(path)
    if kind == ".rds":
        return read_r_file(path)
    if kind in (".xlsx", ".xlsm", ".ods"):
        return read_workbook(path, form)
    if kind in (".dta", ".sav", ".zsav", ".sas7bdat", ".xpt"):
        return read_statistics_file(path, form)
    separator = "," if kind == ".csv" else "\t"
    return read_text_file(path, separator, text_columns=text_columns, form=form)


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def hash_frame(frame: pd.DataFrame) -> str:
    """Hash a table's column names and values (SHA-256, hexadecimal); the order of rows counts."""
    digest = hashlib.sha256("\x1f".join(frame.columns).encode())
    digest.update(np.ascontiguousarray(pd.util.hash_pandas_object(frame, index=False)).tobytes())
    return digest.hexdigest()
