"""What are the areas within and across groups where only counts and bins of scores are left?"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import (
    BinnedGroups,
    SiteSums,
    TalliedAttribute,
    Tally,
    bin_groups,
    list_settled,
    place_groups,
    place_parts,
    take_steps,
)
from auditbook.ranking.matrix import AucMatrix, share_matrix, share_sites
from auditbook.ranking.measured import MeasuredAreas
from auditbook.ranking.units import explain_site_counts
from auditbook.records import Attribute

Ints = NDArray[np.int64]

NO_CODES = np.zeros(0, np.intp)


def bin_matrix(groups: BinnedGroups, steps: Ints | None = None) -> AucMatrix:
    """Find all areas of one model from bins, with those of parts of shape (n_parts, n_groups, 2, n_runs).

    Within a bin events and non-events are placed by their mean scores; see `measure_bin_error`.
    """
    placed, bins = place_groups(groups)
    tied = share_matrix(placed)
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
        bin_matrix(groups, take_steps(attribute, place, kept) if sited else None),
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
    return bin_matrix(groups, take_steps(attribute, place, kept, units=True))
