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
    """One model's records by cell: group x label x score bin. Only cells that hold records are described."""

    sizes: NDArray[np.int64]  # shape (n_groups, 2, 10): Records in each cell; label 0 is the non-event
    # shape (n_cells,): Positions, in `sizes` made flat, of the cells that hold records
    index: NDArray[np.intp]
    start: NDArray[np.intp]  # shape (n_cells,): Where the cell's records start in `rows`
    held: NDArray[np.int64]  # shape (n_cells,): How many they are
    # shape (n,): Positions of the records in `score` and `benefit_log`, cell by cell, by rising score
    rows: NDArray[np.intp]
    score: Array  # shape (n,): s of the records; made of bins, of a record of each bin
    benefit_log: Array  # shape (n,): b ln b of the records likewise
    mean: Array  # shape (2, n_cells): Mean of s and of b ln b over the cell's records
    low: Array  # shape (2, n_cells): Bounds that no record of the cell leaves
    high: Array
    # shape (3, n_cells): Lower triangle (first, off-diagonal, second) of the Cholesky root of their
    # covariance
    root: Array
    # shape (n_bins,): Where the records of each bin end; None where they are held one by one, in `rows`
    ends: NDArray[np.int64] | None = None

    def find_rows(self, places: NDArray[np.integer]) -> NDArray[np.intp]:
        """Find the positions in `score` of the records at some places, cell by cell and by rising score."""
        return self.rows[places] if self.ends is None else np.searchsorted(self.ends, places, side="right")

    def total(self) -> ScoreSums:
        """Add up all records, leading shape ()."""
        whole = add_cells(self, self.held[None], (self.held * self.mean)[:, None])
        return ScoreSums(*(part[0] for part in whole.parts()))


def sort_cells(ordered: OrderedScores, codes: ArrayLike, n_groups: int) -> ScoreCells:
    """Sort one model's records into cells and describe each."""
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
    """Add drawn cells up to the sums of their groups and bins."""
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
