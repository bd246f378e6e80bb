"""How are the parts of a cohort counted by the workers of a Dask cluster, few on their way at once?"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from socket import gethostname
from typing import Any
from uuid import uuid4

from auditbook.cluster import check_workers, digest_source, open_cluster
from auditbook.counting.beside import Task
from auditbook.counting.part import CountedPart
from auditbook.counting.units import read_units
from auditbook.errors import InputError, RunError
from auditbook.tables import Chunk

AHEAD = 2
"""Tasks that are sent for each thread of the cluster (ours): one is counted, the next lies ready."""


def count_on_cluster(tasks: Iterable[Task], *, scheduler: str) -> Iterator[CountedPart]:
    """Count tasks on a Dask cluster, which gives those of a worker that dies to another.

    Workers read parquet and feather files themselves, from where their paths say; other rows are read here
    and sent. What comes back are counts, which add up to the same in any order.

    Raises
    ------
    InputError
        If the data have faults, or the address is none.
    RunError
        If no scheduler answers, workers lack the package or have other code, one cannot read its rows, or a
        task takes its workers with it.
    """
    with open_cluster(scheduler) as client:
        check_workers(client)
        yield from _count(client, map(_carry, tasks))


def _count(client: Any, tasks: Iterator[Task]) -> Iterator[CountedPart]:
    """Keep some tasks on their way, and the next only when one is back."""
    from distributed import as_completed

    run, sent = uuid4().hex, 0
    threads = sum(client.nthreads().values())

    def send(number: int) -> list[Any]:
        nonlocal sent
        futures = []
        for task in islice(tasks, number):
            how = {"pure": False, "key": f"count-{sent}-{run}"}
            futures.append(client.submit(count_task, task, digest_source(), **how))
            sent += 1
        return futures

    waiting = as_completed(send(AHEAD * max(threads, 1)), loop=client.loop)
    for future in waiting:
        fault = future.exception()
        if fault is not None:
            raise _explain(fault)
        yield future.result()
        future.release()
        for more in send(1):
            waiting.add(more)


def _carry(task: Task) -> Task:
    """Put rows that lie in a file of this machine's own into the task; other files are named in full."""
    if task.units is None:
        return replace(task, chunks=tuple(map(_name_in_full, task.chunks)))
    table = read_units(task.units)
    chunk = Chunk(None, dict(table.categories), len(table.frame), part=table)
    return replace(task, units=None, chunks=(chunk,))


def _name_in_full(chunk: Chunk) -> Chunk:
    if chunk.file is None:
        return chunk
    return replace(chunk, file=replace(chunk.file, path=chunk.file.path.resolve()))


def count_task(task: Task, code: str) -> CountedPart:
    """Count one task: this is all that a worker does."""
    if code != digest_source():
        raise RunError(f"worker {gethostname()} has other code of auditbook than the run")
    try:
        return task.count()
    except OSError as fault:
        where = fault.filename or task.name
        raise RunError(
            f"worker {gethostname()} cannot read {where}: {fault.strerror or fault}; every worker must see "
            "the data under the path that the cohort file names"
        ) from None


def _explain(fault: BaseException) -> Exception:
    """Pass on what a worker says; say what became of a task that has none left."""
    if isinstance(fault, InputError | RunError):
        return fault
    if isinstance(fault, ModuleNotFoundError):
        return RunError(f"a worker of the Dask cluster cannot count: {fault}; install the same commit there")
    told = str(fault).splitlines()[0] if str(fault) else type(fault).__name__
    return RunError(
        f"the Dask cluster could not count the table ({told}); do its workers have enough memory?"
    )
