"""Which group does a record belong to when two attributes are taken together?"""

import numpy as np

from auditbook.errors import InputError
from auditbook.records import Attribute


def cross_attributes(first: Attribute, second: Attribute) -> Attribute:
    """Take two attributes together: every pair of their groups is a group."""
    if len(first.codes) != len(second.codes):
        found = f"{first.name} has {len(first.codes)} records and {second.name} {len(second.codes)}"
        raise InputError(f"{found}: they must be the same records")
    names = [f"{one} x {other}" for one in first.groups for other in second.groups]
    if len(set(names)) < len(names):
        names = [f"{name} ({place})" for place, name in enumerate(names, start=1)]
    codes = first.codes.astype(np.intp) * len(second.groups) + second.codes
    return Attribute(f"{first.name} x {second.name}", tuple(names), codes)
