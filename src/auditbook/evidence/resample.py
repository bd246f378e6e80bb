"""What would the counts and sums have been in another audit of this cohort?"""

import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError
from auditbook.evidence.area_sums import AreaSums, HeldCells
from auditbook.evidence.counts import Counts, stratum_sizes
from auditbook.evidence.score_cells import ScoreCells, add_cells
from auditbook.evidence.score_sums import N_BINS, ScoreSums

FEW = 32
"""Up to this many records of a cell are drawn one by one; sums over more come from their normal limit."""

Array = NDArray[np.float64]


def open_stream(seed: int, *names: str) -> np.random.Generator:
    """Open the stream of random numbers that belongs to some names; those of different names are independent.

    A cell's draws come from the stream of its own model and attribute. They are therefore the same whichever
    other models and attributes are audited beside it, in whatever order.

    >>> bool(open_stream(42, "a").random() == open_stream(42, "a").random())
    True
    """
    digest = hashlib.sha256(repr(names).encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, dtype="<u4").tolist()])


def allocate_strata(sizes: ArrayLike, *, total: int) -> NDArray[np.int64]:
    """Divide a resample among the strata in proportion to their size, by largest remainder.

    Every stratum that holds records keeps at least one; it is taken from the largest share. Ties go to the
    stratum that comes first. Whole numbers only, so no rounding decides.

    Parameters
    ----------
    sizes : int array, any shape
        Records in each stratum of the cohort.
    total : int
        Records of the resample.

    Returns
    -------
    int array, same shape
        Records to draw from each stratum; they add up to `total`.

    Raises
    ------
    InputError
        If there are more strata with records than records to draw.

    Examples
    --------
    >>> allocate_strata([600, 399, 1], total=10).tolist()
    [5, 4, 1]
    """
    cohort = np.asarray(sizes, dtype=np.int64)
    flat = cohort.ravel()
    held = flat > 0
    if total < held.sum() or (total and not held.any()):
        raise InputError(
            f"a resample of {total} records cannot keep one of each of {held.sum()} strata (label x group); "
            "raise resample_size"
        )
    share, remainder = np.divmod(flat * total, max(int(flat.sum()), 1))
    first = np.argsort(-remainder, kind="stable")
    share[first[: total - int(share.sum())]] += 1
    for empty in np.flatnonzero(held & (share == 0)):
        share[np.argmax(share)] -= 1
        share[empty] = 1
    return share.reshape(cohort.shape)


def draw_counts(counts: ArrayLike, *, size: int, resamples: int, rng: np.random.Generator) -> Counts:
    r"""Draw the counts of resamples within the strata label x group.

    Drawing m records with replacement from a stratum, a share q of which is selected, selects
    :math:`\mathrm{Binomial}(m, q)` of them. So counts can be drawn exactly without touching a record.

    Parameters
    ----------
    counts : int array, shape (n_groups, 4)
        Records of the cohort in the order tp, fp, fn, tn.
    size : int
        Records a resample.
    resamples : int
        Number of resamples.
    rng : Generator
        Source of the draws.

    Returns
    -------
    int array, shape (resamples, n_groups, 4)
        Events and non-events of each group are the same in every resample.

    Raises
    ------
    InputError
        If `size` is too small to keep a record of every stratum.

    Examples
    --------
    >>> draws = draw_counts([[8, 2, 2, 8]], size=10, resamples=3, rng=np.random.default_rng(1))
    >>> draws.sum(axis=-1).tolist()
    [[10], [10], [10]]
    """
    cohort = np.asarray(counts)
    strata = stratum_sizes(cohort)
    drawn = allocate_strata(strata, total=size)
    selected = rng.binomial(drawn, cohort[..., :2] / np.maximum(strata, 1), size=(resamples, *strata.shape))
    return np.concatenate([selected, drawn - selected], axis=-1)


