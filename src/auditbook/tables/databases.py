"""Which table do the rows of a query make, streamed in batches and never asked for twice?"""

from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from auditbook.errors import InputError
from auditbook.tables.cell_types import join_parts, type_cells
from auditbook.tables.connections import Connection
from auditbook.tables.data_files import is_there
from auditbook.tables.database_faults import explain_duckdb, explain_opening, explain_query, explain_refusal
from auditbook.tables.people_numbers import settle_people_numbers
from auditbook.tables.plain import PlainTable, plain_table
from auditbook.tables.queries import Query
from auditbook.tables.row_hashes import RowHash
from auditbook.tables.text_columns import read_dates
from auditbook.tables.values import Mask

if TYPE_CHECKING:
    from sqlalchemy import Connection as Opened

BATCH = 50_000
"""Rows of a batch."""
_PATIENCE = 10
"""Seconds to wait for a server that does not answer."""
_QUOTES = {"mysql": ("`", "`"), "mariadb": ("`", "`"), "mssql": ("[", "]")}
"""Signs about a name, where they are not double quotes."""


@dataclass(frozen=True)
class HeldRows:
    """The rows of a query, all or some."""

    table: PlainTable
    data_hash: str  # Of all rows, in whatever order they came
    rows: int  # All of them


def read_database(
    connection: Connection,
    query: Query,
    *,
    text_columns: Collection[str] = (),
    take: Callable[[pa.Table], Mask] | None = None,
) -> HeldRows:
    """Read the rows of a query into a plain table: the table that a file with the same rows gives.

    Parameters
    ----------
    connection : Connection
        The database; user and password are read from the environment.
    query : Query
        What is asked; only read, in a transaction that cannot write where the database has such.
    text_columns : collection of str
        Columns that hold names, in which no number is looked for.
    take : callable, optional
        Which rows of a batch are held; by default all. The others are hashed and counted only.

    Raises
    ------
    InputError
        If there is no such server, table or column, the query is not one SELECT, or the user is refused.
    RunError
        If the connection is lost midway, or the server ends the query.
    """
    batches, rows = [], RowHash()
    for batch in stream_database(connection, query):
        batches.append(batch if take is None else batch.filter(pa.array(take(batch))))
        rows.add(batch)
    names = batches[0].column_names
    columns = [
        join_parts([chunk for batch in batches for chunk in batch.column(place).chunks])
        for place in range(len(names))
    ]
    table = hold_batch(pa.Table.from_arrays(columns, names=names), connection, query)
    notes = settle_people_numbers(table.frame, text_columns=text_columns)
    return HeldRows(replace(table, notes=(*table.notes, *notes)), rows.digest(), rows.rows)


def count_rows(connection: Connection, query: Query) -> int:
    """Ask a database how many rows a query gives; none of them is sent.

    Raises
    ------
    InputError, RunError
        As `read_database`.
    """
    asked = Query(query.name, f"SELECT COUNT(*) AS n FROM (\n{query.text}\n) asked")
    (answer,) = stream_database(connection, asked)
    return int(answer.column(0)[0].as_py())


def hold_batch(batch: pa.Table, connection: Connection, query: Query) -> PlainTable:
    """Bring rows of a query to the plain types; text of SQLite that is a date becomes one."""
    table = plain_table(batch, name=query.name)
    for name in batch.column_names if connection.kind == "sqlite" else ():
        column = batch.column(name)
        dates = read_dates(column) if pa.types.is_string(column.type) else None
        if dates is not None:
            table.frame[name] = dates
    return table


