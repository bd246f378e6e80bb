"""Which records can a resample draw from each label, group and score bin?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.score_sums import N_BINS, OrderedScores

Array = NDArray[np.float64]


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
        Where the cell's records start, and how many they are.
    score, benefit_log : float array, shape (n,)
        s and b ln b of the records, cell by cell, by rising score.
    mean, low, high : float array, shape (2, n_cells)
        Mean, least and largest of s and of b ln b.
    root : float array, shape (3, n_cells)
        Lower triangle (first, off-diagonal, second) of the Cholesky root of their covariance.
    """

    sizes: NDArray[np.int64]
    index: NDArray[np.intp]
    start: NDArray[np.intp]
    held: NDArray[np.int64]
    score: Array
    benefit_log: Array
    mean: Array
    low: Array
    high: Array
    root: Array


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
    >>> from auditbook.score_sums import order_scores
    >>> sort_cells(order_scores([1, 0, 0], [0.9, 0.2, 0.25]), [0, 0, 0], 1).held.tolist()
    [2, 1]
    """
    group = np.asarray(codes)[ordered.order]
    rows = np.argsort(group.astype(np.uint8 if n_groups <= 256 else np.uint16), kind="stable")
    cell = (group.astype(np.intp) * 2 + ordered.outcome) * N_BINS + ordered.bins
    sizes = np.bincount(cell, minlength=n_groups * 2 * N_BINS)
    index = np.flatnonzero(sizes)
    held = sizes[index]
    start = np.cumsum(held) - held
    pair = np.stack([ordered.values[rows], ordered.benefit_log[rows]])
    mean, root = _describe(pair, start, held)
    return ScoreCells(
        sizes=sizes.reshape(n_groups, 2, N_BINS),
        index=index,
        start=start,
        held=held,
        score=pair[0],
        benefit_log=pair[1],
        mean=mean,
        low=_reduce(np.minimum, pair, start),
        high=_reduce(np.maximum, pair, start),
        root=root,
    )


def _reduce(ufunc: np.ufunc, values: Array, start: NDArray[np.intp]) -> Array:
    """Reduce each row of `values` over the cells."""
    return ufunc.reduceat(values, start, axis=-1) if start.size else np.zeros((len(values), 0))


def _describe(pair: Array, start: NDArray[np.intp], held: NDArray[np.int64]) -> tuple[Array, Array]:
    """Mean of each cell's records, and Cholesky root of their covariance (divisor: their number)."""
    mean = _reduce(np.add, pair, start) / held
    off = pair - np.repeat(mean, held, axis=-1)
    square = _reduce(np.add, np.stack([off[0] * off[0], off[0] * off[1], off[1] * off[1]]), start) / held
    first = np.sqrt(square[0])
    cross = np.divide(square[1], first, out=np.zeros_like(first), where=first > 0)
    return mean, np.stack([first, cross, np.sqrt(np.maximum(square[2] - cross * cross, 0))])
