"""What does a query ask of a database, and does it only read?"""

import re
from dataclasses import dataclass
from pathlib import Path

from auditbook.errors import InputError
from auditbook.tables.data_files import check_regular, is_there
from auditbook.tables.faults import show

_TABLE = re.compile(r'(\w+|"[^"]+")(\.(\w+|"[^"]+")){0,2}')
_ASIDE = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/", re.S
)
"""Texts, names in quotes and comments, in which no word is a command."""
_BEGINS = ("SELECT", "WITH", "VALUES", "TABLE", "FROM")
_WRITES = re.compile(
    r"(?i)\b(INSERT|UPDATE|DELETE|MERGE|INTO|CREATE|ALTER|DROP|TRUNCATE|GRANT|REVOKE|ATTACH|COPY|PRAGMA)\b"
)


@dataclass(frozen=True)
class Query:
    """One SELECT."""

    name: str  # What messages call it
    text: str  # Without a semicolon at its end


def read_query(written: str, folder: Path) -> Query:
    """Read what ``[data] query`` gives: a SELECT, the name of a table, or a file (.sql) that holds either.

    Raises
    ------
    InputError
        If the file cannot be read, or it is not one SELECT.
    """
    name, text = "the query", written
    if is_file_name(written):
        name, text = written, _read_file(folder / written)
    if told := fault_query(text):
        raise InputError(f"[data] query: {name if name != 'the query' else 'it'} {told}")
    bare = text[: len(_hide_aside(text).split(";")[0])].strip()
    if _TABLE.fullmatch(bare):
        return Query(f"table {bare}", f"SELECT * FROM {bare}")
    return Query(name, bare)


def is_file_name(written: str) -> bool:
    """Tell whether a query is the name of a file."""
    return written.strip().lower().endswith(".sql") and "\n" not in written


def fault_query(text: str) -> str:
    """Say why a query is not one that reads; blank where it is."""
    if _TABLE.fullmatch(text.strip().rstrip("; \n\t\r")):
        return ""
    parts = [part.strip() for part in _hide_aside(text).split(";") if part.strip()]
    if not parts:
        return "asks nothing; write a SELECT, or the name of a table"
    if len(parts) > 1:
        return f"holds {len(parts)} statements; give one SELECT"
    first = re.match(r"[\s(]*(\w*)", parts[0])
    word = first[1] if first is not None else ""
    if word.upper() not in _BEGINS:
        return f"begins with {show(word or parts[0][:20])}; give one SELECT, or the name of a table"
    if found := _WRITES.search(parts[0]):
        return (
            f"holds {found[0]}, and queries only read; give one SELECT (a column of that name goes in quotes)"
        )
    return ""


def _hide_aside(text: str) -> str:
    """Put blanks in the place of texts, names in quotes and comments."""
    return _ASIDE.sub(lambda found: " " * len(found[0]), text)


def _read_file(path: Path) -> str:
    """Read the file of a query."""
    if not is_there(path):
        raise InputError(f"[data] query: {path} does not exist; name the file, or write the SELECT itself")
    check_regular(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"[data] query: {path.name} is not UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"[data] query: {path} cannot be read: {error.strerror}") from None
