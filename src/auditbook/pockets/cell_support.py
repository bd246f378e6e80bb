"""Does a cell (a pocket, or a group within it) hold enough to be tested, and if not, what is missing?

Nothing here reads an outcome: counts, units and predictions decide, so that no finding can steer what is
tested.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from auditbook.pocket_settings import PocketSettings, UnitKind

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """Records whose errors are averaged, and the units that they come from."""

    positions: NDArray[np.int64]  # shape (n,): The records
    units: NDArray[np.int64]  # shape (m,): Numbers of the units that hold one of them, increasing
    member: NDArray[np.int64]  # shape (n,): Position of each record's unit in `units`
    counts: Array  # shape (m,): Records of each unit

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.positions)

    @property
    def effective_units(self) -> float:
        """Number of units of equal size that would be as concentrated; 0 without records."""
        return float(self.n**2 / np.sum(self.counts**2)) if self.n else 0.0

    @property
    def largest_unit(self) -> float:
        """Largest share of the records that one unit holds; 0 without records."""
        return float(self.counts.max() / self.n) if self.n else 0.0


def gather_cell(positions: NDArray[np.integer], unit: NDArray[np.integer]) -> Cell:
    """Gather the units of a cell's records."""
    units, member, counts = np.unique(unit[positions], return_inverse=True, return_counts=True)
    return Cell(
        np.asarray(positions, np.int64),
        units.astype(np.int64),
        member.astype(np.int64),
        counts.astype(np.float64),
    )


def split_cells(codes: NDArray[np.integer], count: int, unit: NDArray[np.integer]) -> tuple[Cell, ...]:
    """Gather one cell for each code from 0 to count - 1; records with other codes belong to none."""
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(count + 1))
    return tuple(gather_cell(order[edges[k] : edges[k + 1]], unit) for k in range(count))


def list_shortfalls(
    cell: Cell,
    predictions: Sequence[Array],
    *,
    continuous: bool,
    unit_kind: UnitKind,
    settings: PocketSettings,
) -> list[str]:
    """Say what a cell has too little of."""
    if not cell.n:
        return ["no records"]
    found = []
    needed = settings.support_of(continuous=continuous)
    if cell.n < needed:
        found.append(f"{_count(cell.n, 'record')}, {needed} needed")
    if not continuous:
        found += _lack_events(cell, predictions, settings.support_events)
    if unit_kind != "record":
        found += _lack_units(cell, unit_kind, settings)
    return found


def _lack_events(cell: Cell, predictions: Sequence[Array], needed: int) -> list[str]:
    """Compare the expected events and non-events, the fewest of all models, with what is needed."""
    sums = [round(float(values[cell.positions].sum()), 9) for values in predictions]
    held = {"event": min(sums), "non-event": round(cell.n - max(sums), 9)}
    return [
        f"{_count(_below(number), f'expected {word}')}, {needed} needed"
        for word, number in held.items()
        if number < needed
    ]


def _lack_units(cell: Cell, noun: str, settings: PocketSettings) -> list[str]:
    """Compare the number and the concentration of units with what is needed."""
    found = []
    units, effective, largest = len(cell.units), round(cell.effective_units, 9), cell.largest_unit
    if units < settings.min_sites:
        found.append(f"{_count(units, noun)}, {settings.min_sites} needed")
    if effective < settings.min_effective_sites:
        found.append(
            f"{_count(_below(effective), f'effective {noun}')}, {settings.min_effective_sites:g} needed"
        )
    if largest > settings.largest_site:
        found.append(
            f"largest {noun} holds {ceil(round(largest * 1000, 6)) / 10:g} %, "
            f"at most {100 * settings.largest_site:g} %"
        )
    return found


def _below(number: float) -> float:
    """Round down to one decimal, so that what falls short never reads as enough."""
    return floor(round(number * 10, 6)) / 10


def _count(number: float, noun: str) -> str:
    """Write a number with its noun."""
    return f"{number:g} {noun}{'' if number == 1 else 's'}"
