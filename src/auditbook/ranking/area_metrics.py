"""Which fairness metrics are made of areas under the ROC curve, and which of them can be trusted?"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence import Interval
from auditbook.ranking.joint import (
    DRAWS,
    bound_crossed,
    bound_differences,
    joint_levels,
    pair_level,
    set_level,
)
from auditbook.ranking.matrix import AucMatrix, matrix_interval, matrix_site_interval
from auditbook.ranking.summary import AreaSummary, summarise_areas

Array = NDArray[np.float64]
Advice = Literal["report beside", "recommended", "with caution", "not recommended"]


@dataclass(frozen=True)
class AucMetric:
    """A fairness metric that is made of areas, and what its critics say of it."""

    name: str  # Short name, as in auc_fairness.csv
    title: str
    meaning: str  # What it compares, and what its extremes say
    formula: str  # The same in LaTeX, for any number of groups
    advice: Advice  # The advice of Matos et al. (2026)
    why: str  # The reason for it
    source: str  # Who proposed it


_KALLUS = "Kallus and Zhou (2019), arXiv:1902.05826"
_BLEND = "One number blends areas within and across groups, so what moved it cannot be told from it."
_UNLIKE = "It compares an area within one group to an area that also counts pairs across groups."

_ALL = (
    AucMetric(
        "auc",
        "Overall AUC",
        "Chance that an event scores above a non-event, of whatever groups: 1 in order, 0.5 without.",
        r"\mathrm{AUC} = \sum_{g,h} w^1_g w^0_h A_{gh}",
        "report beside",
        "No fairness metric, but none of them can be read without it.",
        "Hanley and McNeil (1982), doi:10.1148/radiology.143.1.7063747",
    ),
    AucMetric(
        "within_parity",
        "Within-group AUC parity",
        "Largest difference between the areas within two groups: 0 when all groups are ordered equally well.",
        r"\max_{g,h} |A_{gg} - A_{hh}|",
        "recommended",
        "It compares like with like: how well each group's own events and non-events are told apart.",
        "Cheng et al. (2021) and Byrd et al. (2023), as cited there",
    ),
    AucMetric(
        "cross_parity",
        "Cross-group AUC parity",
        "Largest difference between the two areas across a pair of groups: 0 when neither stands higher.",
        r"\max_{g,h} |A_{gh} - A_{hg}|",
        "with caution",
        "It moves with event rates too: a calibrated score fails it where event rates differ.",
        _KALLUS,
    ),
    AucMetric(
        "xauc1",
        "xAUC1",
        "Chance that an event of the group scores above a non-event of any: 1 when it always does.",
        r"\mathrm{xAUC}^1_g = \sum_h w^0_h A_{gh}",
        "with caution",
        _BLEND,
        _KALLUS,
    ),
    AucMetric(
        "xauc0",
        "xAUC0",
        "Chance that an event of any group scores above a non-event of this one: 1 when it always does.",
        r"\mathrm{xAUC}^0_h = \sum_g w^1_g A_{gh}",
        "with caution",
        _BLEND,
        _KALLUS,
    ),
    AucMetric(
        "xauc1_parity",
        "xAUC1 parity",
        "Largest difference between the xAUC1 of two groups: 0 when all events stand equally high.",
        r"\max_{g,h} |\mathrm{xAUC}^1_g - \mathrm{xAUC}^1_h|",
        "with caution",
        _BLEND,
        _KALLUS,
    ),
    AucMetric(
        "xauc0_parity",
        "xAUC0 parity",
        "Largest difference between the xAUC0 of two groups: 0 when all non-events stand equally low.",
        r"\max_{g,h} |\mathrm{xAUC}^0_g - \mathrm{xAUC}^0_h|",
        "with caution",
        _BLEND,
        _KALLUS,
    ),
    AucMetric(
        "gap_to_overall",
        "Gap to overall",
        "Largest difference between the overall area and one within a group; 0 does not mean equal groups.",
        r"\max_g |\mathrm{AUC} - A_{gg}|",
        "not recommended",
        _UNLIKE,
        "Albuquerque et al. (2024), as cited there",
    ),
    AucMetric(
        "equity_scaled",
        "Equity-scaled AUC",
        "The overall area, lowered by the groups' distances from it; equals it when these are zero.",
        r"\frac{\mathrm{AUC}}{1 + \sum_g |\mathrm{AUC} - A_{gg}|}",
        "not recommended",
        _UNLIKE,
        "as cited by Matos et al. (2026)",
    ),
    AucMetric(
        "minimum",
        "Smallest within-group AUC",
        "Area within the group that is ordered worst; says nothing of the other groups.",
        r"\min_g A_{gg}",
        "not recommended",
        "Which value would be fair is not said, and the smallest of many noisy areas is too low by chance.",
        "as cited by Matos et al. (2026)",
    ),
    AucMetric(
        "min_max_ratio",
        "Smallest over largest within-group AUC",
        "1 when all groups are ordered equally well; hardly below 0.5, since an area without order is 0.5.",
        r"\min_g A_{gg} / \max_g A_{gg}",
        "not recommended",
        "Which value would be fair is not said, and the smallest of many noisy areas is too low by chance.",
        "as cited by Matos et al. (2026)",
    ),
)

AUC_METRICS = MappingProxyType({metric.name: metric for metric in _ALL})
"""Every metric, in the order of the tables; the gap of largest and smallest area is within-group parity."""


@dataclass(frozen=True)
class AreaFinding:
    """One metric of one attribute under one model."""

    metric: str  # A key of `AUC_METRICS`
    # The group it is about, or the pair with the largest difference (the first with the larger area)
    group: int | None = None
    other: int | None = None
    # The metric and its interval; nan where undefined
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan


def assess_areas(
    matrix: AucMatrix,
    *,
    level: float = 0.95,
    by_site: bool = False,
    draws: int = DRAWS,
    rng: np.random.Generator,
) -> tuple[AreaFinding, ...]:
    r"""Compute every AUC-based fairness metric with an interval.

    A largest difference over pairs is biased upward: with equal groups it is still above zero. Its interval
    is therefore not put around the value. Intervals for the signed differences of all pairs are made to hold
    at once, and the bounds are what they allow:

    .. math:: \max_{g,h} \min_{x \in [l_{gh}, u_{gh}]} |x| \quad\text{to}\quad
              \max_{g,h} \max_{x \in [l_{gh}, u_{gh}]} |x|

    This covers the true largest difference at least as often as aimed at, reaches 0 when no pair is told
    apart, and is too wide rather than too narrow. The other extremes and sums are bounded in the same way.
    The overall area and the areas of single groups are bounded one by one.

    Parameters
    ----------
    matrix : AucMatrix
        From `auc_matrix`.
    level : float
        Coverage of each interval.
    by_site : bool
        True takes sites as the independent units, False records.
    draws : int
        Number of draws for each simultaneous interval.
    rng : Generator
        Source of the draws.

    Returns
    -------
    tuple of AreaFinding
        In the order of `AUC_METRICS`; xAUC1 and xAUC0 once a group. Groups without an area are left out of a
        metric; with fewer than two left, a difference is nan.

    References
    ----------
    Matos, J. et al. (2026). Fairness metrics based on the AUC in clinical predictive AI.

    Examples
    --------
    >>> from auditbook.ranking.matrix import auc_matrix
    >>> matrix = auc_matrix([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.3], [0, 0, 1, 1], 2)
    >>> found = assess_areas(matrix, rng=np.random.default_rng(1))
    >>> found[1].metric, found[1].value
    ('within_parity', 0.5)
    """
    summary = summarise_areas(matrix, by_site=by_site)
    plain, ask = summary.interval(level=level), _Ask(level, draws, rng)
    crossed = _assess_crossed(matrix, by_site, ask)
    findings = [
        _single("auc", None, summary, plain, summary.overall),
        _assess_pairs("within_parity", summary, summary.within, ask),
        crossed,
        *(_single("xauc1", g, summary, plain, summary.n_groups + g) for g in range(summary.n_groups)),
        *(_single("xauc0", g, summary, plain, 2 * summary.n_groups + g) for g in range(summary.n_groups)),
        _assess_pairs("xauc1_parity", summary, summary.xauc1, ask),
        _assess_pairs("xauc0_parity", summary, summary.xauc0, ask),
        *_assess_gaps(summary, ask),
        *_assess_extremes(summary, ask),
    ]
    return tuple(findings)


def assess_parity(
    matrix: AucMatrix,
    *,
    level: float = 0.95,
    by_site: bool = False,
    draws: int = DRAWS,
    rng: np.random.Generator,
) -> AreaFinding:
    """Compute within-group parity alone, with the arguments of `assess_areas` and the interval that it gives.

    >>> from auditbook.ranking.matrix import auc_matrix
    >>> matrix = auc_matrix([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.3], [0, 0, 1, 1], 2)
    >>> assess_parity(matrix, rng=np.random.default_rng(1)).value
    0.5
    """
    summary = summarise_areas(matrix, by_site=by_site)
    return _assess_pairs("within_parity", summary, summary.within, _Ask(level, draws, rng))


@dataclass(frozen=True)
class _Ask:
    """What simultaneous intervals are asked for."""

    level: float
    draws: int
    rng: np.random.Generator


def _single(
    metric: str, group: int | None, summary: AreaSummary, interval: Interval, place: int
) -> AreaFinding:
    """Report one area as it is."""
    numbers = (float(part[place]) for part in (summary.values, interval.low, interval.high))
    return AreaFinding(metric, group, None, *numbers)


def _assess_pairs(metric: str, summary: AreaSummary, which: slice, ask: _Ask) -> AreaFinding:
    """Find the largest difference of two groups' areas."""
    joint = pair_level(summary.covariance[which, which], **vars(ask))
    single = summary.interval(level=joint)
    part = Interval(single.low[which], single.high[which])
    values = summary.values[which]
    bounds = bound_differences(values, part, correlation=summary.correlation[which, which])
    return _largest(metric, values[:, None] - values, bounds)


