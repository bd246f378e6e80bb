"""How far may the truth lie from an estimate, on either side, at any level?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtr, stdtrit

from auditbook.evidence.area_limits import bound_pairs
from auditbook.evidence.counts import rate

Array = NDArray[np.float64]

SHARE, MEAN, AREA, FIXED = range(4)
"""What is bounded: a share of records, an estimate with a standard error, an area, a number without error."""


@dataclass(frozen=True)
class Bounded:
    """Estimates with all that bounds them; every array has the same shape."""

    kind: NDArray[np.int8]  # SHARE, MEAN, AREA or FIXED
    value: Array
    # Independent records that a share rests on, or pairs that an area is worth; of a mean those of a Theil
    # index, else 0
    effective: Array
    error: Array  # Standard error of a mean
    df: Array  # Degrees of freedom of that error, or of the design effect; infinite where there is none

    def take(self, places: NDArray[np.intp]) -> "Bounded":
        """Take those at some places."""
        return Bounded(*(part[places] for part in self.parts()))

    def parts(self) -> tuple[NDArray, ...]:
        """Return the five arrays in the order of the attributes."""
        return self.kind, self.value, self.effective, self.error, self.df

    def limits(self, z: Array) -> tuple[Array, Array]:
        r"""Find one-sided limits at levels :math:`\Phi(z)`, z at least 0, of the same shape."""
        low, high = self.value.copy(), self.value.copy()
        quantile = student_quantile(z, self.df)
        share, mean = self.kind == SHARE, self.kind == MEAN
        reach = quantile * self.error
        low[mean] -= reach[mean]
        high[mean] += np.hypot(reach, unseen_theil(z, self.effective))[mean]
        area = (self.kind == AREA) & (z > 0)
        found = bound_pairs(self.value[area], self.effective[area], quantile[area])
        low[area], high[area] = found.low, found.high
        worth = np.where(z > 0, z / np.where(quantile > 0, quantile, 1.0), 1.0) ** 2 * self.effective
        low[share], high[share] = share_limits(self.value[share], worth[share], z[share])
        return low, high


def unseen_theil(z: Array, effective: Array) -> Array:
    r"""Find by how much a Theil index can lie higher for predictions that no record shows; 0 without records.

    Where a share q of all predictions is wholly wrong and none is otherwise, the index is
    :math:`-\ln(1 - q)`. None among n records is wrong with chance :math:`\Phi(-z)` where
    :math:`q = 1 - \Phi(-z)^{1/n}`, so that the index is then
    :math:`-\ln\Phi(-z)/n`: about 3/n at one in twenty.
    """
    return np.divide(-np.log(ndtr(-z)), effective, out=np.zeros(np.shape(effective)), where=effective > 0)


def student_quantile(z: Array, df: Array) -> Array:
    """Find the Student quantile whose level is that of the normal quantile z."""
    quantile = np.array(np.broadcast_to(z, np.broadcast_shapes(np.shape(z), np.shape(df))), float)
    finite = np.isfinite(df) & (quantile > 0)
    quantile[finite] = -stdtrit(np.broadcast_to(df, quantile.shape)[finite], ndtr(-quantile[finite]))
    return quantile


def share_limits(share: ArrayLike, trials: ArrayLike, z: ArrayLike) -> tuple[Array, Array]:
    r"""Bound a share from below and from above, each at one level, by Jeffreys' limits.

    .. math:: B_{1-\gamma}(k + \tfrac12, n - k + \tfrac12) \quad\text{and}\quad
              B_{\gamma}(k + \tfrac12, n - k + \tfrac12), \qquad \gamma = \Phi(z)

    with :math:`B_q` the quantile of the beta distribution. One-sided, Wilson's limit errs far more often than
    it says on one side and less on the other when the share is small; on average these do neither (Cai 2005).
    Where k = 0 the upper limit is the exact one, :math:`1 - (1 - \gamma)^{1/n}`, and where k = n the lower,
    :math:`(1 - \gamma)^{1/n}`: Jeffreys' would err there up to three times as often as they say (Brown 2001).

    Parameters
    ----------
    share, trials, z : float arrays that broadcast together
        k/n; n, which can be an effective number of records; and the normal quantile of the level.

    Returns
    -------
    low, high : float arrays
        The lower is 0 where k = 0, the upper 1 where k = n; neither crosses the share.

    References
    ----------
    Brown, L. D., Cai, T. T. and DasGupta, A. (2001). Interval estimation for a binomial proportion.
    doi:10.1214/ss/1009213286
    Cai, T. T. (2005). One-sided confidence intervals in discrete distributions.
    doi:10.1016/j.jspi.2004.01.005

    Examples
    --------
    >>> low, high = share_limits(0.2, 50, 1.645)
    >>> round(float(low), 3), round(float(high), 3)
    (0.121, 0.304)
    """
    p, n, q = np.broadcast_arrays(*(np.asarray(part, float) for part in (share, trials, z)))
    hits, misses, tail = p * n, (1 - p) * n, ndtr(-q)
    low = np.where(p > 0, betaincinv(hits + 0.5, misses + 0.5, tail), 0.0)
    high = np.where(p < 1, 1 - betaincinv(misses + 0.5, hits + 0.5, tail), 1.0)
    exact = np.power(tail, rate(1.0, n))
    low, high = np.where(p == 1, exact, low), np.where(p == 0, 1 - exact, high)
    return np.minimum(low, p), np.maximum(high, p)


def mover_bounds(
    first: Bounded, second: Bounded, factor: Array, correlation: Array, z: Array
) -> tuple[Array, Array]:
    r"""Bound :math:`\theta_1 - f\theta_2` from the limits of both (MOVER).

    .. math:: L = \theta_1 - f\theta_2 - \sqrt{(\theta_1 - l_1)^2
              - 2\rho f (\theta_1 - l_1)(u_2 - \theta_2) + f^2 (u_2 - \theta_2)^2}

    and U alike. Where L or U is 0, a bound of the ratio :math:`\theta_1/\theta_2` lies at f.

    Parameters
    ----------
    first, second : Bounded
        The two estimates, shape (n,).
    factor, correlation, z : float arrays, shape (n,)
        f at least 0; the correlation of the two estimates; normal quantile of the one-sided level.

    Returns
    -------
    low, high : float arrays, shape (n,)

    References
    ----------
    Newcombe, R. G. (1998). doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I
    Zou, G. Y. and Donner, A. (2008). doi:10.1002/sim.3095. Donner, A. and Zou, G. Y. (2012).
    Closed-form confidence intervals for functions of the normal mean and standard deviation. Stat Methods Med
    Res 21, 347-359.

    Examples
    --------
    >>> one, none = np.ones(1), np.zeros(1)
    >>> def share(k, n):
    ...     return Bounded(np.array([SHARE]), k / n * one, n * one, none, np.inf * one)
    >>> low, high = mover_bounds(share(56, 70), share(48, 80), one, none, 1.96 * one)
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.054, 0.336)
    """
    low, high = first.limits(z)
    other_low, other_high = second.limits(z)
    middle = first.value - factor * second.value
    below = _reach(first.value - low, factor * (other_high - second.value), correlation)
    above = _reach(high - first.value, factor * (second.value - other_low), correlation)
    return middle - below, middle + above


def _reach(one: Array, other: Array, correlation: Array) -> Array:
    return np.sqrt(np.maximum(one**2 - 2 * correlation * one * other + other**2, 0))
