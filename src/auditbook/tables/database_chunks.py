"""How do the rows of a query become plain tables of a bounded length, with the columns that are needed?"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from auditbook.tables.chunks import CHUNK_ROWS, Chunk
from auditbook.tables.connections import Connection
from auditbook.tables.databases import hold_batch, stream_database
from auditbook.tables.queries import Query
from auditbook.tables.row_hashes import RowHash


@dataclass(frozen=True)
class ConnectedTable:
    """The rows of a query, which are asked for once."""

    names: tuple[str, ...]  # All its columns
    rows: int  # Of a chunk, at the most
    connection: Connection
    query: Query
    columns: tuple[str, ...]  # Those that are needed
    hashed: RowHash = field(default_factory=RowHash, repr=False)  # Of the rows that have come

    def each_chunk(self) -> Iterator[Chunk]:
        """Go through the rows as the database sends them."""
        first, columns = 0, self.columns
        for batch in stream_database(self.connection, self.query, columns=columns, rows=self.rows):
            self.hashed.add(batch)
            part = hold_batch(batch, self.connection, self.query)
            yield Chunk(None, dict(part.categories), self.rows, part=part, first=first)
            first += batch.num_rows


def open_rows(
    connection: Connection, query: Query, *, columns: Collection[str], rows: int = CHUNK_ROWS
) -> ConnectedTable:
    """Open a query of which some columns are read chunk by chunk, never held as a whole.

    Parameters
    ----------
    connection : Connection
        The database.
    query : Query
        What is asked.
    columns : collection of str
        The columns that are needed; those that the query does not give are left out.
    rows : int
        Rows of a chunk, at the most.

    Raises
    ------
    InputError, RunError
        As `read_database`.
    """
    none = Query(query.name, f"SELECT * FROM (\n{query.text}\n) asked WHERE 1 = 0")
    names = next(stream_database(connection, none)).column_names
    needed = tuple(name for name in names if name in set(columns))
    return ConnectedTable(tuple(names), rows, connection, query, needed)
