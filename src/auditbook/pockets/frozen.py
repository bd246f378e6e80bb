"""What is a map once it is learned: a frozen rule that sends a record to a pocket, or abstains."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ABSTAIN = -1
"""Code of a record that no pocket takes."""


@dataclass(frozen=True)
class Assignment:
    """Which pocket each record belongs to."""

    # shape (n,): Position of the record's pocket in the map's pockets; -1 where the map abstains
    codes: NDArray[np.int32]
    # shape (n,): Similarity to it; higher is closer (for centres, minus the distance)
    affinity: NDArray[np.float64]
    lead: NDArray[np.float64]  # shape (n,): Lead of that over the second pocket


class Rule(Protocol):
    """What a frozen map assigns records by."""

    @property
    def n_pockets(self) -> int:
        """Number of pockets."""

    def assign(self, table: pd.DataFrame) -> Assignment:
        """Assign records from their features alone."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything the rule consists of, as arrays that can be saved and hashed."""


@dataclass(frozen=True)
class FrozenMap:
    """A map of pockets whose rule no longer changes: the only thing that testing accepts."""

    name: str  # "forest", "ridge", or the name of another grouping
    rule: Rule  # Sends records to pockets by their features
    pockets: tuple[str, ...]  # length C: Names of the pockets in tables, such as "F1"
    n_discovery: NDArray[np.int64]  # shape (C,): Graph records that are members
    mean_outcome: NDArray[np.float64]  # shape (C,): Their mean outcome
    # The pockets in words, from discovery records; blank before they are named
    titles: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    # shape (C, 2): Share of members that the name's rule covers, and share of those covered that are
    # members; nan before they are named
    fidelity: NDArray[np.float64] | None = None
    # Partition, settings, description lengths, seeds: plain values for run.json
    provenance: Mapping[str, Any] = field(default_factory=dict)
    # Rows of pocket_features.csv: of what names and descriptions are made; not kept with a saved map
    features: tuple[Mapping[str, str | int | bool], ...] = ()

    def assign(self, table: pd.DataFrame) -> Assignment:
        """Assign records to pockets from their features."""
        return self.rule.assign(table)