def stream_database(
    connection: Connection, query: Query, *, columns: Collection[str] | None = None, rows: int = BATCH
) -> Iterator[pa.Table]:
    """Yield the rows of a query in batches, as the database sends them; at least one, which may be empty.

    Parameters
    ----------
    connection : Connection
        The database.
    query : Query
        What is asked.
    columns : collection of str or None
        Columns that are wanted; None: all.
    rows : int
        Rows of a batch, at the most.

    Raises
    ------
    InputError, RunError
        As `read_database`.
    """
    asked = query if columns is None else select_columns(connection, query, columns)
    if connection.file is not None and not is_there(connection.file):
        raise InputError(f"[data] connection: {connection.file} does not exist; check the path")
    stream = _stream_duckdb if connection.kind == "duckdb" else _stream_sqlalchemy
    with closing(stream(connection, asked, rows)) as batches:
        yield from batches


def select_columns(connection: Connection, query: Query, columns: Collection[str]) -> Query:
    """Ask for some columns of a query only."""
    left, right = _QUOTES.get(connection.kind, ('"', '"'))
    names = [f"{left}{name.replace(right, right * 2)}{right}" for name in columns]
    return Query(query.name, f"SELECT {', '.join(names)} FROM (\n{query.text}\n) asked")


def _stream_duckdb(connection: Connection, query: Query, rows: int) -> Generator[pa.Table, None, None]:
    """Stream from a file of DuckDB, whose own driver knows Arrow; nothing is installed or written."""
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    told = 0
    try:
        with duckdb.connect(str(connection.file), read_only=True, config=settings) as database:
            reader = database.sql(query.text).to_arrow_reader(rows)
            for batch in reader:
                told += batch.num_rows
                yield pa.Table.from_batches([batch])
            if not told:
                yield reader.schema.empty_table()
    except duckdb.Error as fault:
        raise explain_duckdb(fault, connection, query) from None


def _stream_sqlalchemy(connection: Connection, query: Query, rows: int) -> Generator[pa.Table, None, None]:
    """Stream from any other database, by a cursor of its server where it has such."""
    from sqlalchemy.exc import SQLAlchemyError

    options: dict[str, Any] = {"stream_results": True, "max_row_buffer": rows, "no_parameters": True}
    if connection.kind == "postgresql":
        options |= {"postgresql_readonly": True}
    told = 0
    try:
        with (
            closing(_open(connection)) as opened,
            closing(opened.execution_options(**options).exec_driver_sql(query.text)) as result,
        ):
            names = list(result.keys())
            for part in result.partitions(rows):
                yield _hold_rows(query, names, list(zip(*part, strict=True)))
                told += len(part)
            if not told:
                yield _hold_rows(query, names, [()] * len(names))
    except SQLAlchemyError as fault:
        raise explain_query(fault, connection, query, told) from None


def _hold_rows(query: Query, names: list[str], columns: list[tuple[Any, ...]]) -> pa.Table:
    cells = [type_cells(query.name, name, column) for name, column in zip(names, columns, strict=True)]
    return pa.Table.from_arrays(cells, names=names)


def _open(connection: Connection) -> "Opened":
    """Open a connection, which holds no other in reserve and tells nobody what it was opened with."""
    from sqlalchemy import create_engine
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.pool import NullPool

    url, options = connection.make_url(), {}
    if (
        connection.kind == "postgresql"
        and find_spec("psycopg") is None
        and url.drivername.endswith("psycopg")
    ):
        raise InputError(
            "[data] connection: PostgreSQL is reached by psycopg, which is not installed: pip install "
            "'psycopg[binary]'"
        )
    if url.drivername == "postgresql+psycopg" and "connect_timeout" not in url.query:
        options = {"connect_timeout": _PATIENCE}
    if connection.kind == "sqlite":
        url = url.set(database=f"file:{connection.file}", query={"mode": "ro", "uri": "true"})
    try:
        engine = create_engine(url, poolclass=NullPool, hide_parameters=True, connect_args=options)
    except (SQLAlchemyError, ImportError, TypeError) as fault:
        raise explain_opening(fault, connection) from None
    try:
        return engine.connect()
    except SQLAlchemyError as fault:
        raise explain_refusal(fault, connection) from None
