"""How well does a score order the events of each group against the non-events of every group?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from auditbook.evidence import (
    BinError,
    Interval,
    PlacementSums,
    ScoreLevels,
    SiteSums,
    area_limits,
    count_equal_clusters,
    join_df,
    lift_left_out,
    measure_overlap,
    rank_levels,
    rate,
    sum_placements,
    sum_powers,
)

Array = NDArray[np.float64]

FLAT = 1e-13
"""A mean square of placements below this is rounding; its root is far below one pair of records."""


@dataclass(frozen=True)
class AucMatrix:
    """Areas under the ROC curve within and across groups, with what their covariance is made of.

    .. math:: A_{gh} = P(s > s') + P(s = s')/2

    for an event of group g with score s and a non-event of group h with score s'.
    """

    # [g, h]; the diagonal holds the areas within groups. 1 when every event of g lies above every non-event
    # of h, 0.5 when the score does not order them; nan without events of g or non-events of h
    auc: Array
    events: Array  # shape (n_groups,): Events of each group
    others: Array  # Non-events likewise
    # [g, h, k]: over the events of g, sum of the products of their placements among the non-events of h and
    # of k (shares below, ties half), each less its mean
    event_scatter: Array
    # [h, g, k]: the same over the non-events of h, for their placements among the events of g and of k
    other_scatter: Array
    by_site: SiteSums | None = None  # Sums of placements by site, as shares; None without sites
    bins: BinError | None = None  # How far the areas can be off; None where they are those of records

    @property
    def within(self) -> Array:
        """Areas within groups, shape (n_groups,)."""
        return np.diagonal(self.auc)

    @property
    def event_share(self) -> Array:
        """Each group's share of all events, shape (n_groups,)."""
        return rate(self.events, self.events.sum())

    @property
    def other_share(self) -> Array:
        """Each group's share of all non-events, shape (n_groups,)."""
        return rate(self.others, self.others.sum())


def auc_matrix(
    outcome: ArrayLike, values: ArrayLike, codes: ArrayLike, n_groups: int, *, site: ArrayLike | None = None
) -> AucMatrix:
    r"""Find all areas within and across the groups of one attribute.

    .. math:: A_{gh} = P(s > s') + P(s = s')/2

    for an event of group g with score s and a non-event of group h with score s'.

    Parameters
    ----------
    outcome : array of 0 and 1, shape (n,)
        1 where the event happened.
    values : float array, shape (n,)
        The scores; any order-preserving change of them gives the same areas.
    codes : int array, shape (n,)
        Position of each record's group.
    n_groups : int
        Number of groups.
    site : int array, shape (n,), optional
        Position of each record's site.

    Returns
    -------
    AucMatrix
        Ties count half.

    Raises
    ------
    InputError
        If lengths differ, a score is missing, a position is out of bounds, or an outcome is neither 0 nor 1.

    References
    ----------
    Kallus, N. and Zhou, A. (2019). The fairness of risk scores beyond classification. arXiv:1902.05826
    Matos, J. et al. (2026). Fairness metrics based on the AUC in clinical predictive AI.

    Examples
    --------
    >>> auc_matrix([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.3], [0, 0, 1, 1], 2).auc.tolist()
    [[1.0, 0.0], [1.0, 0.5]]
    """
    return order_matrix(rank_levels(outcome, values), codes, n_groups, site=site)


def order_matrix(
    levels: ScoreLevels, codes: ArrayLike, n_groups: int, *, site: ArrayLike | None = None
) -> AucMatrix:
    """Find all areas of one attribute from records that stand in the order of their scores."""
    n_sites = 0 if site is None else int(np.max(site, initial=-1)) + 1
    return share_matrix(sum_placements(levels, codes, n_groups, site=site, n_sites=n_sites))


def share_matrix(sums: PlacementSums) -> AucMatrix:
    """Turn sums of placements, of records or of bins, into areas and what their covariance needs."""
    auc = rate(sums.event_sum, 2 * np.outer(sums.events, sums.others))
    return AucMatrix(
        auc=auc,
        events=sums.events,
        others=sums.others,
        event_scatter=_scatter(sums.event_cross, sums.others, auc, sums.events),
        other_scatter=_scatter(sums.other_cross, sums.events, auc.T, sums.others),
        by_site=None if sums.by_site is None else share_sites(sums.by_site, sums.events, sums.others),
    )


