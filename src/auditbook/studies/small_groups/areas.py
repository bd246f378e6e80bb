"""Audits of known scores: do the areas' intervals cover, one by one, at once and as differences?

Scores are normal with SD 1. Non-events have mean 0, those of the smallest group 0.3; the events' means give
every group the design's AUC within the group, and the smallest group one that is lower by the design's gap.
The largest group has 2,000 records, or as many as the smallest when that has more; the others stand between
on a logarithmic scale. With sites, a site's records share a normal shift, and so do its events once more;
sites are of one size on average. The truth is that of endlessly many sites, where events and non-events
come from different ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from auditbook.evidence import Interval, open_stream
from auditbook.ranking import (
    AucMatrix,
    assess_parity,
    auc_matrix,
    joint_levels,
    matrix_interval,
    matrix_site_interval,
    summarise_areas,
)
from auditbook.settings import Protocol
from auditbook.studies.small_groups.measures import EVERY, Reading, Truth, Truths, mark_right
from auditbook.verdicts import find_metric, lack_support

SIZES = (30, 60, 125, 250, 500, 1_000, 2_000)
LARGEST, SHIFT = 2_000, 0.3
DRAWS = 1_000
"""Draws behind a simultaneous interval; an audit makes 4,000, which takes longer and moves little."""
RULE = find_metric("AUC")
PARITY = RULE.threshold
WITHIN, CROSS, OVERALL = "within AUC", "cross AUC", "overall AUC"
DIFFERENCE = "AUC difference"
ONE_BY_ONE, AT_ONCE, VERDICT = "matrix one by one", "matrix at once", "AUC parity verdict"
BY_SITE = " by sites"

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AucDesign:
    """One population and the size of its smallest group."""

    groups: int  # Number of groups
    smallest: int  # Records of the smallest
    event_rate: float  # The same in every group
    level: float  # AUC within every group but the smallest
    gap: float  # How much lower it is within the smallest
    sites: int = 0  # Number of sites; 0 when records are independent
    scatter: float = 0.0  # SD of the sites' shifts

    @property
    def name(self) -> str:
        """What names its random numbers."""
        parts = self.groups, self.smallest, self.event_rate, self.level, self.gap, self.sites, self.scatter
        return " ".join(f"{part:g}" for part in parts)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each group, shape (groups,), the smallest first."""
        largest = max(LARGEST, self.smallest)
        return np.rint(np.geomspace(self.smallest, largest, self.groups)).astype(np.int64)

    @property
    def spread(self) -> float:
        """SD of the difference of an event's and a non-event's score at different sites."""
        return float(np.sqrt(2 + 3 * self.scatter**2))

    @property
    def means(self) -> Array:
        """Mean score of events and of non-events of each group, shape (groups, 2)."""
        within = np.full(self.groups, self.level)
        within[0] -= self.gap
        others = np.where(np.arange(self.groups) == 0, SHIFT, 0.0)
        return np.stack([others + self.spread * norm.ppf(within), others], axis=1)

    @property
    def areas(self) -> Array:
        """The true matrix, shape (groups, groups)."""
        return norm.cdf((self.means[:, :1] - self.means[:, 1]) / self.spread)


def _list_designs() -> Iterator[AucDesign]:
    """Levels; then no gap, fewer events, nine groups, and sites."""
    for smallest in SIZES:
        base = AucDesign(2, smallest, 0.2, 0.75, 0.1)
        yield from (replace(base, level=level) for level in (0.6, 0.75, 0.9))
        yield replace(base, gap=0.0)
        yield replace(base, event_rate=0.05)
    for smallest in (30, 125, 500, 2_000):
        yield AucDesign(9, smallest, 0.2, 0.75, 0.1)
    for smallest in (125, 500):
        base = AucDesign(2, smallest, 0.2, 0.75, 0.1, 20, 0.3)
        yield from (replace(base, sites=sites) for sites in (5, 20, 40))


DESIGNS = tuple(_list_designs())


@dataclass(frozen=True)
class Scores:
    """The records of one audit; every array has shape (n,)."""

    outcome: NDArray[np.int8]
    values: Array
    codes: NDArray[np.int64]
    site: NDArray[np.int64] | None


