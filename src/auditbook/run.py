"""How does a cohort become a finished run: audit, chapters, pages, each step done once and published together."""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from auditbook.book import build_html, stage_book
from auditbook.chapters import chapter_names, chapter_source, execute_chapter
from auditbook.cohort import Cohort, CohortFile, load_cohort, read_cohort_file
from auditbook.errors import InputError, RunError
from auditbook.progress import Progress
from auditbook.project import (
    DEFAULT_COHORT,
    ROOT,
    code_digest,
    digest_files,
    digest_text,
    project_file,
    runs_folder,
    versions,
)
from auditbook.protocol import PROFILES, Profile, Protocol
from auditbook.results import Run, read_run, write_table
from auditbook.scores import ScoredCohort, bin_scores, score_cohort, summarise_models
from auditbook.summary import summarise_columns, summarise_groups, summarise_sites
from auditbook.verdicts import judge, tabulate_groups

PUBLISHED = ("results", "notebooks", "html")


@dataclass(frozen=True)
class Request:
    """What the caller asks for.

    Attributes
    ----------
    cohort : Path
        The cohort file.
    data : Path or None
        Data file that replaces the cohort file's path.
    profile : Profile
        How much work to do.
    seed : int or None
        Replaces the protocol's seed.
    jobs : int
        Cores to use.
    run_dir : Path or None
        Folder of the run; by default ``runs/<name>``.
    force : bool
        Redo steps whose inputs have not changed.
    only : str or None
        Execute just this chapter, and build the pages if the others are there.
    """

    cohort: Path
    data: Path | None = None
    profile: Profile = PROFILES["standard"]
    seed: int | None = None
    jobs: int = 2
    run_dir: Path | None = None
    force: bool = False
    only: str | None = None


@dataclass(frozen=True)
class Plan:
    """A request with everything looked up that it depends on.

    Attributes
    ----------
    request : Request
        What was asked.
    file : CohortFile
        The validated cohort file.
    protocol : Protocol
        The constants in force: cohort file, profile and seed together.
    folder : Path
        The run's folder.
    """

    request: Request
    file: CohortFile
    protocol: Protocol
    folder: Path

    @property
    def next(self) -> Path:
        """Where the run is made before it is published."""
        return self.folder / "next"

    @property
    def cache(self) -> Path:
        """Where trained scores are kept from run to run."""
        return self.folder / "scores"


def plan_run(request: Request) -> Plan:
    """Read the cohort file and settle the constants and the folder.

    Parameters
    ----------
    request : Request
        What was asked.

    Returns
    -------
    Plan
        Nothing is written yet.

    Raises
    ------
    InputError
        If the cohort file or the call is wrong.
    """
    if request.only is not None:
        chapter_source(request.only)
    file = read_cohort_file(request.cohort)
    protocol = request.profile.apply(file.protocol)
    if request.seed is not None:
        protocol = replace(protocol, seed=request.seed)
    folder = request.run_dir if request.run_dir is not None else runs_folder() / file.name
    return Plan(request, file, protocol, folder.resolve())


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second run out of the folder while one is at work."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise RunError(f"another run is at work in {folder}; wait for it or use --run-dir") from fault
        yield


def run_audit(request: Request, progress: Progress) -> Path:
    """Make the results of a cohort, without chapters: ``auditbook audit``.

    Parameters
    ----------
    request : Request
        What was asked.
    progress : Progress
        Is told of every step.

    Returns
    -------
    Path
        The run's folder.
    """
    plan = plan_run(request)
    with locked(plan.folder):
        info = _audit_or_keep(plan, progress)
        _publish(plan, info, ("results",))
    return plan.folder


def run_book(request: Request, progress: Progress) -> Path:
    """Audit a cohort, execute the chapters and build the pages: ``auditbook run``.

    Parameters
    ----------
    request : Request
        What was asked.
    progress : Progress
        Is told of every step.

    Returns
    -------
    Path
        The run's folder; the book opens at ``html/index.html``.
    """
    plan = plan_run(request)
    with locked(plan.folder):
        info = _audit_or_keep(plan, progress)
        complete = _execute_chapters(plan, info, progress)
        if complete:
            _build_pages(plan, info, progress)
            _publish(plan, info, PUBLISHED)
        else:
            progress.say("pages not built: not every chapter has been executed; run without --only")
            _publish(plan, info, ("results", "notebooks"))
    return plan.folder


