"""What can be asked of the groups of one attribute, whatever they are measured by?

Three kinds of evidence answer the same four questions about every model at once: counts (`group_counts`),
score sums (`group_scores`) and areas (`group_areas`).
"""

import typing
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.score_sums import ScoreSums

Kind = typing.Literal["counts", "score sums", "areas"]
Evidence: typing.TypeAlias = NDArray[np.int64] | NDArray[np.float64] | ScoreSums
"""Counts of shape (..., n_groups, 4), areas of shape (..., n_groups), or score sums."""
THREADS = 2
"""Models worked on at the same time; each has its own stream, so their order is no matter."""

A = typing.TypeVar("A")
T = typing.TypeVar("T")


@dataclass(frozen=True)
class Subsamples:
    """Smaller audits, made of some of the records."""

    drawn: Evidence  # Leading shape (n_models, n_sizes, R)
    strata: NDArray[np.float64] | NDArray[np.int64]  # shape (..., n_groups, 2): Their events and non-events


class GroupEvidence(typing.Protocol):
    """The groups of one attribute under every model; every answer has leading shape (n_models, ...)."""

    def whole(self) -> Evidence:
        """Measure the audited records as they are, leading shape (n_models,)."""

    def drawn(self, size: int, *, resamples: int, seed: int) -> Evidence:
        """Draw resamples within the strata label x group, leading shape (n_models, resamples)."""

    def subsampled(self, sizes: Sequence[int], *, repeats: int, seed: int) -> Subsamples:
        """Draw simple random subsamples without replacement of several sizes."""

    def by_site(
        self, site: NDArray[np.integer], n_sites: int, times: NDArray[np.int64] | None = None
    ) -> Evidence:
        """Measure each site by itself, leading shape (n_models, n_sites).

        With `times`, shape (resamples, n_sites): resamples that hold each site so often.
        """


def each_model(work: Callable[[A], T], models: Sequence[A]) -> list[T]:
    """Do the same work for every model, or every seed, in threads where there are several."""
    if len(models) < 2:
        return list(map(work, models))
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, models))
