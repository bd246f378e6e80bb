"""How do flip rates move with the size of an audit, and how often would two audits disagree?"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence import percentile_interval
from auditbook.verdicts.flips import FlipRate, flip_rate


def resample_sizes(
    counts: NDArray[np.int64], metric: str, *, sizes: Iterable[int], resamples: int, rng: np.random.Generator
) -> dict[str, FlipRate]:
    """Find the flip rate of one cell at several sizes."""
    whole = int(counts.sum())
    smallest = int((counts > 0).sum())
    kept = sorted({min(max(size, smallest), whole) for size in sizes})
    return {
        f"N = {size:,}": flip_rate(counts, metric, resamples=resamples, size=size, rng=rng) for size in kept
    }


def sweep_flip_rates(
    counts: NDArray[np.int64],
    metrics: Sequence[str],
    *,
    sizes: Sequence[int],
    resamples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Follow flip rates as the resample grows."""
    found = []
    for metric in metrics:
        for size in sizes:
            one = flip_rate(counts, metric, resamples=resamples, size=size, rng=rng)
            row = {"name": metric, "x": size, "value": one.vfr, "low": one.vfr_low, "high": one.vfr_high}
            found.append(row | {"pass_share": one.pass_share, "mean": one.mean})
    return pd.DataFrame(found)


def sweep_group_size(
    sizes: Sequence[int], *, rate: float, groups: Sequence[int], resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Follow the gap between groups that do not differ as the groups grow."""
    found = []
    for many in groups:
        for size in sizes:
            gaps = np.ptp(rng.binomial(size, rate, size=(resamples, many)) / size, axis=1)
            middle = percentile_interval(gaps)
            row = {"name": f"{many} groups", "x": size, "value": float(gaps.mean())}
            found.append(row | {"low": float(middle.low), "high": float(middle.high)})
    return pd.DataFrame(found)


def disagreement(pass_share: ArrayLike) -> NDArray[np.float64]:
    r"""Find how often two audits of the same cohort end in different verdicts.

    .. math:: 2 p (1 - p)

    Parameters
    ----------
    pass_share : float array
        Share p of the audits that pass.

    Returns
    -------
    float array
        0 when all audits agree, 0.5 when they are divided evenly; between the flip rate and twice it.

    Examples
    --------
    >>> disagreement([0.0, 0.1, 0.5]).round(2).tolist()
    [0.0, 0.18, 0.5]
    """
    p = np.asarray(pass_share, float)
    return 2 * p * (1 - p)


def compare_disagreement(shares: Sequence[float]) -> pd.DataFrame:
    """Set the flip rate beside the chance that two audits disagree, for some shares of passing resamples."""
    p = np.asarray(shares, float)
    curves = {"flip rate min(p, 1 \N{MINUS SIGN} p)": np.minimum(p, 1 - p)}
    curves["two audits disagree 2p(1 \N{MINUS SIGN} p)"] = disagreement(p)
    frames = [
        pd.DataFrame({"name": name, "x": p, "value": value, "low": value, "high": value})
        for name, value in curves.items()
    ]
    return pd.concat(frames, ignore_index=True)
