"""How are replicates run: one task each, in any order, anywhere, and each finished one is kept."""

import json
import os
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import asdict, dataclass
from io import StringIO
from multiprocessing import current_process
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from socket import gethostname
from time import monotonic
from uuid import uuid4

import pandas as pd

from auditbook.cluster import open_cluster
from auditbook.errors import InputError, RunError
from auditbook.studies.simulations.provenance import Log, digest_code, other_makers
from auditbook.studies.simulations.replicates import COLUMNS, KEYS, run_replicate
from auditbook.studies.simulations.scenarios import find_world
from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.worlds import World
from auditbook.workers import do_beside

Say = Callable[[str], None]

ATTEMPTS = 2
"""Times that a task is tried."""
PLAN = "simulation.json"
"""File that says what the rows of a folder were made with."""


@dataclass(frozen=True, order=True)
class Task:
    """One replicate of one world: the key of its rows."""

    replicate: int  # Number of the replicate, from 0
    world: str  # Name of the world
    seed: int  # Of the whole simulation

    @property
    def file(self) -> str:
        """Name of the file of its rows."""
        return f"{self.world.replace(' ', '-')}-{self.seed}-{self.replicate:05d}.csv"


@dataclass(frozen=True)
class Outcome:
    """How a task ended."""

    task: Task  # Which
    rows: str  # Its rows as CSV; blank when it failed
    fault: str  # What went wrong; blank when nothing did
    seconds: float = 0.0  # How long it took
    cpu: float = 0.0  # How long one core would have been busy
    # MB that its worker and the largest process it started have held at the most, until then
    memory: float = 0.0


def plan_tasks(worlds: Iterable[World], *, replicates: int, seed: int) -> list[Task]:
    """List the tasks, a replicate of every world before the next of any."""
    names = [world.name for world in worlds]
    return [Task(replicate, name, seed) for replicate in range(replicates) for name in names]


def run_tasks(
    tasks: Sequence[Task],
    rows: Path,
    *,
    sizes: Sizes,
    data: Path | None = None,
    jobs: int = 1,
    scheduler: str = "",
    say: Say = lambda text: None,
) -> int:
    """Run the tasks whose rows are not there yet, and keep each as soon as it is done.

    A task that fails, or whose worker dies, is tried once more. The files are written here, complete or not
    at all, so that workers need no common disk and an interruption loses only what was running.
    """
    claim_folder(rows, sizes)
    waiting = [task for task in tasks if not (rows / task.file).exists()]
    others = other_makers(rows)
    if others:
        say(f"{rows} holds rows of other code (commit {', '.join(others)}); they are kept")
    clock = _Clock(len(waiting), len(tasks), say)
    log = Log(rows) if waiting else None
    faults: dict[Task, str] = {}
    for attempt in range(ATTEMPTS):
        left = [task for task in waiting if not (rows / task.file).exists()]
        if not left:
            break
        if attempt:
            say(f"trying {len(left)} task(s) once more")
        with closing(_each_outcome(left, sizes, data, jobs, scheduler, say)) as outcomes:
            for found in outcomes:
                if found.fault:
                    faults[found.task] = found.fault
                elif log is not None:
                    write_rows(rows / found.task.file, found.rows)
                    log.count(found.task.file, seconds=found.seconds, cpu=found.cpu, memory=found.memory)
                    clock.count(found)
    failed = [task for task in waiting if not (rows / task.file).exists()]
    if failed:
        last = faults.get(failed[0], "its worker died")
        raise RunError(f"{len(failed)} of {len(waiting)} tasks failed twice; the first, {failed[0]}: {last}")
    return len(waiting)


class _Clock:
    """Says how far the work is."""

    def __init__(self, waiting: int, wanted: int, say: Say) -> None:
        self.started, self.done, self.waiting, self.say = monotonic(), 0, waiting, say
        say(f"{waiting} of {wanted} replicates to run")

    def count(self, found: Outcome) -> None:
        """Count one task as finished."""
        self.done += 1
        rest = (monotonic() - self.started) / self.done * (self.waiting - self.done)
        self.say(
            f"{self.done}/{self.waiting} {found.task.world} {found.task.replicate} in {found.seconds:.0f} s, "
            f"about {format_time(rest)} left"
        )


