"""How does a cohort become a finished run: audit, chapters, pages, each step done once."""

import shutil
import time
from pathlib import Path
from typing import Any

from auditbook.errors import InputError
from auditbook.progress import Progress
from auditbook.project import DEFAULT_COHORT, digest_files
from auditbook.run.contents import chapter_names
from auditbook.run.counted_steps import make_counted_results
from auditbook.run.editions import write_sources
from auditbook.run.folder import note_key, note_step, publish, read_keys
from auditbook.run.keys import chapter_key
from auditbook.run.ledger import LEDGER
from auditbook.run.pages import build_pages
from auditbook.run.plan import Plan, Request, locked, plan_run
from auditbook.run.report import REPORT, make_report
from auditbook.run.slides import write_slides
from auditbook.run.steps import forget_scores, make_results
from auditbook.run.worked import note_worked

AUDITED = ("results", LEDGER, REPORT)


def run_audit(request: Request, progress: Progress) -> Path:
    """Make the results of a cohort and their report, and return its folder: ``auditbook audit``."""
    plan = plan_run(request)
    with locked(plan.folder):
        info = make_counted_results(plan, progress) if plan.counted else make_results(plan, progress)
        make_report(plan, info, progress)
        publish(plan.next, plan.folder, info, AUDITED)
        forget_scores(plan, progress)
    return plan.folder


def run_book(request: Request, progress: Progress) -> Path:
    """Audit a cohort, execute the chapters and build the pages: ``auditbook run``.

    The book opens at ``html/index.html`` in the folder that is returned.
    """
    plan = plan_run(request)
    if plan.counted:
        cure = "leave --scheduler out" if request.scheduler else 'write [data] read = "whole"'
        raise InputError(
            f"{request.cohort.name}: chapters need records, and this cohort is counted part by part: make "
            f"its results and its report with auditbook audit, or {cure}"
        )
    with locked(plan.folder):
        info = make_results(plan, progress)
        make_report(plan, info, progress)
        note_worked(plan, info, progress)
        complete = _execute_chapters(plan, info, progress)
        if complete:
            _build_pages(plan, info, progress)
            made = "html" if plan.request.edition == "reader" else plan.request.edition
            publish(plan.next, plan.folder, info, (*AUDITED, "notebooks", made))
        else:
            progress.say("pages not built: not every chapter has been executed; run without --only")
            publish(plan.next, plan.folder, info, (*AUDITED, "notebooks"))
        forget_scores(plan, progress)
    return plan.folder


def _execute_chapters(plan: Plan, info: dict[str, Any], progress: Progress) -> bool:
    """Execute what has changed; return whether every chapter of the book is there."""
    folder = plan.next / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    keys = _chapter_keys(plan, info)
    kept = [name for name, key in keys.items() if _chapter_is_kept(plan, name, key)]
    for name in kept:
        note_step(info, f"chapter {name}", "kept", 0.0)
        progress.done()
    due = [name for name in keys if name not in kept and plan.request.only in (None, name)]

    def finished(name: str, seconds: float) -> None:
        note_key(folder, name, keys[name])
        note_step(info, f"chapter {name}", "done", seconds)
        progress.say(f"chapter: {name} is done")
        progress.done()

    if due:
        # Imported here since it takes seconds, and neither an audit nor kept chapters need it.
        from auditbook.run.chapters import execute_chapters

        progress.say(f"chapters: executing {', '.join(due)}")
        jobs = min(plan.request.jobs, len(due))
        execute_chapters(due, {"run_dir": ".."}, folder, jobs=jobs, finished=finished)
    return set(kept) | set(due) == set(chapter_names())


def _chapter_keys(plan: Plan, info: dict[str, Any]) -> dict[str, str]:
    """Hash for each chapter what it depends on."""
    paths = [path for kind in ("*.csv", "*.npz") for path in (plan.next / "results").glob(kind)]
    tables = {path.name: digest_files([path]) for path in paths}
    return {name: chapter_key(name, info, tables) for name in chapter_names()}


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


def choose_first(cohort: Path) -> str:
    """Choose the page at which a book opens: the report; blank, the preface, for the shipped twin."""
    return "" if cohort.resolve() == DEFAULT_COHORT else "notebooks/audit-report"


def _build_pages(plan: Plan, info: dict[str, Any], progress: Progress) -> None:
    """Build the HTML from the executed chapters and the pages written by hand."""
    started, edition = time.monotonic(), plan.request.edition
    progress.say(
        "pages: building the book" if edition == "reader" else f"pages: building the book: {edition}s"
    )
    workshop = plan.folder / "pages" / ("" if edition == "reader" else edition)
    sources = write_sources(edition, plan.next / "notebooks", plan.folder / "pages" / f"{edition}-sources")
    target = plan.next / ("html" if edition == "reader" else f"{edition}/html")
    first = choose_first(plan.request.cohort)
    build_pages(sources, workshop, target, first=first, force=plan.request.force)
    if edition == "instructor":
        write_slides(target)
    if edition != "reader":
        shutil.copytree(sources.notebooks, target.parent / "notebooks", dirs_exist_ok=True)
    note_step(info, "pages", "done", time.monotonic() - started)
    progress.done()
