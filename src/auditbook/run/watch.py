"""How is a cohort watched: read, looked at window by window, and told?"""

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from auditbook.cohort import Cohort, Windowed, find_windows, refuse_days_to_come
from auditbook.errors import InputError
from auditbook.months import (
    Definition,
    Ledger,
    Stream,
    Watched,
    count_late,
    draw_watch,
    read_ledger,
    watch_windows,
    write_ledger,
    write_watch_page,
)
from auditbook.progress import Progress
from auditbook.project import digest_text
from auditbook.run.folder import hide_from_others, mark_internal, remove
from auditbook.run.plan import Plan, Request, load_planned, locked, plan_run
from auditbook.scoring import ScoredCohort, score_cohort

LEDGER, PAGE, FIGURE = "results", "watch.md", "watch"


@dataclass(frozen=True)
class WatchRequest:
    """What a call of ``auditbook watch`` asks for."""

    request: Request
    through: date | None = None  # Last day up to which the data are whole; None: that of the newest record
    restart: bool = False  # Forget the looks that were taken


@dataclass(frozen=True)
class WatchedFolder:
    """A watch, and where it lies."""

    folder: Path
    watched: Watched


def watch_cohort(asked: WatchRequest, progress: Progress) -> WatchedFolder:
    """Take a look for every window that is over: ``auditbook watch``.

    The folder is ``runs/<name>-watch`` where none is named. Called again with the same data it changes
    nothing.

    Raises
    ------
    InputError
        If the cohort file or the call is wrong, there are no windows, models are trained here, records are
        weighted, or the looks in the folder are of something else.
    """
    plan = replace(plan_run(asked.request), counted=False)  # Looks need every record
    if asked.request.run_dir is None:
        plan = replace(plan, folder=plan.folder.with_name(f"{plan.file.name}-watch"))
    _refuse(plan)
    with locked(plan.folder):
        hide_from_others(plan.folder)
        if asked.restart:
            remove(plan.folder / LEDGER)
        return WatchedFolder(plan.folder, _watch(plan, asked, progress))


def _refuse(plan: Plan) -> None:
    """Refuse what cannot be watched before any work."""
    file = plan.file
    if file.panel.models:
        raise InputError(
            f"{file.path.name}: [panel] models: a model that is trained here learns from the very records "
            "that are watched; give its predictions as a column, [scores.NAME], and set models = []"
        )
    if file.weight.column is not None:
        raise InputError(
            f"{file.path.name}: [weight]: weighted records cannot be watched; leave [weight] out"
        )
    if plan.request.profile.max_rows is not None:
        raise InputError(
            f"--profile {plan.request.profile.name} draws records at random, other ones at every look; watch "
            "with --profile standard"
        )


def _watch(plan: Plan, asked: WatchRequest, progress: Progress) -> Watched:
    """Read, look, and write."""
    progress.say(f"cohort: reading {plan.file.title}")
    cohort = load_planned(plan)
    ledger = read_ledger(plan.folder / LEDGER, definition=digest_definition(plan))
    windowed = find_windows(plan.file.time, cohort.table, name=plan.file.path.name, start=ledger.start)
    refuse_days_to_come(windowed, asked.through, name=plan.file.path.name, today=date.today())
    progress.done()
    scored = score_cohort(cohort, protocol=plan.protocol, cache_dir=plan.cache, progress=progress.say)
    definition = _define(plan, windowed)
    stream = _make_stream(windowed, scored, cohort, asked.through)
    ledger = watch_windows(stream, replace(ledger, start=windowed.start), definition, say=progress.say)
    write_ledger(ledger, plan.folder / LEDGER)
    ledger = read_ledger(plan.folder / LEDGER, definition=ledger.definition)  # as every later call sees it
    progress.done()
    undated = int((~windowed.dated).sum())
    watched = Watched(
        plan.file.name,
        plan.file.title,
        ledger,
        definition,
        count_late(stream, ledger),
        undated,
        by_site=stream.records.site is not None,
    )
    _write(plan.folder, watched, ledger)
    progress.done()
    return watched


def _make_stream(windowed: Windowed, scored: ScoredCohort, cohort: Cohort, through: date | None) -> Stream:
    """Put the records with a date into their windows; those before the first window belong to it."""
    place = windowed.place[scored.audit]
    unseen = ~windowed.dated[scored.audit]
    place = np.where(unseen, np.iinfo(np.intp).max, np.maximum(place, 0))
    return Stream(scored.records, place, windowed.count_complete(through))


def _define(plan: Plan, windowed: Windowed) -> Definition:
    """Say how the cohort is watched."""
    return Definition(
        plan.protocol,
        plan.file.time.baseline,
        windowed.window.a_year,
        lambda place: windowed.window.begin(windowed.start, place),
        lambda place: windowed.window.end(windowed.start, place),
    )


def digest_definition(plan: Plan) -> str:
    """Hash what is watched: with another outcome, group, score or threshold, looks do not belong together."""
    file, protocol = plan.file, plan.protocol
    constants = (
        protocol.metrics,
        sorted(protocol.thresholds.items()),
        (protocol.min_records, protocol.min_events, protocol.min_non_events, protocol.shown_alpha),
    )
    parts = (file.outcome, file.attributes, file.scores, file.unit, file.missing, file.time, file.site.column)
    return digest_text(*(repr(part) for part in (*parts, constants)))


def _write(folder: Path, watched: Watched, ledger: Ledger) -> None:
    """Write the looks, the figure and the page; what was there is replaced."""
    import matplotlib.pyplot as plt  # takes long to import

    mark_internal(folder)
    figure = draw_watch(ledger)
    for kind in ("svg", "png"):
        remove(folder / f"{FIGURE}.{kind}")
        if figure is not None:
            with plt.rc_context({"svg.hashsalt": "auditbook"}):
                figure.savefig(
                    folder / f"{FIGURE}.{kind}", dpi=160, metadata={"Date": None} if kind == "svg" else None
                )
    if figure is not None:
        plt.close(figure)
    page = write_watch_page(watched, figure="" if figure is None else f"{FIGURE}.svg")
    (folder / PAGE).write_text(page, encoding="utf-8")
