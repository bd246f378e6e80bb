"""Which counts and sums of a cohort, additive over its parts, does an audit rest on?

Whatever is summed is a whole number, so that neither the order nor the cutting of the records changes a byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.area_sums import N_STEPS
from auditbook.evidence.score_sums import N_BINS, ScoreSums
from auditbook.records import ScoreKind

UNIT = 2.0**-32
"""Sums of scores, of their squares and of b ln b count in this; each record's value is rounded once."""
UNIT_SUM = 2.0**-14
"""Sums of scores over the records of one unit are rounded to this before they are multiplied."""
FINE_BINS = 1024
"""Bins that the distribution of a score is kept in."""

Ints = NDArray[np.int64]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class TalliedModel:
    """What is known of a model whose records were counted."""

    model: str  # Its name
    kind: ScoreKind
    threshold: float  # A record is selected when its score is at least this


@dataclass(frozen=True)
class TalliedParts:
    """What the records of each group hold, part by part: sites, or bundles of units.

    Score sums are those of `ScoreSums` in units of 2^-32, zero for a model that gives no probabilities.
    """

    counts: Ints  # shape (n_models, n_parts, n_groups, 4), in the order tp, fp, fn, tn
    records: Ints  # shape (n_models, n_parts, n_groups, 10), by the bins of CAL
    events: Ints  # Likewise
    score: Ints  # Likewise
    benefit: Ints  # shape (n_models, n_parts, n_groups)
    benefit_log: Ints  # Likewise
    # shape (n_models, n_parts, n_groups, 2, 64): Records by label and run of fine bins; zero for decisions
    steps: Ints

    def sums(self) -> ScoreSums:
        """Read the score sums, leading shape (n_models, n_parts)."""
        plain = self.records.astype(float), self.events.astype(float)
        return ScoreSums(*plain, *(part * UNIT for part in (self.score, self.benefit, self.benefit_log)))


@dataclass(frozen=True)
class BinnedScores:
    """How the scores of one model are distributed in each group and label, over all sites."""

    # shape (n_bins - 1,): A score is in bin k when k edges are at most it
    edges: Array
    count: Ints  # shape (n_groups, 2, n_bins): Records; label 0 is the non-event
    # Sum of the scores likewise, in units of 2^-32. Of scores that only order records: of their places within
    # the bin, 0 at its lower edge (see `place_in_bins`)
    score: Ints
    square: Ints  # Sum of their squares likewise
    runs: NDArray[np.intp]  # shape (n_bins,): Run of each bin, 0 to 63


@dataclass(frozen=True)
class TalliedUnits:
    """How the sums of whole units, such as patients, vary; a unit's records lie in one part of the cohort.

    In products a sum of scores is rounded to 2^-14, and counts in that.
    """

    number: int  # Units
    # shape (n_models, 4 n_groups, 4 n_groups): Sum over units of z z^T, z the counts of every group
    counts: Ints
    held: Ints  # shape (n_models, n_groups, 4): Units with records, events, non-events, selected records
    largest: Ints  # Most of these in one unit, likewise
    # shape (n_models, 3 n_groups, 3 n_groups): The same as `counts` of records, sum of b and of b ln b
    benefits: Ints
    # shape (n_models, n_groups, 11, 3, 3): The same of records, events and scores in each bin of CAL; the
    # last is the whole group
    bins: Ints
    bin_held: Ints  # shape (n_models, n_groups, 11): Units with records there
    bin_largest: Ints  # Most records of one unit there
    keys: NDArray[np.uint64]  # shape (n_bundles,): What the bundles are numbered by, rising
    single: bool  # Whether each bundle is one unit
    bundles: TalliedParts


@dataclass(frozen=True)
class TalliedAttribute:
    """What the groups of one attribute hold."""

    name: str
    groups: tuple[str, ...]  # Sorted names; a group that holds no record stays listed
    reference: str | None
    parts: tuple[tuple[str, ...], ...]  # As in `Attribute`
    sites: TalliedParts  # One part without a site column
    fine: tuple[BinnedScores | None, ...]  # By model; None for decisions
    units: TalliedUnits | None  # None where each record is its own
    # shape (n_groups, 2, 2^n_models): Records by label and by who selects them, model k giving 2^k; None with
    # more than six models
    patterns: Ints | None = None

    @property
    def counts(self) -> Ints:
        """Counts by site, shape (n_models, n_sites, n_groups, 4)."""
        return self.sites.counts

    @property
    def tens(self) -> ScoreSums:
        """Score sums by site, leading shape (n_models, n_sites)."""
        return self.sites.sums()

    @property
    def steps(self) -> Ints:
        """Records by site, label and run of fine bins, shape (n_models, n_sites, n_groups, 2, 64)."""
        return self.sites.steps


