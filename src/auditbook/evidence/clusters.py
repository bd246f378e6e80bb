"""Which records stand together, at a patient or a hospital, and how few independent ones are they worth?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from auditbook.evidence.counts import rate

LEAST_CLUSTERS, LEAST_EFFECTIVE, LARGEST_SHARE = 15, 10, 0.20
"""To speak of clusters like these takes so many, worth so many equal ones, none with a larger share."""

Array = NDArray[np.float64]

ALL = 1e-9
"""A cluster without which less than this share is left holds everything."""


@dataclass(frozen=True)
class Clusters:
    """The pairs of cluster and group that hold records."""

    place: NDArray[np.intp]  # shape (n,): Pair of each record
    cluster: NDArray[np.intp]  # shape (n_pairs,): Cluster of each pair, rising
    group: NDArray[np.intp]  # shape (n_pairs,): Group of each pair
    n_groups: int
    # shape (n_clusters,): Stratum that each cluster was drawn from, those without the group too; None where
    # the clusters are those that happen to be there
    stratum: NDArray[np.intp] | None = None

    def total(self, values: Array) -> Array:
        """Add the pairs' values up within each group, shape (n_groups,)."""
        return np.bincount(self.group, values, self.n_groups).astype(float)

    def measure_products(self, residuals: Array) -> Array:
        """Add up the products of two groups' residuals over the clusters, shape (n_groups, n_groups)."""
        if self.stratum is not None:
            return self._measure_within(residuals, self.stratum)
        if (np.diff(self.cluster) > 0).all():  # no cluster holds records of two groups
            return np.diag(self.total(residuals**2))
        n_clusters = int(self.cluster[-1]) + 1 if len(self.cluster) else 0
        table = csr_array((residuals, (self.cluster, self.group)), shape=(n_clusters, self.n_groups))
        return np.asarray((table.T @ table).todense())

    def _measure_within(self, residuals: Array, stratum: NDArray[np.intp]) -> Array:
        """Add up the products within strata: about the stratum's mean, times m/(m - 1) for m clusters.

        The residuals of a group add up to 0. A cluster that is alone in its stratum counts by its distance
        from that grand mean.
        """
        drawn = np.bincount(stratum)
        table = np.zeros((len(stratum), self.n_groups))
        table[self.cluster, self.group] = residuals
        order = np.argsort(stratum, kind="stable")
        start = np.cumsum(drawn) - drawn
        mean = np.add.reduceat(table[order], start) / drawn[:, None]
        mean[drawn == 1] = 0
        table -= mean[stratum]
        lift = np.where(drawn > 1, drawn / np.maximum(drawn - 1, 1), 1.0)
        return np.asarray((table * lift[stratum, None]).T @ table)

    def count_strata(self, held: NDArray[np.bool_]) -> Array:
        """Count the strata in which each group has a pair that is held, shape (n_groups,)."""
        if self.stratum is None:
            return np.ones(self.n_groups)
        key = np.unique(self.stratum[self.cluster[held]] * self.n_groups + self.group[held])
        return np.bincount(key % self.n_groups, minlength=self.n_groups).astype(float)


