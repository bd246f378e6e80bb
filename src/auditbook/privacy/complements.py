"""Which further cells have to be withheld so that none of the small ones follows by subtraction?

Cells hang together: those of all groups sum to a total that stands elsewhere, those of a cross to its parts. What a
reader knows is that system of linear equations with the shown cells filled in. A withheld cell is safe where some
other filling of the withheld ones satisfies it too, that is where the null space of the system moves it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
NOTHING = 1e-9
"""What the null space moves by less than this, it does not move."""


@dataclass(frozen=True)
class Cells:
    """Counts of people, and the equations that tie them to each other and to what is known."""

    values: Array  # shape (n,)
    relations: Array  # shape (m, n): Coefficients; the right-hand sides are known, whatever they are
    free: Mask  # shape (n,): May be withheld; the others stand somewhere in any case


def withhold(cells: Cells, small: Mask, smallest: int) -> Mask:
    """Withhold cells, and as many others as it takes for none of them to follow from what is shown.

    Withheld zeros count as known, so that each withheld cell can be more as well as less. Parts of a total that are
    together fewer than `smallest` are joined by another.
    """
    hidden = small.copy()
    while True:
        exposed = _find_exposed(cells, hidden, small, smallest)
        further = {_choose(cells, hidden, place, smallest) for place in exposed} - {-1}
        if not further:
            return hidden
        hidden[list(further)] = True


def find_determined(cells: Cells, hidden: Mask) -> Mask:
    """Tell which withheld cells follow from those that are shown, shape (n,)."""
    moving = hidden & (cells.values > 0)
    found = np.zeros(len(hidden), bool)
    if moving.any():
        part = cells.relations[:, moving]
        found[moving] = _find_fixed(part[np.any(part != 0, axis=1)])
    return found


def _find_fixed(relations: Array) -> Mask:
    """Tell which unknowns no solution of the homogeneous system moves."""
    if not len(relations):
        return np.zeros(relations.shape[1], bool)
    alone = relations[np.count_nonzero(relations, axis=1) == 1]
    fixed = np.asarray(np.any(alone != 0, axis=0))
    if fixed.any():
        return fixed
    _, sizes, rows = np.linalg.svd(relations)
    null = rows[np.count_nonzero(sizes > NOTHING * max(relations.shape)) :]
    return np.asarray(np.abs(null).max(axis=0, initial=0.0) < NOTHING)


def _find_exposed(cells: Cells, hidden: Mask, small: Mask, smallest: int) -> list[int]:
    """List equations that give a cell away, or the few people of several together."""
    fixed = find_determined(cells, hidden) & small
    touched = [np.flatnonzero(cells.relations[:, place]) for place in np.flatnonzero(fixed)]
    together = np.where(hidden, cells.relations, 0) @ cells.values
    sums = np.all(np.where(hidden, cells.relations, 0) >= 0, axis=1)
    few = np.flatnonzero(sums & (together > 0) & (together < smallest))
    return [*dict.fromkeys([place for places in touched for place in places] + few.tolist())]


def _choose(cells: Cells, hidden: Mask, relation: int, smallest: int) -> int:
    """Choose the next cell of an equation to withhold: the smallest that is no small one; -1 if there is none."""
    candidates = np.flatnonzero((cells.relations[relation] != 0) & ~hidden & cells.free & (cells.values > 0))
    if not len(candidates):
        return -1
    sizes = cells.values[candidates]
    return int(candidates[np.lexsort((sizes, sizes < smallest))[0]])
