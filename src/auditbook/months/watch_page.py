"""What does a watch say: to a terminal, to a scheduler in one line, and on a page?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import agree, escape, number, plural, share
from auditbook.errors import printable
from auditbook.months.changes import LOOK_BACK, STREAM, run_length
from auditbook.months.conclusions import Conclusion, conclude, list_standing
from auditbook.months.gaps import CELL
from auditbook.months.ledger import Ledger
from auditbook.months.watch import Definition
from auditbook.results import rows
from auditbook.verdicts import METRICS, name_bin

NAMES = {"SR": "selection rate", "TPR": "true positive rate", "FPR": "false positive rate", "PPV": "PPV"}
SHOWN = {"fail": "beyond", "pass": "within", "open": "open", "none": "cannot be judged yet"}
RULE = "|---|---|---|---|---|"
SITES = (
    " What is shown is shown of the sites in these records: a gap of theirs, or a change, need not be one of "
    "other sites."
)
LATEST = 24
"""Looks that the page lists, the last ones."""
LISTED = 8
"""Conclusions that a terminal lists of each question; the rest is counted."""


@dataclass(frozen=True)
class Watched:
    """A watch after a call."""

    name: str  # Of the cohort
    title: str
    ledger: Ledger
    definition: Definition
    late: int  # Records that came late and wait for the next look
    undated: int  # Records without a date, which no look sees
    by_site: bool = False  # Whether records are of several sites

    @property
    def conclusions(self) -> list[Conclusion]:
        """What is shown."""
        return conclude(self.ledger)

    def alarms(self, question: str) -> list[Conclusion]:
        """List what is shown of one question."""
        return [one for one in self.conclusions if one.question == question]


def name_status(watched: Watched) -> str:
    """Name what a watch says: waiting, quiet, shown, changed, or both."""
    if not len(watched.ledger.looks):
        return "waiting"
    said = [name for name, asked in (("shown", "gap"), ("changed", "change")) if watched.alarms(asked)]
    return " and ".join(said) or "quiet"


def summarise_watch(watched: Watched, *, alarm: bool) -> dict[str, Any]:
    """Say in one line of JSON what a scheduler wants to know; numbers that are not there are null."""
    looks = watched.ledger.looks
    lists = {
        name: [_as_data(one) for one in watched.alarms(asked)]
        for name, asked in (("shown", "gap"), ("changed", "change"))
    }
    return {
        "cohort": watched.name,
        "status": name_status(watched),
        "alarm": alarm,
        "looks": len(looks),
        "through": str(looks["window_end"].iloc[-1]) if len(looks) else None,
        "records": int(looks["total"].iloc[-1]) if len(looks) else 0,
        "late": watched.late,
        "undated": watched.undated,
        **dict(zip(("judged", "cells"), count_judged(watched.ledger), strict=True)),
        "new": sum(one.new for one in watched.conclusions),
        **lists,
    }


def _as_data(one: Conclusion) -> dict[str, Any]:
    names = ["model", "attribute", "what", "rate", "group", "other", "estimate", "low", "high"]
    names += ["threshold", "before", "after", "since", "found", "new"]
    values = {name: getattr(one, name) for name in names}
    return {
        name: (None if isinstance(value, float) and not np.isfinite(value) else _round(value))
        for name, value in values.items()
        if name != "other" or value
    }


def _round(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def tell_watch(watched: Watched) -> list[str]:
    """Tell a terminal what a watch says."""
    looks = watched.ledger.looks
    if not len(looks):
        return [
            f"watched: {printable(watched.title)}: no window is over yet, so there is nothing to look at",
            *_tell_aside(watched),
        ]
    last = looks.iloc[-1]
    total = plural(int(last["total"]), "record")
    lines = [
        f"watched: {printable(watched.title)}: {plural(len(looks), 'look')}, the last at "
        f"{last['window_start']} to {last['window_end']}, {total} up to then"
    ]
    lines += _tell_list(
        "beyond its threshold", watched.alarms("gap"), _write_gap, none=_say_no_gap(watched.ledger)
    )
    lines += _tell_list("changed", watched.alarms("change"), _write_change, none=_say_no_change(watched))
    return [*lines, *_tell_aside(watched)]


def count_judged(ledger: Ledger) -> tuple[int, int]:
    """Count the cells that some look could judge, and all that can ever be judged."""
    cells = ledger.cells.loc[ledger.cells["possible"] > 0, [*CELL, "shown"]].drop_duplicates()
    return len(cells[cells["shown"] != "none"].drop_duplicates(CELL)), len(cells.drop_duplicates(CELL))


def _say_no_gap(ledger: Ledger) -> str:
    """Say why no gap is listed: none is shown, or there are too few records to judge one."""
    judged, cells = count_judged(ledger)
    if not judged:
        return "cannot be judged yet: no two groups have enough records"
    unjudged = cells - judged
    rest = f"; {plural(unjudged, 'cell')} of {cells:,} cannot be judged yet" if unjudged else ""
    return f"nothing is shown{rest}"


def _say_no_change(watched: Watched) -> str:
    """Say why no change is listed: none is shown, or it cannot be asked."""
    if len(watched.ledger.looks) <= watched.definition.baseline:
        return f"cannot be asked before the baseline of {_baseline(watched)} is over"
    if not len(watched.ledger.changes):
        enough = f"enough records both in the baseline of {_baseline(watched)} and since"
        return f"cannot be asked: no group has {enough}"
    unwatched = len(_list_unwatched(watched))
    rest = f"; of {plural(unwatched, 'rate')} there are too few records to ask" if unwatched else ""
    return f"nothing is shown{rest}"


def _baseline(watched: Watched) -> str:
    return plural(watched.definition.baseline, "window")


def _tell_aside(watched: Watched) -> Iterator[str]:
    """Tell of records that no look has seen."""
    if watched.late:
        said = agree(watched.late, "has", "have")
        late = f"{plural(watched.late, 'record')} {said} come"
        yield f"late: {late} for windows that were looked at; the next look sees them"
    if watched.undated:
        yield f"without a date: {plural(watched.undated, 'record')}, which no look sees"


def _tell_list(head: str, found: Sequence[Conclusion], write: Any, *, none: str) -> list[str]:
    """Tell what is shown of one question; of many the first."""
    if not found:
        return [f"{head}: {none}"]
    lines = [f"{head}: {printable(write(one))}" for one in found[:LISTED]]
    more = len(found) - LISTED
    return [*lines, *([f"{head}: {more} more on the page"] if more > 0 else [])]


def _write_gap(one: Conclusion) -> str:
    """Write that a gap is shown to lie beyond its threshold."""
    new = ", new" if one.new else ""
    return (
        f"{one.model}, {METRICS[one.what].title} by {one.attribute}, {_write_pair(one)}: "
        f"{number(one.estimate)} ({_bounds(one)}), threshold {number(one.threshold)}; "
        f"shown since the look of {one.found}{new}"
    )


def _write_change(one: Conclusion) -> str:
    """Write that a rate, or a difference of two, has changed."""
    new = ", new" if one.new else ""
    what = f"{NAMES[one.rate]} by {one.attribute}, {one.group}" + (f" less {one.other}" if one.other else "")
    return (
        f"{one.model}, {what}: from {_write_value(one, one.before)} to {_write_value(one, one.after)}, "
        f"since about {one.since}; shown since the look of {one.found}{new}"
    )


def _write_value(one: Conclusion, value: float) -> str:
    return number(value) if one.other else share(value)


def _bounds(one: Conclusion) -> str:
    """Write the confidence sequence; a side that is not bounded is said so."""
    low, high = (number(end) if np.isfinite(end) else "no bound" for end in (one.low, one.high))
    return f"{low} to {high}"


def _write_pair(one: Conclusion) -> str:
    """Name what a gap is of."""
    if not one.other:
        where = f", {name_bin(int(one.bin))}" if np.isfinite(one.bin) else ""
        return f"event rate less mean score in {one.group}{where}"
    sign = "over" if METRICS[one.what].direction == "at_least" else "less"
    rate = NAMES.get(one.rate, one.rate)
    return f"{rate} of {one.group} {sign} {one.other}"


def write_watch_page(watched: Watched, *, figure: str) -> str:
    """Write the page of a watch, in Markdown; every word of the cohort is escaped.

    Parameters
    ----------
    watched : Watched
        After all looks.
    figure : str
        Name of the figure's file beside the page; blank where nothing can be drawn.
    """
    parts = [f"# Watch: {escape(watched.title)}", *(f"- {escape(line)}" for line in tell_watch(watched))]
    text = [parts[0], "\n".join(parts[1:])]
    if figure:
        text.append(f"![Gaps from look to look with their confidence sequences and thresholds]({figure})")
    text += [_say_errors(watched), *_tabulate(watched)]
    return "\n\n".join(text) + "\n"


def _say_errors(watched: Watched) -> str:
    """Say which errors are bounded, by how much."""
    definition = watched.definition
    alpha = share(definition.protocol.shown_alpha, digits=0)
    length = run_length(definition.a_year, definition.protocol.shown_alpha)
    return (
        "## How sure\n\n"
        "However often one looks, the chance that any gap on a model's board is ever wrongly called beyond "
        f"its threshold is at most {alpha}; a gap is that of all records up to a look, and not of its "
        "window. The chance that anything on a model's board is wrongly called changed is at most "
        f"{alpha} for every year of watching, and on average at least {plural(length, 'window')} pass until "
        f"that happens; a change is looked for from each of the last {LOOK_BACK} windows on, against a "
        f"baseline of {_baseline(watched)}. Both hold as far as the normal limit holds: a group with few "
        f"events is judged late rather than early.{SITES if watched.by_site else ''}"
    )


def _tabulate(watched: Watched) -> Iterator[str]:
    """Lay out what is shown of every cell, what cannot be watched, and the looks."""
    lines = [
        f"| {escape(row.model)} | {row.metric} | {escape(row.attribute)} | {SHOWN[row.shown]} | {row.since} |"
        for row in rows(list_standing(watched.ledger))
    ]
    if lines:
        yield "\n".join(
            ["## Every gap\n", "| model | metric | attribute | threshold | since |", RULE, *lines]
        )
    lines = [
        f"| {row.window_start} | {row.window_end} | {int(row.records):,} | {int(row.late):,} | {row.status} |"
        for row in rows(watched.ledger.looks.tail(LATEST))
    ]
    if lines:
        yield "\n".join(["## Looks\n", "| from | to | records | late | look |", RULE, *lines])
    if unwatched := _list_unwatched(watched):
        lines = [f"- {escape(one)}" for one in unwatched]
        yield "\n".join(["## Groups in which no change can be seen: too few records\n", *lines])


def _list_unwatched(watched: Watched) -> list[str]:
    """List the rates of groups that the baseline or what followed has too little of."""
    ledger = watched.ledger
    if len(ledger.looks) <= watched.definition.baseline:
        return []
    seen = set(map(tuple, ledger.changes[STREAM].to_numpy(object))) if len(ledger.changes) else set()
    gaps = ledger.gaps[ledger.gaps["rate"].isin(list(NAMES))]
    named = pd.concat(
        [
            gaps[["model", "attribute", "rate", side]].set_axis(STREAM[:4], axis=1)
            for side in ("group", "other")
        ]
    )
    return [
        f"{row.model}, {row.attribute}, {row.group}: {NAMES[row.rate]}"
        for row in rows(named.drop_duplicates().sort_values(STREAM[:4], kind="stable"))
        if (row.model, row.attribute, row.rate, row.group, "") not in seen
    ]
