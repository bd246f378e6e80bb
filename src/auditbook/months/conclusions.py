"""What do all looks together conclude, since when, and what is new?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from auditbook.months.changes import STREAM
from auditbook.months.gaps import CELL
from auditbook.months.ledger import Ledger
from auditbook.results import rows
from auditbook.verdicts import CONTRAST

Question = Literal["gap", "change"]


@dataclass(frozen=True)
class Conclusion:
    """One thing that is shown."""

    question: Question
    model: str
    attribute: str
    what: str  # The metric, or the rate
    rate: str
    bin: float  # Of a calibration contrast; nan elsewhere
    group: str
    other: str  # Blank where a group's own value is meant
    estimate: float  # Of a gap; of a change how far it went
    low: float
    high: float
    threshold: float  # nan for a change
    before: float  # Of a change: in the baseline, and since; nan for a gap
    after: float
    since: str  # Last day of the look that first showed a gap; first day of the window of a change
    found: str  # Last day of the window whose look first said so
    new: bool  # Whether that was the latest look


def conclude(ledger: Ledger) -> list[Conclusion]:
    """List what is shown by all looks that were taken: gaps first, then changes.

    >>> conclude(Ledger())
    []
    """
    if not len(ledger.looks):
        return []
    return [*_find_gaps(ledger), *_find_changed(ledger)]


def _find_gaps(ledger: Ledger) -> Iterator[Conclusion]:
    """Find the gaps that are shown to lie beyond their thresholds."""
    ends, last = dict(zip(ledger.looks["look"], ledger.looks["window_end"], strict=True)), _latest(ledger)
    failed = ledger.cells[ledger.cells["shown"] == "fail"]
    for cell in rows(failed.sort_values("look", kind="stable").drop_duplicates(CELL)):
        mine = ledger.gaps
        for name in CELL:
            mine = mine[mine[name] == getattr(cell, name)]
        mine = mine.sort_values("look", kind="stable").drop_duplicates(CONTRAST, keep="last")
        gap = rows(mine.sort_values("most_fail", ascending=False, kind="stable"))[0]
        yield Conclusion(
            question="gap",
            model=cell.model,
            attribute=cell.attribute,
            what=cell.metric,
            rate=gap.rate,
            bin=float(gap.bin),
            group=gap.group,
            other=gap.other,
            estimate=float(gap.estimate),
            low=float(gap.low),
            high=float(gap.high),
            threshold=float(cell.threshold),
            before=np.nan,
            after=np.nan,
            since=ends[cell.look],
            found=ends[cell.look],
            new=cell.look == last,
        )


def _find_changed(ledger: Ledger) -> Iterator[Conclusion]:
    """Find the streams that have changed."""
    looks, last = ledger.looks.set_index("look"), _latest(ledger)
    changed = ledger.changes[ledger.changes["changed"].astype(bool)]
    for one in rows(changed.sort_values("look", kind="stable").drop_duplicates(STREAM)):
        yield Conclusion(
            question="change",
            model=one.model,
            attribute=one.attribute,
            what=one.rate,
            rate=one.rate,
            bin=np.nan,
            group=one.group,
            other=one.other,
            estimate=float(one.change),
            low=float(one.low),
            high=float(one.high),
            threshold=np.nan,
            before=float(one.before),
            after=float(one.after),
            since=str(looks.loc[one.since, "window_start"]),
            found=str(looks.loc[one.look, "window_end"]),
            new=one.look == last,
        )


def _latest(ledger: Ledger) -> int:
    return int(ledger.looks["look"].iloc[-1])


def list_standing(ledger: Ledger) -> pd.DataFrame:
    """List every cell with what is shown of it now, and the last day of the look since which that stands."""
    found = []
    for _, part in ledger.cells.groupby(CELL, sort=False):
        ordered = part.sort_values("look", kind="stable")
        now = ordered.iloc[-1]
        other = np.flatnonzero((ordered["shown"] != now["shown"]).to_numpy())
        begin = ordered.iloc[other[-1] + 1 if len(other) else 0]
        found.append({**{name: now[name] for name in CELL}, "shown": now["shown"], "look": begin["look"]})
    table = pd.DataFrame(found, columns=[*CELL, "shown", "look"])
    ends = ledger.looks.set_index("look")["window_end"]
    return table.assign(since=table["look"].map(ends)).drop(columns="look")
