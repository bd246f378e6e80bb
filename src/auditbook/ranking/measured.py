"""What is known of the areas of one attribute under one model?"""

from dataclasses import dataclass

import numpy as np

from auditbook.evidence import open_stream
from auditbook.ranking.matrix import AucMatrix
from auditbook.records import Attribute


@dataclass(frozen=True)
class MeasuredAreas:
    """The areas of one attribute under one model."""

    model: str
    declared: Attribute
    settled: Attribute  # The groups that hold records
    matrix: AucMatrix  # Of the settled groups
    by_unit: AucMatrix | None  # The same with units in place of sites; None where each record is its own
    sites: tuple[str, ...]  # Why each settled group has no figure by sites; blank where it has one
    all_sites: str  # The same of all records

    @property
    def clustered(self) -> bool:
        """Tell whether units hold several records."""
        return self.by_unit is not None

    @property
    def independent(self) -> AucMatrix:
        """The matrix whose clusters, or else whose records, are independent."""
        return self.matrix if self.by_unit is None else self.by_unit

    @property
    def empty(self) -> list[str]:
        """Groups that were declared but hold no record, by name."""
        return sorted(set(self.declared.groups) - set(self.settled.groups))

    def stream(self, seed: int, what: str) -> np.random.Generator:
        """Open a stream of random numbers that depends on model and attribute alone."""
        return open_stream(seed, f"auc {what}", self.model, self.settled.name)
