"""What does chance alone do to a verdict: to equal groups, to other patients, to a value on its threshold?"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv

from auditbook.evidence import Interval
from auditbook.verdicts.flips import FlipRate, flip_rate
from auditbook.verdicts.metrics import TIE

FEW, MANY = 50, 5_000
"""Numbers of resamples that are set side by side."""


def flip_by_ratio(ratios: Sequence[float], *, n: int, rng: np.random.Generator) -> dict[float, FlipRate]:
    """Find the flip rate of DI for two groups of n records whose selection rates have a given ratio."""
    found = {}
    for ratio in ratios:
        few, more = n // 4, round(ratio * n / 4)
        table = [[few, few, n // 2 - few, n // 2 - few], [more, more, n // 2 - more, n // 2 - more]]
        found[float(ratio)] = flip_rate(table, "DI", resamples=2_000, rng=rng)
    return found


def flip_other_patients(
    events: int, rates: Sequence[float], *, repeats: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Find the flip rate of EOPP in samples of other patients, with few resamples and with many."""
    found = []
    for turn in range(repeats):
        hits = rng.binomial(events, rates)
        table: NDArray[np.int64] = np.stack([hits, 0 * hits, events - hits, 0 * hits + 1], axis=-1)
        few, many = (flip_rate(table, "EOPP", resamples=k, rng=rng).vfr for k in (FEW, MANY))
        found.append({"patients": f"sample {turn + 1}", "k_50": few, "k_5000": many})
    return pd.DataFrame(found)


def fail_without_cause(
    events: Sequence[int],
    *,
    rate: float,
    groups: int,
    threshold: float,
    repeats: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Find how often groups of a size and of equal TPR end in a fail of EOPP."""
    found = []
    for size in events:
        seen = rng.binomial(size, rate, size=(repeats, groups)) / size
        gap = seen.max(axis=1) - seen.min(axis=1)
        found.append({"events": size, "fails": float((gap > threshold + TIE).mean())})
    return pd.DataFrame(found)


def bound_spread(sd: ArrayLike, repeats: ArrayLike, *, level: float = 0.95) -> Interval:
    r"""Bound a standard deviation that was seen in some repeats of a normal quantity.

    .. math:: s \sqrt{\frac{R - 1}{\chi^2_{R - 1,\,1 - \alpha/2}}} \quad\text{to}\quad
              s \sqrt{\frac{R - 1}{\chi^2_{R - 1,\,\alpha/2}}}

    Parameters
    ----------
    sd, repeats : float arrays that broadcast together
        The standard deviation s and the number of repeats R.
    level : float
        Coverage aimed at.

    Returns
    -------
    Interval
        nan with fewer than two repeats.

    Examples
    --------
    >>> found = bound_spread(1.0, 30)
    >>> float(found.low.round(2)), float(found.high.round(2))
    (0.8, 1.34)
    """
    spread, free = np.asarray(sd, float), np.asarray(repeats) - 1
    half_chi2 = (gammaincinv(free / 2, tail) for tail in (0.5 + level / 2, 0.5 - level / 2))
    low, high = (spread * np.sqrt(free / (2 * quantile)) for quantile in half_chi2)
    return Interval(low, high)