def _scatter(cross: Array, opposite: Array, mean: Array, held: Array) -> Array:
    """Centre the sums of products of placements, shape (n_groups, n_groups, n_groups)."""
    twice = np.where(opposite > 0, 2 * opposite, np.nan)
    scatter = cross / (twice[:, None] * twice) - held[:, None, None] * mean[:, :, None] * mean[:, None, :]
    squares = np.einsum("ghh->gh", scatter)
    flat = squares <= FLAT * held[:, None]
    scatter[flat[:, :, None] | flat[:, None, :]] = 0
    return scatter


def share_sites(site: SiteSums, events: Array, others: Array) -> SiteSums:
    """Turn each site's sums of placements among so many events and non-events into sums of shares."""
    of_events, of_others = (np.where(held > 0, 2 * held, np.nan) for held in (others, events))
    return SiteSums(site.events, site.others, site.event_sum / of_events, site.other_sum / of_others)


@dataclass(frozen=True)
class DelongCovariance:
    """Covariance of all areas of a matrix, as the two parts that it is the sum of.

    Two areas vary together only through records that they share, so n_groups cubed numbers hold the whole.
    """

    # shape (n_groups, n_groups, n_groups): [g, h, k]: what the events of g add to the covariance of A[g, h]
    # and A[g, k]
    events: Array
    # shape (n_groups, n_groups, n_groups): [h, g, k]: what the non-events of h add to the covariance of
    # A[g, h] and A[k, h]
    others: Array

    @property
    def variances(self) -> tuple[Array, Array]:
        """What events and what non-events add to each variance, shapes (n_groups, n_groups)."""
        return np.einsum("ghh->gh", self.events), np.einsum("hgg->gh", self.others)

    def between(self, one: tuple[int, int], other: tuple[int, int]) -> float:
        """Return the covariance of the areas A[one] and A[other]."""
        (g, h), (k, m) = one, other
        shared = self.events[g, h, m] if g == k else 0.0
        return float(shared + (self.others[h, g, k] if h == m else 0.0))


def delong_covariance(matrix: AucMatrix) -> DelongCovariance:
    r"""Find DeLong's joint covariance of all areas, taking records as independent.

    .. math:: \mathrm{Cov}(A_{gh}, A_{kl}) = 1[g = k] \frac{S^{10}_g[h, l]}{m_g}
              + 1[h = l] \frac{S^{01}_h[g, k]}{n_h}

    with :math:`S^{10}_g[h, l]` the sample covariance, over the :math:`m_g` events of g, of their placements
    among the non-events of h and of l, and :math:`S^{01}_h[g, k]` that over the :math:`n_h` non-events of h.

    Parameters
    ----------
    matrix : AucMatrix
        From `auc_matrix`.

    Returns
    -------
    DelongCovariance
        0 under perfect separation and when all scores are tied; nan with fewer than two events of g or
        non-events of h.

    References
    ----------
    DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). doi:10.2307/2531595

    Examples
    --------
    >>> found = delong_covariance(auc_matrix([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0] * 4, 1))
    >>> round(found.between((0, 0), (0, 0)), 4)
    0.125
    """
    of_events, of_others = _pairs(matrix.events), _pairs(matrix.others)
    return DelongCovariance(
        matrix.event_scatter / of_events[:, None, None], matrix.other_scatter / of_others[:, None, None]
    )


def _pairs(held: Array) -> Array:
    """Count ordered pairs, n (n - 1); nan below two."""
    return np.where(held > 1, held * (held - 1), np.nan)


def standard_errors(matrix: AucMatrix) -> Array:
    """Find the standard error of every area, the root of its variance in `delong_covariance`."""
    events, others = delong_covariance(matrix).variances
    return np.sqrt(events + others)


@dataclass(frozen=True)
class SiteErrors:
    """Standard errors with whole sites as the units."""

    se: Array  # shape (n_groups, n_groups): nan with fewer than two sites that take part
    df: Array  # shape (n_groups, n_groups): Degrees of freedom, from `join_df`
    # shape (n_groups, n_groups): The smaller of the numbers of events and non-events, over the design effect
    fewer: Array
    sites: Array  # shape (n_groups, n_groups): Sites that hold an event of g or a non-event of h
    # shape (n_groups, n_groups): Most pairs of an event of g and a non-event of h such that no two pairs
    # share a site
    pairs: Array


def site_influence(matrix: AucMatrix) -> Array:
    r"""Find what each site adds to every area, to first order.

    .. math:: \psi_{s,gh} = \frac{1}{m_g} \sum_{i \in s,g} (V_{ih} - A_{gh})
              + \frac{1}{n_h} \sum_{j \in s,h} (W_{jg} - A_{gh})

    with V and W the placements of events and non-events. Over all sites they add up to zero.
    """
    event, other = _influence_by_label(matrix)
    return event + other


