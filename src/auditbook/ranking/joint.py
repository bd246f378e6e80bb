"""How wide must intervals be for all of them to hold at once?"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from auditbook.evidence import Interval, rate
from auditbook.ranking.matrix import (
    AucMatrix,
    delong_covariance,
    leave_out_sites,
    site_errors,
    standard_errors,
)

Array = NDArray[np.float64]

DRAWS = 4_000
"""Gaussian draws behind a simultaneous interval: the level is met within 0.4 points (one standard error)."""
HELD = 1 << 22
"""Numbers of a draw held at once."""
LEAST, MOST = 500, 1 << 24
"""Many intervals get fewer draws: no more than these numbers in all, but at least 500 draws (1 point)."""
MANY = 1_000
"""Clusters above which errors are drawn from their covariance, not cluster by cluster."""
FEW = 32
"""Areas by which sites are put in order."""


@dataclass(frozen=True)
class MatrixLevels:
    """Levels that make the intervals of an AUC matrix hold at once; each lies between the aim and 1."""

    entries: float  # For all areas of the matrix
    cross_pairs: float  # For the differences A[g, h] - A[h, g] of all pairs


def joint_levels(
    matrix: AucMatrix,
    *,
    level: float = 0.95,
    by_site: bool = False,
    draws: int = DRAWS,
    rng: np.random.Generator,
) -> MatrixLevels:
    r"""Find the level that every single interval needs so that all hold at once.

    Errors of the whole matrix are drawn from the normal distribution with their joint covariance; c is the
    quantile of the largest :math:`|\text{error}|/\mathrm{SE}` in a draw, and the level is that of
    :math:`\pm c` for one interval.

    Parameters
    ----------
    matrix : AucMatrix
        From `auc_matrix`.
    level : float
        Coverage of all intervals together.
    by_site : bool
        True takes sites as the independent units, False records.
    draws : int
        Number of draws; fewer are made for more than some 4,000 intervals.
    rng : Generator
        Source of the draws.

    Returns
    -------
    MatrixLevels
        The aim itself where one interval or none is left.

    References
    ----------
    Hothorn, T., Bretz, F. and Westfall, P. (2008). Simultaneous inference in general parametric models.
    doi:10.1002/bimj.200810425

    Examples
    --------
    >>> from auditbook.ranking.matrix import auc_matrix
    >>> rng = np.random.default_rng(1)
    >>> matrix = auc_matrix(rng.integers(0, 2, 200), rng.random(200), rng.integers(0, 2, 200), 2)
    >>> 0.97 < joint_levels(matrix, rng=rng).entries < 0.99
    True
    """
    n_groups = len(matrix.auc)
    se = site_errors(matrix).se if by_site else standard_errors(matrix)
    upper = np.triu_indices(n_groups, 1)
    pair_se = cross_errors(matrix, by_site=by_site)[upper]
    entries, crossed = [], []
    affordable = _afford(draws, n_groups**2)
    for noise in draw_errors(matrix, draws=affordable, by_site=by_site, rng=rng):
        entries.append(_largest(noise.reshape(len(noise), -1), se.ravel()))
        difference = noise[:, *upper] - np.swapaxes(noise, 1, 2)[:, *upper]
        crossed.append(_largest(difference, pair_se))
    return MatrixLevels(
        level_of(np.concatenate(entries), level, count=int((se > 0).sum())),
        level_of(np.concatenate(crossed), level, count=int((pair_se > 0).sum())),
    )


def cross_errors(matrix: AucMatrix, *, by_site: bool = False) -> Array:
    """Find the standard errors of the differences A[g, h] - A[h, g].

    The two areas share no record, so records make them independent; sites do not.
    """
    if by_site:
        found = site_errors(matrix)
        covariance = found.se * found.se.T * cross_correlation(matrix)
        square = found.se**2 + found.se.T**2 - 2 * covariance
    else:
        se = standard_errors(matrix)
        square = se**2 + se.T**2
    pair = np.sqrt(np.maximum(square, 0))
    np.fill_diagonal(pair, 0)
    return pair


def cross_correlation(matrix: AucMatrix) -> Array:
    """Find the correlation of A[g, h] and A[h, g] over sites."""
    influence = np.nan_to_num(leave_out_sites(matrix))
    product = np.einsum("sgh,shg->gh", influence, influence)
    size = np.sqrt(np.square(influence).sum(axis=0))
    return np.nan_to_num(rate(product, size * size.T))


def draw_errors(
    matrix: AucMatrix, *, draws: int, by_site: bool = False, rng: np.random.Generator
) -> Iterator[Array]:
    """Draw errors of the whole matrix from the normal distribution with its joint covariance.

    Entries [g, h] and [k, l] vary together only through the events that they share (g = k) or the non-events
    (h = l), so n_groups roots of size n_groups hold the whole covariance.
    """
    n_groups = len(matrix.auc)
    at_once = max(HELD // n_groups**2, 1)
    if by_site:
        moved = np.nan_to_num(leave_out_sites(matrix))
        flat = moved.reshape(len(moved), n_groups**2)
        if len(flat) > max(MANY, n_groups**2):
            flat = _root((flat.T @ flat)[None])[0]
        flat = flat[np.lexsort(flat[:, :FEW].T)]  # so that renaming the sites changes no draw
        for first in range(0, draws, at_once):
            some = min(at_once, draws - first)
            yield (rng.standard_normal((some, len(flat))) @ flat).reshape(some, n_groups, n_groups)
        return
    covariance = delong_covariance(matrix)
    of_events, of_others = _root(covariance.events), _root(covariance.others)
    for first in range(0, draws, at_once):
        some = min(at_once, draws - first)
        normal = rng.standard_normal((2, n_groups, some, n_groups))
        events, others = normal[0] @ of_events, normal[1] @ of_others
        yield np.swapaxes(events, 0, 1) + np.moveaxis(others, 0, 2)


def _root(covariance: Array) -> Array:
    """Find roots R of the covariance R'R of each group's mean placements."""
    values, vectors = np.linalg.eigh(np.nan_to_num(covariance))
    return np.sqrt(np.maximum(values, 0))[:, :, None] * np.swapaxes(vectors, 1, 2)


def pair_level(
    covariance: ArrayLike, *, level: float = 0.95, draws: int = DRAWS, rng: np.random.Generator
) -> float:
    """Find the level at which the differences of all pairs of some quantities hold at once."""
    matrix = np.asarray(covariance, float)
    variance = np.diagonal(matrix)
    square = variance[:, None] + variance - 2 * matrix
    first, second = np.triu_indices(len(matrix), 1)
    se = np.sqrt(np.maximum(square, 0))[first, second]
    largest = []
    for noise in _draw(matrix, draws, len(first), rng):
        largest.append(_largest(noise[:, first] - noise[:, second], se))
    return level_of(np.concatenate(largest), level, count=int((se > 0).sum()))


def set_level(
    covariance: ArrayLike, *, level: float = 0.95, draws: int = DRAWS, rng: np.random.Generator
) -> float:
    """Find the level at which the intervals of some quantities hold at once."""
    matrix = np.asarray(covariance, float)
    se = np.sqrt(np.maximum(np.diagonal(matrix), 0))
    largest = [_largest(noise, se) for noise in _draw(matrix, draws, len(se), rng)]
    return level_of(np.concatenate(largest), level, count=int((se > 0).sum()))


def _draw(covariance: Array, draws: int, wide: int, rng: np.random.Generator) -> Iterator[Array]:
    """Draw from the normal distribution with a covariance, some draws at a time."""
    values, vectors = np.linalg.eigh(np.nan_to_num(covariance))
    root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    at_once, count = max(HELD // max(wide, 1), 1), _afford(draws, wide)
    for first in range(0, count, at_once):
        yield rng.standard_normal((min(at_once, count - first), len(root))) @ root


def _afford(draws: int, wide: int) -> int:
    """Lower the number of draws when there are very many intervals."""
    return min(draws, max(LEAST, MOST // max(wide, 1)))


def _largest(noise: Array, se: Array) -> Array:
    """Find the largest of the errors of each draw in units of their standard errors; 0 without any."""
    known = se > 0
    return np.max(np.abs(noise[:, known]) / se[known], axis=1, initial=0)


def level_of(largest: Array, level: float, *, count: int) -> float:
    """Turn the largest errors of many draws into the level of one interval."""
    if count <= 1:
        return level
    one = 1 - 2 * float(ndtr(-np.quantile(largest, level)))
    return float(np.clip(one, level, 1 - (1 - level) / count))


def bound_differences(values: ArrayLike, interval: Interval, *, correlation: ArrayLike = 0.0) -> Interval:
    r"""Bound differences from the intervals of their two parts.

    .. math:: d - \sqrt{(a - l_a)^2 + (u_b - b)^2 - 2\rho (a - l_a)(u_b - b)}
              \quad\text{to}\quad
              d + \sqrt{(u_a - a)^2 + (b - l_b)^2 - 2\rho (u_a - a)(b - l_b)}

    for d = a - b: the method of variance estimates recovery. It keeps the shape of the parts' own intervals,
    the one-sided ones included.

    Parameters
    ----------
    values : float array, shape (K,)
        The parts.
    interval : Interval
        Theirs, shape (K,).
    correlation : float array, broadcasts to (K, K)
        Of the parts' estimates.

    Returns
    -------
    Interval
        Shape (K, K), [i, j] for the i-th less the j-th; nan where a part has no interval.

    References
    ----------
    Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a general
    approach. doi:10.1002/sim.3095

    Examples
    --------
    >>> found = bound_differences([0.5, 0.5], Interval(np.array([0.2, 0.1]), np.array([0.9, 0.8])))
    >>> found.low.round(2)[0, 1], found.high.round(2)[0, 1]
    (-0.42, 0.57)
    """
    part = np.asarray(values, float)
    below, above = part - interval.low, interval.high - part
    return _recover(part[:, None], below[:, None], above[:, None], part, below, above, correlation)


def _recover(
    one: Array, below: Array, above: Array, two: Array, two_below: Array, two_above: Array, rho: ArrayLike
) -> Interval:
    """Recover the bounds of one - two."""
    correlation = np.asarray(rho, float)
    down = below**2 + two_above**2 - 2 * correlation * below * two_above
    up = above**2 + two_below**2 - 2 * correlation * above * two_below
    return Interval(
        np.maximum(one - two - np.sqrt(np.maximum(down, 0)), -1),
        np.minimum(one - two + np.sqrt(np.maximum(up, 0)), 1),
    )


def bound_crossed(matrix: AucMatrix, interval: Interval, *, by_site: bool = False) -> Interval:
    """Bound the differences A[g, h] - A[h, g] from the intervals of the matrix."""
    below, above = matrix.auc - interval.low, interval.high - matrix.auc
    rho = cross_correlation(matrix) if by_site else 0.0
    return _recover(matrix.auc, below, above, matrix.auc.T, below.T, above.T, rho)
