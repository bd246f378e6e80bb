"""Which records can a resample draw, when only fine bins of their scores are known?"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from auditbook.evidence.score_cells import LEAST_LOG, ScoreCells
from auditbook.evidence.score_sums import N_BINS
from auditbook.evidence.tally import UNIT, BinnedScores, find_tens

Array = NDArray[np.float64]


def bin_cells(fine: BinnedScores) -> ScoreCells:
    r"""Describe the records of each group, label and score bin from the fine bins within it.

    Of a fine bin with mean benefit b and variance v of the scores, the mean of :math:`b \ln b` is
    :math:`b \ln b + v/2b` to second order, and a record that is drawn lies at these means.
    """
    n_groups, _, n_bins = fine.count.shape
    count = fine.count.ravel()
    rows = np.flatnonzero(count)
    held = count[rows].astype(float)
    score = np.clip(fine.score.ravel()[rows] * UNIT / held, 0, 1)
    label, place = rows // n_bins % 2, rows % n_bins
    variance = _find_variance(fine, rows, score, place)
    benefit = np.where(label == 1, score, 1 - score)
    slope = np.where(label == 1, 1.0, -1.0) * (np.log(np.maximum(benefit, UNIT)) + 1)
    curve = np.where(benefit > UNIT, variance / (2 * np.maximum(benefit, UNIT)), 0.0)
    logs = np.minimum(xlogy(benefit, benefit) + curve, 0)
    cell = (rows // n_bins) * N_BINS + find_tens(fine.edges)[place]
    sizes = np.bincount(cell, held, n_groups * 2 * N_BINS)
    index = np.flatnonzero(sizes)

    def average(values: Array) -> Array:
        return np.bincount(cell, held * values, len(sizes))[index] / sizes[index]

    mean = np.stack([average(score), average(logs)])
    where = np.searchsorted(index, cell)
    off, off_logs = score - mean[0, where], logs - mean[1, where]
    first = np.sqrt(average(variance + off**2))
    both = average(slope * variance + off * off_logs)
    cross = np.divide(both, first, out=np.zeros_like(first), where=first > 0)
    second = np.sqrt(np.maximum(average(slope**2 * variance + off_logs**2) - cross**2, 0))
    low, high = _bound(fine, place, label, where, len(index))
    whole = sizes[index].astype(np.int64)
    return ScoreCells(
        sizes=sizes.astype(np.int64).reshape(n_groups, 2, N_BINS),
        index=index,
        start=np.cumsum(whole) - whole,
        held=whole,
        rows=rows,
        score=score,
        benefit_log=logs,
        mean=mean,
        low=np.minimum(low, mean),
        high=np.maximum(high, mean),
        root=np.stack([first, cross, second]),
        ends=np.cumsum(held).astype(np.int64),
    )


def _find_variance(
    fine: BinnedScores, rows: NDArray[np.intp], score: Array, place: NDArray[np.intp]
) -> Array:
    """Find the variance of the scores within each fine bin that holds records."""
    square = fine.square.ravel()[rows] * UNIT / fine.count.ravel()[rows]
    ends = np.concatenate([[0.0], fine.edges, [1.0]])
    most = (score - ends[place]) * (ends[place + 1] - score)
    return np.clip(square - score**2, 0, np.maximum(most, 0))


def _bound(
    fine: BinnedScores,
    place: NDArray[np.intp],
    label: NDArray[np.intp],
    where: NDArray[np.intp],
    n_cells: int,
) -> tuple[Array, Array]:
    """Bound s and b ln b within cells by the edges of their fine bins."""
    ends = np.concatenate([[0.0], fine.edges, [1.0]])
    sides = np.stack([ends[place], ends[place + 1]])
    benefit = np.where(label == 1, sides, 1 - sides)
    logs = xlogy(benefit, benefit)
    turns = (benefit.min(axis=0) < -LEAST_LOG) & (benefit.max(axis=0) > -LEAST_LOG)
    low, high = np.full((2, n_cells), np.inf), np.full((2, n_cells), -np.inf)
    for row, (least, most) in enumerate(
        ((sides[0], sides[1]), (np.where(turns, LEAST_LOG, logs.min(axis=0)), logs.max(axis=0)))
    ):
        np.minimum.at(low[row], where, least)
        np.maximum.at(high[row], where, most)
    return low, high