def leave_out_sites(matrix: AucMatrix) -> Array:
    """Find how far each area moves without each site, to be squared and added up; see `lift_left_out`."""
    event, other = _move_by_label(matrix)
    return event + other


def _move_by_label(matrix: AucMatrix) -> tuple[Array, Array]:
    """Find how far the areas move without the events, and without the non-events, of each site."""
    event, other = _influence_by_label(matrix)
    if matrix.by_site is None:
        return event, other
    held = matrix.by_site.events, matrix.by_site.others
    return event * lift_left_out(held[0])[:, :, None], other * lift_left_out(held[1])[:, None]


def _influence_by_label(matrix: AucMatrix) -> tuple[Array, Array]:
    """Find what the events and what the non-events of each site add."""
    site = matrix.by_site
    if site is None:
        return np.zeros((0, *matrix.auc.shape)), np.zeros((0, *matrix.auc.shape))
    event = site.event_sum - site.events[:, :, None] * matrix.auc
    other = site.other_sum - site.others[:, :, None] * matrix.auc.T
    return event / matrix.events[:, None], np.swapaxes(other / matrix.others[:, None], 1, 2)


def site_errors(matrix: AucMatrix) -> SiteErrors:
    r"""Find the standard error of every area when sites, not records, are independent.

    .. math:: \mathrm{SE}^2 = \sum_s \Bigl(\sqrt{\tfrac{S_1 - 1}{S_1}} \frac{\psi^1_s}{1 - p_s}
              + \sqrt{\tfrac{S_0 - 1}{S_0}} \frac{\psi^0_s}{1 - q_s}\Bigr)^2

    over the :math:`S_1` sites that hold events, the share :math:`p_s` of them each, and the :math:`S_0` that
    hold non-events, the share :math:`q_s`; :math:`\psi` are the two parts of `site_influence`. It is the
    jackknife that leaves out one site at a time (`lift_left_out`): sums of squares alone come out too small
    where sites are few and unequal. Sites of one record each give DeLong's standard error.

    Parameters
    ----------
    matrix : AucMatrix
        Made with sites.

    Returns
    -------
    SiteErrors
        nan throughout without sites.

    References
    ----------
    Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. doi:10.2307/2533958
    MacKinnon, J. G., Nielsen, M. O. and Webb, M. D. (2023). doi:10.1002/jae.2969

    Examples
    --------
    >>> matrix = auc_matrix([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0] * 4, 1, site=[0, 1, 1, 0])
    >>> float(site_errors(matrix).se[0, 0])
    0.5
    """
    if matrix.by_site is None:
        blank = np.full(matrix.auc.shape, np.nan)
        return SiteErrors(blank, blank, blank, np.zeros_like(blank), np.zeros_like(blank))
    has_event, has_other = (
        (held > 0).astype(float) for held in (matrix.by_site.events, matrix.by_site.others)
    )
    both = has_event.T @ has_other
    n_event, n_other = has_event.sum(axis=0)[:, None], has_other.sum(axis=0)[None]
    sites = n_event + n_other - both
    event, other = _move_by_label(matrix)
    square = np.square(event + other).sum(axis=0)
    square[square < FLAT**2] = 0
    se = np.sqrt(np.where(sites > 1, square, np.nan))
    effect = np.fmax(rate(se**2, standard_errors(matrix) ** 2), 1.0)
    held = matrix.by_site.events[:, :, None], matrix.by_site.others[:, None]
    counts = tuple(count_equal_clusters(sum_powers(side), effect) for side in held)
    parts = np.square(event).sum(axis=0), np.square(other).sum(axis=0)
    df = join_df(parts, (counts[0], counts[1]), measure_overlap(*held, effect))
    fewer = np.minimum(matrix.events[:, None], matrix.others) / effect
    return SiteErrors(se, df, fewer, sites, both + np.minimum(n_event - both, n_other - both))


