"""How were weighted records drawn, what are they worth, and what would another draw have been?"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError
from auditbook.evidence.bundles import BUNDLES
from auditbook.evidence.counts import rate
from auditbook.records import AuditRecords

Array = NDArray[np.float64]
Ints = NDArray[np.intp]

Drawn = Literal["records", "units", "clusters"]
"""What was drawn as one."""


@dataclass(frozen=True)
class Design:
    """How the records were drawn: whole clusters with replacement, within strata."""

    weight: Array  # shape (n,): With mean 1
    cluster: Ints  # shape (n,): Cluster of each record, numbered stratum by stratum
    stratum: Ints  # shape (n_clusters,): Stratum of each cluster, rising
    drawn: Drawn
    n_strata: int  # Strata that were named; 0 without any

    @property
    def n_clusters(self) -> int:
        """Clusters that hold records."""
        return len(self.stratum)

    @property
    def n_alone(self) -> int:
        """Strata with a single cluster; 0 where the population was not divided."""
        return int((np.bincount(self.stratum) == 1).sum()) if self.n_strata else 0

    @property
    def effective(self) -> float:
        """Equal records that all are worth (Kish)."""
        return float(count_effective(self.weight.sum(), (self.weight**2).sum()))

    def holds(self, outer: NDArray[np.integer]) -> bool:
        """Tell whether each cluster lies within one of some places, such as sites."""
        return _nests(self.cluster, outer)


def count_effective(weights: ArrayLike, squares: ArrayLike) -> Array:
    r"""Find how many records of equal weight some of unequal weight are worth (Kish).

    .. math:: n_{\text{eff}} = \frac{(\sum_i w_i)^2}{\sum_i w_i^2}

    Parameters
    ----------
    weights, squares : float arrays that broadcast together
        Sums of the weights and of their squares.

    Returns
    -------
    float array
        The number of records where all weights are equal, never more; 0 without any.

    References
    ----------
    Kish, L. (1965). Survey Sampling. Wiley.

    Examples
    --------
    >>> float(count_effective(2 + 1 + 1, 4 + 1 + 1).round(2))
    2.67
    """
    return np.nan_to_num(rate(np.square(np.asarray(weights, float)), squares))


def settle_design(records: AuditRecords) -> Design | None:
    """Settle how records were drawn, whatever strata and clusters are called; None without weights.

    Where both clusters and units are known the coarser are taken for what was drawn.

    Raises
    ------
    InputError
        If a unit lies in several clusters, and a cluster holds several units.

    Examples
    --------
    >>> from auditbook.records import Survey
    >>> survey = Survey(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 1]), np.array([0, 1, 0]))
    >>> design = settle_design(AuditRecords(np.array([0, 1, 0], np.int8), (), (), survey=survey))
    >>> design.cluster.tolist(), design.stratum.tolist(), design.weight.tolist()
    ([0, 1, 2], [0, 0, 1], [0.5, 1.5, 1.0])
    """
    survey = records.survey
    if survey is None:
        return None
    n = len(records.outcome)
    stratum = np.zeros(n, np.intp) if survey.stratum is None else np.asarray(survey.stratum, np.intp)
    place, drawn = _choose_clusters(records, stratum)
    named, cluster = np.unique(np.stack([stratum, place]), axis=1, return_inverse=True)
    strata = np.unique(named[0], return_inverse=True)[1]
    weight = np.asarray(survey.weight, float)
    count = 0 if survey.stratum is None else int(strata.max()) + 1
    return Design(weight / weight.mean(), cluster.ravel(), strata, drawn, count)


def _choose_clusters(records: AuditRecords, stratum: Ints) -> tuple[Ints, Drawn]:
    """Choose what was drawn as one: cluster or unit, the coarser, else each record."""
    cluster = None if records.survey is None else records.survey.cluster
    if cluster is None and records.unit is None:
        return _rank_records(records), "records"
    if cluster is None:
        return np.asarray(records.unit, np.intp), "units"
    whole = stratum * (int(np.max(cluster)) + 1) + np.asarray(cluster, np.intp)
    if records.unit is None or _nests(records.unit, whole):
        return np.asarray(cluster, np.intp), "clusters"
    if _nests(whole, records.unit):
        return np.asarray(records.unit, np.intp), "units"
    raise InputError(
        "[weight] cluster: some units lie in several clusters, and some clusters hold several units, so "
        "that neither was drawn as one; name a coarser cluster, or delete [unit]"
    )


def _nests(inner: NDArray[np.integer], outer: NDArray[np.integer]) -> bool:
    """Tell whether the records of each inner place all lie in one outer place."""
    pairs = np.unique(np.stack([inner, outer]), axis=1)
    return len(np.unique(pairs[0])) == pairs.shape[1]


def _rank_records(records: AuditRecords) -> Ints:
    """Give records numbers by all that they hold, so that no answer depends on their order."""
    keys = [score.values for score in records.scores] + [one.codes for one in records.attributes]
    weight = np.zeros(len(records.outcome)) if records.survey is None else records.survey.weight
    order = np.lexsort([*keys, records.outcome, weight])
    rank = np.empty(len(order), np.intp)
    rank[order] = np.arange(len(order))
    return rank


@dataclass(frozen=True)
class Replicates:
    """Other samples from the same population, made of the clusters of this one."""

    bundle: Ints  # shape (n,): Bundle of clusters that each record belongs to
    n_bundles: int
    factors: Array  # shape (K, n_bundles): What the weights of a bundle are multiplied by


def draw_replicates(design: Design, *, resamples: int, rng: np.random.Generator) -> Replicates:
    r"""Draw clusters with replacement within strata, one fewer than there are, and rescale the weights.

    .. math:: w^*_i = w_i \, \frac{m}{m - 1} \, t_{c(i)}

    for a stratum of m clusters, :math:`t_c` of the m - 1 draws being cluster c. The variance of a weighted
    sum over such draws is that of linearisation; drawing m of them would make it too small by (m - 1)/m,
    which is one half with two clusters a stratum. A cluster alone in its stratum
    always comes with its own weights.

    More than 1,000 clusters are first put into bundles at random, within strata.

    Parameters
    ----------
    design : Design
        From `settle_design`.
    resamples : int
        K.
    rng : Generator
        Source of the draws.

    Returns
    -------
    Replicates
        Factors have mean 1.

    References
    ----------
    Rao, J. N. K. and Wu, C. F. J. (1988). Resampling inference with complex survey data.
    doi:10.1080/01621459.1988.10478591

    Examples
    --------
    >>> design = Design(np.ones(2), np.array([0, 1]), np.array([0, 0]), "clusters", 1)
    >>> draw_replicates(design, resamples=3, rng=np.random.default_rng(1)).factors.sum(axis=1).tolist()
    [2.0, 2.0, 2.0]
    """
    place, stratum = _bundle(design.stratum, rng)
    factors = np.ones((resamples, len(stratum)))
    for one, count in enumerate(np.bincount(stratum).tolist()):
        if count > 1:
            times = rng.multinomial(count - 1, np.full(count, 1 / count), size=resamples)
            factors[:, stratum == one] = times * count / (count - 1)
    return Replicates(place[design.cluster], len(stratum), factors)


def _bundle(stratum: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Put clusters into bundles within strata: the bundle of each cluster, the stratum of each bundle."""
    held = np.bincount(stratum)
    if len(stratum) <= BUNDLES:
        return np.arange(len(stratum)), stratum
    wanted = np.maximum(held * BUNDLES // len(stratum), np.minimum(held, 2))
    start = np.cumsum(wanted) - wanted
    dealt = [
        rng.permutation(count) % some + first for count, some, first in zip(held, wanted, start, strict=True)
    ]
    return np.concatenate(dealt), np.repeat(np.arange(len(held)), wanted)
