"""Which threshold of its own would bring each cell of people to the rates of everybody?"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence import (
    accuracy,
    count_groups,
    positive_predictive_value,
    rate,
    selection_rate,
    true_positive_rate,
)
from auditbook.mitigation.constraint import Constraint, parity_ratios
from auditbook.mitigation.strata import Strata

FEWEST_RECORDS = 5
"""A cell with fewer records keeps the common threshold (published)."""
FEWEST_EVENTS = 10
"""With fewer events, or fewer predicted events, TPR or PPV moves no threshold (published)."""
ALPHA_SR = ALPHA_TPR = (0.0, 0.4, 0.8, 1.0)
ALPHA_PPV = (0.0, 0.4, 0.8)
ALPHAS = np.array(list(itertools.product(ALPHA_SR, ALPHA_TPR, ALPHA_PPV)))
"""The 48 published mixtures, shape (48, 3)."""
LOWEST, HIGHEST = 0.01, 0.99
"""Thresholds are clipped to this range (published)."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Anchors:
    """The thresholds at which each cell would have the rates of all records at the common one."""

    start: float  # The common threshold (published: 0.5)
    # shape (n_cells,): Match the overall selection rate, TPR and PPV; `start` where a cell has too few
    # records for that
    sr: Array
    tpr: Array
    ppv: Array


def find_anchors(
    outcome: ArrayLike, values: ArrayLike, codes: ArrayLike, n_cells: int, *, start: float = 0.5
) -> Anchors:
    """Find the thresholds that match the overall rates in each cell.

    Among the thresholds that a cell's own scores offer, the one whose rate comes nearest to the overall rate
    is taken; of several equally near, the one nearest to the common threshold. A PPV counts only where at
    least 10 records are selected.
    """
    events, scores = np.asarray(outcome, dtype=np.intp), np.asarray(values, dtype=np.float64)
    cells = np.asarray(codes)
    whole = count_groups(events, scores >= start, np.zeros(len(events), dtype=np.intp), 1)[0]
    found = np.full((3, n_cells), float(start))
    for cell in range(n_cells):
        here = cells == cell
        if here.sum() >= FEWEST_RECORDS:
            found[:, cell] = _anchor_cell(events[here], scores[here], whole, start)
    return Anchors(start, *found)


def _anchor_cell(outcome: NDArray[np.intp], scores: Array, whole: NDArray[np.int64], start: float) -> Array:
    """Find the three thresholds of one cell."""
    offered = np.unique(np.concatenate([scores, [start, np.nextafter(scores.max(), np.inf)]]))
    rising = [np.sort(scores[outcome == label]) for label in (0, 1)]
    missed_others, missed = (np.searchsorted(part, offered, side="left") for part in rising)
    tp, fp = len(rising[1]) - missed, len(rising[0]) - missed_others
    selected = tp + fp
    sr = _match(offered, selected / len(scores), float(selection_rate(whole)), start)
    tpr = ppv = start
    if len(rising[1]) >= FEWEST_EVENTS:
        tpr = _match(offered, tp / len(rising[1]), float(true_positive_rate(whole)), start)
    if (scores >= start).sum() >= FEWEST_EVENTS:
        enough = np.where(selected >= FEWEST_EVENTS, rate(tp, selected), np.nan)
        ppv = _match(offered, enough, float(positive_predictive_value(whole)), start)
    return np.array([sr, tpr, ppv])


def _match(offered: Array, rates: Array, target: float, start: float) -> float:
    """Take the threshold whose rate is nearest to the target, and of those the one nearest to the start."""
    if np.isnan(target):
        return start
    away = np.abs(rates - target)
    best = np.flatnonzero(away <= np.nanmin(away) + 1e-12)
    return float(offered[best[np.argmin(np.abs(offered[best] - start))]])


def mix_thresholds(anchors: Anchors, alphas: ArrayLike = ALPHAS) -> Array:
    r"""Mix the anchors of each cell into the candidate thresholds of B3.

    .. math:: t = t_0 + \alpha_1 (t_{SR} - t_0) + \alpha_2 (t_{TPR} - t_0) + \alpha_3 (t_{PPV} - t_0)

    clipped to [0.01, 0.99], a range that is widened where the common threshold :math:`t_0` lies beyond.

    Parameters
    ----------
    anchors : Anchors
        From `find_anchors`.
    alphas : float array, shape (n_candidates, 3)
        The mixtures.

    Returns
    -------
    float array, shape (n_candidates, n_cells)
        The first candidate leaves every cell at the common threshold.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846

    Examples
    --------
    >>> anchors = Anchors(0.5, np.array([0.3]), np.array([0.4]), np.array([0.5]))
    >>> mix_thresholds(anchors, [[0, 0, 0], [1, 0, 0], [0.4, 0.4, 0]]).round(2).tolist()
    [[0.5], [0.3], [0.38]]
    """
    away = np.stack([anchors.sr, anchors.tpr, anchors.ppv]) - anchors.start
    return clip_thresholds(anchors.start + np.asarray(alphas, dtype=np.float64) @ away, start=anchors.start)


def clip_thresholds(thresholds: ArrayLike, *, start: float) -> Array:
    """Keep thresholds within [0.01, 0.99], or as far out as the common threshold lies."""
    low, high = min(LOWEST, start), max(HIGHEST, start)
    return np.clip(np.asarray(thresholds, dtype=np.float64), low, high)


@dataclass(frozen=True)
class Shift:
    """Thresholds for every cell, and what they do on the records that they were chosen on."""

    thresholds: Array  # shape (n_cells,): The cells' thresholds
    alphas: Array  # shape (3,): The mixture that was kept
    passes: bool  # Whether every disparate impact that is held to reaches the target
    passing: int  # How many candidates do
    # shape (n_attributes,): Disparate impact by attribute over the groups with enough records; nan where it
    # is not held to
    ratios: Array
    accuracy: float  # Share of right decisions


def choose_thresholds(strata: Strata, anchors: Anchors, constraint: Constraint) -> Shift:
    r"""Choose B3's thresholds: the most accurate mixture that passes every disparate impact.

    .. math:: \hat t = \arg\max_{t \in T} \mathrm{accuracy}(t) \quad \text{subject to} \quad
              \min_a \mathrm{DI}_a(t) \ge c

    over the 48 candidates T of `mix_thresholds`, with the target c of the constraint. When none passes, the
    nearest is kept, the one whose smallest disparate impact is largest. Ties go to the candidate that comes
    first, which is the one that shifts less.

    Parameters
    ----------
    strata : Strata
        The records that thresholds are chosen on, from `sort_strata`.
    anchors : Anchors
        From `find_anchors`.
    constraint : Constraint
        From `make_constraint`.

    Returns
    -------
    Shift
        `passes` says whether the target was reached.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846
    """
    candidates = mix_thresholds(anchors)
    counts = strata.count(candidates)
    ratios = parity_ratios(strata, counts, constraint)
    right = accuracy(counts.sum(axis=-2))
    passes = constraint.accepts(ratios)
    best = int(
        np.argmax(np.where(passes, right, -1.0)) if passes.any() else np.argmax(constraint.worst(ratios))
    )
    return Shift(
        candidates[best],
        ALPHAS[best],
        bool(passes[best]),
        int(passes.sum()),
        ratios[best],
        float(right[best]),
    )
