r"""What may the groups' true values be, after values with normal errors were found today?

.. math:: t_g \sim N(\theta_g, e_g^2),\qquad \theta_g \sim N(\mu, \tau^2)

with a flat prior of :math:`\mu` and a half-Cauchy one of :math:`\tau`.
"""

import numpy as np
from numpy.typing import NDArray

from auditbook.verdicts.shrunk_rates import list_widths

Array = NDArray[np.float64]


def draw_next_values(
    found: Array, error: Array, shrinkage: Array, *, scale: float, rng: np.random.Generator
) -> Array:
    r"""Draw true values of one model's groups, then the values that another audit would find.

    Parameters
    ----------
    found, error : float arrays, shape (n_groups,)
        Values t and their standard errors e, which are not 0.
    shrinkage : float array, shape (draws, n_groups)
        How many times smaller the variance is in each of the other audits: their records by today's.
    scale : float
        Median of the prior of :math:`\tau`.
    rng : Generator
        Source of the draws.

    Returns
    -------
    float array, shape (draws, n_groups)
        nan where another audit holds no record of the group.

    References
    ----------
    Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models.
    doi:10.1214/06-BA117A

    Examples
    --------
    >>> next_values = draw_next_values(np.array([0.5, 0.7]), np.array([0.2, 0.2]), np.ones((2_000, 2)),
    ...                                scale=0.1, rng=np.random.default_rng(1))
    >>> next_values.mean(axis=0).round(1).tolist()
    [0.6, 0.6]
    """
    width = list_widths(scale)
    weight = 1 / (error**2 + width[:, None] ** 2)
    total = weight.sum(axis=-1)
    centre = (weight * found).sum(axis=-1) / total
    log = 0.5 * (np.log(weight).sum(axis=-1) - np.log(total))
    log -= 0.5 * (weight * (found - centre[:, None]) ** 2).sum(axis=-1)
    edges = np.cumsum(np.exp(log - log.max()))
    node = np.searchsorted(edges, rng.random(len(shrinkage)) * edges[-1])
    middle = centre[node] + rng.standard_normal(len(node)) / np.sqrt(total[node])
    known = 1 / error**2
    prior = 1 / width[node, None] ** 2
    true = (known * found + prior * middle[:, None]) / (known + prior)
    spread = np.divide(error**2, shrinkage, out=np.full(shrinkage.shape, np.nan), where=shrinkage > 0)
    return true + np.sqrt(1 / (known + prior) + spread) * rng.standard_normal(shrinkage.shape)
