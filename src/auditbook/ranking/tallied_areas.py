"""What are the areas within and across groups where only counts and bins of scores are left?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import (
    FN,
    FP,
    TN,
    TP,
    UNIT,
    BinnedLabel,
    BinnedScores,
    SiteSums,
    TalliedAttribute,
    TalliedModel,
    Tally,
    measure_bin_error,
    place_parts,
    sum_bin_placements,
)
from auditbook.ranking.matrix import AucMatrix, share_matrix, share_sites
from auditbook.ranking.measured import MeasuredAreas
from auditbook.ranking.units import explain_site_counts
from auditbook.records import Attribute

Ints = NDArray[np.int64]

NO_CODES = np.zeros(0, np.intp)


@dataclass(frozen=True)
class BinnedGroups:
    """One model's records in some groups, by label and bin of score."""

    held: Ints  # shape (n_groups, 2, n_bins)
    score: Ints  # Sum of the scores, or of the places within bins, in units of 2^-32
    square: Ints  # Sum of their squares
    width: NDArray[np.float64]  # shape (n_bins,)
    runs: NDArray[np.intp]  # shape (n_bins,): Run of each bin in the steps of sites and units

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
    return BinnedGroups(*parts, find_widths(tally.models[place], fine), fine.runs)


def split_decisions(counts: Ints) -> Ints:
    """Write tp, fp, fn, tn as records by label and decision, shape (..., 2, 2), those not selected first."""
    return np.stack([counts[..., [TN, FP]], counts[..., [FN, TP]]], axis=-2)


def find_widths(model: TalliedModel, fine: BinnedScores) -> NDArray[np.float64]:
    """Find the widths of the bins, in the unit that places within them are summed in."""
    if model.kind == "probability":
        return np.diff(fine.edges, prepend=0.0, append=1.0)
    width = np.ones(len(fine.edges) + 1)
    width[[0, -1]] = np.inf
    return width


def bin_matrix(groups: BinnedGroups, steps: Ints | None = None) -> AucMatrix:
    """Find all areas of one model from bins, with those of parts of shape (n_parts, n_groups, 2, n_runs).

    Within a bin events and non-events are placed by their mean scores; see `measure_bin_error`.
    """
    tied = share_matrix(sum_bin_placements(groups.held))
    bins = measure_bin_error(groups.label(1), groups.label(0), groups.width)
    lean = np.nan_to_num(bins.lean)
    by_part = None
    if steps is not None and len(steps) > 1:
        sums = share_sites(place_parts(groups.held, steps, groups.runs), tied.events, tied.others)
        by_part = _lean_parts(sums, lean)
    auc = np.clip(tied.auc + lean, 0, 1)
    return replace(tied, auc=auc, by_site=by_part, bins=bins)


def _lean_parts(sums: SiteSums, lean: NDArray[np.float64]) -> SiteSums:
    """Move the placements of all parts as the areas are moved."""
    return replace(
        sums,
        event_sum=sums.event_sum + sums.events[:, :, None] * lean,
        other_sum=sums.other_sum + sums.others[:, :, None] * lean.T,
    )


TENTH = 0.1
"""Share of a standard error that bins may hide without a word."""


def write_bin_note(bound: float, spread: float, se: float) -> str:
    """Say that bins can hide more than a tenth of a standard error; blank where they cannot.

    >>> write_bin_note(0.003, 0.00001, 0.01)
    'read from score bins: off by at most 0.003, by about 0.00001 if the records of a bin stand at random'
    >>> write_bin_note(0.0001, 0.00001, 0.01)
    ''
    """
    if not bound > (TENTH * se if se > 0 else 0):
        return ""
    most, usual = (np.format_float_positional(part, 1, fractional=False) for part in (bound, spread))
    about = f"off by at most {most}, by about {usual} if the records of a bin stand at random"
    return f"read from score bins: {about}"


def list_settled(attribute: TalliedAttribute) -> list[int]:
    """List the positions of the groups that hold records in the order of `settle_groups`, smallest first."""
    counts = attribute.counts[0].sum(axis=0)
    held, events = counts.sum(axis=-1), counts[:, [TP, FN]].sum(axis=-1)
    return sorted(np.flatnonzero(held).tolist(), key=lambda g: (held[g], events[g], attribute.groups[g]))


def measure_tallied_areas(tally: Tally) -> list[MeasuredAreas]:
    """Find the AUC matrix of every attribute under every model from counts and bins."""
    return [
        _measure(tally, place, attribute)
        for place in range(len(tally.models))
        for attribute in tally.attributes
    ]


def _measure(tally: Tally, place: int, attribute: TalliedAttribute) -> MeasuredAreas:
    """Find the areas of one attribute under one model, by sites and by units where there are any."""
    kept = list_settled(attribute)
    groups = bin_groups(tally, place, attribute, kept)
    sited = len(tally.sites) > 1
    at_site = attribute.counts[0].sum(axis=-1)[:, kept]
    lacks = explain_site_counts(at_site) if sited else [""] * len(kept)
    whole = explain_site_counts(at_site.sum(axis=1)[:, None])[0] if sited else ""
    declared = Attribute(attribute.name, attribute.groups, NO_CODES, attribute.reference)
    settled = replace(declared, groups=tuple(attribute.groups[one] for one in kept))
    return MeasuredAreas(
        tally.models[place].model,
        declared,
        settled,
        bin_matrix(groups, _take_steps(attribute, place, kept) if sited else None),
        _measure_units(tally, groups, attribute, place, kept),
        tuple(lacks),
        whole,
    )


def _measure_units(
    tally: Tally, groups: BinnedGroups, attribute: TalliedAttribute, place: int, kept: list[int]
) -> AucMatrix | None:
    """Find the areas with bundles of units as the independent ones; None where each record is its own."""
    if attribute.units is None or attribute.units.number == tally.rows:
        return None
    return bin_matrix(groups, _take_steps(attribute, place, kept, units=True))


def _take_steps(attribute: TalliedAttribute, place: int, kept: list[int], *, units: bool = False) -> Ints:
    """Take the records of each part by label and run of bins; decisions have two runs."""
    parts = attribute.sites if not units or attribute.units is None else attribute.units.bundles
    if attribute.fine[place] is None:
        return split_decisions(parts.counts[place][:, kept])
    return parts.steps[place][:, kept]
