"""How well does a score tell events from non-events, and how sure can one be of that?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence.area_limits import area_influence, cluster_areas
from auditbook.evidence.placements import rank_levels


@dataclass(frozen=True)
class Discrimination:
    """Area under the ROC curve of one score."""

    # 1 when every event scores above every non-event, 0.5 when the score does not order them; nan when
    # there are no events or no non-events
    auroc: float
    low: float  # Interval; nan where none can be given
    high: float


def estimate_auroc(
    outcome: ArrayLike, values: ArrayLike, *, unit: NDArray[np.integer] | None = None, level: float = 0.95
) -> Discrimination:
    r"""Estimate the area under the ROC curve, with the interval of `area_limits`.

    .. math:: A = P(s > s') + P(s = s')/2

    for an event with score s and a non-event with score s'. When events and non-events are perfectly
    separated their placements do not vary, and a one-sided bound is given instead (ours): m disjoint pairs
    are all in order with probability :math:`A^m`, so A below :math:`\alpha^{1/m}` is rejected.

    Parameters
    ----------
    outcome : array of 0 and 1, shape (n,)
        1 where the event happened.
    values : float array, shape (n,)
        The scores.
    unit : int array, shape (n,), optional
        Position of each record's unit, such as a patient, from 0: then units are independent, not records.
    level : float
        Coverage aimed at.

    Returns
    -------
    Discrimination
        No interval (nan) with a single event or non-event (or unit that holds them), or when all scores are
        equal.

    Raises
    ------
    InputError
        If an outcome is neither 0 nor 1, lengths differ, or a score is missing.

    References
    ----------
    DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). doi:10.2307/2531595
    Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. doi:10.2307/2533958

    Examples
    --------
    >>> estimate_auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).auroc
    0.75
    """
    levels = rank_levels(outcome, values)
    found = cluster_areas(area_influence(levels, np.zeros(len(levels.order), np.intp), 1), unit)
    area = float(found.areas[0])
    if area in (0.0, 1.0):
        events = np.asarray(outcome) == 1
        pairs = _count_disjoint(events, np.arange(len(events)) if unit is None else unit)
        return _bound_separated(area, pairs, 1 - level)
    if not found.covariance[0, 0] > 0:
        return Discrimination(area, np.nan, np.nan)
    limits = found.limits(level=0.5 + level / 2)
    return Discrimination(area, float(limits.low[0]), float(limits.high[0]))


def _count_disjoint(events: NDArray[np.bool_], unit: NDArray[np.integer]) -> int:
    """Count most pairs of an event and a non-event such that no two pairs share a unit."""
    hold = [np.bincount(unit, part) > 0 for part in (events, ~events)]
    both = int((hold[0] & hold[1]).sum())
    return both + min(int(side.sum()) - both for side in hold)


def _bound_separated(auroc: float, pairs: int, alpha: float) -> Discrimination:
    """Give the one-sided interval of a perfect (or perfectly wrong) order."""
    bound = float(alpha ** (1 / pairs))
    return Discrimination(auroc, bound, 1.0) if auroc == 1.0 else Discrimination(auroc, 0.0, 1 - bound)
