"""What would another draw of whole units, such as patients, have shown?

Drawing 100,000 units 500 times over is slow, and not needed: what is wanted of them is the sums over groups.
Units are therefore put into at most 1,000 bundles at random, and bundles are drawn. A sum over drawn bundles
has the mean and, on average over the bundling, the variance of one over drawn units (the variance is found
from 1,000 bundles, so it is known to about 4 %), and where there are at most 1,000 units it is the same.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence.counts import rate

BUNDLES = 1_000
"""At most so many bundles."""


@dataclass(frozen=True)
class UnitBundles:
    """Units in bundles, and resamples of whole bundles."""

    bundle: NDArray[np.intp]  # shape (n,): Position of each record's bundle
    n_bundles: int
    times: NDArray[
        np.int64
    ]  # shape (2 K, n_bundles): How often each is drawn; K of the first size, K of the own

    @property
    def resamples(self) -> int:
        """K."""
        return len(self.times) // 2


def bundle_units(
    unit: NDArray[np.integer], n_units: int, *, share: float, resamples: int, rng: np.random.Generator
) -> UnitBundles:
    """Put units into bundles and draw these: so many resamples of a share of them, and as many of all.

    >>> found = bundle_units(np.array([0, 0, 1, 2]), 3, share=0.5, resamples=2, rng=np.random.default_rng(1))
    >>> found.bundle.tolist(), found.times.sum(axis=1).tolist()
    ([0, 0, 1, 2], [2, 2, 3, 3])
    """
    count = min(n_units, BUNDLES)
    place = np.arange(n_units) if n_units <= BUNDLES else rng.permutation(n_units) % BUNDLES
    sizes = count, max(round(share * count), 1)
    own, main = (rng.multinomial(size, np.full(count, 1 / count), size=resamples) for size in sizes)
    return UnitBundles(place[unit], count, np.concatenate([own if sizes[0] == sizes[1] else main, own]))


def find_design_effects(counted: ArrayLike, trials: ArrayLike) -> NDArray[np.float64]:
    r"""Find how many times larger the variance of a rate is because its records come in clusters.

    .. math:: D = \frac{B}{B - 1} \cdot \frac{\sum_b (x_b - r n_b)^2}{n\, r (1 - r)},\qquad
              r = \frac{\sum_b x_b}{\sum_b n_b},\quad n = \sum_b n_b

    Parameters
    ----------
    counted, trials : arrays, shape (..., n_clusters, n_groups)
        How many of how many in each cluster.

    Returns
    -------
    float array, shape (..., n_groups)
        1 for records as good as independent, and never less; where the rate is 0 or 1, or undefined, what
        it would be if all records of a cluster were alike, :math:`\sum_b n_b^2 / n`.

    References
    ----------
    Kish, L. (1965). Survey Sampling. Wiley. Rao, J. N. K. and Scott, A. J. (1992). A simple method for the
    analysis of clustered binary data. doi:10.2307/2532311

    Examples
    --------
    >>> find_design_effects([[10.0], [0.0], [10.0], [0.0]], [[10.0]] * 4).round(1).tolist()
    [13.3]
    """
    seen, held = np.asarray(counted, float), np.asarray(trials, float)
    whole = held.sum(axis=-2)
    share = rate(seen.sum(axis=-2), whole)
    away = seen - np.where(np.isnan(share), 0, share)[..., None, :] * held
    clusters = seen.shape[-2]
    spread = (away**2).sum(axis=-2) * (clusters / max(clusters - 1, 1))
    found = rate(spread, np.nan_to_num(whole * share * (1 - share)))
    alike = rate((held**2).sum(axis=-2), whole)
    return np.maximum(np.nan_to_num(np.where(np.isnan(found), alike, found), nan=1.0), 1.0)