def _assess_crossed(matrix: AucMatrix, by_site: bool, ask: _Ask) -> AreaFinding:
    """Find the largest difference of the two areas across a pair of groups."""
    joint = joint_levels(matrix, by_site=by_site, **vars(ask)).cross_pairs
    interval = matrix_site_interval(matrix, level=joint) if by_site else matrix_interval(matrix, level=joint)
    bounds = bound_crossed(matrix, interval, by_site=by_site)
    return _largest("cross_parity", matrix.auc - matrix.auc.T, bounds)


def _largest(metric: str, difference: Array, bounds: Interval) -> AreaFinding:
    """Take the largest absolute difference, and what the bounds of all pairs allow for it."""
    first, second = np.triu_indices(len(difference), 1)
    signed = difference[first, second]
    known = np.flatnonzero(~np.isnan(signed))
    if not len(known):
        return AreaFinding(metric)
    best = known[np.argmax(np.abs(signed[known]))]
    pair = (int(first[best]), int(second[best]))
    low, high = (part[first, second][known] for part in (bounds.low, bounds.high))
    least = np.maximum(np.maximum(low, -high), 0).max()
    most = np.maximum(-low, high).max()
    return AreaFinding(
        metric, *(pair if signed[best] >= 0 else pair[::-1]), float(abs(signed[best])), least, most
    )


