"""Which counts does a cohort come to, of whatever length its table is?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort import (
    CohortFile,
    LeftOut,
    check_columns,
    find_database,
    find_query,
    hash_files,
    list_reasons,
    list_text_columns,
    name_files,
    name_needed,
    settle_attributes,
)
from auditbook.counting.beside import Task, count_beside
from auditbook.counting.obstacles import find_obstacles
from auditbook.counting.on_cluster import count_on_cluster
from auditbook.counting.part import CountedPart, Edges, add_parts, number_reasons
from auditbook.counting.ranks import cut_edges, list_ranks
from auditbook.counting.units import divide_units, has_units, list_parts
from auditbook.errors import InputError, naming
from auditbook.evidence import Tally
from auditbook.records import Attribute
from auditbook.tables import (
    CHUNK_ROWS,
    Chunk,
    ChunkedTable,
    ConnectedTable,
    Faults,
    RowHash,
    count_of,
    open_chunks,
    open_rows,
    stream_database,
)

TASK_ROWS = 1 << 22
"""Rows that a process counts before it hands its counts over (ours)."""


@dataclass(frozen=True)
class CountedCohort:
    """The counts of a cohort, and what was done with the rows of its table."""

    file: CohortFile
    tally: Tally
    # As one table would have them, groups in their order; the codes are of no records
    attributes: tuple[Attribute, ...]
    rows_read: int
    left_out: tuple[LeftOut, ...]  # By reason, as `Cohort` has them
    # By attribute, and model, tp, fp, fn and tn of the records that were left out for lack of it alone
    unplaced: Mapping[str, NDArray[np.int64]]
    data_hash: str
    notes: tuple[str, ...] = ()  # What was found in the files by itself, a sentence each
    edges: Mapping[str, NDArray[np.float64]] | None = None  # Of the bins of scores that only order records


def count_cohort(
    file: CohortFile,
    *,
    data: Path | None = None,
    jobs: int = 1,
    rows: int = CHUNK_ROWS,
    folder: Path | None = None,
    scheduler: str = "",
) -> CountedCohort:
    """Count a cohort whose table need not fit into memory.

    Counts and sums are those of the whole table, to the last byte, whatever the chunks are and in whatever
    order they are counted.

    Parameters
    ----------
    file : CohortFile
        What `read_cohort_file` returned.
    data : Path or None
        Data file used in place of the one that the cohort file names.
    jobs : int
        Cores to use.
    rows : int
        Rows in memory at once, on each core.
    folder : Path or None
        Where the rows are written unit by unit where a column names units, as long as they are counted; by
        default the system's folder for temporary files.
    scheduler : str
        Address of a Dask scheduler whose workers count instead of this machine's cores; blank: none.

    Returns
    -------
    CountedCohort
        The tally, and what run.json says of the rows.

    Raises
    ------
    InputError
        If something in the cohort file needs all records at once (see `find_obstacles`), or the data have
        faults; counts in messages are of the rows that they name.
    """
    obstacles = find_obstacles(file)
    if obstacles:
        raise InputError(*obstacles)
    if file.data.connection is not None and data is None:
        return _count_rows(file, jobs=jobs, rows=rows, folder=folder, scheduler=scheduler)
    files = file.find_data(data)
    table = open_chunks(
        files,
        columns=name_needed(file),
        text_columns=list_text_columns(file),
        form=file.data.format,
        rows=rows,
    )
    faults = Faults(file.path.name)
    check_columns(file, name_files(files), table.names, faults)
    faults.raise_any()
    edges = _cut_edges(file, files, table, rows)
    with TemporaryDirectory(dir=folder, prefix="units-") as scratch:
        tasks = list_tasks(file, table, name_files(files), edges, Path(scratch))
        total = _count_tasks(tasks, jobs, scheduler)
    return settle_count(file, total, name_files(files), hash_files(files), notes=table.notes, edges=edges)


def _count_tasks(tasks: Iterator[Task], jobs: int, scheduler: str) -> CountedPart:
    """Count tasks here or on a cluster."""
    return add_parts(
        count_on_cluster(tasks, scheduler=scheduler) if scheduler else count_beside(tasks, jobs=jobs)
    )


def _count_rows(
    file: CohortFile, *, jobs: int, rows: int, folder: Path | None, scheduler: str
) -> CountedCohort:
    """Count the rows of a query while its database sends them."""
    with naming(file.path.name):
        query = find_query(file)
        table = open_rows(find_database(file), query, columns=name_needed(file), rows=rows)
    faults = Faults(file.path.name)
    check_columns(file, query.name, table.names, faults)
    faults.raise_any()
    with TemporaryDirectory(dir=folder, prefix="units-") as scratch:
        tasks = list_tasks(file, table, query.name, {}, Path(scratch))
        total = _count_tasks(tasks, jobs, scheduler)
    return settle_count(file, total, query.name, table.hashed.digest(), edges={})


def hash_connected(file: CohortFile) -> str:
    """Hash the rows of a cohort's query, all columns of them, batch by batch; none is held.

    The hash is that of `read_source`, which holds them all.

    Raises
    ------
    InputError, RunError
        As `read_source`.
    """
    hashed = RowHash()
    with naming(file.path.name):
        for batch in stream_database(find_database(file), find_query(file)):
            hashed.add(batch)
    return hashed.digest()


def _cut_edges(file: CohortFile, files: Sequence[Path], table: ChunkedTable, rows: int) -> Edges:
    """Look through the scores that only order records, and cut their bins."""
    ranks = {score.column for score in list_ranks(file)}
    if not ranks:
        return {}
    texts = list_text_columns(file)
    return cut_edges(file, open_chunks(files, columns=ranks, text_columns=texts, form=table.form, rows=rows))


def list_tasks(
    file: CohortFile, table: ChunkedTable | ConnectedTable, name: str, edges: Edges, scratch: Path
) -> Iterator[Task]:
    """Divide the rows of a table among tasks; the records of a unit are never divided."""
    if has_units(file):
        divide_units(file, (part for chunk in table.each_chunk() for part in chunk.each_table()), scratch)
        yield from (Task(file, name, edges, units=path) for path in list_parts(scratch))
        return
    held: list[Chunk] = []
    for chunk in table.each_chunk():
        if chunk.part is not None:  # The rows themselves: handed over at once
            yield Task(file, name, edges, (chunk,))
            continue
        held.append(chunk)
        if sum(one.length for one in held) >= TASK_ROWS:
            yield Task(file, name, edges, tuple(held))
            held = []
    if held:
        yield Task(file, name, edges, tuple(held))


def settle_count(
    file: CohortFile,
    total: CountedPart,
    name: str,
    data_hash: str,
    *,
    notes: Sequence[str] = (),
    edges: Edges | None = None,
) -> CountedCohort:
    """Check what all parts of a cohort come to, as the table itself would be checked.

    Parameters
    ----------
    file : CohortFile
        The cohort file.
    total : CountedPart
        What `add_parts` made of all parts.
    name : str
        What messages call the data.
    data_hash : str
        Of the data.
    notes, edges
        As `CountedCohort` holds them.

    Raises
    ------
    InputError
        If no record is left, an attribute has too few groups or too many, or the event is in every record or
        in none.
    """
    left_out = _order(file, total.left_out)
    if total.tally is None:
        counts = "; ".join(f"{count_of(part.rows, 'row')}: {part.reason}" for part in left_out)
        reasons = f" ({counts})" if counts else ""
        raise InputError(
            f"{file.path.name}: [data]: no record is left of the {total.rows:,} in {name}{reasons}"
        )
    faults = Faults(file.path.name)
    attributes = settle_attributes(file, total.held, total.declared, faults)
    faults.found += total.one_sided
    faults.raise_any()
    tally = replace(total.tally, site_key=file.site.column or "")
    return CountedCohort(
        file, tally, attributes, total.rows, left_out, total.unplaced, data_hash, tuple(notes), edges
    )


def _order(file: CohortFile, left_out: Sequence[LeftOut]) -> tuple[LeftOut, ...]:
    """Put the reasons into the order of the rules."""
    order = number_reasons(list_reasons(file))
    keys = number_reasons([part.reason for part in left_out])
    paired = sorted(zip(keys, left_out, strict=True), key=lambda pair: order.index(pair[0]))
    return tuple(part for _, part in paired)
