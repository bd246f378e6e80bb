"""What would the AUC matrix have been in another audit with as many events and non-events of every group?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence.counts import rate
from auditbook.evidence.placements import rank_levels

Array = NDArray[np.float64]


def bootstrap_areas(
    outcome: ArrayLike,
    values: ArrayLike,
    codes: ArrayLike,
    n_groups: int,
    *,
    resamples: int = 500,
    rng: np.random.Generator,
) -> Array:
    """Resample the AUC matrix within the strata label x group, record by record.

    It is the check on `standard_errors`, for audits of moderate size: each resample draws how often every
    distinct score of every stratum comes up.

    References
    ----------
    Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, chapter 6.
    doi:10.1007/978-1-4899-4541-9
    """
    levels = rank_levels(outcome, values)
    group = np.asarray(codes)[levels.order].astype(np.intp)
    cell = ((levels.outcome * n_groups + group) * levels.count) + levels.level
    held = np.bincount(cell, minlength=2 * n_groups * levels.count).reshape(2, n_groups, levels.count)
    sizes = held.sum(axis=-1)
    shares = np.nan_to_num(rate(held, sizes[..., None]))
    pairs = np.outer(sizes[1], sizes[0])
    found = np.empty((resamples, n_groups, n_groups))
    drawn = np.zeros(held.shape)
    for place in range(resamples):
        for label, one in zip(*np.nonzero(sizes), strict=True):
            drawn[label, one] = rng.multinomial(sizes[label, one], shares[label, one])
        below = np.cumsum(drawn[0], axis=-1) - 0.5 * drawn[0]
        found[place] = rate(drawn[1] @ below.T, pairs)
    return found
