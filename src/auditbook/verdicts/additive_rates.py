r"""What may the rate of a crossing be, after what was counted in it and in all others?

Black women share their race with Black men, and their sex with White women: what was counted there promises a
rate, from which a crossing may still be as far away as crossings of this table are. The model is that of
`shrunk_rates`, with main effects in place of one centre:

.. math:: x_g \sim \mathrm{Binomial}(n_g, r_g),\qquad
          r_g \sim \mathrm{Beta}(\kappa_g m_g, \kappa_g (1 - m_g)),\qquad
          \operatorname{logit} m_g = o + c + a_{i(g)} + b_{j(g)},\qquad
          \kappa_g = \frac{1}{\sigma^2 m_g (1 - m_g)}.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, expit, logit, psi

from auditbook.verdicts.shrunk_rates import LEAST, WIDTH_SCALE, RateGrid, list_widths

EFFECT_SCALE = 1.0
"""Standard deviation of the prior of each main effect, on the logit scale: no effect is infinite."""
STEPS, LONGEST, CLOSE = 50, 1.0, 1e-7
"""Scoring steps to the main effects that fit best, how far one may move a logit, and which ends them."""
NODES, SHARES = np.polynomial.hermite_e.hermegauss(7)
"""Points and weights by which a normal distribution is averaged."""

Array = NDArray[np.float64]


def code_parts(parts: Sequence[Sequence[str]]) -> Array:
    """Code the groups of a cross: a column of ones, then one column a group of each part.

    >>> code_parts([("Black", "Female"), ("White", "Female")]).astype(int).tolist()
    [[1, 1, 0, 1], [1, 0, 1, 1]]
    """
    columns = [np.ones(len(parts))]
    for names in zip(*parts, strict=True):
        columns += [np.array([name == level for name in names], float) for level in dict.fromkeys(names)]
    return np.stack(columns, axis=1)


@dataclass(frozen=True)
class _Fit:
    """Main effects that fit best at each width; shape (..., n_widths, n_groups) unless said otherwise."""

    line: Array  # Logit of the rate that the main effects promise
    score: Array  # Slope of the cell's log likelihood in it
    weight: Array  # What the cell says of the main effects: the inverse of its variance
    spread: Array  # Variance of `line`
    log: Array  # shape (..., n_widths): Log of the width's chance, but for a constant


def weigh_crossings(counted: ArrayLike, trials: ArrayLike, design: Array) -> RateGrid:
    r"""Weigh what the rates of crossings may be, in the model at the head of this module.

    At every width :math:`\sigma` the main effects are fitted to all cells (scoring on the beta-binomial
    likelihood, with a normal prior of each effect, which holds where a row was never or always counted). A
    width's chance is its likelihood with the main effects integrated out (Laplace). The prior of a cell is
    what the *other* cells promise it, its uncertainty included: with :math:`h_g` the variance of the promised
    logit without cell g, the Beta distribution that has mean and variance of the average over
    :math:`N(\eta_{-g}, h_g)`.

    Parameters
    ----------
    counted, trials : arrays, shape (..., n_groups)
        How many of how many; effective numbers need not be whole.
    design : float array, shape (n_groups, n_columns)
        From `code_parts`.

    Returns
    -------
    RateGrid
        A node for each width that is tried.

    References
    ----------
    Tierney, L. and Kadane, J. B. (1986). Accurate approximations for posterior moments and marginal
    densities. doi:10.1080/01621459.1986.10478240

    Examples
    --------
    >>> design = code_parts([("a", "f"), ("a", "m"), ("b", "f"), ("b", "m")])
    >>> grid = weigh_crossings([30, 60, 10, 0], [100, 200, 100, 4], design)
    >>> rates = (grid.chance[:, None] * grid.alpha / (grid.alpha + grid.beta)).sum(axis=0)
    >>> rates.round(1).tolist()
    [0.3, 0.3, 0.1, 0.1]
    """
    seen, held = (np.asarray(part, float)[..., None, :] for part in (counted, trials))
    width = list_widths(WIDTH_SCALE)[:, None]
    fit = _fit_effects(seen, held, width, design)
    left = np.maximum(1 - fit.weight * fit.spread, LEAST)
    unsure = fit.spread / left
    mean, variance = _average(fit.line - fit.score * unsure, unsure, width)
    total = np.maximum(mean * (1 - mean) / variance - 1, LEAST)
    chance = np.exp(fit.log - fit.log.max(axis=-1, keepdims=True))
    chance /= chance.sum(axis=-1, keepdims=True)
    return RateGrid(mean * total + seen, (1 - mean) * total + held - seen, chance)


def _fit_effects(seen: Array, held: Array, width: Array, design: Array) -> _Fit:
    """Fit the main effects at each width by damped scoring, and measure what they leave open."""
    whole = (seen.sum(axis=-1, keepdims=True) + 0.5) / (held.sum(axis=-1, keepdims=True) + 1)
    offset = logit(np.clip(whole, LEAST, 1 - LEAST))
    shape = np.broadcast_shapes(seen.shape, width.shape)
    effects = np.zeros((*shape[:-1], design.shape[1]))
    known = np.diag(np.r_[0.0, np.full(design.shape[1] - 1, EFFECT_SCALE**-2)])
    for _ in range(STEPS):
        line = offset + effects @ design.T
        score, weight, jeffreys = _differentiate(seen, held, line, width)
        information = np.einsum("...g,gi,gj->...ij", weight + jeffreys[1], design, design) + known
        slope = (score + jeffreys[0]) @ design - effects @ known
        move = np.linalg.solve(information, slope[..., None])[..., 0]
        reach = np.abs(move @ design.T).max(axis=-1, keepdims=True)
        if reach.max() < CLOSE:
            break
        effects += move * np.minimum(1, LONGEST / np.maximum(reach, LEAST))
    spread = np.einsum("gi,...ij,gj->...g", design, np.linalg.inv(information), design)
    middle = np.clip(expit(line), LEAST, 1 - LEAST)
    prior = 1 / (width**2 * (1 - middle)), 1 / (width**2 * middle)
    log = (betaln(prior[0] + seen, prior[1] + held - seen) - betaln(*prior)).sum(axis=-1)
    log += 0.5 * np.log(middle * (1 - middle)).mean(axis=-1) - 0.5 * (effects @ known * effects).sum(axis=-1)
    return _Fit(line, score, weight, spread, log - 0.5 * np.linalg.slogdet(information)[1])


def _differentiate(
    seen: Array, held: Array, line: Array, width: Array
) -> tuple[Array, Array, tuple[Array, Array]]:
    r"""Give slope and expected curvature of each cell's log likelihood, and of Jeffreys' prior of the level.

    With :math:`\alpha = 1/(\sigma^2 (1 - m))` and :math:`\beta = 1/(\sigma^2 m)`, a step of the logit changes
    them by :math:`\alpha m` and :math:`-\beta (1 - m)`.
    """
    middle = np.clip(expit(line), LEAST, 1 - LEAST)
    spare = middle * (1 - middle)
    alpha, beta = 1 / (width**2 * (1 - middle)), 1 / (width**2 * middle)
    both = psi(alpha + beta) - psi(alpha + beta + held)
    score = alpha * middle * (psi(alpha + seen) - psi(alpha) + both)
    score -= beta * (1 - middle) * (psi(beta + held - seen) - psi(beta) + both)
    information = held * spare
    weight = information / (1 + width**2 * information)
    return score, weight, ((0.5 - middle) / line.shape[-1], spare / line.shape[-1])


def _average(line: Array, unsure: Array, width: Array) -> tuple[Array, Array]:
    """Average a Beta distribution over a normal distribution of its mean's logit: mean and variance."""
    share = SHARES / SHARES.sum()
    middle = np.clip(expit(line[..., None] + np.sqrt(unsure)[..., None] * NODES), LEAST, 1 - LEAST)
    spare = middle * (1 - middle)
    mean = (share * middle).sum(axis=-1)
    within = (width[..., None] * spare) ** 2 / (1 + width[..., None] ** 2 * spare)
    return mean, (share * (within + (middle - mean[..., None]) ** 2)).sum(axis=-1)
