"""Which groups do the tables of this room list, and which units may be taken as independent?"""

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import Clusters, explain_fence, pair_clusters, settle_sites, settle_units
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
    unit = settle_units(records)
    return None if unit is None else np.asarray(unit % max(HELD // n_groups**2, 200))


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
    return explain_fence(pairs, np.bincount(pairs.place).astype(float))


def explain_site_counts(held: NDArray[np.integer]) -> list[str]:
    """Do the same from the records of each site and group, shape (n_sites, n_groups).

    >>> explain_site_counts(np.full((3, 1), 10))
    ['3 sites, 15 needed']
    """
    site, group = np.nonzero(held)
    pairs = Clusters(np.zeros(0, np.intp), site, group, held.shape[1])
    return explain_fence(pairs, held[site, group].astype(float))