@dataclass(frozen=True)
class Tally:
    """The counts and sums of a cohort, or of a part of it."""

    rows: int  # Records
    models: tuple[TalliedModel, ...]
    sites: tuple[str, ...]  # Sorted names; () without a site column, then arrays have one part
    attributes: tuple[TalliedAttribute, ...]
    site_key: str = field(default="")  # Name of the site column, where it is known


def find_widths(kind: ScoreKind, edges: Array) -> Array:
    """Find the widths of fine bins in the unit that `BinnedScores.score` sums, shape (n_bins,).

    Of ranks, places within the bin are summed: 1 wide, without an end in the outermost bins.

    >>> find_widths("rank", np.array([1.0, 3.0])).tolist()
    [inf, 1.0, inf]
    """
    if kind == "probability":
        return np.diff(edges, prepend=0.0, append=1.0)
    width = np.ones(len(edges) + 1)
    width[[0, -1]] = np.inf
    return width


def list_tenths() -> Array:
    """List the least numbers that lie in each bin of CAL but the first, shape (9,).

    >>> list_tenths().round(12).tolist()
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    """
    near = np.arange(1, N_BINS) / N_BINS
    for _ in range(4):
        lower = np.nextafter(near, 0)
        near = np.where((lower * N_BINS).astype(int) >= np.arange(1, N_BINS), lower, near)
    return near


REACH = 10.0
"""The bins of probabilities divide their logits from -10 to 10; the outermost take what lies beyond."""


def list_edges() -> Array:
    """List the edges of the fine bins of probabilities, shape (1023,): equal steps of the logit.

    The nine edges nearest to those of CAL's bins are put on them, so that each fine bin lies within one.

    >>> edges = list_edges()
    >>> len(edges), float(edges[511])
    (1023, 0.5)
    """
    logits = (np.arange(1, FINE_BINS) / FINE_BINS * 2 - 1) * REACH
    edges = 1 / (1 + np.exp(-logits))
    edges[_find_tenths()] = list_tenths()
    return edges


def _find_tenths() -> NDArray[np.intp]:
    """Find which edges are those of CAL's bins."""
    tenth = np.arange(1, N_BINS) / N_BINS
    logit = np.log(tenth / (1 - tenth))
    return np.rint((logit / REACH + 1) / 2 * FINE_BINS).astype(np.intp) - 1


def find_tens(edges: Array) -> NDArray[np.intp]:
    """Give each fine bin of a probability its bin of CAL, 0 to 9."""
    lower = np.concatenate([[0.0], edges])
    return np.minimum((lower * N_BINS).astype(np.intp), N_BINS - 1)


def list_runs() -> NDArray[np.intp]:
    """Give each fine bin of a probability its run, 0 to 63; no run crosses an edge of CAL's bins."""
    starts = np.arange(N_STEPS) * (FINE_BINS // N_STEPS)
    tenths = _find_tenths() + 1
    starts[np.rint(tenths * N_STEPS / FINE_BINS).astype(np.intp)] = tenths
    return np.searchsorted(starts, np.arange(FINE_BINS), side="right") - 1


def cut_ranks(values: Sequence[float] | Array) -> Array:
    """Choose the edges of the fine bins of a score that only orders records, from some of its values.

    A bin that starts at each value where there are at most 1,023; else bins that hold as many of the values.

    >>> cut_ranks([3.0, 1.0, 3.0]).tolist()
    [1.0, 3.0]
    """
    ranked = np.sort(np.asarray(values, float))
    distinct = np.unique(ranked)
    if len(distinct) < FINE_BINS:
        return distinct
    return np.unique(ranked[np.arange(FINE_BINS - 1) * len(ranked) // (FINE_BINS - 1)])


def place_in_bins(values: Array, edges: Array, fine: NDArray[np.intp]) -> Array:
    """Find where in their bins scores lie, from 0 at the lower edge to 1, rising also in bins without an end.

    >>> place_in_bins(np.array([1.0, 2.0, 7.0]), np.array([1.0, 3.0]), np.array([1, 1, 2])).tolist()
    [0.0, 0.5, 0.8]
    """
    bounds = np.concatenate([[-np.inf], edges, [np.inf]])
    low, high = bounds[fine], bounds[fine + 1]
    above, below = (np.where(np.isinf(part), 0.0, part) for part in (values - low, high - values))
    span = np.where(np.isinf(high - low), 1.0, high - low)
    inside = np.where(np.isinf(high), 1 - 1 / (1 + above), above / span)
    return np.where(np.isinf(low), 1 / (1 + below), inside)
