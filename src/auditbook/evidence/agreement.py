"""Do raters agree more than chance would have it, and what if some did not rate?"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError
from auditbook.evidence.counts import rate

BANDS = ((0.20, "slight"), (0.40, "fair"), (0.60, "moderate"), (0.80, "substantial"))
"""Upper ends of the bands of Landis and Koch; below 0 is poor, above the last end almost perfect."""

Array = NDArray[np.float64]


def count_ratings(table: ArrayLike) -> NDArray[np.int64]:
    """Check a table of ratings and leave out the items without any."""
    counts = np.asarray(table)
    whole = counts.ndim == 2 and np.issubdtype(counts.dtype, np.integer)
    if not whole or (counts < 0).any():
        raise InputError("ratings must be a table of whole numbers, not negative: items by categories")
    return counts[counts.sum(axis=1) > 0].astype(np.int64)


def raw_agreement(table: ArrayLike) -> float:
    r"""Find the share of pairs of raters that agree, averaged over the items.

    .. math:: \bar P = \frac{1}{I} \sum_i \frac{\sum_k r_{ik} (r_{ik} - 1)}{r_i (r_i - 1)}

    over the items with two ratings or more, :math:`r_i` being the number of ratings of item i.

    Parameters
    ----------
    table : int array, shape (n_items, n_categories)
        How many raters put each item into each category.

    Returns
    -------
    float
        1 when all raters agree on every item; nan when no item has two ratings.

    Examples
    --------
    >>> round(raw_agreement([[18, 2]] * 4), 4)
    0.8105
    """
    counts = count_ratings(table)
    ratings = counts.sum(axis=1)
    twice = ratings >= 2
    if not twice.any():
        return float("nan")
    pairs = (counts * (counts - 1)).sum(axis=1)[twice] / (ratings * (ratings - 1))[twice]
    return float(pairs.mean())


def share_categories(table: ArrayLike) -> Array:
    r"""Average the items' shares of each category, :math:`\pi_k = \frac1I \sum_i r_{ik}/r_i`."""
    counts = count_ratings(table)
    if not len(counts):
        return np.full(counts.shape[1], np.nan)
    return (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)


def fleiss_kappa(table: ArrayLike) -> float:
    r"""Find Fleiss' kappa, also where raters are missing.

    .. math:: \kappa = \frac{\bar P - P_e}{1 - P_e}, \qquad P_e = \sum_k \pi_k^2

    Where ratings are missing, :math:`\bar P` and :math:`\pi_k` are those of `raw_agreement` and
    `share_categories`, as Gwet generalises them: a missing rating is neither a pass nor a fail, and an item
    counts once.

    Parameters
    ----------
    table : int array, shape (n_items, n_categories)
        How many raters put each item into each category.

    Returns
    -------
    float
        1 when raters agree on every item and the items differ; 0 when they agree as often as chance would;
        nan when all ratings are equal (0/0), with fewer than two items, or when no item has two ratings. With
        one item it would be -1/(r - 1) whatever the raters said.

    References
    ----------
    Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. doi:10.1037/h0031619
    Gwet, K. L. (2014). Handbook of Inter-Rater Reliability, fourth edition.

    Examples
    --------
    >>> round(fleiss_kappa([[18, 2]] * 4), 3)
    -0.053
    """
    counts = count_ratings(table)
    if len(counts) < 2 or np.count_nonzero(counts.sum(axis=0)) < 2 or counts.sum(axis=1).max() < 2:
        return float("nan")
    # Pooled where nothing is missing: the same shares, rounded once, so that a kappa of 0 is exactly 0.
    complete = len(set(counts.sum(axis=1).tolist())) == 1
    shares = counts.sum(axis=0) / counts.sum() if complete else share_categories(counts)
    chance = float((shares**2).sum())
    return (raw_agreement(counts) - chance) / (1 - chance)


def gwet_ac1(table: ArrayLike) -> float:
    r"""Find Gwet's AC1, whose chance agreement stays small when nearly all ratings are alike.

    .. math:: AC_1 = \frac{\bar P - P_e}{1 - P_e}, \qquad P_e = \frac{1}{q - 1} \sum_k \pi_k (1 - \pi_k)

    Parameters
    ----------
    table : int array, shape (n_items, n_categories)
        How many raters put each item into each of the q categories; missing ratings as in `fleiss_kappa`.

    Returns
    -------
    float
        1 when raters agree on every item, also when all ratings are equal; nan when no item has two ratings.

    References
    ----------
    Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high agreement.
    doi:10.1348/000711006X126600

    Examples
    --------
    >>> round(gwet_ac1([[18, 2]] * 4), 3)
    0.769
    """
    counts = count_ratings(table)
    shares = share_categories(counts)
    chance = float((shares * (1 - shares)).sum()) / (counts.shape[1] - 1)
    return (raw_agreement(counts) - chance) / (1 - chance)


