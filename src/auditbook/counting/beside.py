"""How are the parts of a cohort counted side by side, few of them in memory at once?"""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from auditbook.cohort import CohortFile
from auditbook.counting.part import CountedPart, Edges, add_parts, count_part
from auditbook.counting.units import read_units
from auditbook.errors import RunError
from auditbook.tables import Chunk
from auditbook.workers import STOPPED, open_workers


@dataclass(frozen=True)
class Task:
    """Rows of a table that one process counts: chunks one after another, or all rows of some units."""

    file: CohortFile
    name: str  # What messages call the table
    edges: Edges
    chunks: tuple[Chunk, ...] = ()
    units: Path | None = None

    def count(self) -> CountedPart:
        """Count them."""
        if self.units is not None:
            table = read_units(self.units)
            return count_part(self.file, table, where=f"some units of {self.name}", edges=self.edges)
        return add_parts(part for chunk in self.chunks for part in self._each_of(chunk))

    def _each_of(self, chunk: Chunk) -> Iterator[CountedPart]:
        """Count the rows of one chunk, at most so many at once as it says."""
        first = chunk.first
        for table in chunk.each_table():
            last = first + len(table.frame)
            where = f"rows {first + 1:,} to {last:,} of {self.name}"
            yield count_part(self.file, table, where=where, edges=self.edges)
            first = last


def count_beside(tasks: Iterable[Task], *, jobs: int) -> Iterator[CountedPart]:
    """Count tasks on some cores; what is not yet counted waits unread."""
    if jobs == 1:
        yield from (task.count() for task in tasks)
        return
    each = iter(tasks)
    try:
        with open_workers(jobs) as pool:
            waiting = {pool.submit(Task.count, task) for task in _take(each, 2 * jobs)}
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                waiting |= {pool.submit(Task.count, task) for task in _take(each, len(done))}
                yield from (future.result() for future in done)
    except BrokenProcessPool as fault:
        raise RunError(f"the table could not be counted: {STOPPED}") from fault


def _take(tasks: Iterator[Task], number: int) -> list[Task]:
    return [task for _, task in zip(range(number), tasks, strict=False)]
