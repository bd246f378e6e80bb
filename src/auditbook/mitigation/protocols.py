"""On which records are thresholds chosen, and on which are they reported?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort import Cohort
from auditbook.scoring import split_units

SINGLE = "single split"
"""Selected and reported on the same records: the paper's other protocol."""
TRAINED, GIVEN = "70/15/15", "50/50"
"""Separate parts: train, validation, audit; without a model trained here, validation and audit."""
VALIDATION, AUDIT = "validation", "audit"
SEPARATE_SHARE = 0.30
"""Validation and audit part together, when a model is trained (published)."""


@dataclass(frozen=True)
class Parts:
    """Which records do what in one protocol."""

    protocol: str  # `SINGLE`, `TRAINED` or `GIVEN`
    # Positions in the cohort, increasing; `train` is empty when no model is trained here. In the single
    # split, `validation` is `audit`
    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    audit: NDArray[np.int64]

    @property
    def separate(self) -> bool:
        """Whether the audit part is unseen when thresholds are chosen."""
        return self.protocol != SINGLE

    @property
    def scored(self) -> NDArray[np.int64]:
        """Positions of every record that needs a score, increasing."""
        return np.union1d(self.validation, self.audit)


def divide_three(cohort: Cohort, *, trains: bool, seed: int) -> Parts:
    """Divide a cohort by whole units into training, validation and audit part."""
    everyone, nobody = np.arange(len(cohort.outcome)), np.arange(0)
    train, rest = nobody, everyone
    if trains:
        outer = split_units(cohort.outcome, cohort.unit, audit_share=SEPARATE_SHARE, seed=seed)
        train, rest = outer.train, outer.audit
    inner = split_units(cohort.outcome[rest], cohort.unit[rest], audit_share=0.5, seed=seed)
    return Parts(TRAINED if trains else GIVEN, train, rest[inner.train], rest[inner.audit])
