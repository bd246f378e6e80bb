"""How does a cohort become a finished run: audit, chapters, pages, each step done once."""

import shutil
import time
from pathlib import Path
from typing import Any

from auditbook.errors import naming
from auditbook.mitigation import make_baselines, make_robustness
from auditbook.progress import Progress
from auditbook.project import digest_text
from auditbook.run.contents import chapter_names, chapter_source
from auditbook.run.folder import (
    fresh_folder,
    hash_results,
    note_key,
    note_step,
    publish,
    read_hashes,
    read_json,
    read_keys,
    write_json,
)
from auditbook.run.pages import build_html, stage_book
from auditbook.run.plan import Plan, Request, audit_key, load_planned, locked, plan_run
from auditbook.run.steps import Steps, find_pockets
from auditbook.run.tables import describe_audit, make_tables
from auditbook.scoring import score_cohort

PUBLISHED = ("results", "notebooks", "html")


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
        publish(plan.next, plan.folder, info, ("results",))
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
            publish(plan.next, plan.folder, info, PUBLISHED)
        else:
            progress.say("pages not built: not every chapter has been executed; run without --only")
            publish(plan.next, plan.folder, info, ("results", "notebooks"))
    return plan.folder


def _audit_or_keep(plan: Plan, progress: Progress) -> dict[str, Any]:
    """Leave the results in ``next``: those already there, the published ones, or new ones."""
    key = audit_key(plan)
    for place in () if plan.request.force else (plan.next, plan.folder):
        kept = _kept_audit(place, key)
        if kept is not None:
            progress.say("audit: nothing has changed, results kept")
            progress.done()
            if place != plan.next:
                fresh_folder(plan.next / "results")
                shutil.copytree(place / "results", plan.next / "results", dirs_exist_ok=True)
                write_json(plan.next / "run.json", kept)
            return kept
    return _audit(plan, key, progress)


def _kept_audit(place: Path, key: str) -> dict[str, Any] | None:
    """Return the run.json of an audit with this key whose result files are still what it says."""
    hashes = read_hashes(place)
    intact = hashes.get("results") == hash_results(place / "results")
    return read_json(place / "run.json") if intact and hashes.get("audit") == key else None


def _audit(plan: Plan, key: str, progress: Progress) -> dict[str, Any]:
    """Make the results anew, in ``next``."""
    timing: dict[str, Any] = {"steps": []}
    steps = Steps(plan, timing, progress)
    protocol, refits = plan.protocol, plan.request.profile.refits
    fresh_folder(plan.next / "results")
    cohort = steps.do("cohort", f"reading {plan.file.title}", lambda: load_planned(plan))
    with naming(plan.file.path.name):
        scored = steps.do(
            "scores",
            "given columns and trained models",
            lambda: score_cohort(cohort, protocol=protocol, **steps.work),
        )
        tables = steps.tabulate(
            "verdicts", "counts, metrics, flip rates", lambda: make_tables(cohort, scored, protocol)
        )
    work = {"protocol": protocol, "refits": refits, **steps.work}
    tables |= steps.tabulate(
        "baselines", "what mitigation costs", lambda: make_baselines(cohort, scored, **work)
    )
    steps.tabulate(
        "robustness",
        "other protocols, families and constants",
        lambda: make_robustness(cohort, scored, tables, **work),
    )
    pockets = find_pockets(steps, cohort)
    info = describe_audit(plan, cohort, scored) | {"pockets": pockets} | timing
    info["partition"] = pockets.get("partition")
    info["hashes"] |= {"audit": key, "results": hash_results(plan.next / "results")}
    write_json(plan.next / "run.json", info)
    return info


def _execute_chapters(plan: Plan, info: dict[str, Any], progress: Progress) -> bool:
    """Execute what has changed; return whether every chapter of the book is there."""
    # Imported here since it takes seconds, and neither an audit nor a chapter that opens a run needs it.
    from auditbook.run.chapters import execute_chapters

    folder = plan.next / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    kept = [name for name in chapter_names() if _chapter_is_kept(plan, name, _chapter_key(name, info))]
    for name in kept:
        note_step(info, f"chapter {name}", "kept", 0.0)
        progress.done()
    due = [name for name in chapter_names() if name not in kept and plan.request.only in (None, name)]

    def finished(name: str, seconds: float) -> None:
        note_key(folder, name, _chapter_key(name, info))
        note_step(info, f"chapter {name}", "done", seconds)
        progress.say(f"chapter: {name} is done")
        progress.done()

    if due:
        progress.say(f"chapters: executing {', '.join(due)}")
        jobs = min(plan.request.jobs, len(due))
        execute_chapters(due, {"run_dir": ".."}, folder, jobs=jobs, finished=finished)
    return set(kept) | set(due) == set(chapter_names())


def _chapter_key(name: str, info: dict[str, Any]) -> str:
    """Hash what an executed chapter depends on: source, results, code and versions."""
    source = chapter_source(name).read_text(encoding="utf-8")
    return digest_text(source, info["hashes"]["results"], info["hashes"]["audit"])


def _chapter_is_kept(plan: Plan, name: str, key: str) -> bool:
    """Return whether an execution with this key lies in ``next``, fetched from the last run if need be."""
    if plan.request.force or plan.request.only == name:
        return False
    staged, last = (place / "notebooks" / f"{name}.ipynb" for place in (plan.next, plan.folder))
    if read_keys(staged.parent).get(name) == key and staged.is_file():
        return True
    if read_keys(last.parent).get(name) == key and last.is_file():
        shutil.copy(last, staged)
        note_key(staged.parent, name, key)
        return True
    return False


def _build_pages(plan: Plan, info: dict[str, Any], progress: Progress) -> None:
    """Build the HTML from the executed chapters and the pages written by hand."""
    started = time.monotonic()
    progress.say("pages: building the book")
    stage_book(plan.next / "notebooks", plan.next / "stage")
    build_html(plan.next / "stage", plan.next / "html")
    shutil.rmtree(plan.next / "stage")
    note_step(info, "pages", "done", time.monotonic() - started)
    progress.done()
