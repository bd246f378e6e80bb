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
    """The disparate impacts that a choice of thresholds is held to.

    Attributes
    ----------
    target : float
        Least disparate impact: the threshold of DI and the headroom above it.
    supported : tuple of bool array, each of shape (n_groups,)
        By attribute, the groups with enough records for a verdict. An attribute with fewer than two is not
        held to anything.
    """

    target: float
    supported: tuple[NDArray[np.bool_], ...]

    @property
    def held(self) -> NDArray[np.bool_]:
        """Attributes that are held to the target, shape (n_attributes,)."""
        return np.array([groups.sum() >= 2 for groups in self.supported], dtype=bool)

    def worst(self, ratios: ArrayLike) -> Array:
        """Take the smallest disparate impact among those that count, shape (...); undefined counts as 0.

        Parameters
        ----------
        ratios : float array, shape (..., n_attributes)
            From `parity_ratios`.
        """
        table = np.nan_to_num(np.asarray(ratios, dtype=np.float64), nan=0.0)[..., self.held]
        return table.min(axis=-1, initial=1.0)

    def accepts(self, ratios: ArrayLike) -> NDArray[np.bool_]:
        """Tell whether every disparate impact that counts reaches the target, shape (...).

        Parameters
        ----------
        ratios : float array, shape (..., n_attributes)
            From `parity_ratios`.
        """
        return self.worst(ratios) >= self.target - TIE


def make_constraint(strata: Strata, *, protocol: Protocol, headroom: float = 0.0) -> Constraint:
    """Hold every attribute to the threshold of disparate impact, plus a headroom.

    Groups with fewer records than a verdict needs are left out of the search, because a handful of people
    would decide everybody's thresholds. They stay in every verdict that is reported.

    Parameters
    ----------
    strata : Strata
        The records that the thresholds are chosen on.
    protocol : Protocol
        Gives the threshold of DI and the fewest records of a group.
    headroom : float
        Added to the threshold.

    Returns
    -------
    Constraint
        For `parity_ratios` of the same strata.
    """
    least = float(protocol.thresholds.get("DI", find_metric("DI").threshold)) + headroom
    sizes = strata.count(np.zeros(int(strata.cell.max()) + 1)).sum(axis=-1)
    supported = tuple(member @ sizes >= protocol.min_records for member in strata.members)
    return Constraint(min(least, 1.0), supported)


def parity_ratios(strata: Strata, counts: ArrayLike, constraint: Constraint) -> Array:
    """Find the disparate impact by each attribute over its groups with enough records.

    Parameters
    ----------
    strata : Strata
        Says which stratum belongs to which group.
    counts : int array, shape (..., n_strata, 4)
        Counts of the strata.
    constraint : Constraint
        Says which groups count.

    Returns
    -------
    float array, shape (..., n_attributes)
        nan when nobody is selected, or fewer than two groups count.
    """
    found = []
    for place, supported in enumerate(constraint.supported):
        rates = selection_rate(strata.gather(counts, place))
        found.append(ratio(np.where(supported, rates, np.nan)[..., None, :]))
    return np.stack(found, axis=-1)
