"""Is a data file there, and is it what its name says?"""

import gzip
import hashlib
import zlib
from pathlib import Path

from auditbook.errors import InputError

SUFFIXES = (
    *(".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz", ".parquet", ".feather", ".jsonl", ".jsonl.gz"),
    *(".xlsx", ".xlsm", ".ods", ".dta", ".sav", ".zsav", ".sas7bdat", ".xpt", ".rds"),
)

_ZIP, _GZIP, _PARQUET = b"PK\x03\x04", b"\x1f\x8b", b"PAR1"
_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADS = {
    _PARQUET: "a parquet file; name it .parquet",
    _GZIP: "compressed with gzip; name it .csv.gz, .tsv.gz or .jsonl.gz",
    _ZIP: "a zip archive or an Excel workbook; name a workbook .xlsx, and unpack an archive",
    _OLD_WORKBOOK: "an Excel workbook of before 2007, or one with a password; save it as .xlsx without one",
    b"ARROW1": "a feather file; name it .feather",
    b"FEA1": "a feather file; name it .feather",
    b"$FL2": "an SPSS file; name it .sav",
    b"$FL3": "an SPSS file; name it .zsav",
    b"HEADER RECORD": "a SAS transport file; name it .xpt",
    b"<stata_dta>": "a Stata file; name it .dta",
    b"%PDF": "a PDF, which is no table; ask for the table as CSV (UTF-8)",
}
_EXPECTED = {
    ".parquet": (_PARQUET,),
    ".xlsx": (_ZIP,),
    ".xlsm": (_ZIP,),
    ".ods": (_ZIP,),
    ".feather": (b"ARROW1", b"FEA1"),
    ".sav": (b"$FL2", b"$FL3"),
    ".zsav": (b"$FL3", b"$FL2"),
    ".xpt": (b"HEADER RECORD",),
}
_TEXT = (".csv", ".tsv", ".txt")
_NO_CELLS = {
    (b'{"', b"{ "): "JSON; name it .jsonl where each line holds one object",
    (b"[{", b"[\n"): "a list in JSON; write it as JSON lines, one object a line, and name it .jsonl",
    (
        b"<!doctype",
        b"<html",
        b"<head",
        b"<table",
    ): "a web page; open it in a spreadsheet and save it as .xlsx",
    (b"<?xml",): "XML; open it in a spreadsheet and save it as .xlsx, or export the table as CSV",
    (b"{\\rtf",): "a text document (RTF); export the table as CSV (UTF-8)",
}
"""How text begins that holds no cells between separators, whatever its name, and what to do with it."""


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
    """Check that a data file is there, and return what its name says it is, gzip aside."""
    name = path.name.lower()
    suffix = next((end for end in sorted(SUFFIXES, key=len, reverse=True) if name.endswith(end)), None)
    if not is_there(path):
        raise InputError(f"{path} does not exist; check the path, or name the data with --data PATH")
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a table; name the file in it")
    if suffix is None:
        raise InputError(f"{path.name}: not a kind of table that can be read; allowed: {', '.join(SUFFIXES)}")
    check_regular(path)
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; check its permissions") from None
    if not head:
        raise InputError(f"{path.name}: the file is empty (0 bytes); export the table again")
    _check_head(path, suffix, head)
    if suffix.endswith(".gz"):
        head = _unpack_head(path)
        _check_packed(path, suffix, head)
    if suffix.startswith(_TEXT):
        _check_text(path, suffix, head)
    return suffix.removesuffix(".gz")


def check_regular(path: Path) -> None:
    """Refuse a pipe or a device, of which nobody knows when it ends and which can be read once only."""
    if is_there(path) and not path.is_file():
        raise InputError(f"{path} is a pipe or a device, not a file; write what it gives to a file first")


def hash_file(path: Path) -> str:
    """Hash a file's bytes (SHA-256, hexadecimal)."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _check_head(path: Path, suffix: str, head: bytes) -> None:
    """Compare the first bytes of a file with what its name says."""
    expected = (_GZIP,) if suffix.endswith(".gz") else _EXPECTED.get(suffix, ())
    if head.startswith(expected) and expected:
        return
    known = {".dta": (b"<stata_dta>",), ".rds": (_GZIP, b"BZh", b"\xfd7zXZ")}.get(suffix, ())
    for magic, what in _HEADS.items():
        if head.startswith(magic) and magic not in known:
            raise InputError(f"{path.name}: not {suffix} but {what}")
    if expected:
        raise InputError(f"{path.name}: not {suffix} inside, whatever its name; export the table again")


def _unpack_head(path: Path) -> bytes:
    """Read how the content of a file packed with gzip begins; blank where it cannot be unpacked."""
    try:
        with gzip.open(path) as stream:
            return stream.read(4096)
    except (OSError, EOFError, zlib.error):
        return b""  # reading it through says what is wrong


def _check_packed(path: Path, suffix: str, head: bytes) -> None:
    """Refuse a file packed with gzip whose content is not text."""
    if head.startswith(_GZIP):
        raise InputError(f"{path.name}: compressed twice with gzip; unpack it once: gunzip")
    for magic, what in _HEADS.items():
        if head.startswith(magic):
            raise InputError(f"{path.name}: compressed with gzip, and inside not {suffix} but {what}")


def _check_text(path: Path, suffix: str, head: bytes) -> None:
    """Refuse text that is known to hold no cells between separators."""
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for heads, what in _NO_CELLS.items():
        if begin.startswith(heads):
            raise InputError(f"{path.name}: not {suffix} but {what}")
