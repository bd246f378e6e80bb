"""What does a call ask for, and everything looked up that it depends on."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from auditbook.cohort import (
    FULL_SIZES,
    Cohort,
    CohortFile,
    LeftOut,
    Source,
    load_cohort,
    read_cohort_file,
    read_source,
)
from auditbook.counting import SAMPLE_ROWS, draw_sample, find_obstacles, hash_connected, is_counted
from auditbook.errors import InputError, RunError, naming
from auditbook.project import runs_folder
from auditbook.run.contents import chapter_source
from auditbook.run.editions import Edition
from auditbook.run.folder import LOCK, hide_from_others, private_files, refuse_foreign
from auditbook.scoring import choose_models, read_panel
from auditbook.settings import PROFILES, Profile, Protocol


@dataclass(frozen=True)
class Request:
    """What the caller asks for."""

    cohort: Path  # The cohort file
    data: Path | None = None  # Data file that replaces the cohort file's path
    profile: Profile = PROFILES["standard"]  # How much work to do
    seed: int | None = None  # Replaces the protocol's seed
    jobs: int = 2  # Cores to use
    run_dir: Path | None = None  # Folder of the run; by default ``runs/<name>``
    force: bool = False  # Redo steps whose inputs have not changed
    keep_scores: bool = True  # Leave what models predicted for each record in the folder when all is done
    only: str | None = None  # Execute just this chapter, and build the pages if the others are there
    edition: Edition = "reader"  # Whose book is built
    scheduler: str = ""  # Address of a Dask scheduler whose workers count; blank: this machine counts


@dataclass(frozen=True)
class Plan:
    """A request with everything looked up that it depends on."""

    request: Request  # What was asked
    file: CohortFile  # The validated cohort file
    protocol: Protocol  # The constants in force: cohort file, profile and seed together
    folder: Path  # The run's folder
    counted: bool = False  # Whether records are counted part by part, and no table is in memory

    @property
    def next(self) -> Path:
        """Where the run is made before it is published."""
        return self.folder / "next"

    @property
    def cache(self) -> Path:
        """Where trained scores are kept from run to run."""
        return self.folder / "scores"


def plan_run(request: Request) -> Plan:
    """Read the cohort file and settle the constants and the folder; nothing is written yet.

    Raises
    ------
    InputError
        If the cohort file or the call is wrong.
    """
    if request.only is not None:
        chapter_source(request.only)
    file = read_cohort_file(request.cohort)
    check_call(file, request)
    protocol = request.profile.apply(file.protocol)
    if request.seed is not None:
        protocol = replace(protocol, seed=request.seed)
    folder = request.run_dir if request.run_dir is not None else runs_folder() / file.name
    return Plan(request, file, protocol, folder.resolve(), _settle_counted(file, request))


def _settle_counted(file: CohortFile, request: Request) -> bool:
    """Settle whether records are counted part by part, as they are wherever a cluster shall count."""
    if not request.scheduler:
        return is_counted(file, data=request.data, profile=request.profile)
    if file.data.read == "whole":
        raise InputError(
            f'--scheduler: {file.path.name}: [data] read = "whole" holds the table in memory, and a cluster '
            "counts it part by part; leave one of the two out"
        )
    if obstacles := find_obstacles(file, request.profile):
        raise InputError(*(f"--scheduler: {told}" for told in obstacles))
    return True


def check_call(file: CohortFile, request: Request) -> None:
    """Refuse models that the panel does not have, and a file in place of what does not come from one."""
    with naming(file.path.name):
        choose_models(file.panel.models, read_panel())
    if file.data.synthetic is not None and request.data is not None:
        raise InputError(
            f"{request.cohort.name}: the cohort is synthetic, so there is no file to replace by --data"
        )
    if file.data.connection is not None and request.data is not None:
        raise InputError(
            f"{request.cohort.name}: the records come from a database ([data] connection), so there "
            "is no file to replace by --data; for a file, write [data] path"
        )


def read_connected(plan: Plan) -> Source | None:
    """Read the rows of a database, whose hash nobody knows before.

    None where data are of another source, and where rows are counted part by part.
    """
    connected = plan.file.data.connection is not None and not plan.counted
    return read_source(plan.file, cache_dir=runs_folder() / ".cache") if connected else None


def hash_rows_read(plan: Plan, source: Source | None) -> str:
    """Hash the data of a run: the files, the rows that were read of a database, or those that stream by."""
    if source is not None:
        return source.data_hash
    if plan.file.data.connection is not None:
        return hash_connected(plan.file)
    return plan.file.digest_data(plan.request.data)


def load_planned(plan: Plan, source: Source | None = None) -> Cohort:
    """Read the data that the plan names, as an audit uses them; `source` where they are read already.

    Of a cohort that is counted part by part a sample is read.

    Raises
    ------
    InputError
        With every fault that was found.
    """
    if plan.counted:
        return _load_sample(plan)
    return load_cohort(
        size_file(plan.file, plan.request.profile),
        data=plan.request.data,
        max_rows=plan.request.profile.max_rows,
        seed=plan.protocol.seed,
        cache_dir=runs_folder() / ".cache",
        source=source,
    )


def _load_sample(plan: Plan) -> Cohort:
    """Read a sample of the rows; the others are told as left out."""
    file, data = plan.file, plan.request.data
    sample = draw_sample(file, data=data, seed=plan.protocol.seed)
    cohort = load_cohort(file, source=sample.source, cache_dir=runs_folder() / ".cache")
    beyond = sample.rows - cohort.rows_read
    reason = f"beyond the sample of about {SAMPLE_ROWS:,} rows that pockets are learned and tested on"
    left_out = (*cohort.left_out, *([LeftOut(reason, beyond)] if beyond else []))
    return replace(cohort, rows_read=sample.rows, left_out=left_out)


def size_file(file: CohortFile, profile: Profile) -> CohortFile:
    """Shrink a synthetic table to what the profile generates."""
    if file.data.synthetic is None or profile.synthetic_rows is None:
        return file
    rows = min(profile.synthetic_rows, FULL_SIZES[file.data.synthetic])
    return replace(file, data=replace(file.data, rows=rows))


@contextmanager
def locked(folder: Path, *, wait: Callable[[str], None] | None = None) -> Iterator[None]:
    """Keep a second run out of the folder while one is at work; leave no empty folder behind.

    Where `wait` is given it is told that another run is at work, and that one is waited for. What is written
    meanwhile only the user can read.
    """
    lock = folder / LOCK
    with private_files(), _open_lock(folder, wait):
        try:
            yield
        finally:
            if list(folder.iterdir()) == [lock]:
                lock.unlink()
                folder.rmdir()


def _open_lock(folder: Path, wait: Callable[[str], None] | None) -> IO[str]:
    """Open and hold the lock of a folder; made anew where whoever held it took it away with the folder."""
    try:
        refuse_foreign(folder)
        folder.mkdir(parents=True, exist_ok=True)
        hide_from_others(folder)
        handle = (folder / LOCK).open("w")
    except OSError as fault:
        advice = "name another folder with --run-dir"
        raise InputError(f"{folder} cannot hold a run: {fault.strerror}; {advice}") from fault
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as fault:
        if wait is None:
            handle.close()
            raise RunError(f"another run is at work in {folder}; wait for it or use --run-dir") from fault
        wait(f"another run is at work in {folder}: waiting for it")
        fcntl.flock(handle, fcntl.LOCK_EX)
    if os.fstat(handle.fileno()).st_nlink:
        return handle
    handle.close()
    return _open_lock(folder, wait)