def name_band(kappa: float) -> str:
    """Name the band of Landis and Koch (1977, doi:10.2307/2529310) that a kappa lies in; blank for nan.

    >>> name_band(-0.05), name_band(0.0), name_band(0.4), name_band(0.81)
    ('poor', 'slight', 'fair', 'almost perfect')
    """
    if np.isnan(kappa):
        return ""
    if kappa < 0:
        return "poor"
    return next((name for end, name in BANDS if kappa <= end), "almost perfect")


@dataclass(frozen=True)
class Jackknife:
    """Bounds of kappa from leaving out one rater at a time."""

    # 95 % bounds within [-1, 1]; nan when kappa is undefined without some rater, or with fewer than three
    low: float
    high: float


def jackknife_kappa(ratings: ArrayLike) -> Jackknife:
    r"""Bound Fleiss' kappa for the chance of having asked these raters and not others.

    .. math:: SE^2 = \frac{m - 1}{m} \sum_j (\kappa_{-j} - \bar\kappa)^2

    over the m raters, each left out in turn; bounds at 1.96 SE.

    Parameters
    ----------
    ratings : float array, shape (n_items, n_raters)
        1 for a pass, 0 for a fail, nan where the rater did not rate.

    Returns
    -------
    Jackknife
        The bounds.

    References
    ----------
    Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, chapter 11.
    doi:10.1007/978-1-4899-4541-9

    Examples
    --------
    >>> bounds = jackknife_kappa([[1, 1, 1, 0], [0, 0, 1, 0], [1, 1, 1, 1]])
    >>> bounds.low < fleiss_kappa([[3, 1], [1, 3], [4, 0]]) < bounds.high
    True
    """
    table = np.asarray(ratings, float)
    raters = table.shape[1]
    if raters < 3:
        return Jackknife(float("nan"), float("nan"))
    counts = count_passes(table)
    without = _pass_kappa(counts[None] - np.stack([table == 1, table == 0], axis=-1).transpose(1, 0, 2))
    error = 1.96 * np.sqrt((raters - 1) / raters * ((without - without.mean()) ** 2).sum())
    kappa = fleiss_kappa(counts)
    known = error > 0  # without any spread there is no interval to give
    low, high = (max(kappa - error, -1.0), min(kappa + error, 1.0)) if known else (float("nan"), float("nan"))
    return Jackknife(float(low), float(high))


def _pass_kappa(counts: NDArray[np.int64]) -> Array:
    """Find Fleiss' kappa of many tables of passes and fails, shape (n_tables, n_items, 2)."""
    ratings = counts.sum(axis=-1)
    pairs = rate((counts * (counts - 1)).sum(axis=-1), ratings * (ratings - 1))
    shares = rate(counts, ratings[..., None])
    agreed, items = np.nansum(pairs, axis=1), np.count_nonzero(ratings >= 2, axis=1)
    rated = np.count_nonzero(ratings > 0, axis=1)
    chance = (rate(np.nansum(shares, axis=1), rated[:, None]) ** 2).sum(axis=-1)
    kappa = rate(rate(agreed, items) - chance, np.where(chance < 1 - 1e-12, 1 - chance, 0.0))
    return np.where(rated >= 2, kappa, np.nan)


def count_passes(ratings: ArrayLike) -> NDArray[np.int64]:
    """Count passes (1) and fails (0) of each item, shape (n_items, 2); nan is a missing rating.

    >>> count_passes([[1, 0, float("nan")]]).tolist()
    [[1, 1]]
    """
    table = np.asarray(ratings, float)
    return np.stack([(table == 1).sum(axis=1), (table == 0).sum(axis=1)], axis=1).astype(np.int64)


def tabulate_agreement(cases: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Measure the agreement of several made-up tables of ratings."""
    found = []
    for label, table in cases.items():
        kappa = fleiss_kappa(table)
        row = {"label": label, "raw_agreement": raw_agreement(table), "gwet_ac1": gwet_ac1(table)}
        found.append(row | {"kappa": kappa, "band": name_band(kappa) or "undefined"})
    return pd.DataFrame(found)


def correlate_ranks(one: ArrayLike, other: ArrayLike) -> float:
    """Find Spearman's rank correlation of two orderings of the same things, ties at their mean rank.

    1 for the same order, -1 for the reverse; nan when one of them does not vary.

    >>> round(correlate_ranks([1, 2, 3], [0.1, 0.5, 0.9]), 6)
    1.0
    """
    first, second = (pd.Series(np.asarray(part)).rank() for part in (one, other))
    if first.nunique() < 2 or second.nunique() < 2:
        return float("nan")
    return float(first.corr(second))
