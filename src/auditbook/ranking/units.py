"""Which groups do the tables of this room list, and which units may be taken as independent?"""

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import settle_sites
from auditbook.records import Attribute, AuditRecords

WHOLE = "all"
"""Name of the attribute, and of its one group, that holds every record."""


def list_attributes(records: AuditRecords) -> tuple[Attribute, ...]:
    """List the attributes, after one that holds every record in one group."""
    return Attribute(WHOLE, (WHOLE,), np.zeros(len(records.outcome), np.intp)), *records.attributes


def find_site_units(records: AuditRecords) -> NDArray[np.intp] | None:
    """Find the position of each record's site, from `settle_sites`; None with fewer than two sites."""
    if records.site is None:
        return None
    site, n_sites = settle_sites(records.site, records.outcome)
    return site if n_sites > 1 else None
