"""How are the pocket audits made that application chapters show: side by side, and some stored once?"""

import os
import shutil
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auditbook.book import WORKED, choose_worked, is_stored, place_worked
from auditbook.code import digest_reach
from auditbook.errors import RunError
from auditbook.progress import Progress
from auditbook.project import project_file, runs_folder
from auditbook.results import Run, read_run
from auditbook.run.folder import fresh_folder, hash_results, note_step, write_json
from auditbook.run.plan import Plan, Request
from auditbook.run.pockets import run_pockets
from auditbook.run.steps import MAKERS, Timed, time_work
from auditbook.settings import PROFILES
from auditbook.workers import STOPPED, do_beside, hear_workers

SYNTHETIC = tuple(cohorts[-1] for cohorts in WORKED.values())
"""Cohorts whose pocket audits are stored."""


@dataclass(frozen=True)
class _Task:
    """One worked audit to make; may be sent to a worker."""

    cohort: str
    request: Request

    def make(self, tell: Callable[[str], None]) -> Timed:
        """Make it where its own key has changed."""
        progress = Progress(total=2, tell=lambda text: tell(f"worked {self.cohort}: {text}"))
        return time_work(lambda: run_pockets(self.request, progress, report=False, shared=True))


def note_worked(plan: Plan, info: dict[str, Any], progress: Progress) -> None:
    """See that every worked audit which a chapter of this run shows is there, and note what it holds."""
    run = Run(plan.next, info)
    shown = {chapter: cohort for chapter in WORKED if (cohort := choose_worked(chapter, run))}
    if plan.request.only is not None:
        shown = {chapter: cohort for chapter, cohort in shown.items() if chapter == plan.request.only}
    tasks = [_Task(one, _request(one, plan, run)) for one in shown.values() if not is_stored(one, run)]
    for task, seconds in _make_beside(tasks, plan.request.jobs, progress):
        note_step(info, f"worked {task.cohort}", "done", seconds)
    places = {chapter: place_worked(cohort, run) for chapter, cohort in shown.items()}
    info["worked"] = {
        chapter: {"cohort": shown[chapter], "results": hash_results(place / "results")}
        for chapter, place in places.items()
    }


def _request(cohort: str, plan: Plan, run: Run) -> Request:
    return Request(
        project_file("data", "cohorts", f"{cohort}.toml"),
        profile=plan.request.profile,
        seed=plan.protocol.seed,
        jobs=1,
        run_dir=place_worked(cohort, run),
    )


def _make_beside(tasks: list[_Task], jobs: int, progress: Progress) -> list[tuple[_Task, float]]:
    """Make audits side by side, each on one core; pass on what they say."""
    if not tasks:
        return []
    try:
        with hear_workers(progress.say) as voice:
            calls = [(task, voice.say) for task in tasks]
            with closing(do_beside(_Task.make, calls, jobs=jobs)) as made:
                return [(tasks[place], timed.seconds) for place, timed in made]
    except BrokenProcessPool as fault:
        raise RunError(f"a worked audit could not be finished: {STOPPED}") from fault


def digest_worked() -> str:
    """Hash the code that a stored worked audit rests on."""
    return digest_reach(*MAKERS["cohort"], *MAKERS["pockets"])


def remake_worked(cohort: str, folder: Path, progress: Progress, *, jobs: int) -> Run:
    """Make the audit of a synthetic cohort as it is stored: standard profile, default seed."""
    path = project_file("data", "cohorts", f"{cohort}.toml")
    return read_run(
        run_pockets(
            Request(path, profile=PROFILES["standard"], jobs=jobs, run_dir=folder), progress, report=False
        )
    )


def store_worked(cohort: str, made: Run, target: Path) -> None:
    """Store the tables of a worked audit with what it says of itself and the code that made it."""
    fresh_folder(target / "results")
    for path in sorted((made.folder / "results").glob("*.csv")):
        shutil.copy(path, target / "results" / path.name)
    info = {name: value for name, value in made.info.items() if name != "steps"}
    info["hashes"] = info["hashes"] | {"results": hash_results(target / "results")}
    info["provenance"] = {"code": digest_worked(), "date": f"{datetime.now(UTC):%Y-%m-%d}"}
    write_json(target / "run.json", info)


def store_all() -> None:
    """Make the audits of ``data/worked`` anew."""
    for cohort in SYNTHETIC:
        with Progress(total=2) as progress:
            folder = runs_folder() / ".cache" / "worked" / cohort
            made = remake_worked(cohort, folder, progress, jobs=os.cpu_count() or 1)
        store_worked(cohort, made, project_file("data") / "worked" / cohort)
