"""What do the benefits of each group's records add up to, with their squares?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.counts import rate
from auditbook.evidence.score_cells import ScoreCells
from auditbook.evidence.score_sums import N_BINS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BenefitMoments:
    """Number of records, and sums over them of the benefit b, of b ln b, and of their products."""

    sums: Array  # shape (..., 6): Of 1, b, b ln b, b², b · b ln b, (b ln b)²

    @property
    def mean(self) -> Array:
        """Mean of b and of b ln b, shape (..., 2); nan without records."""
        return rate(self.sums[..., 1:3], self.sums[..., :1])

    @property
    def covariance(self) -> Array:
        """Covariance of b and b ln b over the records, shape (..., 2, 2)."""
        square = rate(self.sums[..., 3:], self.sums[..., :1])
        mean = self.mean
        return square[..., [[0, 1], [1, 2]]] - mean[..., :, None] * mean[..., None, :]

    def pooled(self) -> "BenefitMoments":
        """Take all groups together, the last but one axis."""
        return BenefitMoments(self.sums.sum(axis=-2, keepdims=True))


def add_benefits(cells: ScoreCells) -> Array:
    """Add up the six sums of `BenefitMoments` in every group of one model, shape (n_groups, 6)."""
    label = cells.index // N_BINS % 2
    sign = np.where(label == 1, 1.0, -1.0)
    benefit, logs = np.where(label == 1, cells.mean[0], 1 - cells.mean[0]), cells.mean[1]
    first, cross, second = cells.root
    each = np.stack(
        [
            np.ones_like(benefit),
            benefit,
            logs,
            benefit**2 + first**2,
            benefit * logs + sign * first * cross,
            logs**2 + cross**2 + second**2,
        ],
        axis=-1,
    )
    sums = np.zeros((len(cells.sizes), 6))
    np.add.at(sums, cells.index // (2 * N_BINS), cells.held[:, None] * each)
    return sums
