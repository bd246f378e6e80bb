r"""How large would the largest standardised error be if no prediction were wrong anywhere?

Each draw gives every unit one weight w of mean 0 and variance 1 that multiplies all its residuals; estimates
and standard errors are computed anew. With Mammen's two weights :math:`w^2 = w + 1`, so all that a draw
needs is linear in its weights: one product of the weights with sums over units.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from auditbook.pockets.contributions import Contributions, ThirdMoments
from auditbook.pockets.skewness import bend_back, read_as_normal, read_as_student, straighten_ratios

Array = NDArray[np.float64]

LOW, HIGH = (1 - sqrt(5)) / 2, (1 + sqrt(5)) / 2
"""Mammen's weights; the high one has the chance `CHANCE`."""
CHANCE = (sqrt(5) - 1) / (2 * sqrt(5))
CUT = np.uint32(round(CHANCE * 2**32))
"""A 32-bit number below this stands for the high weight."""
DRAWS, UNITS = 250, 512
"""Draws that share one source of random numbers, and units whose weights are held at once."""
SPARSE = 0.2
"""Below this share of filled entries the product skips the empty ones."""


def draw_weights(rng: np.random.Generator, n_units: int, draws: int) -> Array:
    """Draw Mammen's two-point weights.

    References
    ----------
    Mammen, E. (1993). Bootstrap and wild bootstrap for high dimensional linear models.
    doi:10.1214/aos/1176349025
    """
    bits = rng.integers(0, 2**32, size=(n_units, draws), dtype=np.uint32)
    weights = (bits < CUT).astype(np.float64)
    weights *= HIGH - LOW
    weights += LOW
    return weights


def redraw_ratios(family: Contributions, products: Array) -> Array:
    r"""Turn weighted sums into the standardised estimates of each draw.

    .. math:: t^* = g / \mathrm{SE}^*, \quad g = \sum_k g_k, \quad
              \mathrm{SE}^{*2} = \frac{U}{U-1} \Big(\sum_u w_u A_u^2 + \sum_u A_u^2
              - 2 \sum_k g_k \sum_u w_u A_u p_{uk} + \sum_{k,l} g_k g_l P_{kl}\Big)

    Where the family holds third moments, the ratios are transformed with the skewness of each draw, as
    `standardise` transforms those that were seen.

    Parameters
    ----------
    family : Contributions
        The family's sums.
    products : float64 array, shape (Q * width, draws)
        ``family.sums.T @ weights``.

    Returns
    -------
    float64 array, shape (Q, draws)
        Infinite where a draw leaves no standard error but an estimate.

    Examples
    --------
    >>> from auditbook.pockets.cell_support import gather_cell
    >>> from auditbook.pockets.contributions import sum_contributions
    >>> family = sum_contributions(np.array([0.0, 1.0]), [[gather_cell(np.arange(2), np.arange(2))]],
    ...                            np.zeros(1), n_units=2)
    >>> weights = np.array([[HIGH, LOW], [LOW, LOW]])
    >>> redraw_ratios(family, family.sums.T @ weights).round(2).tolist()
    [[-2.24, 0.0]]
    """
    n_quantities, cells, _ = family.overlap.shape
    each = products.reshape(n_quantities, family.width, -1)
    means, spread, mixed = each[:, :cells], each[:, cells], each[:, cells + 1 : 2 * cells + 1]
    variance = spread + family.square[:, None] - 2 * np.einsum("qkd,qkd->qd", means, mixed)
    variance += np.einsum("qkd,qkl,qld->qd", means, family.overlap, means, optimize=True)
    factor = family.units / (family.units - 1)
    se = np.sqrt(np.maximum(factor[:, None] * variance, family.floor[:, None] ** 2))
    estimate = means.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.nan_to_num(estimate / se, nan=0.0, posinf=np.inf, neginf=-np.inf)
        if family.third is None:
            return ratios
        cubes = _redraw_cubes(family.third, means, each[:, 2 * cells + 1 :])
        skew = np.where(se > 0, cubes / se**3, 0.0)
    return straighten_ratios(ratios, skew)


