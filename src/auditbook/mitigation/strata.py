"""How many records would each threshold select, without touching a record again?

Every cell of people has its own threshold. The groups of all attributes are unions of finer strata, the
combinations of a cell with the groups of the attributes that are not crossed. Once each stratum's scores are
sorted, a threshold is turned into counts by one look-up.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence import Counts
from auditbook.mitigation.joint_cells import JointCells, find_rows
from auditbook.records import Attribute, AuditRecords

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Strata:
    """The records of one part, sorted so that thresholds become counts."""

    cell: NDArray[np.intp]  # shape (n_strata,): The cell of each stratum, whose threshold it has
    others: tuple[Array, ...]  # The scores of its non-events, rising
    events: tuple[Array, ...]  # The scores of its events, rising
    attributes: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]  # Their groups
    members: tuple[Array, ...]  # shape (n_groups, n_strata): 1 where the stratum belongs to the group

    def count(self, thresholds: ArrayLike) -> Counts:
        """Count every stratum's records at its cell's threshold."""
        table = np.asarray(thresholds, dtype=np.float64)
        counts = np.empty((*table.shape[:-1], len(self.cell), 4), dtype=np.int64)
        for place, cell in enumerate(self.cell):
            counts[..., place, :] = self.count_one(place, table[..., cell])
        return counts

    def count_one(self, place: int, thresholds: ArrayLike) -> Counts:
        """Count one stratum's records at some thresholds."""
        missed = np.searchsorted(self.events[place], thresholds, side="left")
        spared = np.searchsorted(self.others[place], thresholds, side="left")
        return np.stack(
            [len(self.events[place]) - missed, len(self.others[place]) - spared, missed, spared], axis=-1
        )

    def gather(self, counts: ArrayLike, attribute: int) -> Counts:
        """Add strata up to the groups of one attribute."""
        added = self.members[attribute] @ np.asarray(counts, dtype=np.float64)
        return np.rint(added).astype(np.int64)


def sort_strata(records: AuditRecords, cells: JointCells) -> Strata:
    """Sort the scores of the first model by stratum and outcome."""
    keys, stratum = _find_strata(cells.codes, records.attributes)
    values, outcome = records.scores[0].values, np.asarray(records.outcome)
    order = np.lexsort((values, outcome, stratum))
    place = 2 * stratum[order] + outcome[order]
    ends = np.searchsorted(place, np.arange(2 * len(keys) + 1))
    ranked = np.asarray(values, dtype=np.float64)[order]
    blocks = [ranked[low:high] for low, high in itertools.pairwise(ends)]
    members = tuple(
        (np.arange(len(attribute.groups))[:, None] == keys[:, 1 + place]).astype(float)
        for place, attribute in enumerate(records.attributes)
    )
    return Strata(
        cell=keys[:, 0],
        others=tuple(blocks[0::2]),
        events=tuple(blocks[1::2]),
        attributes=tuple(attribute.name for attribute in records.attributes),
        groups=tuple(attribute.groups for attribute in records.attributes),
        members=members,
    )


def _find_strata(
    codes: NDArray[np.intp], attributes: Sequence[Attribute]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the combinations of cell and groups that hold records, and each record's place among them."""
    columns = [codes, *(attribute.codes.astype(np.intp) for attribute in attributes)]
    return find_rows(columns, [int(codes.max()) + 1, *(len(attribute.groups) for attribute in attributes)])
