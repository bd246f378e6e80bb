"""What does the difference of two rates give away: which events of which records can have made it?"""

import numpy as np

from auditbook.privacy.groups import is_small

NEAR = 1e-3
"""Within this a number of events is a whole one, the difference being read from a file of ten digits."""


def tells_few(difference: float, n: float, n_other: float, smallest: int) -> bool:
    """Tell whether a difference of two rates can be that of few events, or of few others, in either group.

    Two groups of 12 and 35 records have few pairs of events with the same difference, mostly one. Where no
    pair of whole numbers has it, as with weights, nothing follows from it.
    """
    if not np.isfinite([difference, n, n_other]).all():
        return False
    events = np.arange(n + 1)
    others = (events / n - difference) * n_other
    whole = np.rint(others)
    can_be = (np.abs(others - whole) < NEAR) & (whole >= 0) & (whole <= n_other)
    parts = (events, n - events, whole, n_other - whole)
    return bool((can_be & np.any([is_small(part, smallest) for part in parts], axis=0)).any())
