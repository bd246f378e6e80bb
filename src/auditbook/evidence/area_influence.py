"""How much does each record weigh in the area under the ROC curve of its group?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence.counts import rate
from auditbook.evidence.placements import ScoreLevels

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AreaInfluence:
    """Areas of the groups, and what each record adds to their errors."""

    areas: Array  # shape (n_groups,): nan without events or without non-events
    events: Array  # shape (n_groups,)
    others: Array  # shape (n_groups,): Non-events
    influence: Array  # shape (n,): Of each record on the area of its group; 0 where that is undefined


def weigh_records(levels: ScoreLevels, codes: ArrayLike, n_groups: int) -> AreaInfluence:
    r"""Find the area within each group, and the influence of each record on it.

    .. math:: \psi_i = \frac{V_i - A}{m} \text{ for an event}, \qquad
              \psi_j = \frac{V_j - A}{n} \text{ for a non-event}

    where an event's placement :math:`V_i` is the share of the group's non-events below it, ties counted half,
    and a non-event's the share of its events above it (DeLong et al. 1988).

    Parameters
    ----------
    levels : ScoreLevels
        One model's ordered records.
    codes : int array, shape (n,)
        Group of each record, in the records' own order, in which the influence is given too.

    References
    ----------
    DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). doi:10.2307/2531595

    Examples
    --------
    >>> from auditbook.evidence.placements import rank_levels
    >>> found = weigh_records(rank_levels([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.3]), [0, 0, 0, 0], 1)
    >>> found.areas.tolist(), found.influence.tolist()
    ([0.625], [0.1875, -0.0625, -0.1875, 0.0625])
    """
    group = np.asarray(codes)[levels.order]
    order = np.argsort(group.astype(np.uint16 if n_groups <= 65_536 else np.int64), kind="stable")
    group, level, event = group[order], levels.level[order], levels.outcome[order].astype(float)
    events = np.bincount(group, event, n_groups).astype(float)
    others = np.bincount(group, minlength=n_groups) - events
    is_first = (np.diff(group, prepend=-1) != 0) | (np.diff(level, prepend=-1) != 0)
    block = np.cumsum(is_first) - 1
    start = np.flatnonzero(is_first)
    tied_events = np.add.reduceat(event, start) if len(start) else np.zeros(0)
    tied_others = np.diff(start, append=len(group)) - tied_events
    below = np.cumsum(tied_others) - tied_others / 2 - (np.cumsum(others) - others)[group[start]]
    above = np.cumsum(events)[group[start]] - np.cumsum(tied_events) + tied_events / 2
    placement = np.where(event == 1, rate(below[block], others[group]), rate(above[block], events[group]))
    wins = np.bincount(group, event * below[block], n_groups)  # halves, so that their sum is exact
    areas = rate(wins, events * others)
    size = np.where(event == 1, events[group], others[group])
    influence = np.empty(len(group))
    influence[levels.order[order]] = np.nan_to_num((placement - areas[group]) / size)
    return AreaInfluence(np.where(others > 0, areas, np.nan), events, others, influence)
