"""How is a cohort watched: one look for every window that is over, each looking at all records up to then?"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.months.changes import LOOK_BACK, Streams, look_at_changes, measure_streams
from auditbook.months.gaps import look_at_gaps
from auditbook.months.ledger import LOOK_COLUMNS, Ledger
from auditbook.records import AuditRecords, select_records
from auditbook.settings import Protocol

LOOKED, EMPTY = "looked", "no new record"


@dataclass(frozen=True)
class Stream:
    """Records as they come, with the window of each."""

    records: AuditRecords
    place: NDArray[np.intp]  # shape (n,): Window of each record, from 0; -1 before the first
    complete: int  # Windows that are over


@dataclass(frozen=True)
class Definition:
    """What is watched, and how."""

    protocol: Protocol
    baseline: int  # Windows of the baseline
    a_year: int  # Windows that begin in a year
    begin: Callable[[int], date]  # First day of a window
    end: Callable[[int], date]  # Last day of a window


def watch_windows(
    stream: Stream, ledger: Ledger, definition: Definition, *, say: Callable[[str], None] = lambda text: None
) -> Ledger:
    """Take a look for every window that is over and was not looked at.

    Every look sees all records up to the end of its window, those included that came late for an earlier
    one: the look at a window that was looked at is never taken again, whatever arrives later.

    Parameters
    ----------
    stream : Stream
        The records known today.
    ledger : Ledger
        The looks that were taken.
    definition : Definition
        What is watched.
    say : callable
        Is told of every look.

    Raises
    ------
    InputError
        If records that were there at the last look are there no more.
    """
    taken, base = len(ledger.looks), _Base(stream, definition)
    for look in range(taken, stream.complete):
        say(f"look {look + 1} of {stream.complete}: {definition.begin(look)} to {definition.end(look)}")
        ledger = _look(stream, ledger, definition, look, base)
    if taken >= stream.complete:
        _refuse_lost(stream, ledger)
    return ledger


def count_late(stream: Stream, ledger: Ledger) -> int:
    """Count the records that have come since the last look for windows that were looked at."""
    looks = ledger.looks
    if not len(looks):
        return 0
    return int((stream.place < len(looks)).sum()) - int(looks["total"].iloc[-1])


def _refuse_lost(stream: Stream, ledger: Ledger) -> None:
    late = count_late(stream, ledger)
    if late < 0:
        total = int(ledger.looks["total"].iloc[-1])
        raise InputError(
            f"the last look saw {total:,} records up to {ledger.looks['window_end'].iloc[-1]}, and there are "
            f"{total + late:,} now: records are gone; watch the table with all its records, or begin anew "
            "with --restart"
        )


def _look(stream: Stream, ledger: Ledger, definition: Definition, look: int, base: "_Base") -> Ledger:
    """Take one look."""
    _refuse_lost(stream, ledger)
    seen, inside = stream.place <= look, stream.place == look
    total, late = int(seen.sum()), count_late(stream, ledger)
    new = int(inside.sum())
    if look == 0:
        new, late = total, 0
    row = {
        "look": look,
        "window_start": definition.begin(look).isoformat(),
        "window_end": definition.end(look).isoformat(),
        "records": new,
        "late": late,
        "total": total,
        "status": LOOKED if new + late else EMPTY,
    }
    noted = ledger.add(looks=pd.DataFrame([row], columns=list(LOOK_COLUMNS)))
    if not new + late:
        return noted
    records = select_records(stream.records, seen)
    found = look_at_gaps(records, definition.protocol, look=look, gaps=ledger.gaps, cells=ledger.cells)
    changes = _find_changes(base, ledger, look)
    return noted.add(gaps=found.gaps, cells=found.cells, changes=changes)


@dataclass(frozen=True)
class _Base:
    """The baseline of a stream, measured once for all looks."""

    stream: Stream
    definition: Definition

    @cached_property
    def measured(self) -> Streams | None:
        """The streams in the baseline; None where it holds no record."""
        first = self.stream.place < self.definition.baseline
        return self.measure(first) if first.any() else None

    def measure(self, taken: NDArray[np.bool_]) -> Streams:
        """Measure the streams in some of the records."""
        return measure_streams(select_records(self.stream.records, taken), self.definition.protocol)


def _find_changes(base: _Base, ledger: Ledger, look: int) -> pd.DataFrame:
    """Hold the latest windows against the baseline; nothing before the baseline is over."""
    place, definition = base.stream.place, base.definition
    if look < definition.baseline or base.measured is None:
        return ledger.changes.iloc[:0]
    starts = range(max(definition.baseline, look - LOOK_BACK + 1), look + 1)
    taken = {start: (place >= start) & (place <= look) for start in starts}
    return look_at_changes(
        base.measured,
        {start: base.measure(held) for start, held in taken.items() if held.any()},
        look=look,
        baseline=definition.baseline,
        a_year=definition.a_year,
        alpha=definition.protocol.shown_alpha,
        before=ledger.changes,
    )
