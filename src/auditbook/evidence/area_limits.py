"""How sure can one be of the area under the ROC curve within each group, near 1 and with clusters too?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from auditbook.errors import InputError
from auditbook.evidence.clusters import Clusters, count_equal_clusters, join_df, pair_clusters
from auditbook.evidence.counts import rate
from auditbook.evidence.intervals import Interval
from auditbook.evidence.placements import ScoreLevels

Array = NDArray[np.float64]

FLAT = 1e-26
"""A squared influence below this is rounding."""


def area_limits(
    area: ArrayLike,
    variance: ArrayLike,
    events: ArrayLike,
    others: ArrayLike,
    *,
    df: ArrayLike = np.inf,
    level: ArrayLike = 0.975,
) -> Interval:
    r"""Bound areas under the ROC curve by Wilson's interval for the pairs that they are worth.

    An area is a share of pairs. Estimated with variance V it is worth as many independent pairs as

    .. math:: N = \frac{A(1 - A)}{V}, \qquad
              \frac1{N'} = \frac1N + (k + 1)^{-3/2} \max\Bigl(0, \frac1m - \frac1N\Bigr),
              \qquad k = 2m\min(A, 1 - A)

    with m the smaller of the numbers of events and of non-events. The limits are Wilson's for a share A of N'
    trials, with Student's t. Near 1 the placements of few events hardly vary and V comes out too small. There
    the bound of Birnbaum and Klose and of van Dantzig takes over: no distribution of scores makes V larger
    than :math:`A(1 - A)/m`. Its weight is ours, chosen among some by simulation: 1 where no pair is out
    of order, and soon nothing where k, twice the records out of order if each were so altogether, is large.

    Parameters
    ----------
    area : float array
        Areas; all arguments broadcast together.
    variance : float array
        Their variances, such as DeLong's, or by clusters from `cluster_areas`.
    events, others : float array
        Effective numbers of events and of non-events: divided by the design effect where there are clusters.
    df : float array
        Degrees of freedom of Student's t; infinite for the normal distribution.
    level : float array
        Chance that a limit lies on its side of the true area: 0.975 each for an interval of 95 %.

    Returns
    -------
    Interval
        Within 0 and 1, never of zero width. At area 1 the upper limit is 1, at 0 the lower is 0. nan where
        the area or its variance is nan, or without events or non-events.

    References
    ----------
    Wilson, E. B. (1927). doi:10.1080/01621459.1927.10502953
    Birnbaum, Z. W. and Klose, O. M. (1957). Bounds for the variance of the Mann-Whitney statistic.
    doi:10.1214/aoms/1177706794
    Kottas, M., Kuss, O. and Zapf, A. (2014). A modified Wald interval for the area under the ROC curve.
    doi:10.1186/1471-2288-14-26

    Examples
    --------
    >>> found = area_limits([0.75, 1.0], [0.0025, 0.0], 20, 200)
    >>> found.low.round(3).tolist(), found.high.round(3).tolist()
    ([0.637, 0.839], [0.837, 1.0])
    """
    share, spread, many, few, free, aim = np.broadcast_arrays(
        *(np.asarray(x, float) for x in (area, variance, events, others, df, level))
    )
    return bound_pairs(share, count_worth(share, spread, np.minimum(many, few)), _quantile(aim, free))


def bound_pairs(share: Array, pairs: Array, quantile: Array) -> Interval:
    """Bound areas by Wilson's interval for so many independent pairs."""
    square = np.square(quantile) / pairs
    half = np.sqrt(square * share * (1 - share) + np.square(square) / 4)
    low, high = ((share + square / 2 + sign * half) / (1 + square) for sign in (-1, 1))
    gone = np.isnan(square) | np.isnan(share)
    return Interval(
        np.where(gone, np.nan, np.where(share == 0, 0.0, np.clip(low, 0, 1))),
        np.where(gone, np.nan, np.where(share == 1, 1.0, np.clip(high, 0, 1))),
    )


def count_worth(area: Array, variance: Array, fewer: Array) -> Array:
    """Find how many independent pairs areas are worth; nan where nothing is known of one."""
    product = area * (1 - area)
    apart = product > 0
    mine = np.where(apart, variance, 0 * variance) / np.where(apart, product, 1.0)  # 0 * nan is nan
    most = rate(1.0, fewer)
    weight = (2 * fewer * np.minimum(area, 1 - area) + 1) ** -1.5
    return rate(1.0, mine + weight * np.maximum(0.0, most - mine))


def _quantile(level: Array, df: Array) -> Array:
    """Find the quantile of Student's t, at least one degree of freedom."""
    return np.asarray(stdtrit(np.where(df < np.inf, np.maximum(df, 1.0), 1e10), level))


@dataclass(frozen=True)
class AreaInfluence:
    """Areas within groups, and how far each record moves that of its own group; see `area_influence`.

    The influences of one group's events add up to zero, and so do those of its non-events.
    """

    areas: Array  # shape (n_groups,): nan for a group without events or non-events
    influence: Array  # shape (n,), in the records' own order; 0 in a group without an area
    outcome: NDArray[np.int8]  # shape (n,)
    codes: NDArray[np.intp]  # shape (n,): Group of each record
    events: Array  # shape (n_groups,)
    others: Array  # Non-events likewise
    # shape (n,): Where rows are not records but bins of them, how many each holds; then influences are means
    times: Array | None = None
    square: Array | None = None  # shape (n,): With `times`, sum of the squared influences of each


def area_influence(levels: ScoreLevels, codes: ArrayLike, n_groups: int) -> AreaInfluence:
    r"""Find the area within each group, and how far each record moves it, to first order.

    .. math:: \psi_i = (V_i - A_g)/m_g \text{ for an event}, \qquad
              \psi_j = (W_j - A_g)/n_g \text{ for a non-event}

    Parameters
    ----------
    levels : ScoreLevels
        From `rank_levels`.
    codes : int array, shape (n,)
        Position of each record's group, in the records' own order.
    n_groups : int
        Number of groups.

    Returns
    -------
    AreaInfluence
        With V the share of the group's non-events below the event, W that of its events above the non-event
        (ties half). In time n log n, whatever the number of groups.

    Raises
    ------
    InputError
        If there is not one group for every record.

    Examples
    --------
    >>> from auditbook.evidence.placements import rank_levels
    >>> found = area_influence(rank_levels([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), [0] * 4, 1)
    >>> found.areas.tolist(), found.influence.tolist()
    ([0.75], [0.125, -0.125, -0.125, 0.125])
    """
    group = np.asarray(codes).astype(np.intp)
    if group.shape != levels.order.shape:
        raise InputError(f"{group.size} groups for {levels.order.size} records")
    small = np.uint16 if n_groups <= 65_536 else np.int64  # few bytes sort fast
    order = np.argsort(group[levels.order].astype(small), kind="stable")
    ranked, mine = levels.order[order], levels.outcome[order].astype(np.int64)
    part = group[ranked]
    held = np.bincount(part, minlength=n_groups).astype(float)
    events = np.bincount(part, mine, n_groups).astype(float)
    others = held - events
    placed = _place(levels.level[order], mine, part, (others, events))
    twice = np.bincount(part, np.where(mine == 1, placed, 0.0), n_groups)
    areas = rate(twice, 2 * events * others)
    opposite = np.where(mine == 1, others[part], events[part])
    own = np.where(mine == 1, events[part], others[part])
    influence = np.empty(len(group))
    influence[ranked] = np.nan_to_num((rate(placed, 2 * opposite) - areas[part]) / own)
    outcome = np.empty(len(group), np.int8)
    outcome[levels.order] = levels.outcome
    return AreaInfluence(areas, influence, outcome, group, events, others)


def _place(
    level: NDArray[np.int64], mine: NDArray[np.int64], group: NDArray[np.intp], held: tuple[Array, Array]
) -> Array:
    """Twice the non-events below each event (above which events lie, for a non-event), plus those tied.

    Records stand group by group and by rising score; `held` has the non-events and events of each group.
    """
    if not len(level):
        return np.zeros(0)
    start = np.flatnonzero((np.diff(group, prepend=-1) != 0) | (np.diff(level, prepend=-1) != 0))
    tied_events = np.add.reduceat(mine, start)
    size = np.diff(start, append=len(level))
    before = start - (np.cumsum(held[0] + held[1]) - held[0] - held[1])[group[start]]
    events_before = np.cumsum(tied_events) - tied_events - (np.cumsum(held[1]) - held[1])[group[start]]
    below = 2 * (before - events_before) + size - tied_events
    above = 2 * (held[1][group[start]] - events_before) - tied_events
    return np.where(mine == 1, np.repeat(below, size), np.repeat(above, size))


@dataclass(frozen=True)
class ClusteredAreas:
    """Areas within groups, with all that `area_limits` asks for."""

    areas: Array  # shape (n_groups,)
    # shape (n_groups, n_groups): 0 between groups that share no cluster; nan for a group without an area, or
    # with fewer than two clusters that hold its events, or its non-events
    covariance: Array
    events: Array  # shape (n_groups,): Events over the design effect; never more than there are
    others: Array  # Non-events likewise
    df: Array  # shape (n_groups,): Degrees of freedom of Student's t
    clusters: Array  # shape (n_groups,): Clusters that hold records of the group

    def limits(self, *, level: ArrayLike = 0.975) -> Interval:
        """Bound the areas with `area_limits`; a level of shape (L, 1) gives limits of shape (L, n_groups)."""
        variance = np.diagonal(self.covariance)
        return area_limits(self.areas, variance, self.events, self.others, df=self.df, level=level)

    @property
    def correlation(self) -> Array:
        """Correlations of the areas, shape (n_groups, n_groups); 0 where a variance is 0 or unknown."""
        size = np.sqrt(np.nan_to_num(np.diagonal(self.covariance)))
        return np.nan_to_num(rate(1.0, np.outer(size, size)) * self.covariance)


def cluster_areas(found: AreaInfluence, cluster: ArrayLike | None = None) -> ClusteredAreas:
    r"""Find the covariance of areas within groups when clusters, such as patients or sites, are independent.

    .. math:: \mathrm{Cov}(A_g, A_h) = \sum_u \psi_{gu} \psi_{hu}, \qquad
              \psi_{gu} = \sqrt{f^1_g} \sum_{\text{events}} \psi_i
              + \sqrt{f^0_g} \sum_{\text{non-events}} \psi_j

    over the records of g in cluster u, with :math:`f = 1/(1 - 2\sum p_u^3/\sum p_u^2 + \sum p_u^2)` for
    clusters that hold the shares :math:`p_u` of the events (of the non-events): m/(m - 1) for m equal ones,
    so that records as clusters give DeLong's variance exactly. Degrees of freedom are Satterthwaite's of the
    events' and the non-events' parts (`join_df`), each with as many as it has equal clusters
    (`count_equal_clusters`), less one.

    Parameters
    ----------
    found : AreaInfluence
        From `area_influence`.
    cluster : int array, shape (n,), optional
        Position of each record's cluster, from 0; by default each record is its own.

    Returns
    -------
    ClusteredAreas
        The design effect is the variance over that of independent records, at least 1. Where the variance is
        0, events and non-events count by their effective clusters.

    Raises
    ------
    InputError
        If there is not one cluster for every record.

    References
    ----------
    Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. doi:10.2307/2533958
    Kish, L. (1965). Survey Sampling. Wiley.
    Satterthwaite, F. E. (1946). doi:10.2307/3002019

    Examples
    --------
    >>> from auditbook.evidence.placements import rank_levels
    >>> found = area_influence(rank_levels([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), [0] * 4, 1)
    >>> round(float(cluster_areas(found).covariance[0, 0]), 4)
    0.125
    """
    if cluster is None and found.times is not None:
        return _bound_alone(found)
    place = np.arange(len(found.codes)) if cluster is None else np.asarray(cluster).astype(np.intp)
    if place.shape != found.codes.shape:
        raise InputError(f"{place.size} clusters for {found.codes.size} records")
    pairs = pair_clusters(place, found.codes, len(found.areas))
    sides = [_Side.of(found, pairs, label) for label in (1, 0)]
    moved = [side.moved * np.sqrt(np.nan_to_num(side.factor))[pairs.group] for side in sides]
    products = pairs.measure_products(moved[0] + moved[1])
    return _join_sides(found, sides, products, pairs.total(np.ones(len(pairs.group))))


def _bound_alone(found: AreaInfluence) -> ClusteredAreas:
    """Do the same where rows are bins of records each of which stands for itself."""
    sides = [_Side.alone(found, label) for label in (1, 0)]
    products = np.diag(np.nan_to_num(sides[0].part + sides[1].part))
    return _join_sides(found, sides, products, found.events + found.others)


def _join_sides(
    found: AreaInfluence, sides: Sequence["_Side"], products: Array, clusters: Array
) -> ClusteredAreas:
    """Join what events and non-events add."""
    gone = np.isnan(found.areas) | np.isnan(sides[0].factor) | np.isnan(sides[1].factor)
    covariance = np.where(gone[:, None] | gone, np.nan, products)
    covariance[np.abs(covariance) < FLAT] = 0
    variance = np.diagonal(covariance)
    effect = np.fmax(rate(np.nan_to_num(variance), sides[0].plain + sides[1].plain), 1.0)
    still = variance == 0
    counts = [np.where(still, side.equal, side.held / effect) for side in sides]
    df = join_df((sides[0].part, sides[1].part), (sides[0].equal, sides[1].equal))
    return ClusteredAreas(found.areas, covariance, counts[0], counts[1], df, clusters)


@dataclass(frozen=True)
class _Side:
    """What the events (or the non-events) add; shape (n_groups,), but `moved` (n_pairs,)."""

    held: Array
    equal: Array  # Equal clusters that they are worth
    factor: Array  # That makes the variance unbiased; nan with fewer than two clusters
    moved: Array  # Influence of each cluster
    plain: Array  # Variance of independent records
    part: Array  # Variance of clusters

    @classmethod
    def of(cls, found: AreaInfluence, pairs: Clusters, label: int) -> "_Side":
        """Add up the records of one label."""
        mine = np.flatnonzero(found.outcome == label)
        place, influence = pairs.place[mine], found.influence[mine]
        held = (found.others, found.events)[label]
        times = None if found.times is None else found.times[mine]
        sums = (times, influence if times is None else influence * times)
        size, moved = (np.bincount(place, part, len(pairs.group)).astype(float) for part in sums)
        share = rate(size, held[pairs.group])
        powers = np.stack([pairs.total(np.nan_to_num(np.power(share, k))) for k in (2, 3, 4)])
        left = 1 - 2 * rate(powers[1], powers[0]) + powers[0]
        factor = rate(1.0, np.where(left > 1e-12, left, 0.0))
        squares = np.square(influence) if found.square is None else found.square[mine]
        square = np.bincount(found.codes[mine], squares, pairs.n_groups)
        plain = np.nan_to_num(square * rate(held, np.maximum(held - 1, 0)))
        part = np.nan_to_num(pairs.total(np.square(moved)) * factor)
        effect = np.nan_to_num(np.fmax(rate(part, plain), 1.0), nan=1.0)
        return cls(held, np.nan_to_num(count_equal_clusters(powers, effect)), factor, moved, plain, part)

    @classmethod
    def alone(cls, found: AreaInfluence, label: int) -> "_Side":
        """Add up bins of records of one label, each record by itself."""
        held, squares = (found.others, found.events)[label], found.square
        mine = np.flatnonzero(found.outcome == label)
        sizes = np.zeros(len(mine)) if squares is None else squares[mine]
        square = np.bincount(found.codes[mine], sizes, len(held)).astype(float)
        factor = rate(held, np.maximum(held - 1, 0))
        part = np.nan_to_num(square * factor)
        return cls(held, held, factor, np.zeros(0), part, part)
