"""How does an audit go step by step: each is announced, timed, and its tables are written."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pandas as pd

from auditbook.cohort import Cohort, Source
from auditbook.errors import InputError, RunError, naming
from auditbook.mitigation import VARIATIONS, make_baselines, make_robustness, vary_audit, vary_models
from auditbook.plain_text import show_all
from auditbook.pockets import PocketResults, make_pockets, save_map
from auditbook.progress import Progress
from auditbook.project import digest_files, digest_text
from auditbook.results import write_results
from auditbook.run.counted import count_planned, describe_counted, make_counted_tables
from auditbook.run.folder import hash_results, note_step, remove, write_json
from auditbook.run.keys import ORDER, STEPS, step_keys
from auditbook.run.ledger import Entries, carry_over, note_done
from auditbook.run.plan import Plan, hash_rows_read, load_planned, read_connected
from auditbook.run.tables import describe_cohort, describe_plan, describe_scores, make_tables
from auditbook.scoring import ScoredCohort, score_cohort
from auditbook.workers import STOPPED, do_beside, hear_workers

T = TypeVar("T")
Tables = dict[str, pd.DataFrame]
MAKERS: dict[str, tuple[Callable[..., Any], ...]] = {
    "counted": (count_planned, make_counted_tables, describe_counted, write_results),
    "cohort": (load_planned, describe_cohort),
    "scores": (score_cohort, describe_scores),
    "verdicts": (make_tables, write_results),
    "baselines": (make_baselines, write_results),
    "robustness": (make_robustness, vary_models, vary_audit, write_results),
    "pockets": (make_pockets, save_map, write_results),
}
"""What each step runs: its key covers all the code that these reach."""
NEEDED = {"robustness": ("verdicts", "baselines")}
"""Steps whose tables another one takes as they were made, with every digit, and not from their files."""
TEXTS = {
    "cohort": "reading",
    "scores": "given columns and trained models",
    "verdicts": "counts, metrics, flip rates",
    "baselines": "what mitigation costs",
    "robustness": "other protocols, families and constants",
    "pockets": "maps learned from the outcome, frozen, and tested",
}
FEW_RECORDS = 5_000
"""With fewer records than this (ours), processes of their own cost more time than they save."""


@dataclass
class Steps:
    """The steps of one audit: which are asked for, which still hold, and what each says of itself."""

    plan: Plan  # What was asked; tables go to its folder ``next``
    progress: Progress  # Is told of every step
    timing: dict[str, Any] = field(
        default_factory=lambda: {"steps": []}
    )  # Of run.json; grows with every step
    keys: dict[str, str] = field(default_factory=dict)  # Of the steps that are asked for
    source: Source | None = None  # What was read of a database, until the cohort is made from it
    data_hash: str = ""  # Of the rows that are audited
    notes: Entries = field(default_factory=dict)  # What each step says of itself, for run.json

    def begin(self, names: Iterable[str]) -> set[str]:
        """Keep what still holds of these steps; return those that are due."""
        self.source = read_connected(self.plan)
        self.data_hash = hash_rows_read(self.plan, self.source)
        keys = step_keys(self.plan, MAKERS, self.data_hash)
        self.keys = {name: keys[name] for name in names}
        held = carry_over(self.plan.folder, self.plan.next, self.keys, force=self.plan.request.force)
        changed = set(self.keys) - set(held)
        due = changed | {needed for name in changed for needed in NEEDED.get(name, ())}
        due |= {"cohort", "scores"} & set(self.keys) if due else set()
        due -= {"scores"} if due <= {"cohort", "scores", "pockets"} and "scores" in held else set()
        for name in (name for name in self.keys if name not in due):
            self.notes[name] = held[name]["notes"]
            note_step(self.timing, name, "kept", 0.0)
            self.progress.done()
        kept = [name for name in self.keys if name not in due]
        if kept:
            what = "audit" if not due else ", ".join(kept)
            self.progress.say(f"{what}: nothing has changed, results kept")
        return due

    def do(self, name: str, text: str, make: Callable[[], T]) -> T:
        """Do one step here and return what it made."""
        self.progress.say(f"{name}: {text}")
        timed = time_work(make)
        self.finish(name, timed.seconds)
        return timed.made

    def finish(self, name: str, seconds: float) -> None:
        """Note that a step is done."""
        note_step(self.timing, name, "done", seconds)
        self.progress.done()

    def keep(self, name: str, tables: Mapping[str, pd.DataFrame], notes: Mapping[str, Any]) -> None:
        """Write the tables of a step into ``next``, and that it is done."""
        results = self.plan.next / "results"
        write_results(tables, results)
        self._note(name, [f"{table}.csv" for table in tables], notes)

    def keep_pockets(self, found: PocketResults) -> None:
        """Write the tables and maps of the pocket audit into ``next``."""
        results = self.plan.next / "results"
        for one in found.maps:
            save_map(one, results / f"{one.name}_map.npz")
        write_results(found.tables, results)
        files = [f"{table}.csv" for table in found.tables] + [f"{one.name}_map.npz" for one in found.maps]
        self._note("pockets", files, found.status)

    def _note(self, name: str, files: list[str], notes: Mapping[str, Any]) -> None:
        self.notes[name] = dict(notes)
        note_done(self.plan.next, name, key=self.keys[name], files=files, notes=notes)


@dataclass(frozen=True)
class Timed:
    """What a piece of work made, and the seconds that it took."""

    made: Any
    seconds: float


def time_work(make: Callable[[], Any]) -> Timed:
    """Do a piece of work and time it where it is done."""
    started = time.monotonic()
    made = make()
    return Timed(made, time.monotonic() - started)


@dataclass(frozen=True)
class Job:
    """A piece of work that needs nothing of those beside it; may be sent to a worker."""

    name: str  # Of the step that it belongs to
    plan: Plan
    cohort: Cohort
    scored: ScoredCohort | None  # None where a pocket audit is made alone
    part: str = ""  # Which check of the step ``robustness``

    def work(self, jobs: int, say: Callable[[str], None]) -> Timed:
        """Do it on some cores."""
        return time_work(lambda: self._make(jobs, say))

    def _make(self, jobs: int, say: Callable[[str], None]) -> Any:
        plan, protocol = self.plan, self.plan.protocol
        how: dict[str, Any] = {"cache_dir": plan.cache, "jobs": jobs, "progress": say}
        how["force"] = plan.request.force
        if self.name == "pockets":
            settings = plan.request.profile.apply_to_pockets(plan.file.pockets)
            return make_pockets(self.cohort, settings=settings, seed=protocol.seed, **how)
        scored = require_scores(self.scored)
        if self.name == "verdicts":
            with naming(plan.file.path.name):
                return make_tables(self.cohort, scored, protocol)
        how |= {"protocol": protocol, "refits": plan.request.profile.refits}
        if self.name == "baselines":
            return make_baselines(self.cohort, scored, **how)
        return vary_models(self.part, self.cohort, scored, **how)


def require_scores(scored: ScoredCohort | None) -> ScoredCohort:
    """Refuse to go on without scores."""
    if scored is None:
        raise RunError("a step that needs scores was asked for without them")
    return scored


def do_jobs(steps: Steps, jobs: list[Job], *, finished: Callable[[Job, Timed], None]) -> None:
    """Do pieces of work side by side, or in turn where there are few records or one core."""
    cores = steps.plan.request.jobs
    beside = cores > 1 and len(jobs) > 1 and len(jobs[0].cohort.outcome) >= FEW_RECORDS
    for job in jobs if not beside else ():
        _announce(steps, job)
        finished(job, job.work(cores, steps.progress.say))
    if not beside:
        return
    for name in dict.fromkeys(job.name for job in jobs):
        steps.progress.say(f"{name}: {TEXTS[name]}")
    with hear_workers(steps.progress.say) as voice:
        calls = [(max(cores // len(jobs), 1), voice.say, job) for job in jobs]
        try:
            with closing(do_beside(_work, calls, jobs=cores)) as made:
                for place, timed in made:
                    finished(jobs[place], timed)
        except BrokenProcessPool as fault:
            raise RunError(f"a step could not be finished: {STOPPED}") from fault


def _work(jobs: int, say: Callable[[str], None], job: Job) -> Timed:
    """Do a piece of work in a worker."""
    return job.work(jobs, say)


def _announce(steps: Steps, job: Job) -> None:
    if job.part in ("", next(iter(VARIATIONS))):
        steps.progress.say(f"{job.name}: {TEXTS[job.name]}")


def audit_steps(steps: Steps, due: set[str]) -> None:
    """Do the steps that are due: cohort and scores first, then what builds on them side by side."""
    if not due:
        return
    plan = steps.plan
    source, steps.source = steps.source, None
    cohort = steps.do("cohort", f"reading {plan.file.title}", lambda: load_planned(plan, source))
    steps.keep("cohort", {}, describe_cohort(plan, cohort))
    scored = _score(steps, cohort) if "scores" in due else None
    order = [name for name in ("verdicts", "baselines", "pockets") if name in due]
    jobs = [Job(name, plan, cohort, scored) for name in order]
    jobs += [Job("robustness", plan, cohort, scored, part) for part in VARIATIONS if "robustness" in due]
    tables: Tables = {}
    varied: dict[str, list[dict[str, Any]]] = {}
    constants: Tables = {}
    spent: list[float] = []

    def finished(job: Job, timed: Timed) -> None:
        if job.name == "robustness":
            varied.update(timed.made)
            spent.append(timed.seconds)
            return
        if job.name == "pockets":
            steps.keep_pockets(timed.made)
        else:
            tables.update(timed.made)
            steps.keep(job.name, timed.made, {})
        steps.finish(job.name, timed.seconds)
        if job.name == "verdicts" and "robustness" in due:  # here, while workers are at the other pieces
            found = time_work(lambda: _vary_audit(steps, cohort, require_scores(scored), timed.made))
            constants.update(found.made)
            spent.append(found.seconds)

    do_jobs(steps, jobs, finished=finished)
    if "robustness" in due:
        ready = {"varied": varied, "constants": constants}
        _check_robustness(steps, cohort, require_scores(scored), tables, ready, sum(spent))


def _vary_audit(steps: Steps, cohort: Cohort, scored: ScoredCohort, tables: Tables) -> Tables:
    """Judge one model again under other constants of the audit."""
    plan = steps.plan
    with naming(plan.file.path.name):
        return vary_audit(cohort, scored, tables, protocol=plan.protocol, progress=steps.progress.say)


def _score(steps: Steps, cohort: Cohort) -> ScoredCohort:
    plan = steps.plan
    how: dict[str, Any] = {"cache_dir": plan.cache, "jobs": plan.request.jobs, "force": plan.request.force}
    with naming(plan.file.path.name):
        scored = steps.do(
            "scores",
            TEXTS["scores"],
            lambda: score_cohort(cohort, protocol=plan.protocol, progress=steps.progress.say, **how),
        )
    steps.keep("scores", {}, describe_scores(plan, cohort, scored))
    return scored


def _check_robustness(
    steps: Steps, cohort: Cohort, scored: ScoredCohort, tables: Tables, ready: Mapping[str, Any], spent: float
) -> None:
    """Put the checks together: `ready` holds what was made beside other work."""
    plan = steps.plan
    timed = time_work(
        lambda: make_robustness(
            cohort,
            scored,
            tables,
            protocol=plan.protocol,
            cache_dir=plan.cache,
            refits=plan.request.profile.refits,
            progress=steps.progress.say,
            **ready,
        )
    )
    steps.keep("robustness", timed.made, {})
    steps.finish("robustness", timed.seconds + spent)


def forget_scores(plan: Plan, progress: Progress) -> None:
    """Remove what models predicted for each record where that is asked for."""
    if not plan.request.keep_scores and os.path.lexists(plan.cache):
        remove(plan.cache)
        progress.say("scores: removed; an audit with other settings will train the models again")


def make_results(plan: Plan, progress: Progress, names: tuple[str, ...] = STEPS) -> dict[str, Any]:
    """Leave the results in ``next``, each step's kept where nothing that it reads has changed."""
    steps = Steps(plan, progress)
    audit_steps(steps, steps.begin(names))
    pockets = steps.notes["pockets"]
    if "scores" not in names and pockets["status"] != "done":
        remove(plan.next)
        raise InputError(f"{plan.file.path.name}: no pocket audit can be made: {pockets['reason']}")
    noted = steps.notes["cohort"] | steps.notes.get("scores", {"models": pockets.get("models", [])})
    return write_info(steps, noted)


def write_info(steps: Steps, noted: Mapping[str, Any]) -> dict[str, Any]:
    """Write run.json into ``next``: what was asked, what steps say of themselves, and their hashes."""
    plan, pockets = steps.plan, steps.notes["pockets"]
    info = describe_plan(plan) | dict(noted) | {"pockets": pockets, "partition": pockets.get("partition")}
    info["steps"] = sorted(steps.timing["steps"], key=lambda step: ORDER.index(step["step"]))
    info["hashes"] = {
        "cohort": digest_files([plan.request.cohort]),
        "data": info.pop("data_hash"),
        "audit": digest_text(*steps.keys.values()),
        "results": hash_results(plan.next / "results"),
    }
    info = show_all(info)
    write_json(plan.next / "run.json", info)
    return info
