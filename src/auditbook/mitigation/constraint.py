"""Which disparate impacts must pass, over which groups, and by how much?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence import selection_rate
from auditbook.mitigation.strata import Strata
from auditbook.settings import Protocol
from auditbook.verdicts import TIE, find_metric, ratio

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Constraint:
    """The disparate impacts that a choice of thresholds is held to."""

    target: float  # Least disparate impact: the threshold of DI and the headroom above it
    # shape (n_groups,): By attribute, the groups with enough records for a verdict. An attribute with fewer
    # than two is not held to anything
    supported: tuple[NDArray[np.bool_], ...]

    @property
    def held(self) -> NDArray[np.bool_]:
        """Attributes that are held to the target, shape (n_attributes,)."""
        return np.array([groups.sum() >= 2 for groups in self.supported], dtype=bool)

    def worst(self, ratios: ArrayLike) -> Array:
        """Take the smallest disparate impact among those that count, shape (...); undefined counts as 0."""
        table = np.nan_to_num(np.asarray(ratios, dtype=np.float64), nan=0.0)[..., self.held]
        return table.min(axis=-1, initial=1.0)

    def accepts(self, ratios: ArrayLike) -> NDArray[np.bool_]:
        """Tell whether every disparate impact that counts reaches the target, shape (...)."""
        return self.worst(ratios) >= self.target - TIE


def make_constraint(strata: Strata, *, protocol: Protocol, headroom: float = 0.0) -> Constraint:
    """Hold every attribute to the threshold of disparate impact, plus a headroom.

    Groups with fewer records than a verdict needs are left out of the search, because a handful of people
    would decide everybody's thresholds. They stay in every verdict that is reported.
    """
    least = float(protocol.thresholds.get("DI", find_metric("DI").threshold)) + headroom
    sizes = strata.count(np.zeros(int(strata.cell.max()) + 1)).sum(axis=-1)
    supported = tuple(member @ sizes >= protocol.min_records for member in strata.members)
    return Constraint(min(least, 1.0), supported)


def parity_ratios(strata: Strata, counts: ArrayLike, constraint: Constraint) -> Array:
    """Find the disparate impact by each attribute over its groups with enough records."""
    found = []
    for place, supported in enumerate(constraint.supported):
        rates = selection_rate(strata.gather(counts, place))
        found.append(ratio(np.where(supported, rates, np.nan)[..., None, :]))
    return np.stack(found, axis=-1)


def price_parity(rate_low: float, rate_high: float, targets: ArrayLike) -> Array:
    r"""Price disparate impact for a model that is otherwise always right, two groups of equal size.

    .. math:: \max\left(\frac{r q - p}{2},\ 0\right)

    A perfect model selects exactly the events, so DI is the ratio of the event rates p < q. To reach a
    target r it has to select non-events of the first group or spare events of the second. Each record
    selected in the first counts 1 and each spared in the second counts r, so it is cheaper to select.

    Parameters
    ----------
    rate_low, rate_high : float
        Event rates p and q.
    targets : float array, shape (...)
        Disparate impacts to reach, r.

    Returns
    -------
    float array, shape (...)
        The least share of wrong decisions; 0 where the event rates reach the target by themselves.

    Examples
    --------
    >>> price_parity(0.2, 0.6, [0.3, 0.8]).round(2).tolist()
    [0.0, 0.14]
    """
    return np.maximum(np.asarray(targets, dtype=np.float64) * rate_high - rate_low, 0) / 2