def format_time(seconds: float) -> str:
    """Write a time roughly."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def attempt_task(task: Task, sizes: Sizes, data: Path | None, code: str) -> Outcome:
    """Run one task and catch what goes wrong; this is all that a worker does."""
    started, spent = monotonic(), _cpu_seconds()
    try:
        if code != digest_code():
            raise RunError(f"worker {gethostname()} has another version of auditbook than the run")
        world = find_world(task.world)
        _require_children(world)
        found = run_replicate(world, replicate=task.replicate, seed=task.seed, sizes=sizes, folder=data)
        text = found.to_csv(index=False, lineterminator="\n")
    except Exception as fault:  # a worker must survive whatever a task does
        return Outcome(task, "", "".join(traceback.format_exception(fault)))
    return Outcome(task, text, "", monotonic() - started, _cpu_seconds() - spent, _peak_memory())


def _cpu_seconds() -> float:
    """Return what this process and those it started have used of a core."""
    used = [getrusage(whose) for whose in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _peak_memory() -> float:
    """Return the MB that this process and the largest that it started have held at the most."""
    return sum(getrusage(whose).ru_maxrss for whose in (RUSAGE_SELF, RUSAGE_CHILDREN)) / 1024


def _require_children(world: World) -> None:
    """Say what to do when a worker may not start the process that a block model is fitted in."""
    if not world.continuous and current_process().daemon:
        raise RunError(
            "this worker may not start processes, which block models are fitted in: start Dask's workers "
            "with DASK_DISTRIBUTED__WORKER__DAEMON=False in their environment, or with --no-nanny"
        )


def _each_outcome(
    tasks: Sequence[Task], sizes: Sizes, data: Path | None, jobs: int, scheduler: str, say: Say
) -> Generator[Outcome, None, None]:
    """Run tasks here, in processes, or on a cluster; yield each when it is done, in any order."""
    if scheduler:
        yield from _on_cluster(tasks, sizes, data, scheduler)
    elif jobs == 1:
        yield from (attempt_task(task, sizes, data, digest_code()) for task in tasks)
    else:
        yield from _in_processes(tasks, sizes, data, jobs, say)


def _in_processes(
    tasks: Sequence[Task], sizes: Sizes, data: Path | None, jobs: int, say: Say
) -> Iterator[Outcome]:
    """Run tasks in processes of this machine; those that are left when one of them dies are not run."""
    calls = [(task, sizes, data, digest_code()) for task in tasks]
    try:
        with closing(do_beside(attempt_task, calls, jobs=jobs)) as attempts:
            yield from (outcome for _, outcome in attempts)
    except BrokenProcessPool:
        say("a worker died")


def _on_cluster(tasks: Sequence[Task], sizes: Sizes, data: Path | None, scheduler: str) -> Iterator[Outcome]:
    """Run tasks on a Dask cluster, which gives the tasks of a worker that dies to another."""
    run = uuid4().hex
    with open_cluster(scheduler) as client:
        from distributed import as_completed

        futures = [
            client.submit(
                attempt_task, task, sizes, data, digest_code(), pure=False, key=f"{task.file}-{run}"
            )
            for task in tasks
        ]
        places = {future.key: task for future, task in zip(futures, tasks, strict=True)}
        for future in as_completed(futures, loop=client.loop):
            if future.status == "finished":
                yield future.result()
            else:
                yield Outcome(places[future.key], "", f"{future.exception()!r}")
            future.release()


def claim_folder(rows: Path, sizes: Sizes) -> None:
    """Make the folder of the rows, or check that those in it were made with the same sizes."""
    known = rows / PLAN
    try:
        rows.mkdir(parents=True, exist_ok=True)
        if not known.exists():
            _write_first(known, json.dumps(asdict(sizes), indent=1) + "\n")
    except OSError as fault:
        reason = f"{rows} cannot hold replicates: {fault.strerror or fault}"
        raise InputError(f"{reason}; name a folder that can be written with --folder") from fault
    if read_sizes(rows) != sizes:
        raise InputError(f"{rows} holds replicates of other sizes ({known}); name another folder")


def read_sizes(rows: Path) -> Sizes:
    """Read what the rows of a folder were made with."""
    try:
        return Sizes(**json.loads((rows / PLAN).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as fault:
        raise InputError(f"{rows} is no folder of replicates: {PLAN} is missing or damaged") from fault


def write_rows(path: Path, text: str) -> None:
    """Write a file complete or not at all, whoever else writes it."""
    os.replace(_write_draft(path, text), path)


def _write_first(path: Path, text: str) -> None:
    """Write a file unless another run, which may have begun at the same moment, has written it."""
    draft = _write_draft(path, text)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    except OSError:  # not every disk knows links
        os.replace(draft, path)
    draft.unlink(missing_ok=True)


def _write_draft(path: Path, text: str) -> Path:
    """Write the text beside its path under a name that nobody else takes."""
    draft = path.with_suffix(f".{uuid4().hex}.tmp")
    draft.write_text(text, encoding="utf-8")
    return draft


def collect(rows: Path) -> pd.DataFrame:
    """Read all finished replicates of a folder."""
    parts = {path: _read_rows(path) for path in sorted(rows.glob("*.csv"))}
    if not parts:
        raise InputError(f"{rows} holds no finished replicate")
    joined = pd.concat(parts.values(), ignore_index=True)
    most = joined.groupby(["world", "seed", "replicate"]).size().groupby("world").max()
    short = [path for path, part in parts.items() if len(part) < most[part["world"].iloc[0]]]
    if short:
        raise InputError(
            f"{short[0]} holds fewer rows than other replicates of its world: it was cut off; remove it to "
            "run it again"
        )
    return joined.sort_values(["world", "seed", "replicate"], kind="stable", ignore_index=True)


def _read_rows(path: Path) -> pd.DataFrame:
    """Read the rows of one replicate; refuse a file that is cut off, changed or none of ours."""
    try:
        text = path.read_text(encoding="utf-8")
        part = pd.read_csv(StringIO(text), keep_default_na=False)
        counts = part[[name for name in COLUMNS if name not in KEYS]]
        whole = text.endswith("\n") and list(part.columns) == COLUMNS and len(part) > 0
        whole = whole and all(kind.kind == "i" for kind in counts.dtypes)
    except (ValueError, KeyError):  # not text, no table, or one without these columns
        whole = False
    if not whole:
        raise InputError(f"{path} does not hold the rows of a replicate; remove it to run it again")
    return part