def open_run(run_dir: str = "") -> Run:
    """Open a run for reading, as the setup cell of every chapter does.

    Parameters
    ----------
    run_dir : str
        A run's folder, absolute or from the working folder. Blank means the default cohort's run,
        whose results are made first where there are none.

    Returns
    -------
    Run
        The run.
    """
    if run_dir:
        return read_run(Path(run_dir))
    folder = runs_folder() / DEFAULT_COHORT.stem
    if not (folder / "run.json").is_file():
        with Progress(total=5) as progress:
            run_audit(Request(DEFAULT_COHORT), progress)
    return read_run(folder)


def _audit_or_keep(plan: Plan, progress: Progress) -> dict[str, Any]:
    """Leave the results in ``next``: those already there, the published ones, or new ones."""
    key = _audit_key(plan)
    for place in () if plan.request.force else (plan.next, plan.folder):
        kept = _kept_audit(place, key)
        if kept is not None:
            progress.say("audit: nothing has changed, results kept")
            progress.done()
            if place != plan.next:
                _fresh_folder(plan.next / "results")
                shutil.copytree(place / "results", plan.next / "results", dirs_exist_ok=True)
                _write_info(plan.next, kept)
            return kept
    return _audit(plan, key, progress)


def _kept_audit(place: Path, key: str) -> dict[str, Any] | None:
    """Return the run.json of an audit with this key whose result files are still what it says."""
    try:
        info: dict[str, Any] = json.loads((place / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    intact = info.get("hashes", {}).get("results") == _hash_results(place / "results")
    return info if intact and info["hashes"].get("audit") == key else None


def _audit_key(plan: Plan) -> str:
    """Hash everything that the results depend on."""
    parts = [plan.file.digest(plan.request.data), repr(plan.request.profile), repr(plan.protocol)]
    panel = project_file("data", "panel.toml").read_text(encoding="utf-8")
    return digest_text(*parts, panel, code_digest(), json.dumps(versions()))


def _hash_results(folder: Path) -> str:
    return digest_files(sorted(folder.glob("*.csv"))) if folder.is_dir() else ""


def _audit(plan: Plan, key: str, progress: Progress) -> dict[str, Any]:
    request, steps = plan.request, []
    started = time.monotonic()

    def step(name: str) -> None:
        nonlocal started
        steps.append({"step": name, "status": "done", "seconds": round(time.monotonic() - started, 2)})
        started = time.monotonic()
        progress.done()

    progress.say(f"cohort: reading {plan.file.title}")
    cohort = load_cohort(
        plan.file,
        data=request.data,
        max_rows=request.profile.max_rows,
        seed=plan.protocol.seed,
        cache_dir=runs_folder() / ".cache",
    )
    step("cohort")
    progress.say("scores: given columns and trained models")
    scored = score_cohort(
        cohort,
        protocol=plan.protocol,
        cache_dir=plan.cache,
        jobs=request.jobs,
        force=request.force,
        progress=progress.say,
    )
    step("scores")
    progress.say("verdicts: counts, metrics, flip rates")
    tables = _make_tables(cohort, scored, plan.protocol)
    step("verdicts")
    _write_tables(tables, plan.next / "results")
    info = _describe(plan, cohort, scored, key, steps)
    _write_info(plan.next, info)
    return info


def _make_tables(cohort: Cohort, scored: ScoredCohort, protocol: Protocol) -> dict[str, pd.DataFrame]:
    """Compute every result table of an audit, by file name."""
    return {
        "cohort_groups": summarise_groups(cohort, train=scored.train, audit=scored.audit),
        "cohort_sites": summarise_sites(cohort, audit=scored.audit),
        "cohort_columns": summarise_columns(cohort),
        "models": summarise_models(scored),
        "score_bins": bin_scores(scored),
        "groups": tabulate_groups(scored.records, protocol=protocol),
        "verdicts": judge(scored.records, protocol=protocol, seed=protocol.seed),
    }


def _write_tables(tables: dict[str, pd.DataFrame], folder: Path) -> None:
    _fresh_folder(folder)
    for name, table in tables.items():
        write_table(table, folder / f"{name}.csv")


def _describe(
    plan: Plan, cohort: Cohort, scored: ScoredCohort, key: str, steps: list[dict[str, Any]]
) -> dict[str, Any]:
    """Say what the run read, used and did: the content of run.json."""
    file = plan.file
    protocol = asdict(replace(plan.protocol, thresholds={})) | {"thresholds": dict(plan.protocol.thresholds)}
    return {
        **file.describe(),
        "synthetic": cohort.synthetic,
        "seed": plan.protocol.seed,
        "profile": asdict(plan.request.profile),
        "rows_read": cohort.rows_read,
        "rows_kept": len(cohort.outcome),
        "rows_audited": len(scored.audit),
        "rows_train": len(scored.train),
        "left_out": [{"reason": part.reason, "rows": part.rows} for part in cohort.left_out],
        "protocol": protocol,
        "models": [score.model for score in scored.records.scores],
        "partition": None,
        "versions": versions(),
        "hashes": {
            "audit": key,
            "cohort": digest_files([plan.request.cohort]),
            "data": cohort.data_hash,
            "results": _hash_results(plan.next / "results"),
        },
        "steps": steps,
    }


def _execute_chapters(plan: Plan, info: dict[str, Any], progress: Progress) -> bool:
    """Execute what has changed; return whether every chapter of the book is there."""
    folder = plan.next / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    keys = _read_keys(folder)
    for name in chapter_names():
        started = time.monotonic()
        key = digest_text(chapter_source(name).read_text(encoding="utf-8"), info["hashes"]["results"], info["hashes"]["audit"])
        chosen = plan.request.only in (None, name)
        status = "done"
        if _chapter_is_kept(plan, name, key, keys):
            status = "kept"
        elif not chosen:
            continue
        else:
            progress.say(f"chapter: {name}")
            execute_chapter(name, {"run_dir": ".."}, folder / f"{name}.ipynb")
        keys[name] = key
        _write_json(folder / "keys.json", keys)
        seconds = round(time.monotonic() - started, 2)
        info["steps"] = [step for step in info["steps"] if step["step"] != f"chapter {name}"]
        info["steps"].append({"step": f"chapter {name}", "status": status, "seconds": seconds})
        progress.done()
    return set(keys) >= set(chapter_names())


def _chapter_is_kept(plan: Plan, name: str, key: str, keys: dict[str, str]) -> bool:
    """Return whether an execution with this key lies in ``next``, fetching it from the last run if need be."""
    if plan.request.force or plan.request.only == name:
        return False
    staged, last = plan.next / "notebooks" / f"{name}.ipynb", plan.folder / "notebooks" / f"{name}.ipynb"
    if keys.get(name) == key and staged.is_file():
        return True
    if _read_keys(last.parent).get(name) == key and last.is_file():
        shutil.copy(last, staged)
        return True
    return False


def _read_keys(folder: Path) -> dict[str, str]:
    try:
        keys: dict[str, str] = json.loads((folder / "keys.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return keys


def _build_pages(plan: Plan, info: dict[str, Any], progress: Progress) -> None:
    """Build the HTML from the executed chapters and the pages written by hand."""
    started = time.monotonic()
    progress.say("pages: building the book")
    stage_book(plan.next / "notebooks", plan.next / "stage")
    build_html(plan.next / "stage", plan.next / "html")
    shutil.rmtree(plan.next / "stage")
    info["steps"] = [step for step in info["steps"] if step["step"] != "pages"]
    info["steps"].append(
        {"step": "pages", "status": "done", "seconds": round(time.monotonic() - started, 2)}
    )
    progress.done()


def _publish(plan: Plan, info: dict[str, Any], parts: tuple[str, ...]) -> None:
    """Put a finished run in the place of the last one; ``run.json`` goes last."""
    _write_info(plan.next, info)
    for part in parts:
        made, last, old = plan.next / part, plan.folder / part, plan.folder / f".old-{part}"
        if old.exists():
            shutil.rmtree(old)
        if last.exists():
            last.rename(old)
        made.rename(last)
        if old.exists():
            shutil.rmtree(old)
    os.replace(plan.next / "run.json", plan.folder / "run.json")
    shutil.rmtree(plan.next)


def _fresh_folder(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)


def _write_info(folder: Path, info: dict[str, Any]) -> None:
    _write_json(folder / "run.json", info)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(draft, path)


def check_cohort(request: Request) -> Cohort:
    """Read cohort file and data in full without writing anything: ``auditbook check``.

    Parameters
    ----------
    request : Request
        What was asked.

    Returns
    -------
    Cohort
        The cohort as an audit would use it.

    Raises
    ------
    InputError
        With every fault that was found.
    """
    plan = plan_run(request)
    return load_cohort(
        plan.file,
        data=request.data,
        max_rows=request.profile.max_rows,
        seed=plan.protocol.seed,
        cache_dir=runs_folder() / ".cache",
    )


__all__ = ["ROOT", "InputError", "Plan", "Request", "check_cohort", "open_run", "plan_run", "run_audit", "run_book"]
