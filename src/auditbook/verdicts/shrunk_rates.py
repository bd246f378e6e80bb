r"""What may the groups' true rates be, after what was counted today?

A rate that was counted in a small group is uncertain, and the extremes of several counted rates lie further
apart than those of the true ones. So the groups are taken for draws from one distribution whose centre and
width are not known either, and rates are drawn from what all of that leaves open:

.. math:: x_g \sim \mathrm{Binomial}(n_g, r_g),\qquad
          r_g \sim \mathrm{Beta}(\kappa_g m_g, \kappa_g (1 - m_g)),\qquad
          \operatorname{logit} m_g = o_g + c,\qquad \kappa_g = \frac{1}{\sigma^2 m_g (1 - m_g)},

with a known offset o (0, or the logit of what the score promised), an unknown centre c and an unknown width
:math:`\sigma`, the standard deviation on the logit scale, which is half Cauchy around 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, expit, logit

CENTRES = np.linspace(-3.0, 3.0, 7)
"""Centres that are tried, in standard errors around the best guess."""
WIDTHS = 10
"""Widths that are tried: the middles of so many parts of equal prior chance."""
WIDTH_SCALE = 0.25
"""Median of the prior of the width, on the logit scale.

Rates of the groups of 11 attributes (selection rate, TPR, FPR and PPV of discharges in New York, of diabetes
stays and of the twin of Texas) have standard deviations, by restricted likelihood, of 0.23 in the middle and
half of them from 0.08 to 0.34; the prior has half of its weight from 0.10 to 0.60.
"""
MANY = 30
"""With so many counted on both sides, the next rate is drawn from its normal limit."""
LEAST = 1e-6
"""No rate is expected nearer to 0 or 1 than this."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RateGrid:
    """Beta distributions that the groups' rates may have, after what was counted, and their chances."""

    alpha: Array  # shape (..., n_nodes, n_groups)
    beta: Array  # likewise
    chance: Array  # shape (..., n_nodes): Adds up to 1


def list_widths(scale: float, count: int = WIDTHS) -> Array:
    """List widths that divide a half-Cauchy prior into parts of equal chance, shape (count,)."""
    return np.asarray(scale * np.tan(np.pi / 2 * (np.arange(count) + 0.5) / count))


def weigh_rates(counted: ArrayLike, trials: ArrayLike, *, expected: ArrayLike | None = None) -> RateGrid:
    r"""Weigh what the groups' rates may be, in the model at the head of this module.

    The prior of a common centre is Jeffreys' at the centre, :math:`\sqrt{m(1 - m)}` on the logit scale.

    Parameters
    ----------
    counted, trials : arrays, shape (..., n_groups)
        How many of how many; effective numbers need not be whole. A group without trials says nothing.
    expected : array, broadcasts to (..., n_groups), or None
        Rates that were promised, such as mean scores; None asks for one unknown centre of all groups.

    Returns
    -------
    RateGrid
        A node for each width and centre that is tried.

    References
    ----------
    Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models.
    doi:10.1214/06-BA117A

    Examples
    --------
    >>> grid = weigh_rates([5, 80], [10, 100])
    >>> rates = (grid.chance[:, None] * grid.alpha / (grid.alpha + grid.beta)).sum(axis=0)
    >>> rates.round(2).tolist()
    [0.68, 0.78]
    """
    seen, held = np.asarray(counted, float), np.asarray(trials, float)
    pooled = (seen.sum(axis=-1, keepdims=True) + 0.5) / (held.sum(axis=-1, keepdims=True) + 1)
    known = np.clip(pooled if expected is None else expected, LEAST, 1 - LEAST)
    offset = np.broadcast_to(logit(known), seen.shape)
    width = list_widths(WIDTH_SCALE)[:, None]
    centre, error = _find_centres(seen, held, offset, width)
    tried = centre[..., None] + error[..., None] * CENTRES
    middle = np.clip(expit(offset[..., None, None, :] + tried[..., None]), LEAST, 1 - LEAST)
    spare = middle * (1 - middle)
    total = 1 / (width[..., None] ** 2 * spare)
    prior = middle * total, (1 - middle) * total
    after = prior[0] + seen[..., None, None, :], prior[1] + (held - seen)[..., None, None, :]
    log = (betaln(*after) - betaln(*prior)).sum(axis=-1) + np.log(error)[..., None]
    log += 0.5 * np.log(spare).mean(axis=-1)
    chance = np.exp(log - log.max(axis=(-2, -1), keepdims=True))
    chance /= chance.sum(axis=(-2, -1), keepdims=True)
    nodes = (*seen.shape[:-1], -1)
    alpha, beta = (part.reshape(*nodes, seen.shape[-1]) for part in after)
    return RateGrid(alpha, beta, chance.reshape(nodes))


def _find_centres(seen: Array, held: Array, offset: Array, width: Array) -> tuple[Array, Array]:
    """Guess the centre and its standard error at every width, shape (..., n_widths): one Newton step."""
    rate = expit(offset)
    information = held * rate * (1 - rate)
    away = np.divide(seen - held * rate, information, out=np.zeros_like(seen), where=information > 0)
    known = information[..., None, :]
    weight = known / (1 + width**2 * known)
    total = np.maximum(weight.sum(axis=-1), 0.1)
    return (weight * away[..., None, :]).sum(axis=-1) / total, np.minimum(1 / np.sqrt(total), 2.0)


def draw_next_rates(
    grid: RateGrid, trials: NDArray[np.int64], *, few: NDArray[np.bool_], rng: np.random.Generator
) -> Array:
    """Draw true rates from a grid of one model, then the rates that another audit of them would count.

    Parameters
    ----------
    grid : RateGrid
        Of shape (n_nodes, n_groups), from `weigh_rates`.
    trials : int array, shape (draws, n_groups)
        How many the other audits hold.
    few : bool array, shape (n_groups,)
        Groups in which so few were counted that the draw has to be exact.

    Returns
    -------
    float array, shape (draws, n_groups)
        nan where the other audit holds none.
    """
    draws = len(trials)
    edges = np.cumsum(grid.chance)
    node = np.minimum(np.searchsorted(edges, rng.random(draws)), len(edges) - 1)
    alpha, beta = grid.alpha[node], grid.beta[node]
    total = alpha + beta
    middle = alpha / total
    held = np.maximum(trials, 1)
    spread = np.sqrt(middle * (1 - middle) * (1 / (total + 1) + 1 / held))
    rates = np.clip(middle + spread * rng.standard_normal(trials.shape), 0, 1)
    if few.any():
        true = rng.beta(alpha[:, few], beta[:, few])
        rates[:, few] = rng.binomial(held[:, few], true) / held[:, few]
    return np.where(trials > 0, rates, np.nan)
