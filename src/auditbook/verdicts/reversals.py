"""Which share of the resamples contradicts a row's verdict, and may whole sites be drawn for it?"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence import (
    LARGEST_SHARE,
    LEAST_CLUSTERS,
    LEAST_EFFECTIVE,
    Audited,
    AuditedGroups,
    Clusters,
    Evidence,
    Kind,
    ScoreSums,
    UnitBundles,
    bundle_units,
    count_clusters,
    open_stream,
)
from auditbook.settings import Protocol

Array = NDArray[np.float64]


def reversal_share(pass_share: ArrayLike, passed: ArrayLike) -> Array:
    r"""Give the share of resamples whose verdict is not the row's own.

    .. math:: \frac1K \sum_k 1[V_k \ne V]

    Unlike a flip rate it may exceed one half: the resamples of a biased statistic can contradict it.

    >>> reversal_share([0.76, 0.76], [False, True]).round(2).tolist()
    [0.76, 0.24]
    """
    share = np.asarray(pass_share, float)
    return np.where(passed, 1 - share, share)


def plan_units(prepared: Audited, protocol: Protocol) -> UnitBundles | None:
    """Draw whole units, resamples of the protocol's size and of the audit's; None where records are units.

    None too with weights, where clusters or units are drawn in any case.
    """
    units, size = prepared.number_units(), prepared.rows
    if units is None or prepared.design is not None:
        return None
    return bundle_units(
        *units,
        share=min(protocol.resample_size, size) / size,
        resamples=protocol.resamples,
        rng=open_stream(protocol.seed, "units"),
    )


def draw_units(groups: AuditedGroups, kind: Kind, units: UnitBundles) -> tuple[Evidence, Evidence]:
    """Measure the drawn units: those of the protocol's size, and those of the audit's own."""
    drawn = groups.by_unit(kind, units.bundle, units.n_bundles, units.times)
    half = units.resamples
    if isinstance(drawn, ScoreSums):
        first, second = (
            ScoreSums(*(part[:, rows] for part in drawn.parts())) for rows in (slice(half), slice(half, None))
        )
        return first, second
    return drawn[:, :half], drawn[:, half:]


def find_site_obstacles(pairs: Clusters, held: Array, groups: Sequence[str]) -> list[str]:
    r"""Say which groups stand in too few sites, or mostly in one, for whole sites to be drawn.

    A group needs 15 sites, 10 effective ones, :math:`(\sum_h n_h)^2 / \sum_h n_h^2`, and none with more
    than 20 % of its records: of fewer sites, a draw of those that are there says nothing of others like
    them. `held` has the records of each pair of site and group.

    >>> from auditbook.evidence import pair_clusters
    >>> site = np.repeat(np.arange(20), 10)
    >>> pairs = pair_clusters(site, np.where(site == 3, 1, 0), 2)
    >>> find_site_obstacles(pairs, np.bincount(pairs.place).astype(float), ["A", "B"])
    ['B stands in 1 site, 15 needed']
    """
    here, effective, largest = count_clusters(pairs, held)
    return [
        said
        for place, name in enumerate(groups)
        if (said := _name_site_obstacle(name, int(here[place]), effective[place], largest[place]))
    ]


def _name_site_obstacle(name: str, here: int, effective: float, largest: float) -> str:
    if here < LEAST_CLUSTERS:
        return f"{name} stands in {here} site{'s' * (here != 1)}, {LEAST_CLUSTERS} needed"
    if effective < LEAST_EFFECTIVE:
        return f"the sites of {name} are worth {effective:.1f} equal ones, {LEAST_EFFECTIVE:g} needed"
    if largest > LARGEST_SHARE:
        return f"one site holds {largest:.0%} of {name}, at most {LARGEST_SHARE:.0%} allowed"
    return ""
