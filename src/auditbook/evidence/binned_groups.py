"""What do bins of scores tell of one model's records in the groups of an attribute?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.bin_error import BinError, BinnedLabel, measure_bin_error
from auditbook.evidence.counts import FN, FP, TN, TP, rate
from auditbook.evidence.placements import PlacementSums, sum_bin_placements
from auditbook.evidence.tally import UNIT, TalliedAttribute, Tally, find_widths

Ints = NDArray[np.int64]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class BinnedGroups:
    """One model's records in some groups, by label and bin of score."""

    held: Ints  # shape (n_groups, 2, n_bins)
    score: Ints  # Sum of the scores, or of the places within bins, in units of 2^-32
    square: Ints  # Sum of their squares
    width: NDArray[np.float64]  # shape (n_bins,)
    runs: NDArray[np.intp]  # shape (n_bins,): Run of each bin in the steps of sites and units

    def pick(self, group: int) -> "BinnedGroups":
        """Take one group."""
        one = slice(group, group + 1)
        parts = self.held[one], self.score[one], self.square[one]
        return BinnedGroups(*parts, self.width, self.runs)

    def together(self) -> "BinnedGroups":
        """Take all groups for one."""
        held, score, square = (
            part.sum(axis=0, keepdims=True) for part in (self.held, self.score, self.square)
        )
        return BinnedGroups(held, score, square, self.width, self.runs)

    def label(self, label: int) -> BinnedLabel:
        """Take events (1) or non-events (0)."""
        return BinnedLabel(
            self.held[:, label].astype(float), self.score[:, label] * UNIT, self.square[:, label] * UNIT
        )


def bin_groups(tally: Tally, place: int, attribute: TalliedAttribute, kept: Sequence[int]) -> BinnedGroups:
    """Take the bins of one model; decisions have two, which hold one score each."""
    fine, chosen = attribute.fine[place], list(kept)
    if fine is None:
        held = split_decisions(attribute.counts[place].sum(axis=0)[chosen])
        blank = np.zeros_like(held)
        return BinnedGroups(held, blank, blank, np.full(2, np.inf), np.arange(2))
    parts = fine.count[chosen], fine.score[chosen], fine.square[chosen]
    return BinnedGroups(*parts, find_widths(tally.models[place].kind, fine.edges), fine.runs)


def split_decisions(counts: Ints) -> Ints:
    """Write tp, fp, fn, tn as records by label and decision, shape (..., 2, 2), those not selected first."""
    return np.stack([counts[..., [TN, FP]], counts[..., [FN, TP]]], axis=-2)


def place_groups(groups: BinnedGroups) -> tuple[PlacementSums, BinError]:
    """Sum the placements of records that tie within their bins, and find which way the bins lean."""
    error = measure_bin_error(groups.label(1), groups.label(0), groups.width)
    return sum_bin_placements(groups.held), error


def find_within(groups: BinnedGroups) -> Array:
    """Find the area within each group, shape (n_groups,); nan without events or without non-events."""
    count = len(groups.held)
    found = [place_groups(groups.pick(one)) for one in range(count)]
    tied = [rate(sums.event_sum, 2 * sums.events * sums.others)[0, 0] for sums, _ in found]
    return np.clip([area + error.lean[0, 0] for area, (_, error) in zip(tied, found, strict=True)], 0, 1)


def sum_values(tally: Tally, place: int, attribute: TalliedAttribute, kept: Sequence[int]) -> Array:
    """Sum the scores of each group and label, shape (n_groups, 2), in units of the score.

    nan for ranks of which some lie beyond the outermost edges, where nothing but their number is known.
    """
    groups, fine = bin_groups(tally, place, attribute, kept), attribute.fine[place]
    if fine is None:
        return groups.held[..., 1].astype(float)
    if tally.models[place].kind == "probability":
        return np.asarray(groups.score.sum(axis=-1) * UNIT)
    low = np.concatenate([fine.edges[:1], fine.edges])
    beyond = groups.held[..., 0] + (groups.score[..., -1] > 0)
    span = np.where(np.isinf(groups.width), 0, np.diff(low, append=low[-1:]))
    total = (groups.held * low + groups.score * UNIT * span).sum(axis=-1)
    return np.where(beyond > 0, np.nan, total)


def list_settled(attribute: TalliedAttribute) -> list[int]:
    """List the positions of the groups that hold records in the order of `settle_groups`, smallest first."""
    counts = attribute.counts[0].sum(axis=0)
    held, events = counts.sum(axis=-1), counts[:, [TP, FN]].sum(axis=-1)
    return sorted(np.flatnonzero(held).tolist(), key=lambda g: (held[g], events[g], attribute.groups[g]))


def take_steps(attribute: TalliedAttribute, place: int, kept: list[int], *, units: bool = False) -> Ints:
    """Take the records of each part by label and run of bins; decisions have two runs."""
    parts = attribute.sites if not units or attribute.units is None else attribute.units.bundles
    if attribute.fine[place] is None:
        return split_decisions(parts.counts[place][:, kept])
    return parts.steps[place][:, kept]
