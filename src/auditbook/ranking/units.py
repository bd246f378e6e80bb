"""Which groups do the tables of this room list, and which units may be taken as independent?"""

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import (
    LARGEST_SHARE,
    LEAST_CLUSTERS,
    LEAST_EFFECTIVE,
    count_clusters,
    pair_clusters,
    settle_sites,
)
from auditbook.records import Attribute, AuditRecords

WHOLE = "all"
"""Name of the attribute, and of its one group, that holds every record."""


HELD = 1 << 24
"""Numbers that the placements of all units may take; more units are put together at random."""


def list_attributes(records: AuditRecords) -> tuple[Attribute, ...]:
    """List the attributes, after one that holds every record in one group."""
    return Attribute(WHOLE, (WHOLE,), np.zeros(len(records.outcome), np.intp)), *records.attributes


def find_site_units(records: AuditRecords) -> NDArray[np.intp] | None:
    """Find the position of each record's site, from `settle_sites`; None with fewer than two sites."""
    if records.site is None:
        return None
    site, n_sites = settle_sites(records.site, records.outcome)
    return site if n_sites > 1 else None


def find_units(records: AuditRecords, n_groups: int) -> NDArray[np.intp] | None:
    """Find the position of each record's unit, such as a patient; None where each record is its own.

    Where there are too many to hold, units are put together into random groups of units: their variance is
    as unbiased (Wolter 2007, doi:10.1007/978-0-387-35099-8, chapter 2).
    """
    if records.unit is None:
        return None
    unit, n_units = settle_sites(records.unit, records.outcome)
    if n_units == len(unit):
        return None
    return np.asarray(unit % max(HELD // n_groups**2, 200))


def explain_sites(site: NDArray[np.integer] | None, attribute: Attribute) -> list[str]:
    """Say of every group why it has no figure by sites; blank where it has one, or without sites.

    Examples
    --------
    >>> explain_sites(np.arange(30) % 3, Attribute("sex", ("F",), np.zeros(30, int)))
    ['3 sites, 15 needed']
    """
    if site is None:
        return [""] * len(attribute.groups)
    pairs = pair_clusters(site, attribute.codes, len(attribute.groups))
    count, effective, largest = (
        np.nan_to_num(part) for part in count_clusters(pairs, np.bincount(pairs.place).astype(float))
    )
    numbers = zip(count.astype(int).tolist(), effective.tolist(), largest.tolist(), strict=True)
    return [_explain_sites(*each) for each in numbers]


def _explain_sites(sites: int, effective: float, largest: float) -> str:
    """Say what one group lacks for a figure by sites."""
    if sites < LEAST_CLUSTERS:
        return f"{sites} {'site' if sites == 1 else 'sites'}, {LEAST_CLUSTERS} needed"
    if effective < LEAST_EFFECTIVE:
        return f"{np.floor(10 * effective) / 10:.1f} effective sites, {LEAST_EFFECTIVE:g} needed"
    if largest > LARGEST_SHARE:
        return (
            f"one site holds {np.ceil(100 * largest):.0f}% of the records, {100 * LARGEST_SHARE:.0f}% at most"
        )
    return ""
