"""How do records of a made-up hospital come in, month by month, quietly or with a change?"""

from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from auditbook.months import Definition, Stream
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol

METRICS = ("DI", "SPD", "EOPP", "EOD", "PP")
BASELINE, A_YEAR, CHANGE = 3, 12, 4
"""Months of the baseline; months a year; the window (from 0) in which what is planted begins: the fifth."""
SEASON, STICKY, STAYS = 0.2, 0.5, 1.5
"""How far volumes swing; chance that a stay goes as the patient's first; stays a patient, on average."""


@dataclass(frozen=True)
class WatchedWorld:
    """A hospital whose records are looked at every month."""

    name: str
    shares: tuple[float, ...]  # Of the groups among patients
    events: float  # Event rate
    found: tuple[float, ...]  # TPR of each group
    later: tuple[float, ...] | None = None  # The same from the fifth month on; None where nothing changes
    months: int = 12
    records: int = 2_400  # A month, on average
    false_alarms: float = 0.12  # FPR of every group


WORLDS = (
    WatchedWorld("quiet, three groups, one gap at the threshold", (0.6, 0.3, 0.1), 0.10, (0.70, 0.60, 0.70)),
    WatchedWorld("quiet, nine groups, rare events", (0.4, *[0.075] * 8), 0.03, (0.70,) * 9),
    WatchedWorld("a gap opens", (0.6, 0.3, 0.1), 0.10, (0.70,) * 3, later=(0.70, 0.45, 0.70), months=18),
    WatchedWorld(
        "the TPR of one group drops", (0.5, 0.3, 0.2), 0.10, (0.70,) * 3, later=(0.70, 0.70, 0.40), months=18
    ),
)


def define_watch() -> Definition:
    """Say how the worlds are watched: every calendar month, three of them the baseline."""
    return Definition(Protocol(metrics=METRICS), BASELINE, A_YEAR, _begin, _end)


def _begin(look: int) -> date:
    return date(2024 + look // 12, look % 12 + 1, 1)


def _end(look: int) -> date:
    return date.fromordinal(_begin(look + 1).toordinal() - 1)


def draw_stream(world: WatchedWorld, rng: np.random.Generator) -> Stream:
    """Draw the records of all months; a patient's later stays fall into the same or the next two months."""
    swing = 1 + SEASON * np.sin(2 * np.pi * np.arange(world.months) / A_YEAR)
    patients = rng.poisson(world.records * swing / STAYS)
    stays = 1 + rng.poisson(STAYS - 1, int(patients.sum()))
    unit = np.repeat(np.arange(len(stays)), stays)
    month = np.repeat(np.arange(world.months), patients)[unit]
    first = np.r_[True, unit[1:] != unit[:-1]]
    place = month + np.where(first, 0, rng.integers(0, 3, len(unit)))
    group = rng.choice(len(world.shares), p=world.shares, size=len(stays))[unit]
    event = _draw_sticky(unit, len(stays), rng) < world.events
    rates = np.array([world.found, world.found if world.later is None else world.later])
    hit = rates[(place >= CHANGE).astype(int), group]
    chosen = _draw_sticky(unit, len(stays), rng) < np.where(event, hit, world.false_alarms)
    kept = place < world.months
    names = tuple(f"group {number + 1}" for number in range(len(world.shares)))
    records = AuditRecords(
        event[kept].astype(np.int8),
        (Attribute("group", names, group[kept]),),
        (Score("model", "decision", 0.5, chosen[kept].astype(float)),),
        unit=unit[kept],
    )
    return Stream(records, place[kept].astype(np.intp), world.months)


def _draw_sticky(unit: NDArray[np.intp], n_units: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw uniform numbers of which those of one patient are often the same."""
    own, shared = rng.random(len(unit)), rng.random(n_units)[unit]
    return np.where(rng.random(len(unit)) < STICKY, shared, own)
