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
    """The records of one part, sorted so that thresholds become counts.

    Attributes
    ----------
    cell : int array, shape (n_strata,)
        The cell of each stratum, whose threshold it has.
    others, events : tuple of float array, length n_strata
        The scores of its non-events and of its events, rising.
    attributes : tuple of str
        The attributes.
    groups : tuple of tuple of str
        Their groups.
    members : tuple of float array, each of shape (n_groups, n_strata)
        1 where the stratum belongs to the group.
    """

    cell: NDArray[np.intp]
    others: tuple[Array, ...]
    events: tuple[Array, ...]
    attributes: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    members: tuple[Array, ...]

    def count(self, thresholds: ArrayLike) -> Counts:
        """Count every stratum's records at its cell's threshold.

        Parameters
        ----------
        thresholds : float array, shape (..., n_cells)
            A record is selected when its score is at least its cell's.

        Returns
        -------
        int array, shape (..., n_strata, 4)
            Records in the order tp, fp, fn, tn.
        """
        table = np.asarray(thresholds, dtype=np.float64)
        counts = np.empty((*table.shape[:-1], len(self.cell), 4), dtype=np.int64)
        for place, cell in enumerate(self.cell):
            counts[..., place, :] = self.count_one(place, table[..., cell])
        return counts

    def count_one(self, place: int, thresholds: ArrayLike) -> Counts:
        """Count one stratum's records at some thresholds.

        Parameters
        ----------
        place : int
            Position of the stratum.
        thresholds : float array, shape (...)
            The thresholds.

        Returns
        -------
        int array, shape (..., 4)
            Records in the order tp, fp, fn, tn.
        """
        missed = np.searchsorted(self.events[place], thresholds, side="left")
        spared = np.searchsorted(self.others[place], thresholds, side="left")
        return np.stack(
            [len(self.events[place]) - missed, len(self.others[place]) - spared, missed, spared], axis=-1
        )

    def gather(self, counts: ArrayLike, attribute: int) -> Counts:
        """Add strata up to the groups of one attribute.

        Parameters
        ----------
        counts : int array, shape (..., n_strata, 4)
            Counts, or differences of counts, of the strata.
        attribute : int
            Position of the attribute.

        Returns
        -------
        int array, shape (..., n_groups, 4)
            The groups' counts.
        """
        added = self.members[attribute] @ np.asarray(counts, dtype=np.float64)
        return np.rint(added).astype(np.int64)


def sort_strata(records: AuditRecords, cells: JointCells) -> Strata:
    """Sort the scores of the first model by stratum and outcome.

    Parameters
    ----------
    records : AuditRecords
        The records of one part; attributes without their empty groups (see `settle_groups`).
    cells : JointCells
        Of the same records.

    Returns
    -------
    Strata
        Ready to be counted.

    Examples
    --------
    >>> from auditbook.mitigation.joint_cells import join_cells
    >>> from auditbook.records import Score
    >>> sex = Attribute("sex", ("F", "M"), np.array([0, 0, 1]))
    >>> score = Score("m", "probability", 0.5, np.array([0.2, 0.7, 0.6]))
    >>> records = AuditRecords(np.array([0, 1, 0], np.int8), (sex,), (score,))
    >>> sort_strata(records, join_cells([sex])).count([0.5, 0.9]).tolist()
    [[1, 0, 0, 1], [0, 0, 0, 1]]
    """
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
