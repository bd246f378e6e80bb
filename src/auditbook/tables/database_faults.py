"""What does a database mean by what it says, and what is to be done?"""

from typing import TYPE_CHECKING, Any

from auditbook.errors import InputError, RunError
from auditbook.tables.connections import Connection
from auditbook.tables.faults import count_of
from auditbook.tables.queries import Query

if TYPE_CHECKING:
    import duckdb
    from sqlalchemy.exc import SQLAlchemyError

_CURES = {
    "42P01": "correct the table's name, or write it with its schema: schema.table",
    "3F000": "correct the schema's name",
    "42703": "correct the column's name; one with capitals goes in double quotes",
    "42601": "correct the SELECT",
    "42501": "ask whoever runs the database for the right to read it (GRANT SELECT)",
    "25006": "queries only read: give one SELECT that changes nothing",
    "0A000": "queries only read: give one SELECT that changes nothing",
}
"""What to do about some of PostgreSQL's codes."""
_ENDED = "57014"
_LOST = ("57P01", "57P02", "57P03", "08")
_NO_TABLE = ("SQLITE_NOTADB", "SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_CORRUPT", "SQLITE_READONLY")


def explain_query(
    fault: "SQLAlchemyError", connection: Connection, query: Query, rows: int
) -> InputError | RunError:
    """Say why a query gives no rows, or no more: the call's mistake, or a run that cannot go on."""
    inner: Any = getattr(fault, "orig", None) or fault
    code, told = str(getattr(inner, "sqlstate", None) or ""), _in_words(_say(inner, connection))
    so_far = count_of(rows, "row")
    if code == _ENDED:
        return RunError(
            f"{query.name}: {connection.written} ended the query after {so_far}{told}: its limit is "
            "statement_timeout; raise it (PGOPTIONS='-c statement_timeout=0' in the environment), or ask for "
            "fewer rows or columns"
        )
    if code.startswith(_LOST) or getattr(fault, "connection_invalidated", False):
        return RunError(
            f"{query.name}: the connection to {connection.written} was lost after {so_far}{told}; nothing of "
            "them is kept: run the same command again"
        )
    if getattr(inner, "sqlite_errorname", "").startswith(_NO_TABLE):
        return explain_refusal(fault, connection)
    cure = _CURES.get(code, "correct the query, and try it in the database's own client")
    return InputError(f"[data] query: {query.name}{told or ': the database refuses it'}; {cure}")


def explain_refusal(fault: "SQLAlchemyError", connection: Connection) -> InputError:
    """Say why no connection came about: no server, a refused user, or a file that is no database."""
    inner: Any = getattr(fault, "orig", None) or fault
    held, told = getattr(inner, "pgconn", None), _in_words(connection.tell(inner))
    where, (user, password) = f"[data] connection: {connection.written}", connection.variables
    if connection.file is not None:
        return InputError(f"{where} cannot be read{told}; is it a file of SQLite, and free to be read?")
    if held is not None and held.needs_password:
        return InputError(f"{where} asks for a password; set {user} and {password} in the environment")
    if held is not None and held.used_password:
        return InputError(
            f"{where} lets nobody in with this user and password{told}; check {user} and {password} in the "
            "environment, and the database's name"
        )
    return InputError(
        f"{where} cannot be reached{told}; is the server running, are host and port right, and are "
        f"{user} and {password} set in the environment?"
    )


def explain_opening(fault: Exception, connection: Connection) -> InputError:
    """Say that a database has no driver here."""
    kind, told = connection.written.partition(":")[0], _in_words(connection.tell(fault))
    return InputError(
        f"[data] connection: nothing that is installed reaches {kind!r}{told}; install SQLAlchemy's driver "
        "for this database, or use postgresql, sqlite or duckdb"
    )


def explain_duckdb(fault: "duckdb.Error", connection: Connection, query: Query) -> InputError:
    """Say what DuckDB refuses: its file, or the query."""
    import duckdb

    told = _in_words(str(fault).strip().splitlines()[0][:300])
    if isinstance(fault, duckdb.IOException | duckdb.ConnectionException | duckdb.SerializationException):
        return InputError(
            f"[data] connection: {connection.written} cannot be opened{told}; is it a file of DuckDB, "
            "and does no other program write to it?"
        )
    return InputError(f"[data] query: {query.name}{told}; correct the query")


def _say(inner: Any, connection: Connection) -> str:
    """Write what a database says, with its hint."""
    diagnosis = getattr(inner, "diag", None)
    told = connection.tell(getattr(diagnosis, "message_primary", None) or inner)
    hint = connection.tell(getattr(diagnosis, "message_hint", None) or "")
    return f"{told} ({hint})" if told and hint else told


def _in_words(told: str) -> str:
    return f": {told}" if told else ""
