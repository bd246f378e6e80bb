"""How many records would it take to show what today's estimates say?"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Array = NDArray[np.float64]
Reach = Literal["can be had", "far more than can be had", "no number", "not known"]

POWER = 0.8
"""Chance with which the conclusion would be shown."""
LEAST, MOST = 1e-6, 1e8
"""Sizes that are looked at, in multiples of today's; needing more counts as never."""
FAR_TIMES, FAR_RECORDS = 100, 10_000_000
"""An audit that needs more than so many times its records, or more than so many, cannot be had."""
HALVINGS = 60
"""Halvings of the logarithm of the size: the error is below one record in a million."""


def scale_to_show(
    z: Array,
    row: NDArray[np.intp],
    n_rows: int,
    *,
    alpha: float,
    cells: NDArray[np.intp],
    opposite: Array | None = None,
) -> Array:
    r"""Find by how much an audit must grow for its cells to be shown, if its estimates are the truth.

    A contrast that meets its threshold at the normal quantile z today does so at :math:`z\sqrt c` in an audit
    c times as large. A cell whose deciding contrast lies beyond the threshold is shown to fail with chance
    0.8 when :math:`z\sqrt c = z_{1 - \alpha/(mM)} + z_{0.8}`, with m contrasts in it and M cells on the
    board. One whose contrasts all lie within it is shown to pass with at least that chance when

    .. math:: \sum_j \Phi\bigl(z_{1 - \alpha/M} - |z_j|\sqrt c\bigr)
        + \Phi\bigl(z_{1 - \alpha/M} - |z'_j|\sqrt c\bigr) = 0.2 .

    A difference lies within when it does on both sides: z' belongs to the other edge, which is as far as the
    near one where groups do not differ, and counts for little where they nearly differ by the threshold.

    Parameters
    ----------
    z : float array, shape (n_contrasts,)
        From `find_z`, positive beyond the threshold.
    row : int array, shape (n_contrasts,)
        Cell of each contrast.
    alpha : float
        Chance of any false finding on a board, on one side.
    cells : int array, shape (n_rows,)
        Cells on the board of each cell's model.
    opposite : float array, shape (n_contrasts,), optional
        The quantile z' of a contrast that lies within, from `find_opposite`; without it the other edge is
        taken to be out of reach.

    Returns
    -------
    float array, shape (n_rows,)
        c; infinite at the threshold, nan without a contrast.

    Examples
    --------
    >>> row, cells = np.zeros(1, int), np.ones(1, int)
    >>> round(float(scale_to_show(np.array([1.0]), row, 1, alpha=0.05, cells=cells)[0]), 2)
    6.18
    """
    count = np.bincount(row, minlength=n_rows)
    most = np.full(n_rows, -np.inf)
    np.maximum.at(most, row, z)
    beyond = most > 0
    needed = -ndtri(alpha / np.maximum(count * cells, 1)) + ndtri(POWER)
    grown = np.full(n_rows, np.inf)
    grown[beyond] = np.square(needed[beyond] / most[beyond])
    far = np.full(len(z), np.inf) if opposite is None else opposite
    edges, twice = np.concatenate([np.abs(z), far]), np.tile(row, 2)
    passing = _grow_to_pass(edges, twice, n_rows, -ndtri(alpha / np.maximum(cells, 1)))
    found = np.where(beyond, grown, np.where(most < 0, passing, np.inf))
    return np.where(count > 0, np.where(found < MOST, found, np.inf), np.nan)


def _grow_to_pass(distance: Array, row: NDArray[np.intp], n_rows: int, level: Array) -> Array:
    """Halve the logarithm of the size until the chance that some contrast is not shown is one fifth."""
    low, high = np.full(n_rows, np.log(LEAST)), np.full(n_rows, np.log(MOST) + 1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        missed = ndtr(level[row] - distance * np.exp(middle[row] / 2))
        enough = np.bincount(row, missed, n_rows) <= 1 - POWER
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.exp(high)


def judge_reach(needed: float, audited: float) -> Reach:
    """Judge whether the records of `n_to_show` can be had by who has audited so many.

    Parameters
    ----------
    needed : float
        Records with which a cell would be shown; infinite where no number will do, nan where none is known.
    audited : float
        Records of the audit.

    Returns
    -------
    Reach
        "far more than can be had" from 100 times the audited records on, or from 10 million (from ten times
        the audited ones, where these alone are so many).

    Examples
    --------
    >>> judge_reach(12_000, 2_000), judge_reach(33_000_000, 10_000)
    ('can be had', 'far more than can be had')
    """
    if np.isnan(needed):
        return "not known"
    if np.isinf(needed):
        return "no number"
    most = min(FAR_TIMES * audited, max(FAR_RECORDS, 10 * audited))
    return "far more than can be had" if needed > most else "can be had"
