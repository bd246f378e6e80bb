"""Which records stand for a cohort where something has to be learned from records, in bounded memory?"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from auditbook.cohort import (
    CohortFile,
    Source,
    find_database,
    find_query,
    hash_files,
    join_sites,
    list_text_columns,
    name_files,
    name_units,
)
from auditbook.counting.choose import estimate_length
from auditbook.counting.units import has_units
from auditbook.errors import naming
from auditbook.tables import (
    CHUNK_ROWS,
    Mask,
    PlainTable,
    hash_numbers,
    hash_rows,
    hash_text,
    hold_batch,
    join_tables,
    mix,
    open_chunks,
    read_database,
)

SAMPLE_ROWS = 200_000
"""Rows that are drawn at the most, but for chance (ours): as many as the largest published cohort has."""


@dataclass(frozen=True)
class Sample:
    """Some rows of a cohort's table."""

    source: Source  # For `load_cohort`
    rows: int  # Of the whole table


def draw_sample(
    file: CohortFile,
    *,
    data: Path | None = None,
    share: float | None = None,
    seed: int,
    rows: int = CHUNK_ROWS,
) -> Sample:
    """Draw a share of the rows of a cohort's table, with all columns; units are drawn whole.

    Parameters
    ----------
    file : CohortFile
        What `read_cohort_file` returned.
    data : Path or None
        Data file used in place of the one that the cohort file names.
    share : float, optional
        Chance of each row, or of each unit where a column names units, from 0 to 1; by default one with which
        about `SAMPLE_ROWS` rows are drawn.
    seed : int
        Other seeds draw other rows; the same one draws the same, whatever the chunks are.
    rows : int
        Rows in memory at once beside the sample.

    Returns
    -------
    Sample
        The drawn rows, and the number of all.

    Raises
    ------
    InputError
        If the data cannot be read part by part.
    """
    if file.data.connection is not None and data is None:
        return _draw_connected(file, share, seed)
    files = file.find_data(data)
    texts = list_text_columns(file)
    names = open_chunks(files, columns=(), text_columns=texts, form=file.data.format).names
    table = open_chunks(files, columns=names, text_columns=texts, form=file.data.format, rows=rows)
    chance = _choose_chance(file, data) if share is None else share
    parts: list[PlainTable] = []
    total = 0
    for chunk in table.each_chunk():
        total = chunk.first + chunk.length
        parts += _each_drawn(file, chunk.each_table(), chunk.first, chance, seed)
    drawn = join_tables([files[0]] * len(parts), parts)
    return Sample(Source(name_files(files), drawn, hash_files(files), synthetic=False), total)


def _choose_chance(file: CohortFile, data: Path | None) -> float:
    """Choose a share with which about `SAMPLE_ROWS` rows are drawn."""
    return min(1.0, SAMPLE_ROWS / max(estimate_length(file, data), 1))


def _draw_connected(file: CohortFile, share: float | None, seed: int) -> Sample:
    """Draw rows of a database by what they say, since they come in no order; the others are not held."""
    chance = _choose_chance(file, None) if share is None else share
    with naming(file.path.name):
        connection, query = find_database(file), find_query(file)

        def take(batch: pa.Table) -> Mask:
            if not has_units(file):
                return _draw(hash_rows(batch), chance, seed)
            return _draw(_name_rows(file, hold_batch(batch, connection, query), 0), chance, seed)

        held = read_database(connection, query, text_columns=list_text_columns(file), take=take)
    return Sample(Source(query.name, held.table, held.data_hash, synthetic=False), held.rows)


def _each_drawn(
    file: CohortFile, tables: Iterator[PlainTable], first: int, share: float, seed: int
) -> Iterator[PlainTable]:
    """Take the rows that are drawn from some tables, which begin after `first` rows."""
    for table in tables:
        drawn = _draw(_name_rows(file, table, first), share, seed)
        yield PlainTable(table.frame[drawn].reset_index(drop=True), table.categories)
        first += len(table.frame)


def _name_rows(file: CohortFile, table: PlainTable, first: int) -> NDArray[np.uint64]:
    """Give each row a number: that of its unit, else its own."""
    if has_units(file):
        return hash_text(name_units(join_sites(file, table.frame), file.unit.names))
    return hash_numbers(np.arange(first, first + len(table.frame)))


def _draw(key: NDArray[np.uint64], share: float, seed: int) -> NDArray[np.bool_]:
    """Draw rows by their numbers."""
    mixed = mix(key ^ mix(np.full(1, seed, np.uint64)))
    return np.asarray((mixed >> np.uint64(11)) * 2.0**-53 < share)