def draw_sites(n_sites: int, *, resamples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw whole sites with replacement: how often does each come up?"""
    return rng.multinomial(n_sites, np.full(n_sites, 1 / n_sites), size=resamples)


def draw_site_times(n_sites: int, resamples: int, seed: int) -> NDArray[np.int64] | None:
    """Draw how often resamples take each site from the stream of the sites; None with fewer than two."""
    if n_sites < 2:
        return None
    return draw_sites(n_sites, resamples=resamples, rng=open_stream(seed, "sites"))


def draw_scores(cells: ScoreCells, *, size: int, resamples: int, rng: np.random.Generator) -> ScoreSums:
    r"""Draw the score sums of resamples within the strata label x group.

    Within a stratum the counts of the ten score bins are multinomial, and are drawn so. Given that c records
    fall into a cell (label, group, bin), the sums of s and of b ln b over them are drawn: up to 32 records
    one by one; of more, from the normal distribution with the exact mean and covariance of their cell,
    :math:`\mathcal{N}(c\mu, c\Sigma)`, clipped to what c records of the cell can add up to.
    """
    n_groups = cells.sizes.shape[0]
    drawn = allocate_strata(cells.sizes.sum(axis=-1), total=size)
    records = np.zeros((resamples, n_groups, 2, N_BINS))
    for group, label in zip(*np.nonzero(drawn), strict=True):
        share = cells.sizes[group, label] / cells.sizes[group, label].sum()
        records[:, group, label] = rng.multinomial(drawn[group, label], share, size=resamples)
    kept = records.reshape(resamples, -1)[:, cells.index].astype(np.int64)
    return add_cells(cells, kept, _draw_sums(cells, kept, rng))


def _draw_sums(cells: ScoreCells, records: NDArray[np.int64], rng: np.random.Generator) -> Array:
    """Draw sums of s and of b ln b over so many records of each cell, shape (2, resamples, n_cells)."""
    sums = np.zeros((2, *records.shape))
    often = (records > FEW).any(axis=0)
    many = records[:, often]
    sums[:, :, often] = draw_normal_sums(cells, np.flatnonzero(often), many, np.sqrt(many), rng)
    few = records <= FEW
    sums[:, few] = 0
    few &= records > 0
    if few.any():
        sums[:, few] = _add_records(cells, np.nonzero(few)[1], records[few], rng)
    return sums


def _add_records(
    cells: ScoreCells, cell: NDArray[np.intp], records: NDArray[np.int64], rng: np.random.Generator
) -> Array:
    """Draw records from cells one by one and add them up, shape (2, len(cell))."""
    held = cells.held[cell]
    offset = (rng.random(int(records.sum())) * np.repeat(held, records)).astype(np.intp)
    row = cells.find_rows(np.repeat(cells.start[cell], records) + offset)
    first = np.cumsum(records) - records
    return np.stack([np.add.reduceat(part[row], first) for part in (cells.score, cells.benefit_log)])


def draw_normal_sums(
    cells: ScoreCells,
    cell: NDArray[np.intp],
    records: NDArray[np.int64],
    spread: Array,
    rng: np.random.Generator,
) -> Array:
    """Draw sums over many records from their normal limit, shape (2, draws, len(cell)).

    `spread` is how many times the standard deviation of one record that of their sum is.
    """
    first, second = rng.standard_normal((2, *records.shape)) * spread
    sums = records * cells.mean[:, None, cell]
    sums[0] += cells.root[0, cell] * first
    sums[1] += cells.root[1, cell] * first + cells.root[2, cell] * second
    np.maximum(sums, records * cells.low[:, None, cell], out=sums)
    return np.minimum(sums, records * cells.high[:, None, cell], out=sums)


def draw_areas(cells: HeldCells, *, size: int, resamples: int, rng: np.random.Generator) -> AreaSums:
    """Draw the area sums of resamples within the strata label x group.

    Within a stratum the counts of the 64 stretches of score are multinomial, and are drawn so. The area
    inside a stretch is kept at the audit's own, which concerns one pair of records in some 64; in a group
    with at most 64 distinct scores nothing is left out.
    """
    strata = cells.held.sum(axis=-1)
    drawn = allocate_strata(strata, total=size)
    found = np.zeros((resamples, *cells.held.shape), np.int64)
    for group, label in zip(*np.nonzero(drawn), strict=True):
        share = cells.held[group, label] / strata[group, label]
        found[:, group, label] = rng.multinomial(drawn[group, label], share, size=resamples)
    return cells.sums(found)


def draw_alike(cells: HeldCells, strata: Array, *, resamples: int, rng: np.random.Generator) -> AreaSums:
    """Draw the area sums of groups that all come from the one group of `cells`.

    `strata`, shape (n_groups, 2): events and non-events of each group.
    """
    share = cells.held[0] / np.maximum(cells.held[0].sum(axis=-1, keepdims=True), 1)
    drawn = np.zeros((2, resamples, len(strata), cells.held.shape[-1]))
    for place, sizes in enumerate(np.rint(strata).astype(np.int64).T):
        if share[1 - place].any():
            drawn[place] = rng.multinomial(sizes, share[1 - place], size=(resamples, len(strata)))
    return AreaSums(drawn[0], drawn[1], np.broadcast_to(cells.inside, drawn.shape[1:]))
