"""How do the areas of an AUC matrix add up to one area a group, and to one for all?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import (
    Interval,
    count_equal_clusters,
    join_df,
    lift_left_out,
    measure_overlap,
    rate,
    sum_powers,
)
from auditbook.ranking.matrix import FLAT, AucMatrix, bound_areas

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AreaSummary:
    r"""Areas of single groups and of all records, with their joint covariance.

    All arrays stand in one order: areas within the groups, then xAUC1 of every group (its events against all
    non-events), xAUC0 of every group (all events against its non-events), and last the area over all.

    .. math:: \mathrm{xAUC}^1_g = \sum_h w^0_h A_{gh},\quad \mathrm{xAUC}^0_h = \sum_g w^1_g A_{gh},\quad
              \mathrm{AUC} = \sum_{g,h} w^1_g w^0_h A_{gh}

    with the groups' shares :math:`w^1` among events and :math:`w^0` among non-events. The shares count as
    sampled, so the variance of the area over all is DeLong's.
    """

    values: Array  # shape (3 n_groups + 1,): nan where a group lacks events or non-events that the area needs
    # shape (3 n_groups + 1, 3 n_groups + 1): Of the values; nan where fewer than two records (or sites)
    # take part
    covariance: Array
    df: Array  # shape (3 n_groups + 1,): Degrees of freedom of Student's t
    pairs: Array  # shape (3 n_groups + 1,): Disjoint pairs for the one-sided bound under perfect separation
    # shape (3 n_groups + 1,): The smaller of the numbers of events and non-events, over the design effect
    fewer: Array
    n_groups: int  # Number of groups

    @property
    def within(self) -> slice:
        """Where the areas within groups stand."""
        return slice(0, self.n_groups)

    @property
    def xauc1(self) -> slice:
        """Where the areas of one group's events against all non-events stand."""
        return slice(self.n_groups, 2 * self.n_groups)

    @property
    def xauc0(self) -> slice:
        """Where the areas of all events against one group's non-events stand."""
        return slice(2 * self.n_groups, 3 * self.n_groups)

    @property
    def overall(self) -> int:
        """Where the area over all records stands."""
        return 3 * self.n_groups

    @property
    def se(self) -> Array:
        """Standard errors, shape (3 n_groups + 1,)."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def correlation(self) -> Array:
        """Correlations; 0 where a standard error is zero or unknown."""
        known = np.where(self.se > 0, self.se, np.nan)
        return np.nan_to_num(self.covariance / (known[:, None] * known))

    def interval(self, *, level: float = 0.95) -> Interval:
        """Bound every area, each by itself; see `bound_areas`."""
        ask = {"df": self.df, "pairs": self.pairs, "fewer": self.fewer}
        return bound_areas(self.values, self.se, level=level, **ask)


@dataclass(frozen=True)
class _Loadings:
    """How far each record moves each of K areas: a weight for each of its placements, and a shift.

    `weight` has shape (K, n_groups, n_groups), [k, g, h] for a record of g and its placement in h; `shift`
    has shape (K, n_groups); `held` the records that the area rests on, shape (K,).
    """

    weight: Array
    shift: Array
    held: Array


def summarise_areas(matrix: AucMatrix, *, by_site: bool = False) -> AreaSummary:
    """Find the areas of single groups and of all records, with their joint covariance.

    Parameters
    ----------
    matrix : AucMatrix
        From `auc_matrix`.
    by_site : bool
        True takes sites as the independent units, False records.

    Returns
    -------
    AreaSummary
        With `by_site` and fewer than two sites, covariances are nan.

    References
    ----------
    DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). doi:10.2307/2531595
    Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. doi:10.2307/2533958

    Examples
    --------
    >>> from auditbook.ranking.matrix import auc_matrix
    >>> found = summarise_areas(auc_matrix([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.3], [0, 0, 1, 1], 2))
    >>> found.values.tolist()
    [1.0, 0.5, 0.5, 0.75, 1.0, 0.25, 0.625]
    """
    area = np.nan_to_num(matrix.auc)
    first = area @ np.nan_to_num(matrix.other_share)
    second = np.nan_to_num(matrix.event_share) @ area
    overall = float(first @ np.nan_to_num(matrix.event_share))
    bare = bool(matrix.events.sum() == 0 or matrix.others.sum() == 0)
    values = np.concatenate(
        [
            matrix.within,
            np.where((matrix.events > 0) & ~bare, first, np.nan),
            np.where((matrix.others > 0) & ~bare, second, np.nan),
            [np.nan if bare else overall],
        ]
    )
    events = _load(area, first, overall, matrix.events, matrix.others)
    others = _load(area.T, second, overall, matrix.others, matrix.events, swapped=True)
    if by_site:
        return _cover_sites(matrix, values, events, others)
    return _cover_records(matrix, values, events, others)


def _load(
    area: Array, pooled: Array, overall: float, mine: Array, opposite: Array, *, swapped: bool = False
) -> _Loadings:
    """Write down how records of one label move the areas; for non-events (`swapped`) xAUC0 goes first."""
    count = len(mine)
    share = np.nan_to_num(rate(opposite, opposite.sum()))
    own = np.nan_to_num(rate(1.0, mine))
    every = float(np.nan_to_num(rate(1.0, mine.sum())))
    weight, shift = np.zeros((3 * count + 1, count, count)), np.zeros((3 * count + 1, count))
    place = np.arange(count)
    single, across = (2 * count, count) if swapped else (count, 2 * count)
    weight[place, place, place] = own
    weight[single + place, place] = own[:, None] * share
    weight[across + place, :, place] = every
    shift[across + place] = every * (area - _column_mean(area, mine)).T
    weight[-1] = every * share
    shift[-1] = every * (pooled - overall)
    held = np.empty(3 * count + 1)
    held[place] = held[single + place] = mine
    held[across + place] = held[-1] = mine.sum()
    return _Loadings(weight, shift, held)


def _column_mean(area: Array, mine: Array) -> Array:
    """Mean over groups, weighted by their records, of every column."""
    return np.nan_to_num(rate(mine, mine.sum())) @ area


def _cover_records(matrix: AucMatrix, values: Array, events: _Loadings, others: _Loadings) -> AreaSummary:
    """Add up the covariance over independent records."""
    of_events = _cover(events, matrix.event_scatter, matrix.events)
    of_others = _cover(others, matrix.other_scatter, matrix.others)
    first, second = np.diagonal(of_events), np.diagonal(of_others)
    spread = rate(first**2, events.held - 1) + rate(second**2, others.held - 1)
    df = rate((first + second) ** 2, spread)
    return AreaSummary(
        values=values,
        covariance=_blank(of_events + of_others, values),
        df=np.where(np.isnan(df), np.inf, df),
        pairs=np.minimum(events.held, others.held),
        fewer=np.minimum(events.held, others.held),
        n_groups=len(matrix.events),
    )


def _cover(loadings: _Loadings, scatter: Array, mine: Array) -> Array:
    """Covariance that the records of one label add; nan for areas that rest on fewer than two of them."""
    inner = np.nan_to_num(scatter)
    total = (loadings.shift * mine) @ loadings.shift.T
    for group in np.flatnonzero(mine):
        total += loadings.weight[:, group] @ inner[group] @ loadings.weight[:, group].T
    factor = np.sqrt(rate(loadings.held, np.where(loadings.held > 1, loadings.held - 1, 0)))
    return total * factor[:, None] * factor


def _cover_sites(matrix: AucMatrix, values: Array, events: _Loadings, others: _Loadings) -> AreaSummary:
    """Add up the covariance over independent sites, left out one at a time (`lift_left_out`)."""
    n_groups, blank = len(matrix.events), np.full(len(values), np.nan)
    if matrix.by_site is None:
        return AreaSummary(values, np.outer(blank, blank), blank, np.zeros(len(values)), blank, n_groups)
    site = matrix.by_site
    held = site.events @ _use(events).T, site.others @ _use(others).T
    of_events = _move(events, site.event_sum, site.events, matrix.auc) * lift_left_out(held[0])
    of_others = _move(others, site.other_sum, site.others, matrix.auc.T) * lift_left_out(held[1])
    moved: Array = of_events + of_others
    moved[np.abs(moved) < FLAT] = 0
    has_event, has_other = _take_part(events, site.events), _take_part(others, site.others)
    both = (has_event & has_other).sum(axis=0)
    n_event, n_other = has_event.sum(axis=0), has_other.sum(axis=0)
    sites = n_event + n_other - both
    moved[:, sites < 2] = np.nan
    pairs = both + np.minimum(n_event - both, n_other - both)
    covariance = _blank(moved.T @ moved, values)
    plain = np.diagonal(_cover_records(matrix, values, events, others).covariance)
    effect = np.fmax(rate(np.diagonal(covariance), plain), 1.0)
    powers = sum_powers(held[0]), sum_powers(held[1])
    counts = count_equal_clusters(powers[0], effect), count_equal_clusters(powers[1], effect)
    parts = np.square(of_events).sum(axis=0), np.square(of_others).sum(axis=0)
    return AreaSummary(
        values=values,
        covariance=covariance,
        df=join_df(parts, counts, measure_overlap(*held, effect)),
        pairs=np.where(sites > 1, pairs, 0.0),
        fewer=np.minimum(events.held, others.held) / effect,
        n_groups=n_groups,
    )


def _move(loadings: _Loadings, placed: Array, held: Array, area: Array) -> Array:
    """Find how far the records of one label at each site move each area, shape (n_sites, K)."""
    away = np.nan_to_num(placed - held[:, :, None] * area)
    return np.tensordot(away, loadings.weight, axes=([1, 2], [1, 2])) + held @ loadings.shift.T


def _take_part(loadings: _Loadings, held: Array) -> NDArray[np.bool_]:
    """Tell which sites hold records of this label that an area rests on, shape (n_sites, K)."""
    return (held > 0).astype(float) @ _use(loadings).T > 0


def _use(loadings: _Loadings) -> Array:
    """Tell which groups' records of this label an area rests on, shape (K, n_groups), as 0 and 1."""
    return (loadings.weight != 0).any(axis=-1).astype(float)


def _blank(covariance: Array, values: Array) -> Array:
    """Blank the covariance of areas that are undefined."""
    gone = np.isnan(values)
    return np.where(gone[:, None] | gone, np.nan, covariance)
