"""How much evidence is there by now, so that it may be asked as often as one likes?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, logsumexp

Array = NDArray[np.float64]

FIRST_SPREAD = 2.0
"""Spread of the mixture in units of the first standard error, squared (ours): with it the boundary is
narrowest at about ten times the first information, and a seventh wider at once."""
MOST_Z = 60.0
"""No boundary is looked for beyond this normal quantile."""


def log_mixture(z: ArrayLike, spread: ArrayLike) -> Array:
    r"""Find the logarithm of the evidence that an effect is positive: a one-sided normal mixture.

    .. math:: E = \frac{2}{\sqrt{1 + a}} \exp\left(\frac{a z^2}{2(1 + a)}\right)
              \Phi\left(z \sqrt{\frac{a}{1 + a}}\right), \qquad a = \tau^2 I

    is the likelihood ratio of effects that are half-normal with scale :math:`\tau` against none, for an
    estimate z standard errors away at information I. While the effect is at most 0, E starts at 1 and is, for
    estimates that behave as their normal limit, a supermartingale at whatever times it is looked at: the
    chance that it ever reaches c is at most 1/c (Ville).

    Parameters
    ----------
    z : float array
        Normal quantile of the estimate, positive in the direction asked about.
    spread : float array
        a, of the same shape: the mixture's variance times the information; 0 says nothing.

    Returns
    -------
    float array
        0 where nothing is known (E = 1); 3 is twentyfold evidence; negative speaks for no effect.

    References
    ----------
    Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm.
    doi:10.1214/aoms/1177696786
    Howard, S. R., Ramdas, A., McAuliffe, J. and Sekhon, J. (2021). Time-uniform, nonparametric,
    nonasymptotic confidence sequences. doi:10.1214/20-AOS1991
    Waudby-Smith, I., Arbour, D., Sinha, R., Kennedy, E. H. and Ramdas, A. (2024). Time-uniform central limit
    theory and asymptotic confidence sequences. doi:10.1214/24-AOS2408

    Examples
    --------
    >>> log_mixture([0.0, 4.0], [0.0, 10.0]).round(2).tolist()
    [0.0, 6.77]
    """
    quantile, a = np.asarray(z, float), np.asarray(spread, float)
    share = a / (1 + a)
    return np.log(2.0) - np.log1p(a) / 2 + quantile**2 * share / 2 + log_ndtr(quantile * np.sqrt(share))


def log_either(z: ArrayLike, opposite: ArrayLike, spread: ArrayLike) -> Array:
    """Find the logarithm of the evidence for either of two directions: the mean of both.

    >>> log_either([0.0], [0.0], [0.0]).tolist()
    [0.0]
    """
    both = np.stack(np.broadcast_arrays(log_mixture(z, spread), log_mixture(opposite, spread)))
    return np.asarray(logsumexp(both, axis=0) - np.log(2.0))


def boundary(log_limit: ArrayLike, spread: ArrayLike) -> Array:
    r"""Find the normal quantile at which the evidence in one direction reaches a limit.

    Estimate plus and minus this many standard errors is a confidence sequence: with the limit
    :math:`\ln(2/\alpha)` it holds the truth at all looks together with chance :math:`1 - \alpha`.

    >>> boundary(np.log(40), [2.0, 20.0]).round(2).tolist()
    [3.26, 3.08]
    """
    limit, a = np.broadcast_arrays(np.asarray(log_limit, float), np.asarray(spread, float))
    low, high = np.zeros(limit.shape), np.full(limit.shape, MOST_Z)
    for _ in range(60):
        middle = (low + high) / 2
        above = log_mixture(middle, a) >= limit
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return high


def mean_evidence(log_values: Array, row: NDArray[np.intp], possible: Array) -> Array:
    """Find the logarithm of the mean evidence of each row; what is not yet judged counts as 1.

    Evidence may be averaged whatever its dependence (Vovk and Wang 2021, doi:10.1214/20-AOS2020). Rows
    without anything possible are nan.

    >>> mean_evidence(np.log([5.0, 1.0]), np.array([0, 0]), np.array([4.0, 0.0])).round(3).tolist()
    [0.693, nan]
    """
    held = np.bincount(row, minlength=len(possible)).astype(float)
    most = np.zeros(len(possible))
    np.maximum.at(most, row, log_values)
    scaled = np.bincount(row, np.exp(log_values - most[row]), len(possible))
    total = scaled + np.maximum(possible - held, 0) * np.exp(-most)
    with_any = possible > 0
    mean = (
        np.log(np.where(with_any, total, 1.0))
        + most
        - np.log(np.where(with_any, np.maximum(possible, held), 1.0))
    )
    return np.where(with_any, mean, np.nan)


def as_p(log_evidence: ArrayLike) -> Array:
    """Turn evidence into a p-value that holds at every look.

    >>> as_p([0.0, np.log(40)]).round(9).tolist()
    [1.0, 0.025]
    """
    return np.exp(-np.maximum(np.asarray(log_evidence, float), 0.0))
