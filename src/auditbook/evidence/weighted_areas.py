"""How well does a score order the records of each group when each stands for many people?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence.area_limits import FLAT, AreaInfluence, ClusteredAreas
from auditbook.evidence.clusters import Clusters, measure_spread
from auditbook.evidence.counts import rate
from auditbook.evidence.placements import ScoreLevels
from auditbook.evidence.survey import count_effective

Array = NDArray[np.float64]


def weigh_areas(levels: ScoreLevels, codes: ArrayLike, n_groups: int, weight: Array) -> AreaInfluence:
    r"""Find the weighted area within each group, and how far each record moves it, to first order.

    .. math:: A = \frac{\sum_i \sum_j w_i w_j \, \bigl(1[s_i > s_j] + \tfrac12 1[s_i = s_j]\bigr)}
              {\sum_i w_i \sum_j w_j}, \qquad \psi_i = \frac{w_i (V_i - A)}{\sum w}

    over the events i and the non-events j of a group. V is the weighted share of the non-events below an
    event, or of the events above a non-event, ties half; the sum in :math:`\psi` is over those of the same
    outcome.

    Parameters
    ----------
    levels : ScoreLevels
        From `rank_levels`.
    codes : int array, shape (n,)
        Position of each record's group, in the records' own order.
    n_groups : int
        Number of groups.
    weight : float array, shape (n,)
        Above 0.

    Returns
    -------
    AreaInfluence
        Events and non-events are the effective numbers of Kish. With equal weights, what `area_influence`
        finds.

    References
    ----------
    Yao, W., Li, Z. and Graubard, B. I. (2015). Estimation of ROC curve with complex survey data.
    doi:10.1002/sim.6405

    Examples
    --------
    >>> from auditbook.evidence.placements import rank_levels
    >>> levels = rank_levels([0, 0, 1], [0.1, 0.8, 0.5])
    >>> weigh_areas(levels, [0, 0, 0], 1, np.array([3.0, 1.0, 2.0])).areas.tolist()
    [0.75]
    """
    group = np.asarray(codes).astype(np.intp)
    small = np.uint16 if n_groups <= 65_536 else np.int64  # few bytes sort fast
    order = np.argsort(group[levels.order].astype(small), kind="stable")
    ranked, mine = levels.order[order], levels.outcome[order] == 1
    part, heavy = group[ranked], weight[ranked]
    sides = [np.where(mine == label, heavy, 0.0) for label in (True, False)]
    events, others = (np.bincount(part, side, n_groups).astype(float) for side in sides)
    share = _place(levels.level[order], part, sides, mine, events, others)
    areas = rate(np.bincount(part, sides[0] * share, n_groups), events)
    areas[others == 0] = np.nan
    own = np.where(mine, events[part], others[part])
    influence = np.zeros(len(group))
    influence[ranked] = np.nan_to_num(heavy * (share - areas[part]) / own)
    outcome = np.empty(len(group), np.int8)
    outcome[levels.order] = levels.outcome
    worth = [
        count_effective(held, np.bincount(part, side**2, n_groups))
        for held, side in zip((events, others), sides, strict=True)
    ]
    return AreaInfluence(areas, influence, outcome, group, *worth)


def _place(
    level: NDArray[np.int64],
    group: NDArray[np.intp],
    sides: list[Array],
    mine: NDArray[np.bool_],
    events: Array,
    others: Array,
) -> Array:
    """Find the weighted share of the other outcome below each event, and above each non-event."""
    if not len(level):
        return np.zeros(0)
    start = np.flatnonzero((np.diff(group, prepend=-1) != 0) | (np.diff(level, prepend=-1) != 0))
    size = np.diff(start, append=len(level))
    of = group[start]
    placed = []
    for side, total in zip(sides, (events, others), strict=True):
        tied = np.add.reduceat(side, start)
        before = np.cumsum(tied) - tied - (np.cumsum(total) - total)[of]
        placed.append(np.repeat(before + tied / 2, size))
    below = rate(np.maximum(placed[1], 0), others[group])
    above = 1 - rate(np.maximum(placed[0], 0), events[group])
    return np.nan_to_num(np.clip(np.where(mine, below, above), 0, 1))


def survey_areas(found: AreaInfluence, pairs: Clusters, weight: Array) -> ClusteredAreas:
    r"""Find the covariance of weighted areas from how the sums of influences vary between clusters.

    The variance is that of the sums :math:`\psi_{gc}`, see `measure_spread`. The degrees of freedom are those
    of the clusters that hold events or of those that hold non-events, the fewer.

    References
    ----------
    Binder, D. A. (1983). doi:10.2307/1402588
    """
    moved = np.bincount(pairs.place, found.influence, len(pairs.group)).astype(float)
    n_pairs, whole = len(pairs.group), pairs.total(np.bincount(pairs.place, weight).astype(float))
    held = [np.bincount(pairs.place, weight * (found.outcome == label), n_pairs) for label in (1, 0)]
    sides = [measure_spread(pairs, np.zeros(n_pairs), side.astype(float)) for side in held]
    residuals = moved * whole[pairs.group]
    spread = measure_spread(pairs, residuals, np.bincount(pairs.place, weight).astype(float))
    gone = np.isnan(found.areas) | (sides[0].clusters < 2) | (sides[1].clusters < 2)
    covariance = np.where(gone[:, None] | gone, np.nan, spread.covariance)
    covariance[np.abs(covariance) < FLAT] = 0
    plain = np.bincount(found.codes, found.influence**2, len(found.areas))
    effect = np.fmax(rate(np.nan_to_num(np.diagonal(covariance)), plain), 1.0)
    effect = np.nan_to_num(effect, nan=1.0)
    df = np.minimum(sides[0].df, sides[1].df)
    events, others = found.events / effect, found.others / effect
    return ClusteredAreas(found.areas, covariance, events, others, df, spread.clusters)
