"""Which records can a resample draw from each label, group and score bin?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence.score_sums import N_BINS, OrderedScores, ScoreSums

Array = NDArray[np.float64]


LEAST_LOG = -np.exp(-1.0)
"""Least value of b ln b, at b = 1/e."""


@dataclass(frozen=True)
class ScoreCells:
    """One model's records by cell: group x label x score bin. Only cells that hold records are described.

    Attributes
    ----------
    sizes : int array, shape (n_groups, 2, 10)
        Records in each cell; label 0 is the non-event.
    index : int array, shape (n_cells,)
        Positions, in `sizes` made flat, of the cells that hold records.
    start, held : int array, shape (n_cells,)
        Where the cell's records start in `rows`, and how many they are.
    rows : int array, shape (n,)
        Positions of the records in `score` and `benefit_log`, cell by cell, by rising score.
    score, benefit_log : float array, shape (n,)
        s and b ln b of the records.
    mean, low, high : float array, shape (2, n_cells)
        Mean of s and of b ln b over the cell's records, and bounds that no record of it leaves.
    root : float array, shape (3, n_cells)
        Lower triangle (first, off-diagonal, second) of the Cholesky root of their covariance.
    """

    sizes: NDArray[np.int64]
    index: NDArray[np.intp]
    start: NDArray[np.intp]
    held: NDArray[np.int64]
    rows: NDArray[np.intp]
    score: Array
    benefit_log: Array
    mean: Array
    low: Array
    high: Array
    root: Array

    def total(self) -> ScoreSums:
        """Add up all records, leading shape ()."""
        whole = add_cells(self, self.held[None], (self.held * self.mean)[:, None])
        return ScoreSums(*(part[0] for part in whole.parts()))


def sort_cells(ordered: OrderedScores, codes: ArrayLike, n_groups: int) -> ScoreCells:
    """Sort one model's records into cells and describe each.

    Parameters
    ----------
    ordered : OrderedScores
        From `order_scores`.
    codes : int array, shape (n,)
        Position of each record's group, in the records' own order.
    n_groups : int
        Number of groups.

    Returns
    -------
    ScoreCells
        What `draw_scores` draws from.

    Examples
    --------
    >>> from auditbook.evidence.score_sums import order_scores
    >>> sort_cells(order_scores([1, 0, 0], [0.9, 0.2, 0.25]), [0, 0, 0], 1).held.tolist()
    [2, 1]
    """
    small = np.uint8 if n_groups <= 256 else np.uint16
    group = np.asarray(codes).astype(small)[ordered.order]
    rows = np.argsort(group, kind="stable")
    cell = group.astype(np.intp) * (2 * N_BINS) + ordered.slot
    sizes = np.bincount(cell, minlength=n_groups * 2 * N_BINS)
    index = np.flatnonzero(sizes)
    held = sizes[index]
    start = np.cumsum(held) - held
    low, high = _bound(ordered, rows[start], rows[start + held - 1])
    mean, root = _describe(ordered, cell, index, held)
    return ScoreCells(
        sizes=sizes.reshape(n_groups, 2, N_BINS),
        index=index,
        start=start,
        held=held,
        rows=rows,
        score=ordered.values,
        benefit_log=ordered.benefit_log,
        mean=mean,
        low=low,
        high=high,
        root=root,
    )


def _bound(ordered: OrderedScores, first: NDArray[np.intp], last: NDArray[np.intp]) -> tuple[Array, Array]:
    """Bound s and b ln b within cells from their first and last records; b ln b is convex in s."""
    ends = np.stack([ordered.benefit_log[first], ordered.benefit_log[last]])
    benefit = np.stack([ordered.benefit[first], ordered.benefit[last]])
    turns = (benefit.min(axis=0) < -LEAST_LOG) & (benefit.max(axis=0) > -LEAST_LOG)
    low = np.stack([ordered.values[first], np.where(turns, LEAST_LOG, ends.min(axis=0))])
    return low, np.stack([ordered.values[last], ends.max(axis=0)])


def _describe(
    ordered: OrderedScores, cell: NDArray[np.intp], index: NDArray[np.intp], held: NDArray[np.int64]
) -> tuple[Array, Array]:
    """Mean of each cell's records, and Cholesky root of their covariance (divisor: their number)."""
    moments = np.stack([np.bincount(cell, part)[index] for part in ordered.moments]) / held
    off, square = moments[:2], moments[2:]
    first = np.sqrt(np.maximum(square[0] - off[0] * off[0], 0))
    cross = np.divide(square[1] - off[0] * off[1], first, out=np.zeros_like(first), where=first > 0)
    second = np.sqrt(np.maximum(square[2] - off[1] * off[1] - cross * cross, 0))
    return off + ordered.centres[:, index % (2 * N_BINS)], np.stack([first, cross, second])


def add_cells(cells: ScoreCells, records: NDArray[np.int64], sums: Array) -> ScoreSums:
    """Add drawn cells up to the sums of their groups and bins.

    Parameters
    ----------
    cells : ScoreCells
        What was drawn from.
    records : int array, shape (n_draws, n_cells)
        Records drawn of each cell.
    sums : float array, shape (2, n_draws, n_cells)
        Sums of s and of b ln b over them.

    Returns
    -------
    ScoreSums
        Leading shape (n_draws,).

    Examples
    --------
    >>> from auditbook.evidence.score_sums import order_scores
    >>> cells = sort_cells(order_scores([1, 0], [0.9, 0.2]), [0, 0], 1)
    >>> add_cells(cells, np.array([[1, 2]]), np.zeros((2, 1, 2))).records.sum().item()
    3.0
    """
    shape = (len(records), *cells.sizes.shape)
    whole = np.zeros((3, len(records), cells.sizes.size))
    whole[0][:, cells.index] = records
    whole[1:][:, :, cells.index] = sums
    drawn, score, logs = (part.reshape(shape) for part in whole)
    missing = drawn[:, :, 0] - score[:, :, 0]
    return ScoreSums(
        records=drawn.sum(axis=2),
        events=drawn[:, :, 1],
        score=score.sum(axis=2),
        benefit=(missing + score[:, :, 1]).sum(axis=-1),
        benefit_log=logs.sum(axis=(2, 3)),
    )
