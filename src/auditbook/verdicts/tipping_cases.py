"""Which groups are asked about, one at a time, and where may their missed events hide?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import FN, TP
from auditbook.verdicts.unrecorded import AMONG, most_missed, part_selected, record_missed

Array = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Cases:
    """One group at a time that missed events, under every model: by model, group and `AMONG`; shape (n,)."""

    model: Places
    group: Places
    among: Places  # Position in `AMONG`
    counts: Array  # shape (n, 4): As recorded
    selected: Array  # Part of the missed events that was selected
    most: Array  # Largest share that can have gone unrecorded; nan where there is no event

    def count(self, share: Array, place: Places) -> Array:
        """Count the groups of some cases anew, shape (k, 4)."""
        return record_missed(self.counts[place], share, self.selected[place])

    @property
    def events(self) -> Array:
        """Events that were recorded."""
        return self.counts[:, TP] + self.counts[:, FN]


def list_cases(counts: NDArray[np.int64], *, kept: int) -> Cases:
    """List the cases of counts of shape (n_models, n_groups, 4); `kept` as in `most_missed`."""
    n_models, n_groups = counts.shape[:2]
    model, group, among = np.indices((n_models, n_groups, len(AMONG))).reshape(3, -1)
    selected = np.stack([part_selected(counts, one) for one in AMONG], axis=-1)
    most = np.stack([most_missed(counts, one, kept=kept) for one in AMONG], axis=-1)
    return Cases(model, group, among, counts[model, group].astype(float), selected.ravel(), most.ravel())