def _assess_gaps(summary: AreaSummary, ask: _Ask) -> Iterator[AreaFinding]:
    """Find the largest gap to the overall area, and the equity-scaled area."""
    known = np.flatnonzero(~np.isnan(summary.values[summary.within]))
    overall = float(summary.values[summary.overall])
    if not len(known):
        yield from (AreaFinding("gap_to_overall"), AreaFinding("equity_scaled"))
        return
    chosen = np.append(known, summary.overall)
    gaps = overall - summary.values[known]
    contrast = np.hstack([-np.eye(len(known)), np.ones((len(known), 1))])
    covariance = np.nan_to_num(summary.covariance[np.ix_(chosen, chosen)])
    joint = set_level(contrast @ covariance @ contrast.T, **vars(ask))
    bounds = _bound_gaps(summary, chosen, joint)
    sizes, least, most = np.abs(gaps), _nearest_zero(bounds), _farthest(bounds)
    place = int(np.argmax(sizes))
    ends = float(least.max()), float(most.max())
    if not ends[0] < ends[1]:  # of a group that is everybody: its gap is 0 by definition, not by measurement
        ends = (np.nan, np.nan)
    yield AreaFinding("gap_to_overall", int(known[place]), None, float(sizes[place]), *ends)
    every = np.vstack([contrast, np.append(np.zeros(len(known)), 1)])
    joint = set_level(every @ covariance @ every.T, **vars(ask))
    bounds, whole = _bound_gaps(summary, chosen, joint), summary.interval(level=joint)
    low = float(whole.low[-1] / (1 + _farthest(bounds).sum()))
    high = float(whole.high[-1] / (1 + _nearest_zero(bounds).sum()))
    yield AreaFinding("equity_scaled", None, None, equity_scaled(overall, summary.values[known]), low, high)


