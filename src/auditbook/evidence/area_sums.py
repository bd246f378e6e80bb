"""Which numbers does the area under the ROC curve of each group need, in the audit and in a resample?"""

import typing
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence.areas import group_auc
from auditbook.evidence.counts import Counts, rate
from auditbook.evidence.placements import ScoreLevels

N_STEPS = 64
"""Stretches into which each group's scores are cut; groups with no more distinct scores lose nothing."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AreaSums:
    """Events and non-events of each group by stretch of score; what AUC parity is computed from."""

    events: Array  # shape (..., n_groups, 64): Events in each of the stretches, by rising score
    others: Array  # Non-events likewise
    inside: Array  # Area under the ROC curve within each stretch; 0.5 where it lacks events or non-events

    def strata(self) -> Array:
        """Events and non-events of each group, shape (..., n_groups, 2)."""
        return np.stack([self.events.sum(axis=-1), self.others.sum(axis=-1)], axis=-1)


def find_areas(sums: AreaSums) -> Array:
    r"""Find the area under the ROC curve within each group.

    .. math:: A = \frac{1}{mn} \sum_b e_b \Bigl(\sum_{c < b} o_c + a_b o_b\Bigr)

    over stretches b with :math:`e_b` events, :math:`o_b` non-events and the area :math:`a_b` inside.
    """
    below = np.cumsum(sums.others, axis=-1) - (1 - sums.inside) * sums.others
    held = sums.events.sum(axis=-1) * sums.others.sum(axis=-1)
    return rate((sums.events * below).sum(axis=-1), held)


class HeldCells(typing.Protocol):
    """Records by group, label and stretch of score, wherever they were counted."""

    @property
    def held(self) -> Counts:
        """Records, shape (n_groups, 2, 64); label 0 is the non-event."""

    @property
    def inside(self) -> Array:
        """Area within each stretch, shape (n_groups, 64)."""

    def total(self) -> AreaSums:
        """Add up all records, leading shape ()."""

    def sums(self, drawn: ArrayLike) -> AreaSums:
        """Take counts of shape (..., n_groups, 2, 64) for those of resamples of these records."""


def take_counts(drawn: ArrayLike, inside: Array) -> AreaSums:
    """Take counts of shape (..., n_groups, 2, 64) for those of resamples."""
    counts = np.asarray(drawn, float)
    return AreaSums(counts[..., 1, :], counts[..., 0, :], inside)


@dataclass(frozen=True)
class AreaCells:
    """One model's records by group, label and stretch of score."""

    held: Counts  # shape (n_groups, 2, 64): Records; label 0 is the non-event
    inside: Array  # shape (n_groups, 64): As in `AreaSums`
    levels: ScoreLevels  # The ordered records
    group: NDArray[np.intp]  # shape (n,): Group of each ordered record
    step: NDArray[np.intp]  # shape (n,): Stretch of each ordered record

    def total(self) -> AreaSums:
        """Add up all records, leading shape ()."""
        return self.sums(self.held)

    def sums(self, drawn: ArrayLike) -> AreaSums:
        """Take counts of shape (..., n_groups, 2, 64) for those of resamples of these records."""
        return take_counts(drawn, self.inside)

    def at_sites(self, site: ArrayLike, n_sites: int) -> Counts:
        """Count the records of each site, shape (n_sites, n_groups, 2, 64)."""
        where = np.asarray(site)[self.levels.order].astype(np.intp)
        shape = (n_sites, *self.held.shape)
        cell = ((where * shape[1] + self.group) * 2 + self.levels.outcome) * N_STEPS + self.step
        return np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)


def cut_steps(levels: ScoreLevels, codes: ArrayLike, n_groups: int) -> AreaCells:
    """Cut each group's scores into stretches.

    Each stretch holds about 1/64 of a group's records, its events and its non-events weighing half each.
    Equal scores stay together, and a group with at most 64 distinct scores gets a stretch for each.
    """
    group = np.asarray(codes)[levels.order].astype(np.intp)
    label = levels.outcome.astype(np.intp)
    step = np.zeros(len(group), np.intp)
    for one in range(n_groups):
        mine = np.flatnonzero(group == one)
        if len(mine):
            step[mine] = _cut(levels.level[mine], label[mine])
    cell = (group * 2 + label) * N_STEPS + step
    held = np.bincount(cell, minlength=n_groups * 2 * N_STEPS).reshape(n_groups, 2, N_STEPS)
    inside = _inside(levels, group * N_STEPS + step, n_groups * N_STEPS)
    return AreaCells(held, inside.reshape(n_groups, N_STEPS), levels, group, step)


def _cut(level: NDArray[np.int64], label: NDArray[np.intp]) -> NDArray[np.intp]:
    """Give each of one group's ordered records the number of its stretch."""
    first = np.flatnonzero(np.diff(level, prepend=-1))
    distinct = np.repeat(np.arange(len(first)), np.diff(first, append=len(level)))
    if len(first) <= N_STEPS:
        return distinct
    sizes = np.bincount(label, minlength=2)
    before = [np.cumsum(label == one) - (label == one) for one in (0, 1)]
    twice = [part[first] * (N_STEPS * int(sizes[1 - place])) for place, part in enumerate(before)]
    step = (
        (twice[0] + twice[1]) // (2 * int(sizes[0]) * int(sizes[1]))
        if sizes.all()
        else first * N_STEPS // len(level)
    )
    return np.minimum(step, N_STEPS - 1)[distinct]


def _inside(levels: ScoreLevels, cell: NDArray[np.intp], n_cells: int) -> Array:
    """Area within each cell; 0.5 where there is none."""
    area = group_auc(levels.outcome, levels.level, cell, n_cells)
    return np.where(np.isnan(area), 0.5, area)
