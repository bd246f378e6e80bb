"""How well does a score tell events from non-events, and how sure can one be of that?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence.area_limits import ClusteredAreas, area_influence, cluster_areas
from auditbook.evidence.binned_areas import influence_bins, pool_groups
from auditbook.evidence.placements import rank_levels
from auditbook.evidence.tally import Tally, find_widths
from auditbook.evidence.tally_pairs import spread_runs


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
    events = np.asarray(outcome) == 1
    return _conclude(found, _count_disjoint(events, unit), level)


def estimate_tallied_auroc(tally: Tally, place: int, *, level: float = 0.95) -> Discrimination:
    """Estimate the area of one model over all records of a tally, from bins of scores."""
    attribute, model = tally.attributes[0], tally.models[place]
    fine = attribute.fine[place]
    if fine is None:
        return Discrimination(np.nan, np.nan, np.nan)
    whole = pool_groups(fine)
    found = influence_bins(whole, find_widths(model.kind, whole.edges))
    events, others = int(found.events[0]), int(found.others[0])
    units = attribute.units
    if units is None or units.number == tally.rows:
        return _conclude(cluster_areas(found), min(events, others), level)
    steps = units.bundles.steps[place].sum(axis=1, keepdims=True)
    hold = steps[:, 0].sum(axis=-1) > 0
    return _conclude(
        cluster_areas(*spread_runs(found, whole, steps)), _pair_up(hold[:, 1], hold[:, 0]), level
    )


def _conclude(found: ClusteredAreas, pairs: int, level: float) -> Discrimination:
    """Give one area its interval, that of so many disjoint pairs where it is 0 or 1."""
    area = float(found.areas[0])
    if area in (0.0, 1.0):
        return _bound_separated(area, pairs, 1 - level)
    if not found.covariance[0, 0] > 0:
        return Discrimination(area, np.nan, np.nan)
    limits = found.limits(level=0.5 + level / 2)
    return Discrimination(area, float(limits.low[0]), float(limits.high[0]))


def _count_disjoint(events: NDArray[np.bool_], unit: NDArray[np.integer] | None) -> int:
    """Count most pairs of an event and a non-event such that no two pairs share a unit."""
    if unit is None:
        return min(int(events.sum()), int((~events).sum()))
    size = int(unit.max(initial=-1)) + 1
    return _pair_up(*(np.bincount(unit, part, size) > 0 for part in (events, ~events)))


def _pair_up(*hold: NDArray[np.bool_]) -> int:
    """Count most disjoint pairs of units that hold events and units that hold non-events."""
    both = int((hold[0] & hold[1]).sum())
    return both + min(int(side.sum()) - both for side in hold)


def _bound_separated(auroc: float, pairs: int, alpha: float) -> Discrimination:
    """Give the one-sided interval of a perfect (or perfectly wrong) order."""
    bound = float(alpha ** (1 / pairs))
    return Discrimination(auroc, bound, 1.0) if auroc == 1.0 else Discrimination(auroc, 0.0, 1 - bound)
