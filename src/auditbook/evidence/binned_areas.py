"""How well does a score order records, here and in resamples, when only bins of it are known?"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence.area_limits import AreaInfluence
from auditbook.evidence.area_sums import N_STEPS, AreaSums, take_counts
from auditbook.evidence.bin_error import BinnedLabel, lean_within
from auditbook.evidence.counts import Counts, rate
from auditbook.evidence.tally import UNIT, BinnedScores

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BinCells:
    """One model's records by group, label and stretch of fine bins."""

    held: Counts  # shape (n_groups, 2, 64)
    inside: Array  # shape (n_groups, 64): Area within each stretch

    def total(self) -> AreaSums:
        """Add up all records, leading shape ()."""
        return self.sums(self.held)

    def sums(self, drawn: ArrayLike) -> AreaSums:
        """Take counts of shape (..., n_groups, 2, 64) for those of resamples of these records."""
        return take_counts(drawn, self.inside)


def measure_inside(fine: BinnedScores, width: Array) -> Array:
    """Find the area within each fine bin, shape (n_groups, n_bins); half without events or non-events.

    `width`, shape (n_bins,): from `find_widths`. The estimate is that of `measure_bin_error`.
    """
    events, others = (
        BinnedLabel(
            fine.count[:, label].astype(float), fine.score[:, label] * UNIT, fine.square[:, label] * UNIT
        )
        for label in (1, 0)
    )
    return 0.5 + lean_within(events, others, width)


def join_cells(fine: BinnedScores, width: Array, step: NDArray[np.intp]) -> BinCells:
    """Join fine bins to stretches; `step`, shape (n_groups, n_bins), gives each its own, rising."""
    n_groups = len(fine.count)
    held, area = (np.zeros((n_groups, *shape)) for shape in ((2, N_STEPS), (N_STEPS,)))
    inside = measure_inside(fine, width)
    for group in range(n_groups):
        others, events = fine.count[group].astype(float)
        for label in (0, 1):
            held[group, label] = np.bincount(step[group], fine.count[group, label], N_STEPS)
        before = np.cumsum(others) - others
        start = np.cumsum(held[group, 0]) - held[group, 0]
        below = before - start[step[group]] + inside[group] * others
        area[group] = np.bincount(step[group], events * below, N_STEPS)
    share = rate(area, held[:, 0] * held[:, 1])
    return BinCells(held.astype(np.int64), np.where(np.isnan(share), 0.5, share))


def cut_bins(fine: BinnedScores) -> NDArray[np.intp]:
    """Cut each group's fine bins into stretches as `cut_steps` cuts scores, shape (n_groups, n_bins)."""
    step = np.zeros((len(fine.count), fine.count.shape[-1]), np.intp)
    for group, count in enumerate(fine.count):
        held = np.flatnonzero(count.sum(axis=0))
        if len(held) <= N_STEPS:
            step[group, held] = np.arange(len(held))
            continue
        before = np.cumsum(count, axis=1)[:, held] - count[:, held]
        sizes = count.sum(axis=1)
        share = (
            before.sum(axis=0) / sizes.sum() if not sizes.all() else (before / sizes[:, None]).mean(axis=0)
        )
        step[group, held] = np.minimum((share * N_STEPS).astype(np.intp), N_STEPS - 1)
    return np.maximum.accumulate(step, axis=1)


def pool_groups(fine: BinnedScores) -> BinnedScores:
    """Take all groups for one."""
    count, score, square = (part.sum(axis=0, keepdims=True) for part in (fine.count, fine.score, fine.square))
    return replace(fine, count=count, score=score, square=square)


def influence_bins(fine: BinnedScores, width: Array) -> AreaInfluence:
    """Find the area within each group and how far the records of each bin move it, see `area_influence`."""
    inside, (n_groups, _, n_bins) = measure_inside(fine, width), fine.count.shape
    others, events = np.moveaxis(fine.count.astype(float), 1, 0)
    n, m = others.sum(axis=1, keepdims=True), events.sum(axis=1, keepdims=True)
    below = np.cumsum(others, axis=1) - others + inside * others
    above = m - np.cumsum(events, axis=1) + inside * events
    areas = rate((events * below).sum(axis=1), (m * n)[:, 0])
    moved = [
        rate(rate(part, size) - areas[:, None], own) for part, size, own in ((above, m, n), (below, n, m))
    ]
    influence = np.nan_to_num(np.stack(moved, axis=1))
    times = fine.count.astype(float)
    outcome = np.broadcast_to(np.array([0, 1], np.int8)[:, None], fine.count.shape).ravel()
    codes = np.repeat(np.arange(n_groups), 2 * n_bins)
    parts = (influence.ravel(), outcome, codes, m[:, 0], n[:, 0], times.ravel())
    return AreaInfluence(areas, *parts, (times * influence**2).ravel())


def find_run_areas(fine: BinnedScores, width: Array) -> BinCells:
    """Join fine bins to their runs."""
    return join_cells(fine, width, np.broadcast_to(fine.runs, (len(fine.count), len(fine.runs))))
