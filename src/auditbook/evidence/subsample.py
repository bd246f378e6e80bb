"""What would a smaller audit, made of some of these records, have counted?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError
from auditbook.evidence.area_sums import AreaSums, HeldCells
from auditbook.evidence.counts import Counts
from auditbook.evidence.resample import FEW, draw_normal_sums
from auditbook.evidence.score_cells import ScoreCells, add_cells
from auditbook.evidence.score_sums import ScoreSums

Array = NDArray[np.float64]


def subsample_counts(counts: ArrayLike, *, size: int, repeats: int, rng: np.random.Generator) -> Counts:
    """Draw the counts of simple random subsamples without replacement.

    Counts of a simple random sample are multivariate hypergeometric, so they are drawn exactly without
    touching a record. Unlike a resample, a subsample keeps neither the groups' sizes nor their event rates.

    Parameters
    ----------
    counts : int array, shape (n_groups, 4)
        Records of the cohort in the order tp, fp, fn, tn.
    size : int
        Records a subsample, at most the cohort's.
    repeats : int
        Number of subsamples.
    rng : Generator
        Source of the draws.

    Returns
    -------
    int array, shape (repeats, n_groups, 4)
        No count is larger than the cohort's; with `size` the whole, all are the cohort's.

    Raises
    ------
    InputError
        If `size` is larger than the cohort.

    Examples
    --------
    >>> draws = subsample_counts([[8, 2, 2, 8]], size=10, repeats=3, rng=np.random.default_rng(1))
    >>> draws.sum(axis=-1).tolist()
    [[10], [10], [10]]
    """
    cohort = np.asarray(counts, dtype=np.int64)
    drawn = _draw_cells(cohort.ravel(), size, repeats, rng)
    return drawn.reshape(repeats, *cohort.shape)


def subsample_scores(cells: ScoreCells, *, size: int, repeats: int, rng: np.random.Generator) -> ScoreSums:
    r"""Draw the score sums of simple random subsamples without replacement.

    The numbers of records that a subsample takes from the cells (label, group, bin) are multivariate
    hypergeometric, and are drawn so. Given that c of a cell's h records are taken, their sums of s and of
    b ln b are drawn. When c, or the h - c that stay behind, are at most 32, these are drawn one by one.
    Otherwise the sums come from the normal distribution with the exact mean and covariance of sampling
    without replacement, :math:`\mathcal{N}(c\mu,\ c\,\frac{h - c}{h - 1}\,\Sigma)`, clipped to what c
    records of the cell can add up to. At c = h the sums are the cell's own, without any noise.

    Parameters
    ----------
    cells : ScoreCells
        The cohort's records, by cell.
    size : int
        Records a subsample, at most the cohort's.
    repeats : int
        Number of subsamples.
    rng : Generator
        Source of the draws.

    Returns
    -------
    ScoreSums
        Leading shape (repeats,).

    Raises
    ------
    InputError
        If `size` is larger than the cohort.

    References
    ----------
    Cochran, W. G. (1977). Sampling Techniques, third edition, chapter 2.

    Examples
    --------
    >>> from auditbook.evidence.score_cells import sort_cells
    >>> from auditbook.evidence.score_sums import order_scores
    >>> cells = sort_cells(order_scores([1, 0], [0.9, 0.2]), [0, 0], 1)
    >>> subsample_scores(cells, size=2, repeats=3, rng=np.random.default_rng(1)).benefit.round(2).tolist()
    [[1.7], [1.7], [1.7]]
    """
    taken = _draw_cells(cells.held, size, repeats, rng)
    return add_cells(cells, taken, _draw_sums(cells, taken, rng))


def subsample_areas(cells: HeldCells, *, size: int, repeats: int, rng: np.random.Generator) -> AreaSums:
    """Draw the area sums of simple random subsamples without replacement.

    The numbers of records that a subsample takes from the cells (label, group, stretch of score) are
    multivariate hypergeometric, and are drawn so; see `draw_areas` for what is left out.
    """
    drawn = _draw_cells(cells.held.ravel(), size, repeats, rng)
    return cells.sums(drawn.reshape(repeats, *cells.held.shape))


def _draw_cells(
    held: NDArray[np.int64], size: int, repeats: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw how many records of each cell a subsample takes, shape (repeats, n_cells)."""
    whole = int(held.sum())
    if not 0 < size <= whole:
        raise InputError(f"a subsample of {size} records cannot be drawn from {whole}")
    if size == whole:
        return np.tile(held, (repeats, 1))
    return rng.multivariate_hypergeometric(held, size, size=repeats, method="marginals")


def _draw_sums(cells: ScoreCells, taken: NDArray[np.int64], rng: np.random.Generator) -> Array:
    """Draw sums of s and of b ln b over so many records of each cell, shape (2, repeats, n_cells).

    The smaller of the two sides, taken and left, is drawn; the other is the cell's total without it.
    """
    total = cells.held * cells.mean
    side = np.minimum(taken, cells.held - taken)
    sums = np.zeros((2, *taken.shape))
    often = (side > FEW).any(axis=0)
    if often.any():
        many, held = side[:, often], cells.held[often]
        spread = np.sqrt(many * (held - many) / np.maximum(held - 1, 1))
        sums[:, :, often] = draw_normal_sums(cells, np.flatnonzero(often), many, spread, rng)
    few = side <= FEW
    sums[:, few] = 0
    few &= side > 0
    if few.any():
        sums[:, few] = _add_records(cells, np.nonzero(few)[1], side[few], rng)
    return np.where(side < taken, total[:, None] - sums, sums)


def _add_records(
    cells: ScoreCells, cell: NDArray[np.intp], records: NDArray[np.int64], rng: np.random.Generator
) -> Array:
    """Draw distinct records from cells one by one and add them up, shape (2, len(cell))."""
    draw, place = _draw_distinct(records, cells.held[cell], rng)
    row = cells.find_rows(cells.start[cell][draw] + place)
    return np.stack([np.bincount(draw, part[row], len(cell)) for part in (cells.score, cells.benefit_log)])


def _draw_distinct(
    wanted: NDArray[np.int64], held: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw distinct places below `held`, `wanted` of them for each draw; return draws and places.

    Places that were drawn before are drawn again until all differ, which makes every set equally likely. No
    more than half of a cell is asked for, so at least every second try is new.
    """
    stride = int(held.max())
    missing, kept, complete = wanted, np.zeros(0, np.int64), []
    while missing.any():
        draw = np.repeat(np.arange(len(wanted)), missing)
        place = (rng.random(len(draw)) * held[draw]).astype(np.int64)
        kept = np.unique(np.concatenate([kept, draw * stride + place]))
        drawn = np.bincount(kept // stride, minlength=len(wanted))
        full = (drawn == wanted)[kept // stride]
        complete.append(kept[full])
        kept, missing = kept[~full], np.where(drawn > 0, wanted - drawn, 0)
    codes = np.concatenate(complete)
    return codes // stride, codes % stride
