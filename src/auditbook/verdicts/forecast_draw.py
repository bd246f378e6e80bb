"""What do resamples of one half, and audits of both halves, count?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from auditbook.evidence import draw_counts, subsample_counts

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class HalfDraws:
    """Counts of one attribute's groups: halves, resamples of the first, audits of both."""

    first: Counts  # shape (halvings, n_groups, 4): The half that predicts
    second: Counts  # shape (halvings, n_groups, 4): The other half
    # shape (halvings, K, n_groups, 4): Resamples of the first half within the strata label x group: what
    # its flip rate comes from
    resampled: Counts
    free: Counts  # shape (halvings, M, n_groups, 4): Resamples of records of the first half without strata
    by_site: Counts | None  # shape (halvings, M, n_groups, 4): Resamples of whole sites of the first half
    # shape (halvings, M, n_groups, 4): By way of drawing: audits drawn without replacement from the first
    # and from the second half
    audits: dict[str, tuple[Counts, Counts]]
    size: int  # Records of a resample and, exactly or nearly, of an audit

    @property
    def left(self) -> NDArray[np.float64]:
        """Share of the first half that an audit leaves, shape (halvings, 1)."""
        return np.maximum(1 - self.size / self.first.sum(axis=(1, 2))[:, None], 0.01)


def _lay_out(counts: Counts) -> Counts:
    """Store the draws of a group side by side; sums over a few groups are then twice as fast."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(counts, (-2, -1), (0, 1))), (0, 1), (-2, -1))


def resample_halves(halves: Counts, *, size: int, resamples: int, rng: np.random.Generator) -> Counts:
    """Resample every half within the strata label x group, as `draw_counts` does with a cohort."""
    drawn = [draw_counts(half, size=size, resamples=resamples, rng=rng) for half in halves]
    return _lay_out(np.stack(drawn))


def resample_freely(halves: Counts, *, size: int, resamples: int, rng: np.random.Generator) -> Counts:
    """Resample every half without strata: groups' sizes and event rates vary as among new records."""
    shares = halves.reshape(len(halves), 1, -1) / halves.sum(axis=(1, 2))[:, None, None]
    drawn = rng.multinomial(size, np.broadcast_to(shares, (len(halves), resamples, shares.shape[-1])))
    return _lay_out(drawn.reshape(len(halves), resamples, *halves.shape[1:]))


def audit_halves(halves: Counts, *, size: int, audits: int, rng: np.random.Generator) -> Counts:
    """Draw audits of so many records from every half, without replacement."""
    drawn = [subsample_counts(half, size=size, repeats=audits, rng=rng) for half in halves]
    return _lay_out(np.stack(drawn))


def count_taken(taken: Sequence[csr_matrix], at_site: ArrayLike) -> Counts:
    """Count the records of the whole sites that resamples or audits of every half take."""
    table = np.asarray(at_site)
    flat = table.reshape(*table.shape[:2], -1).astype(float)
    drawn = np.stack([np.asarray(times @ half) for times, half in zip(taken, flat, strict=True)])
    return _lay_out(np.rint(drawn).astype(np.int64).reshape(len(table), -1, *table.shape[2:]))