def _redraw_cubes(third: ThirdMoments, means: Array, products: Array) -> Array:
    r"""Sum the cubes of what units contribute in each draw, shape (Q, draws).

    With Mammen's weights :math:`w^3 = 2 w + 1`, so these too are linear in the weights.
    """
    cells = means.shape[1]
    cube, mixed, pairs = products[:, 0], products[:, 1 : cells + 1], products[:, cells + 1 :]
    pairs = pairs.reshape(len(means), cells, cells, -1)
    found = 2 * cube + third.cube[:, None]
    found -= 3 * np.einsum("qkd,qkd->qd", means, mixed + third.mixed[:, :, None])
    found += 3 * np.einsum("qkd,qld,qkld->qd", means, means, pairs, optimize=True)
    found -= np.einsum("qkd,qld,qmd,qklm->qd", means, means, means, third.overlap, optimize=True)
    return np.asarray(found)


def standardise(family: Contributions) -> Array:
    r"""Give the estimates of a family on the scale on which they are held against the draws.

    As published, the ratio of an estimate to its standard error. Corrected,

    .. math:: z = \Phi^{-1}\big(T_\nu(H(t))\big), \qquad t = \hat\theta / \mathrm{SE},

    with Hall's transformation H against skewness, and Student's distribution with as many degrees of freedom
    as there are effective units in the smallest cell, less one.

    Returns
    -------
    float64 array, shape (Q,)
        Above 0 where predictions are too high, but for a shift by a sixth of the skewness.

    References
    ----------
    Hall, P. (1992). On the removal of skewness by transformation.
    doi:10.1111/j.2517-6161.1992.tb01876.x

    Examples
    --------
    >>> from auditbook.pockets.cell_support import gather_cell
    >>> from auditbook.pockets.contributions import sum_contributions
    >>> family = sum_contributions(np.array([0.0, 1.0]), [[gather_cell(np.arange(2), np.arange(2))]],
    ...                            np.zeros(1), n_units=2)
    >>> standardise(family).tolist()
    [1.0]
    """
    ratios = family.estimate / family.se
    if family.third is None:
        return ratios
    straight = straighten_ratios(ratios, family.third.cube / family.se**3)
    return read_as_normal(straight, family.third.degrees)


def bound_estimates(family: Contributions, critical: float) -> tuple[Array, Array]:
    r"""Find the intervals of a family: the values that a critical value does not reject.

    .. math:: \hat\theta \mp q\, \mathrm{SE} \quad \text{or} \quad
              \hat\theta - \mathrm{SE}\, H^{-1}\big(\pm T_\nu^{-1}(\Phi(q))\big)

    as published, and corrected.

    Parameters
    ----------
    family : Contributions
        Estimates, standard errors and, where ratios are corrected, third moments.
    critical : float
        From `max_t_critical_value`.

    Returns
    -------
    tuple of float64 arrays, shape (Q,)
        Lower and upper ends; an interval leaves out zero exactly when `standardise` is beyond `critical`.

    References
    ----------
    Hall, P. (1992). On the removal of skewness by transformation.
    doi:10.1111/j.2517-6161.1992.tb01876.x

    Examples
    --------
    >>> from auditbook.pockets.cell_support import gather_cell
    >>> from auditbook.pockets.contributions import sum_contributions
    >>> family = sum_contributions(np.array([0.0, 1.0]), [[gather_cell(np.arange(2), np.arange(2))]],
    ...                            np.zeros(1), n_units=2)
    >>> [end.tolist() for end in bound_estimates(family, 2.0)]
    [[-0.5], [1.5]]
    """
    if family.third is None:
        return family.estimate - critical * family.se, family.estimate + critical * family.se
    reach = read_as_student(critical, family.third.degrees)
    skew = family.third.cube / family.se**3
    low, high = (family.estimate - family.se * bend_back(sign * reach, skew) for sign in (1, -1))
    return low, high


