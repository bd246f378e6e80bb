"""Which value does a metric give each group, and how do the groups' values become one number?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence import FN, FP, TN, TP, ScoreSums, rate

Array = NDArray[np.float64]


def _present(parts: Array) -> NDArray[np.intp]:
    """Count the groups with a defined value, shape (..., n_parts)."""
    return np.count_nonzero(~np.isnan(parts), axis=-1)


def gap(parts: Array) -> Array:
    r"""Take the gap :math:`\max_g r_g - \min_g r_g` of the defined groups; of several parts the larger."""
    spread = np.fmax.reduce(parts, axis=-1) - np.fmin.reduce(parts, axis=-1)
    return np.where(_present(parts) >= 2, spread, np.nan).max(axis=-1)


def ratio(parts: Array) -> Array:
    r"""Divide the smallest by the largest among the groups with a defined value.

    .. math:: \min_g r_g / \max_g r_g

    Parameters
    ----------
    parts : float array, shape (..., 1, n_groups)
        A value of each group.

    Returns
    -------
    float array, shape (...)
        1 when all groups are equal, 0 when the smallest is 0 and another is not; nan when all are 0 or fewer
        than two are defined.

    Examples
    --------
    >>> float(ratio(np.array([[0.25, 0.5]])))
    0.5
    """
    share = rate(np.fmin.reduce(parts, axis=-1), np.fmax.reduce(parts, axis=-1))
    return np.where(_present(parts) >= 2, share, np.nan)[..., 0]


def largest(parts: Array) -> Array:
    """Take the largest over the groups with a defined value."""
    return np.fmax.reduce(parts, axis=-1)[..., 0]


def theil_index(benefit: ArrayLike, benefit_log: ArrayLike, records: ArrayLike) -> Array:
    r"""Find the Theil index of a benefit from its sums.

    .. math:: T = \frac{1}{n} \sum \frac{b}{m} \ln \frac{b}{m}
              = \frac{\sum b \ln b}{\sum b} - \ln \frac{\sum b}{n}

    Parameters
    ----------
    benefit, benefit_log, records : arrays that broadcast together
        Sum of b, sum of b ln b (0 where b = 0), and number of records.

    Returns
    -------
    float array
        0 when everyone has the same benefit, ln(n) when one record has it all; nan when the mean benefit is
        zero or there is no record.

    References
    ----------
    Speicher, T. et al. (2018). A unified approach to quantifying algorithmic unfairness.
    doi:10.1145/3219819.3220046

    Examples
    --------
    >>> round(float(theil_index(2.0, 2 * np.log(2), 2)), 4)
    0.6931
    """
    total, logs, n = np.broadcast_arrays(
        *(np.asarray(part, float) for part in (benefit, benefit_log, records))
    )
    level = np.log(rate(total, n), out=np.zeros(total.shape), where=total > 0)
    return np.maximum(rate(logs, total) - level, 0.0)


def benefit_theil(counts: ArrayLike) -> Array:
    """Find the Theil index of b = d - y + 1 over the whole: b is 2 for fp, 1 for tp and tn, 0 for fn."""
    whole = np.asarray(counts).sum(axis=-2)
    benefit = 2 * whole[..., FP] + whole[..., TP] + whole[..., TN]
    index = theil_index(benefit, 2 * np.log(2) * whole[..., FP], benefit - whole[..., FP] + whole[..., FN])
    return index[..., None, None]


def theil_by_group(sums: ScoreSums) -> Array:
    """Find the Theil index of b = 1 - abs(y - s) within each group."""
    return theil_index(sums.benefit, sums.benefit_log, sums.records.sum(axis=-1))[..., None, :]


def largest_bin_error(sums: ScoreSums) -> Array:
    """Find the largest distance of event rate and mean score over each group's bins that hold records."""
    error = np.abs(rate(sums.events - sums.score, sums.records))
    return np.fmax.reduce(error, axis=-1)[..., None, :]


def error_at_large(sums: ScoreSums) -> Array:
    """Find the distance of mean score and event rate in each group."""
    difference = (sums.score - sums.events).sum(axis=-1)
    return np.abs(rate(difference, sums.records.sum(axis=-1)))[..., None, :]