def _bound_gaps(summary: AreaSummary, chosen: NDArray[np.intp], level: float) -> Interval:
    """Bound the overall area less each group's; `chosen` ends with the overall one."""
    single = summary.interval(level=level)
    part = Interval(single.low[chosen], single.high[chosen])
    rho = summary.correlation[np.ix_(chosen, chosen)]
    bounds = bound_differences(summary.values[chosen], part, correlation=rho)
    return Interval(bounds.low[-1, :-1], bounds.high[-1, :-1])


def _nearest_zero(bounds: Interval) -> Array:
    """Smallest absolute value that each interval allows."""
    return np.maximum(np.maximum(bounds.low, -bounds.high), 0)


def _farthest(bounds: Interval) -> Array:
    """Largest absolute value that each interval allows."""
    return np.maximum(-bounds.low, bounds.high)


def _assess_extremes(summary: AreaSummary, ask: _Ask) -> Iterator[AreaFinding]:
    """Find the smallest area within a group, and the smallest over the largest."""
    values = summary.values[summary.within]
    known = np.flatnonzero(~np.isnan(values))
    if not len(known):
        yield from (AreaFinding("minimum"), AreaFinding("min_max_ratio"))
        return
    joint = set_level(summary.covariance[np.ix_(known, known)], **vars(ask))
    single = summary.interval(level=joint)
    low, high = single.low[known], single.high[known]
    least, most = (int(known[pick(values[known])]) for pick in (np.argmin, np.argmax))
    yield AreaFinding("minimum", least, None, float(values[least]), float(low.min()), float(high.min()))
    if len(known) < 2 or values[most] == 0:
        yield AreaFinding("min_max_ratio")
        return
    top = float(min(1.0, high.min() / low.max())) if low.max() > 0 else float("nan")
    ratio = float(values[least] / values[most])
    yield AreaFinding("min_max_ratio", least, most, ratio, float(low.min() / high.max()), top)


def equity_scaled(overall: float, within: ArrayLike) -> float:
    r"""Scale the overall area by the groups' distances from it.

    .. math:: \frac{\mathrm{AUC}}{1 + \sum_g |\mathrm{AUC} - A_{gg}|}

    Parameters
    ----------
    overall : float
        Area over all records.
    within : float array, shape (n_groups,)
        Area within each group.

    Returns
    -------
    float
        The overall area when all groups have it, else less: also when every group is ordered better.

    References
    ----------
    Matos, J. et al. (2026). Fairness metrics based on the AUC in clinical predictive AI.

    Examples
    --------
    >>> equity_scaled(0.75, [1, 1])
    0.5
    """
    return float(overall / (1 + np.abs(overall - np.asarray(within, float)).sum()))
