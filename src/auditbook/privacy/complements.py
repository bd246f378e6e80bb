"""Which further cells have to be withheld so that none of the small ones follows by subtraction?

Cells hang together: those of all groups sum to a total that stands elsewhere, those of a cross to its parts.
What a reader knows is that system of linear equations with the shown cells filled in. A withheld cell is safe
where another filling of the withheld ones satisfies it too: where the null space of the system moves it.
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

    Withheld zeros count as known, so that each withheld cell can be more as well as less. Parts of a total
    that are together fewer than `smallest` are joined by another.
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
    alone = relations[np.count_nonzero(relations, axis=1) == 1]
    fixed = np.asarray(np.any(alone != 0, axis=0))
    if fixed.any():  # what stands alone is known, and then perhaps others
        fixed[~fixed] = _find_fixed(relations[:, ~fixed])
        return fixed
    if not relations.any():
        return np.zeros(relations.shape[1], bool)
    _, sizes, rows = np.linalg.svd(relations)
    null = rows[np.count_nonzero(sizes > NOTHING * max(relations.shape)) :]
    return np.asarray(np.abs(null).max(axis=0, initial=0.0) < NOTHING)


def _find_exposed(cells: Cells, hidden: Mask, small: Mask, smallest: int) -> list[int]:
    """List equations that give a cell away, or the few people of several together.

    Where a small cell follows, the equations with one withheld cell are the reason, at the end of a chain or
    its own; without any of these, all of its own are.
    """
    held = (cells.relations != 0) & hidden & (cells.values > 0)
    fixed = find_determined(cells, hidden) & small
    alone = np.flatnonzero((held.sum(axis=1) == 1) & fixed.any())
    own = np.flatnonzero(np.any(held & fixed, axis=1))
    together = np.where(hidden, cells.relations, 0) @ cells.values
    sums = np.all(np.where(hidden, cells.relations, 0) >= 0, axis=1)
    few = np.flatnonzero(sums & (together > 0) & (together < smallest))
    open_ones = [place for place in alone if _choose(cells, hidden, int(place), smallest) >= 0]
    return [int(place) for place in dict.fromkeys([*(open_ones or own), *few])]


def _choose(cells: Cells, hidden: Mask, relation: int, smallest: int) -> int:
    """Choose the next cell of an equation to withhold; -1 if there is none.

    It is the one that leaves the fewest of its equations with itself alone, of these the least that is not
    small.
    """
    candidates = np.flatnonzero((cells.relations[relation] != 0) & ~hidden & cells.free & (cells.values > 0))
    if not len(candidates):
        return -1
    empty = ~np.any((cells.relations != 0) & hidden & (cells.values > 0), axis=1)
    dangling = (cells.relations[:, candidates] != 0)[empty].sum(axis=0)
    sizes = cells.values[candidates]
    return int(candidates[np.lexsort((sizes, sizes < smallest, dangling))[0]])
