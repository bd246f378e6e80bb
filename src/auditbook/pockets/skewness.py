r"""How far from zero is a ratio, when errors are skewed and units few?

The ratio of a mean to its standard error is itself skewed, the other way round: a sample that missed the long
tail has a mean that is off and too small a standard error at once. Hall's transformation takes that away.
Few unequal units know their standard error badly, which Student's distribution allows for.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

FLAT = 1e-9
"""Skewness below this is none: the transformed ratio is the ratio."""


def straighten_ratios(ratio: ArrayLike, skew: ArrayLike) -> Array:
    r"""Take the skewness out of standardised sums: Hall's monotone transformation.

    .. math:: H(t) = t + \frac{s t^2}{3} + \frac{s^2 t^3}{27} + \frac{s}{6}, \qquad
              s = \frac{\sum_u \psi_u^3}{\mathrm{SE}^3}

    Parameters
    ----------
    ratio : array_like of float
        Estimates in units of their standard errors, t; an infinite one stays infinite.
    skew : array_like of float
        s, the skewness of the sum of contributions; with 0 nothing changes.

    Returns
    -------
    float64 array
        Never falls where t rises, so that an interval is had back from it.

    References
    ----------
    Hall, P. (1992). On the removal of skewness by transformation.
    doi:10.1111/j.2517-6161.1992.tb01876.x

    Examples
    --------
    >>> straighten_ratios([-3.0, 3.0], [0.6, 0.6]).round(2).tolist()
    [-1.46, 5.26]
    """
    ratio, skew = np.asarray(ratio, float), np.asarray(skew, float)
    finite = np.where(np.isinf(ratio), 0.0, ratio)
    bent = finite * (1 + skew * finite / 3 * (1 + skew * finite / 9)) + skew / 6
    return np.where(np.isinf(ratio), ratio, bent)


def bend_back(value: ArrayLike, skew: ArrayLike) -> Array:
    r"""Find the ratio whose transformation is a given value, :math:`H^{-1}`.

    .. math:: H^{-1}(h) = \frac{3}{s} \Big(\sqrt[3]{1 + s (h - s/6)} - 1\Big)

    Parameters
    ----------
    value : array_like of float
        h; infinite values stay infinite.
    skew : array_like of float
        s; with 0 nothing changes.

    References
    ----------
    Hall, P. (1992). On the removal of skewness by transformation.
    doi:10.1111/j.2517-6161.1992.tb01876.x

    Examples
    --------
    >>> bend_back([-1.46, 5.26], 0.6).round(2).tolist()
    [-3.0, 3.0]
    """
    value, skew = np.broadcast_arrays(np.asarray(value, float), np.asarray(skew, float))
    skewed = np.where(np.abs(skew) < FLAT, 1.0, skew)
    inside = skewed * (value - skewed / 6)
    small = np.clip(inside, -0.5, 0.5)
    root = np.where(small == inside, np.expm1(np.log1p(small) / 3), np.cbrt(1 + inside) - 1)
    return np.where(np.abs(skew) < FLAT, value, 3 * root / skewed)


def read_as_normal(ratio: ArrayLike, degrees: ArrayLike) -> Array:
    r"""Give a ratio of Student's distribution the normal value that is as rare.

    .. math:: z = \Phi^{-1}\big(T_\nu(x)\big)

    Parameters
    ----------
    ratio : array_like of float
        x.
    degrees : array_like of float
        :math:`\nu`; raised to 1 where it is less.

    References
    ----------
    Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with
    multi-stage samples. Survey Methodology 28, 169-181.

    Examples
    --------
    >>> read_as_normal([-3.0, 3.0], 9).round(2).tolist()
    [-2.43, 2.43]
    """
    from scipy.stats import norm, t

    ratio = np.asarray(ratio, float)
    return np.asarray(np.sign(ratio) * norm.isf(t.sf(np.abs(ratio), np.maximum(degrees, 1.0))))


def read_as_student(value: ArrayLike, degrees: ArrayLike) -> Array:
    r"""Give a normal value the ratio of Student's distribution that is as rare: :math:`T_\nu^{-1}(\Phi(z))`.

    Parameters
    ----------
    value : array_like of float
        z.
    degrees : array_like of float
        :math:`\nu`; raised to 1 where it is less.

    References
    ----------
    Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with
    multi-stage samples. Survey Methodology 28, 169-181.

    Examples
    --------
    >>> read_as_student([-2.43, 2.43], 9).round(1).tolist()
    [-3.0, 3.0]
    """
    from scipy.stats import norm, t

    value = np.asarray(value, float)
    return np.asarray(np.sign(value) * t.isf(norm.sf(np.abs(value)), np.maximum(degrees, 1.0)))