def draw_scores(design: AucDesign, rng: np.random.Generator) -> Scores:
    """Draw the records of one audit."""
    codes = np.repeat(np.arange(design.groups), design.sizes)
    outcome = (rng.random(len(codes)) < design.event_rate).astype(np.int8)
    values = rng.standard_normal(len(codes)) + design.means[codes, 1 - outcome]
    if not design.sites:
        return Scores(outcome, values, codes, None)
    site = rng.integers(0, design.sites, len(codes))
    shared, of_events = design.scatter * rng.standard_normal((2, design.sites))
    return Scores(outcome, values + shared[site] + outcome * of_events[site], codes, site)


@cache
def find_truth(design: AucDesign, seed: int) -> Truths:
    """Give the true areas and differences."""
    areas, share = design.areas, design.sizes / design.sizes.sum()
    exact = {
        WITHIN: Truth(float(areas[0, 0])),
        CROSS: Truth(float(areas[0, -1])),
        OVERALL: Truth(float(share @ areas @ share)),
        DIFFERENCE: Truth(design.gap, PARITY),
        ONE_BY_ONE: Truth(np.nan),
        AT_ONCE: Truth(np.nan),
        VERDICT: Truth(np.nan),
    }
    return {(figure + unit, EVERY): truth for figure, truth in exact.items() for unit in ("", BY_SITE)}


def run_replicate(design: AucDesign, *, replicate: int, seed: int) -> list[Reading]:
    """Draw one audit and read its areas, taking records as independent and, with sites, sites too."""
    rng = open_stream(seed, "small groups", "auc", design.name, str(replicate))
    audit = draw_scores(design, rng)
    matrix = auc_matrix(audit.outcome, audit.values, audit.codes, design.groups, site=audit.site)
    strata = np.stack([matrix.events, matrix.others], axis=-1)
    held = float(not lack_support(RULE, strata, protocol=Protocol()))
    found = _read(design, matrix, held, False, rng)
    return found + (_read(design, matrix, held, True, rng) if design.sites else [])


def _read(
    design: AucDesign, matrix: AucMatrix, held: float, by_site: bool, rng: np.random.Generator
) -> list[Reading]:
    """Read all figures with one kind of unit."""
    bound = matrix_site_interval if by_site else matrix_interval
    single = bound(matrix)
    joint = joint_levels(matrix, by_site=by_site, draws=DRAWS, rng=rng).entries
    summary = summarise_areas(matrix, by_site=by_site)
    every, place = summary.interval(), summary.overall
    parity = assess_parity(matrix, by_site=by_site, draws=DRAWS, rng=rng)
    unit, whole = BY_SITE if by_site else "", not np.isnan(matrix.auc).any()
    numbers = {
        WITHIN: (matrix.auc[0, 0], single.low[0, 0], single.high[0, 0]),
        CROSS: (matrix.auc[0, -1], single.low[0, -1], single.high[0, -1]),
        OVERALL: (summary.values[place], every.low[place], every.high[place]),
        DIFFERENCE: (parity.value, parity.low, parity.high) if whole else (np.nan,) * 3,
    }
    readings: list[Reading] = [
        (name + unit, float(value), float(low), float(high), np.nan, held)
        for name, (value, low, high) in numbers.items()
    ]
    nothing = (np.nan, np.nan, np.nan)
    for name, interval in ((ONE_BY_ONE, single), (AT_ONCE, bound(matrix, level=joint))):
        readings.append((name + unit, *nothing, _cover(design, interval), held))
    if not by_site:
        passed = bool(RULE.passes(parity.value))
        right = mark_right(passed, bool(RULE.passes(design.gap)), known=whole)
        readings.append((VERDICT, *nothing, right, held))
    return readings


def _cover(design: AucDesign, interval: Interval) -> float:
    """Return 1 when every true area lies in its interval, nan when one has none."""
    covered = (interval.low <= design.areas) & (design.areas <= interval.high)
    return mark_right(bool(covered.all()), True, known=not np.isnan(interval.low).any())
