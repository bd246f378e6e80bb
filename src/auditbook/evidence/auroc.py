"""How well does a score tell events from non-events, and how sure can one be of that?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtri

from auditbook.errors import InputError
from auditbook.evidence.counts import check_binary


@dataclass(frozen=True)
class Discrimination:
    """Area under the ROC curve of one score."""

    # 1 when every event scores above every non-event, 0.5 when the score does not order them; nan when
    # there are no events or no non-events
    auroc: float
    low: float  # Interval; nan where none can be given
    high: float


def estimate_auroc(outcome: ArrayLike, values: ArrayLike, *, level: float = 0.95) -> Discrimination:
    r"""Estimate the area under the ROC curve, with DeLong's interval on the logit scale.

    .. math:: A = P(s > s') + P(s = s')/2

    for an event with score s and a non-event with score s'. The variance is that of the placement values:
    the mean order of each event among the non-events, and of each non-event among the events. The interval
    is symmetric for log(A/(1 - A)), so it stays within 0 and 1. When events and non-events are perfectly
    separated that variance is zero, and a one-sided bound is given instead (ours): with m the smaller of
    the two numbers, m disjoint pairs are all in order with probability :math:`A^m`, so A below
    :math:`\alpha^{1/m}` is rejected.

    Parameters
    ----------
    outcome : array of 0 and 1, shape (n,)
        1 where the event happened.
    values : float array, shape (n,)
        The scores.
    level : float
        Coverage aimed at.

    Returns
    -------
    Discrimination
        No interval (nan) with a single event or non-event, or when all scores are equal.

    Raises
    ------
    InputError
        If an outcome is neither 0 nor 1, lengths differ, or a score is missing.

    References
    ----------
    DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). doi:10.2307/2531595

    Examples
    --------
    >>> estimate_auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).auroc
    0.75
    """
    events, scores = np.asarray(outcome), np.asarray(values, dtype=np.float64)
    check_binary(events, what="outcomes")
    if events.shape != scores.shape:
        raise InputError(f"{events.size} outcomes and {scores.size} scores: each record needs one of each")
    if np.isnan(scores).any():
        raise InputError(f"{np.isnan(scores).sum()} of {scores.size} scores are missing")
    placed_events, placed_others = _placements(scores[events == 1], scores[events == 0])
    if not len(placed_events) or not len(placed_others):
        return Discrimination(np.nan, np.nan, np.nan)
    auroc = float(placed_events.mean())
    if auroc in (0.0, 1.0):
        return _bound_separated(auroc, min(len(placed_events), len(placed_others)), 1 - level)
    if min(len(placed_events), len(placed_others)) < 2:
        return Discrimination(auroc, np.nan, np.nan)
    variance = sum(part.var(ddof=1) / len(part) for part in (placed_events, placed_others))
    if variance == 0:
        return Discrimination(auroc, np.nan, np.nan)
    width = ndtri(0.5 + level / 2) * np.sqrt(variance) / (auroc * (1 - auroc))
    return Discrimination(auroc, float(expit(logit(auroc) - width)), float(expit(logit(auroc) + width)))


def _placements(events: NDArray, others: NDArray) -> tuple[NDArray, NDArray]:
    """Share of non-events below each event, and of events above each non-event; ties count half."""
    ranks = _rank(np.concatenate([events, others]))
    if not len(events) or not len(others):
        return events, others
    below = (ranks[: len(events)] - _rank(events)) / len(others)
    above = 1 - (ranks[len(events) :] - _rank(others)) / len(events)
    return below, above


def _rank(values: NDArray) -> NDArray:
    """Rank from 1 upwards; equal values share the middle of their ranks."""
    _, place, ties = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(ties) - (ties - 1) / 2)[place]


def _bound_separated(auroc: float, pairs: int, alpha: float) -> Discrimination:
    """Give the one-sided interval of a perfect (or perfectly wrong) order."""
    bound = float(alpha ** (1 / pairs))
    return Discrimination(auroc, bound, 1.0) if auroc == 1.0 else Discrimination(auroc, 0.0, 1 - bound)