def pair_clusters(
    cluster: NDArray[np.integer],
    codes: NDArray[np.integer],
    n_groups: int,
    stratum: NDArray[np.intp] | None = None,
) -> Clusters:
    """Find the pairs of cluster and group that hold records; `stratum` is that of each cluster.

    >>> pair_clusters(np.array([0, 1, 0]), np.array([1, 0, 1]), 2).place.tolist()
    [0, 1, 0]
    """
    key = cluster.astype(np.int64) * n_groups + codes
    held = np.flatnonzero(np.bincount(key))
    number = np.zeros(int(key.max()) + 1 if len(key) else 0, np.intp)
    number[held] = np.arange(len(held))
    return Clusters(number[key], held // n_groups, held % n_groups, n_groups, stratum)


@dataclass(frozen=True)
class ClusterSpread:
    """How far an estimate of each group varies between clusters; shape (n_groups,) but for the covariance."""

    covariance: Array  # shape (n_groups, n_groups): Of the estimates
    clusters: Array  # Clusters that count
    effective: Array  # Equal clusters that they are worth (Kish)
    largest: Array  # Share of the largest
    strata: Array | None = None  # Strata in which those clusters stand; None where there are none

    @property
    def df(self) -> Array:
        """Degrees of freedom of the variances, at least 1: of drawn clusters, these less their strata."""
        if self.strata is not None:
            return np.maximum(self.clusters - self.strata, 1)
        return np.maximum(self.effective - 1, 1)

    @property
    def speaks_of_others(self) -> NDArray[np.bool_]:
        """Whether clusters suffice to speak of others like them."""
        enough = (self.clusters >= LEAST_CLUSTERS) & (self.effective >= LEAST_EFFECTIVE)
        return enough & (self.largest <= LARGEST_SHARE)


def measure_spread(
    clusters: Clusters, residuals: Array, weights: Array, *, joint: bool = True
) -> ClusterSpread:
    r"""Find the variance of weighted means, and of ratios, over clusters by linearisation.

    .. math:: \widehat{\mathrm{Cov}}(\hat\theta_g, \hat\theta_h) = \sqrt{\tfrac{C_g}{C_g - 1}
              \tfrac{C_h}{C_h - 1}} \, \frac{\sum_c e_{cg} e_{ch}}{W_g W_h}

    Of clusters drawn within strata s, with replacement, m_s in each, it is instead (Binder 1983)

    .. math:: \frac{1}{W_g W_h} \sum_s \frac{m_s}{m_s - 1} \sum_{c \in s}
              (e_{cg} - \bar e_{sg})(e_{ch} - \bar e_{sh})

    Parameters
    ----------
    clusters : Clusters
        C_g of which count for group g: those with a positive weight.
    residuals : float array, shape (n_pairs,)
        Sums of the linearised values: of a ratio, numerator less ratio times denominator.
    weights : float array, shape (n_pairs,)
        Denominators; their sum over a group is W_g. A group without any has variance nan.

    joint : bool
        Whether two groups' estimates are needed together; else their covariance is given as 0.

    Returns
    -------
    ClusterSpread
        With a single cluster nothing can be seen of their spread: its variance is nan.

    References
    ----------
    Kish, L. (1965). Survey Sampling. Wiley. Liang, K.-Y. and Zeger, S. L. (1986). doi:10.1093/biomet/73.1.13
    Binder, D. A. (1983). On the variances of asymptotically normal estimators from complex surveys.
    doi:10.2307/1402588

    Examples
    --------
    >>> pairs = pair_clusters(np.array([0, 0, 1, 1]), np.zeros(4, int), 1)
    >>> measure_spread(pairs, np.array([1.0, -1.0]), np.array([2.0, 2.0])).covariance.round(9).tolist()
    [[0.25]]
    """
    total, counted = clusters.total(weights), count_clusters(clusters, weights)
    drawn = clusters.stratum is not None
    together = joint or drawn
    products = clusters.measure_products(residuals) if together else np.diag(clusters.total(residuals**2))
    strata = clusters.count_strata(weights > 0) if drawn else None
    return scale_products(products, total, counted, strata)


def scale_products(
    products: Array, total: Array, counted: tuple[Array, Array, Array], strata: Array | None = None
) -> ClusterSpread:
    """Turn sums of products of residuals into a spread, see `measure_spread`.

    `total` are the sums of the weights by group, `counted` what `count_clusters` gives.
    """
    count = counted[0]
    lift = np.sqrt(rate(count, count - 1)) if strata is None else np.where(count > 1, 1.0, np.nan)
    scale = lift / np.where(total > 0, total, np.nan)
    return ClusterSpread(products * scale[:, None] * scale, *counted, strata)


def count_clusters(clusters: Clusters, weights: Array) -> tuple[Array, Array, Array]:
    """Count the clusters of each group, the equal ones that they are worth, and the share of the largest."""
    total, squares = clusters.total(weights), clusters.total(weights**2)
    largest = np.zeros(clusters.n_groups)
    np.maximum.at(largest, clusters.group, weights)
    count = clusters.total((weights > 0).astype(float))
    return count, rate(total**2, squares), rate(largest, total)


def explain_fence(clusters: Clusters, weights: Array) -> list[str]:
    """Say of every group what it lacks for a figure by sites; blank where nothing.

    >>> pairs = pair_clusters(np.arange(30) % 3, np.zeros(30, int), 1)
    >>> explain_fence(pairs, np.full(3, 10.0))
    ['3 sites, 15 needed']
    """
    numbers = (np.nan_to_num(part) for part in count_clusters(clusters, weights))
    return [_explain_fence(int(count), *rest) for count, *rest in zip(*numbers, strict=True)]


def _explain_fence(sites: int, effective: float, largest: float) -> str:
    if sites < LEAST_CLUSTERS:
        return f"{sites} {'site' if sites == 1 else 'sites'}, {LEAST_CLUSTERS} needed"
    if effective < LEAST_EFFECTIVE:
        return f"{np.floor(10 * effective) / 10:.1f} effective sites, {LEAST_EFFECTIVE:g} needed"
    if largest > LARGEST_SHARE:
        return (
            f"one site holds {np.ceil(100 * largest):.0f}% of the records, {100 * LARGEST_SHARE:.0f}% at most"
        )
    return ""


def alone_spread(squares: Array, n: Array) -> ClusterSpread:
    """Give the spread of means of n records each of which stands for itself, from sums of squares."""
    variance = squares * rate(n, n - 1) / np.where(n > 0, n, np.nan) ** 2
    return ClusterSpread(np.diag(variance), n, n, rate(np.minimum(n, 1), n))


def interleave_spreads(spreads: Sequence[ClusterSpread]) -> ClusterSpread:
    """Put the spreads of several bins together, the bins of the first group first; without covariances."""
    variance = np.stack([np.diagonal(one.covariance) for one in spreads], axis=-1).ravel()
    parts = ["clusters", "effective", "largest"]
    parts += ["strata"] * all(one.strata is not None for one in spreads)
    rest = (np.stack([getattr(one, name) for one in spreads], axis=-1).ravel() for name in parts)
    return ClusterSpread(np.diag(variance), *rest)


def sum_powers(held: Array) -> Array:
    """Sum the squares, cubes and fourth powers of the clusters' shares, shape (3, ...), over the first axis.

    >>> sum_powers(np.array([3.0, 1.0])).tolist()
    [0.625, 0.4375, 0.3203125]
    """
    share = rate(held, held.sum(axis=0))
    return np.stack([np.power(share, power).sum(axis=0) for power in (2, 3, 4)])


def count_equal_clusters(powers: Array, effect: Array) -> Array:
    r"""Count the equal clusters that unequal ones are worth for a variance with some design effect.

    .. math:: c = \frac{(\sum_u v_u)^2}{\sum_u v_u^2}, \qquad
              v_u = p_u + (d - 1) \frac{p_u^2}{\sum_u p_u^2}

    with :math:`p_u` the share of cluster u: what it adds to the variance is in part that of its records, in
    part that of what they have in common.

    Parameters
    ----------
    powers : float array, shape (3, ...)
        From `sum_powers`.
    effect : float array
        Design effect d, at least 1.

    Returns
    -------
    float array, shape (...)
        Kish's number for d = 1; nan without records.

    References
    ----------
    Kish, L. (1965). Survey Sampling. Wiley.

    Examples
    --------
    >>> count_equal_clusters(sum_powers(np.ones(9)), np.array(3.0)).round(9).tolist()
    9.0
    """
    square, cube, fourth = powers
    extra = rate(effect - 1, square)
    return rate(np.square(1 + extra * square), square + 2 * extra * cube + extra**2 * fourth)


def lift_left_out(held: Array) -> Array:
    r"""Find how much farther than to first order a mean moves when a cluster is left out.

    .. math:: \lambda_u = \sqrt{\frac{m - 1}{m}} \, \frac{1}{1 - p_u}

    for m clusters that hold the shares :math:`p_u`. A large cluster pulls the mean to itself, so what it adds
    looks too small; without it the mean would move by :math:`1/(1 - p_u)` as much. With
    :math:`\psi_u` the first-order part of a cluster, :math:`\sum_u (\lambda_u \psi_u)^2` is the variance of
    the delete-one-cluster jackknife (CR3), of means and of ratios exactly. For m equal clusters it is
    m/(m - 1) times the sum of squares.

    Parameters
    ----------
    held : float array, shape (n_clusters, ...)
        What each cluster holds of the denominator.

    Returns
    -------
    float array, shape (n_clusters, ...)
        0 for a cluster that holds everything, of which nothing can be seen.

    References
    ----------
    MacKinnon, J. G., Nielsen, M. O. and Webb, M. D. (2023). Fast and reliable jackknife and bootstrap methods
    for cluster-robust inference. doi:10.1002/jae.2969

    Examples
    --------
    >>> lift_left_out(np.array([2.0, 1.0, 1.0])).round(3).tolist()
    [1.633, 1.089, 1.089]
    """
    count, left = (held > 0).sum(axis=0), 1 - rate(held, held.sum(axis=0))
    return np.nan_to_num(np.sqrt(rate(count - 1, count)) * rate(1.0, np.where(left > ALL, left, 0.0)))


def measure_overlap(one: Array, other: Array, effect: Array) -> Array:
    """Find in how far the same clusters hold two kinds of records: sum of the products of their parts.

    0 where no cluster holds both, and one over the equal clusters where all hold as much of either; the parts
    are those of `count_equal_clusters`. Clusters stand on the first axis.

    >>> float(measure_overlap(np.ones(5), np.ones(5), np.array(3.0)).round(9))
    0.2
    """
    parts = []
    for held in (one, other):
        share = rate(held, held.sum(axis=0))
        square = np.square(share)
        parts.append(share + (effect - 1) * rate(square, square.sum(axis=0)))
    return np.nan_to_num((parts[0] * parts[1]).sum(axis=0) / np.square(effect))


def join_df(parts: tuple[Array, Array], counts: tuple[Array, Array], overlap: Array | float = 0.0) -> Array:
    r"""Find the degrees of freedom of a variance that is the sum of two parts.

    .. math:: \nu = \frac{(a + b)^2}{a^2/(c_1 - 1) + b^2/(c_0 - 1) + 2ab\,o/(1 - o)}

    Parameters
    ----------
    parts : two float arrays
        a and b, such as what events and what non-events add to the variance of an area.
    counts : two float arrays
        The equal clusters :math:`c_1` and :math:`c_0` that they rest on.
    overlap : float array
        o, from `measure_overlap`: two parts of one cluster are one square, not two.

    Returns
    -------
    float array
        At least 1; that of the fewer clusters where neither part varies.

    References
    ----------
    Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components.
    doi:10.2307/3002019

    Examples
    --------
    >>> one = np.ones(1)
    >>> join_df((one, one), (5 * one, 9 * one)).round(3).tolist()
    [10.667]
    """
    each = [rate(part**2, np.maximum(count - 1, 0)) for part, count in zip(parts, counts, strict=True)]
    both = 2 * parts[0] * parts[1] * rate(overlap, 1 - np.asarray(overlap))
    found = rate(np.square(parts[0] + parts[1]), each[0] + each[1] + both)
    least = np.nan_to_num(np.minimum(*counts), nan=1.0) - 1
    return np.maximum(np.where(np.isnan(found), least, found), 1)