def draw_maxima(
    families: Sequence[Contributions], *, draws: int, seed: int, jobs: int = 1
) -> tuple[Array, ...]:
    r"""Draw the largest absolute standardised estimate of each family, :math:`\max_c |t^*_c|`.

    All families share the draws. Each block of 250 draws has random numbers of its own, so the number of
    threads changes nothing.

    Parameters
    ----------
    families : sequence of Contributions
        Of the same units.
    draws : int
        How many.
    seed : int
        Of the weights.
    jobs : int
        Threads.

    Returns
    -------
    tuple of float64 arrays, shape (draws,)
        One a family, increasing.

    References
    ----------
    Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2008). Bootstrap-based improvements for inference with
    clustered errors. doi:10.1162/rest.90.3.414

    Examples
    --------
    >>> draw_maxima([], draws=99, seed=1)
    ()
    """
    if not families:
        return ()
    parts = _split_sums(sparse.hstack([family.sums for family in families], format="csr"))
    edges = np.cumsum([0] + [family.sums.shape[1] for family in families])
    seeds = np.random.SeedSequence(seed).spawn(ceil(draws / DRAWS))
    sizes = [min(DRAWS, draws - DRAWS * block) for block in range(len(seeds))]

    def draw_block(source: np.random.SeedSequence, size: int) -> list[Array]:
        rng = np.random.default_rng(source)
        products = np.zeros((edges[-1], size))
        for part in parts:
            products += part @ draw_weights(rng, part.shape[1], size)
        return [
            np.max(np.abs(redraw_ratios(family, products[first:last])), axis=0)
            for family, first, last in zip(families, edges[:-1], edges[1:], strict=True)
        ]

    with threadpool_limits(1):
        if jobs == 1:
            blocks = list(map(draw_block, seeds, sizes))
        else:
            with ThreadPoolExecutor(jobs) as pool:
                blocks = list(pool.map(draw_block, seeds, sizes))
    return tuple(np.sort(np.concatenate(each)) for each in zip(*blocks, strict=True))


def _split_sums(sums: sparse.csr_matrix) -> list[sparse.csr_matrix | Array]:
    """Cut the columns of all families into blocks of units, turned, and filled up where they are dense."""
    n_units, width = sums.shape
    dense = sums.nnz > SPARSE * n_units * width
    blocks = (sums[first : first + UNITS].T for first in range(0, n_units, UNITS))
    return [np.ascontiguousarray(block.toarray()) if dense else block.tocsr() for block in blocks]


def max_t_critical_value(maxima: Array, level: float) -> float:
    r"""Find the value that the largest absolute ratio of a family exceeds with the chance `level`.

    .. math:: q = m_{(\lceil (B + 1)(1 - \alpha) \rceil)}, \qquad m_b = \max_c |t^*_{cb}|

    the order statistic of the maxima of B draws. The interval of every quantity c of the family is its
    estimate plus or minus q standard errors (single-step max-t).

    Parameters
    ----------
    maxima : float64 array, shape (draws,)
        The largest absolute ratio of each draw, from `draw_maxima`, increasing.
    level : float
        Chance of any false flag, :math:`\alpha`.

    Returns
    -------
    float
        An order statistic, such that a ratio is beyond it exactly when its p-value is at most `level`;
        infinite when there are too few draws, nan without any.

    References
    ----------
    Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. ISBN 978-0-471-55761-6.

    Examples
    --------
    >>> max_t_critical_value(np.arange(1.0, 100.0), 0.05), max_t_critical_value(np.arange(1.0, 10.0), 0.05)
    (95.0, inf)
    """
    if not len(maxima):
        return float("nan")
    rank = ceil(round((len(maxima) + 1) * (1 - level), 9))
    return float(maxima[rank - 1]) if rank <= len(maxima) else float("inf")


def adjusted_p(ratios: Array, maxima: Array) -> Array:
    r"""Find p-values that hold for a whole family.

    .. math:: p_c = \frac{1 + \#\{b : \max_k |t^*_{kb}| \ge |t_c|\}}{1 + B}

    Parameters
    ----------
    ratios : float64 array, shape (Q,)
        Estimates in units of their standard errors.
    maxima : float64 array, shape (draws,)
        From `draw_maxima`, increasing.

    Returns
    -------
    float64 array, shape (Q,)
        Never 0.

    References
    ----------
    Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. ISBN 978-0-471-55761-6.

    Examples
    --------
    >>> adjusted_p(np.array([-95.5]), np.arange(1.0, 100.0)).tolist()
    [0.05]
    """
    beyond = len(maxima) - np.searchsorted(maxima, np.abs(ratios), side="left")
    return np.asarray((1 + beyond) / (1 + len(maxima)), float)