def bound_areas(
    auc: ArrayLike,
    se: ArrayLike,
    *,
    level: float,
    df: ArrayLike = np.inf,
    pairs: ArrayLike,
    fewer: ArrayLike | None = None,
) -> Interval:
    r"""Bound areas with `area_limits`; from one side where events and non-events are perfectly separated.

    A standard error of zero says nothing. For A = 1 (and mirrored for 0) the lower bound is
    :math:`\alpha^{1/m}` instead (ours), with :math:`\alpha` = 1 - level: m disjoint pairs are all in order
    with probability :math:`A^m`.

    Parameters
    ----------
    auc, se : float arrays that broadcast together
        Areas and their standard errors.
    level : float
        Coverage of each interval by itself.
    df : float array
        Degrees of freedom of Student's t; infinite for the normal distribution.
    pairs : float array
        m, such as the smaller of the numbers of events and of non-events.
    fewer : float array, optional
        That smaller number over the design effect, where clusters make it differ from m.

    Returns
    -------
    Interval
        Never of zero width; nan where the standard error is nan, or is zero without perfect separation.

    Examples
    --------
    >>> found = bound_areas([0.75, 1.0], [0.05, 0.0], level=0.95, pairs=[20, 10])
    >>> found.low.round(3).tolist(), found.high.round(3).tolist()
    ([0.637, 0.741], [0.837, 1.0])
    """
    small = pairs if fewer is None else fewer
    area, error, free, one_side = np.broadcast_arrays(*(np.asarray(x, float) for x in (auc, se, df, pairs)))
    parted = ((area == 0) | (area == 1)) & (one_side > 0)
    known = (error > 0) & (area > 0) & (area < 1)
    found = area_limits(area, np.where(known, error**2, np.nan), small, small, df=free, level=0.5 + level / 2)
    bound = np.power(1 - level, 1 / np.where(parted, one_side, 1))
    low = np.where(parted, np.where(area == 1, bound, 0.0), found.low)
    high = np.where(parted, np.where(area == 1, 1.0, 1 - bound), found.high)
    return Interval(low, high)


def student_quantile(level: float, df: ArrayLike) -> Array:
    """Find how many standard errors an interval reaches to each side."""
    free = np.asarray(df, float)
    endless = ~(free < np.inf)
    quantile = stdtrit(np.where(endless, 1.0, np.maximum(free, 1.0)), 0.5 + level / 2)
    return np.where(endless, ndtri(0.5 + level / 2), quantile)


def satterthwaite(matrix: AucMatrix) -> Array:
    r"""Find the degrees of freedom of every standard error.

    .. math:: \nu = \frac{(a + b)^2}{a^2/(m - 1) + b^2/(n - 1)}

    with a and b the parts of the squared error that come from m events and n non-events. With few events in a
    group the normal quantile makes intervals too short; Student's, with these, mends most of it.

    Parameters
    ----------
    matrix : AucMatrix
        From `auc_matrix`.

    Returns
    -------
    float array, shape (n_groups, n_groups)
        Infinite where the standard error is zero or nan.

    References
    ----------
    Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components.
    doi:10.2307/3002019

    Examples
    --------
    >>> float(satterthwaite(auc_matrix([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0] * 4, 1))[0, 0])
    2.0
    """
    events, others = delong_covariance(matrix).variances
    spread = rate(events**2, np.maximum(matrix.events - 1, 0)[:, None]) + rate(
        others**2, np.maximum(matrix.others - 1, 0)
    )
    found = rate((events + others) ** 2, spread)
    return np.where(np.isnan(found), np.inf, found)


def matrix_interval(matrix: AucMatrix, *, level: float = 0.95) -> Interval:
    """Bound every area by itself, taking records as independent; for all at once see `joint_levels`.

    >>> found = matrix_interval(auc_matrix([0, 0, 1, 1], [1, 2, 3, 4], [0] * 4, 1))
    >>> float(found.low[0, 0].round(3)), float(found.high[0, 0])
    (0.224, 1.0)
    """
    pairs = np.minimum(matrix.events[:, None], matrix.others)
    return bound_areas(
        matrix.auc, standard_errors(matrix), level=level, df=satterthwaite(matrix), pairs=pairs
    )


def matrix_site_interval(matrix: AucMatrix, *, level: float = 0.95) -> Interval:
    """Bound every area by itself with sites as the units; nan with fewer than two sites that take part.

    >>> matrix = auc_matrix([0, 0, 1, 1], [1, 2, 3, 4], [0] * 4, 1, site=[0, 1, 1, 0])
    >>> float(matrix_site_interval(matrix).low[0, 0].round(3))
    0.224
    """
    found = site_errors(matrix)
    pairs = np.where(found.sites > 1, found.pairs, 0)
    return bound_areas(matrix.auc, found.se, level=level, df=found.df, pairs=pairs, fewer=found.fewer)
