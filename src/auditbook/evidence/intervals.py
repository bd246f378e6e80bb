"""How sure can one be of a share, or of a number seen in many resamples?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

Array = NDArray[np.float64]

Z_95 = 1.959964
"""Standard errors on either side of an estimate that a normal 95 % interval reaches."""


@dataclass(frozen=True)
class Interval:
    """Bounds of one quantity or of many.

    Attributes
    ----------
    low, high : float array, shape (...)
        The bounds; nan where nothing can be said.
    """

    low: Array
    high: Array


def wilson_interval(successes: ArrayLike, trials: ArrayLike, *, level: float = 0.95) -> Interval:
    r"""Bound a share by Wilson's score interval.

    .. math:: \frac{\hat p + z^2/2n \pm z \sqrt{\hat p (1 - \hat p)/n + z^2/4n^2}}{1 + z^2/n}

    Parameters
    ----------
    successes, trials : int arrays that broadcast together
        How often it happened, out of how many.
    level : float
        Coverage aimed at.

    Returns
    -------
    Interval
        Within [0, 1] and never of zero width; nan where there were no trials.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
    doi:10.1080/01621459.1927.10502953

    Examples
    --------
    >>> interval = wilson_interval(0, 10)
    >>> float(interval.low), round(float(interval.high), 4)
    (0.0, 0.2775)
    """
    hits, total = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    tried = total > 0
    n = np.where(tried, total, 1.0)
    z, share = -ndtri((1 - level) / 2), hits / n
    stretch = 1 + z**2 / n
    centre = (share + z**2 / (2 * n)) / stretch
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / stretch
    low = np.where(hits == 0, 0.0, np.clip(centre - half, 0, 1))
    high = np.where(hits == total, 1.0, np.clip(centre + half, 0, 1))
    return Interval(np.where(tried, low, np.nan), np.where(tried, high, np.nan))


def flip_interval(passes: ArrayLike, trials: ArrayLike, *, level: float = 0.95) -> Interval:
    r"""Bound a flip rate :math:`\min(p, 1 - p)` through Wilson's interval of the pass share p.

    The interval is the image of Wilson's under the map from p to the flip rate. It therefore holds the true
    flip rate whenever Wilson's holds the true p. Where Wilson's interval straddles one half, the flip rate
    may be as high as 0.5, and as low as the end that lies further from one half.

    Parameters
    ----------
    passes, trials : int arrays that broadcast together
        Resamples that passed, out of those in which the metric is defined.
    level : float
        Coverage aimed at.

    Returns
    -------
    Interval
        Within [0, 0.5]; nan where there were no trials.

    Examples
    --------
    >>> interval = flip_interval(250, 500)
    >>> round(float(interval.low), 4), float(interval.high)
    (0.4563, 0.5)
    """
    share = wilson_interval(passes, trials, level=level)
    low = np.minimum(share.low, 1 - share.high)
    high = np.minimum(share.high, 1 - share.low)
    return Interval(low, np.where((share.low <= 0.5) & (share.high >= 0.5), 0.5, high))


def percentile_interval(values: ArrayLike, *, level: float = 0.95) -> Interval:
    """Take the middle part of many resampled values.

    The interval describes the resamples. It is no test: that of a range (a largest minus a smallest rate)
    hardly ever reaches zero, even when the groups do not differ.

    Parameters
    ----------
    values : float array, shape (..., n_resamples)
        Values of a statistic; nan where it is undefined.
    level : float
        Share of the defined values that lies between the bounds.

    Returns
    -------
    Interval
        Linear interpolation between order statistics; nan where no value is defined.

    References
    ----------
    Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, chapter 13.
    doi:10.1007/978-1-4899-4541-9

    Examples
    --------
    >>> interval = percentile_interval(range(101), level=0.9)
    >>> float(interval.low), float(interval.high)
    (5.0, 95.0)
    """
    ranked = np.sort(np.asarray(values, float), axis=-1)
    defined = np.count_nonzero(~np.isnan(ranked), axis=-1)
    tail = round((1 - level) / 2, 12)
    return Interval(_order_statistic(ranked, defined, tail), _order_statistic(ranked, defined, 1 - tail))


def _order_statistic(ranked: Array, defined: NDArray[np.intp], share: float) -> Array:
    """Interpolate between sorted values; `defined` says how many at the front of each row count."""
    if not ranked.shape[-1]:
        return np.full(ranked.shape[:-1], np.nan)
    position = share * np.maximum(defined - 1, 0)
    below = np.floor(position).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(defined - 1, 0))
    left = np.take_along_axis(ranked, below[..., None], axis=-1)[..., 0]
    right = np.take_along_axis(ranked, above[..., None], axis=-1)[..., 0]
    return left + (position - below) * (right - left)


def add_share(
    table: pd.DataFrame, name: str, part: ArrayLike, whole: ArrayLike, *, level: float = 0.95
) -> pd.DataFrame:
    """Add a share and its Wilson bounds (``_low``, ``_high``) to a table; nan where the whole is empty.

    >>> add_share(pd.DataFrame({"n": [10, 0]}), "rate", [0, 0], [10, 0])["rate_high"].round(4).tolist()
    [0.2775, nan]
    """
    hits, total = (np.broadcast_to(np.asarray(counts, float), len(table)) for counts in (part, whole))
    bounds = wilson_interval(hits, total, level=level)
    value = np.divide(hits, total, out=np.full(len(table), np.nan), where=total > 0)
    return table.assign(**{name: value, f"{name}_low": bounds.low, f"{name}_high": bounds.high})


def ratio_interval(
    hits: ArrayLike, trials: ArrayLike, other_hits: ArrayLike, other_trials: ArrayLike
) -> Interval:
    r"""Bound the ratio of two independent shares on the logarithmic scale (Katz), at 95 %.

    .. math:: \ln\frac{p_1}{p_2} \pm 1.96\sqrt{\frac1{k_1} - \frac1{n_1} + \frac1{k_2} - \frac1{n_2}}

    Parameters
    ----------
    hits, trials, other_hits, other_trials : int arrays that broadcast together
        :math:`k_1` out of :math:`n_1`, and :math:`k_2` out of :math:`n_2`.

    Returns
    -------
    Interval
        nan where either share is 0, and then nothing can be said on this scale.

    References
    ----------
    Katz, D., Baptista, J., Azen, S. P. and Pike, M. C. (1978). Obtaining confidence intervals for the risk
    ratio in cohort studies. doi:10.2307/2530610

    Examples
    --------
    >>> bounds = ratio_interval(20, 100, 80, 200)
    >>> round(float(bounds.low), 3), round(float(bounds.high), 3)
    (0.326, 0.766)
    """
    k, n, other_k, other_n = (np.asarray(one, float) for one in (hits, trials, other_hits, other_trials))
    known = (k > 0) & (other_k > 0)
    one, other = np.where(known, k, np.nan), np.where(known, other_k, np.nan)
    reach = Z_95 * np.sqrt(1 / one - 1 / n + 1 / other - 1 / other_n)
    ratio = (one / n) / (other / other_n)
    return Interval(ratio * np.exp(-reach), ratio * np.exp(reach))


def f1_interval(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike) -> Interval:
    r"""Bound F1 through Wilson's interval of the share J of hits among all that is selected or an event.

    .. math:: F_1 = \frac{2J}{1 + J}, \qquad J = \frac{tp}{tp + fp + fn}

    Parameters
    ----------
    tp, fp, fn : int arrays that broadcast together
        True positives, false positives, false negatives.

    Returns
    -------
    Interval
        At 95 %, as the map from J to F1 rises; nan without a selected record or an event.

    Examples
    --------
    >>> bounds = f1_interval(40, 10, 10)
    >>> round(float(bounds.low), 3), round(float(bounds.high), 3)
    (0.702, 0.872)
    """
    hits = np.asarray(tp, float)
    overlap = wilson_interval(hits, hits + np.asarray(fp) + np.asarray(fn))
    return Interval(2 * overlap.low / (1 + overlap.low), 2 * overlap.high / (1 + overlap.high))


def rate_events(table: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """Add the event rate of each row with its Wilson interval: of score bins, what a reliability curve draws.

    From the columns n and events, records being independent: event_rate, event_rate_low and event_rate_high;
    nan in an empty row.

    >>> rate_events(pd.DataFrame({"n": [10, 0], "events": [0, 0]}))["event_rate_high"].round(4).tolist()
    [0.2775, nan]
    """
    return add_share(table, "event_rate", table["events"], table["n"], level=level)
