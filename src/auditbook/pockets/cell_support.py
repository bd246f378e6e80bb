"""Does a cell (a pocket, or a group within it) hold enough to be tested, and if not, what is missing?

Nothing here reads an outcome: counts, units and predictions decide, so that no finding can steer what is
tested.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import Shortfall
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


KINDS = {"records": "records", "expected events": "events", "expected non-events": "events"}
"""What more records of the same kind would bring; anything else is a matter of the units."""


def shortfall_kind(short: Shortfall) -> str:
    """Tell whether records, events or units are wanting."""
    return KINDS.get(short.what, "units")


def growth_needed(short: Shortfall) -> float:
    """How many times as many records of the same kind would do; infinite where they would not."""
    return short.needed / short.held if short.held and short.what in KINDS else inf


def list_shortfalls(
    cell: Cell,
    predictions: Sequence[Array],
    *,
    continuous: bool,
    unit_kind: UnitKind,
    settings: PocketSettings,
    group: str = "",
) -> list[Shortfall]:
    r"""List what a cell has too little of: the support rule.

    .. math:: n \ge 100, \quad \sum_i s_i \ge 10, \quad \sum_i (1 - s_i) \ge 10, \quad U \ge 15, \quad
              \frac{n^2}{\sum_u n_u^2} \ge 10, \quad \max_u \frac{n_u}{n} \le 0.20

    by default, over the records i and the units u of the cell. A continuous outcome asks for 50 records and
    no events; only where a unit holds several records are the units asked about.

    Parameters
    ----------
    cell : Cell
        A pocket, or one group in it.
    predictions : sequence of float64 arrays, shape (n_records,)
        Of every model whose errors are compared; the least of their sums counts.
    continuous : bool
        Whether the outcome is a number.
    unit_kind : {"record", "site", "unit"}
        What a unit is.
    settings : PocketSettings
        The bounds.
    group : str
        Whose cell it is, in a gap.

    Returns
    -------
    list of Shortfall
        Empty when the cell is tested. Of the share of one unit, which can only be too large, `needed` is the
        most that is allowed.
    """
    limits: list[tuple[str, float, float]] = [("records", cell.n, settings.support_of(continuous=continuous))]
    if cell.n and not continuous:
        limits += _expect_events(cell, predictions, settings.support_events)
    if cell.n and unit_kind != "record":
        limits += [
            ("units", len(cell.units), settings.min_sites),
            ("effective units", round(cell.effective_units, 9), settings.min_effective_sites),
        ]
    found = [Shortfall(*limit, group) for limit in limits if limit[1] < limit[2] or not cell.n]
    if unit_kind != "record" and cell.largest_unit > settings.largest_site:
        found.append(Shortfall("share of one unit", cell.largest_unit, settings.largest_site, group))
    return found


def _expect_events(cell: Cell, predictions: Sequence[Array], needed: float) -> list[tuple[str, float, float]]:
    """Sum the expected events and non-events, the fewest of all models, beside what is needed."""
    sums = [float(values[cell.positions].sum()) for values in predictions]
    return [
        ("expected events", round(min(sums), 9), needed),
        ("expected non-events", round(cell.n - round(max(sums), 9), 9), needed),
    ]


def tabulate_shortfalls(shortfalls: Sequence[Shortfall]) -> dict[str, Any]:
    """Lay shortfalls out as columns of ``pocket_errors.csv``: the scarcest, and which kinds there are."""
    kinds = {shortfall_kind(each) for each in shortfalls}
    row: dict[str, Any] = {"lacking": "", "lacking_group": "", "held": nan, "needed": nan, "growth": nan}
    if shortfalls:
        scarcest = max(shortfalls, key=growth_needed)
        growth = growth_needed(scarcest)
        row = {"lacking": scarcest.what, "lacking_group": scarcest.group}
        row |= {"held": float(scarcest.held), "needed": float(scarcest.needed)}
        row["growth"] = growth if isfinite(growth) else nan
    return row | {f"lacks_{kind}": kind in kinds for kind in ("records", "events", "units")}


def write_reason(shortfalls: Sequence[Shortfall], unit_kind: UnitKind) -> str:
    """Write what is lacking, with the group's name in front where there are two; blank when nothing is."""
    by_group: dict[str, list[str]] = {}
    for each in shortfalls:
        by_group.setdefault(each.group, []).append(_write_shortfall(each, unit_kind))
    return "; ".join(
        f"{group}: {' and '.join(parts)}" if group else " and ".join(parts)
        for group, parts in by_group.items()
    )


def _write_shortfall(short: Shortfall, noun: UnitKind) -> str:
    """Write one shortfall; what is held is rounded so that it never reads as enough."""
    if short.what == "share of one unit":
        held = ceil(round(short.held * 1000, 6)) / 10
        return f"largest {noun} holds {held:g} %, at most {100 * short.needed:g} %"
    if not short.held and short.what == "records":
        return "no records"
    held = floor(round(short.held * 10, 6)) / 10
    words = short.what.replace("unit", noun)
    return f"{held:.12g} {words[:-1] if held == 1 else words}, {short.needed:.12g} needed"
