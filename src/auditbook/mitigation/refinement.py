"""Which small moves of one cell's threshold at a time make the verdicts more stable and break nothing?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import accuracy
from auditbook.mitigation.constraint import Constraint, parity_ratios
from auditbook.mitigation.flip_objective import FlipObjective
from auditbook.mitigation.strata import Strata
from auditbook.mitigation.thresholds import FEWEST_RECORDS, clip_thresholds

STEPS = (-0.05, -0.02, -0.01, 0.01, 0.02, 0.05)
"""By how much a move shifts a threshold (ours; the paper does not say)."""
MOST_MOVES = 200
"""The search ends after so many kept moves (ours)."""
BETTER = 1e-9
"""A flip rate is lower when it is lower by more than this."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Refinement:
    """Thresholds after the moves that were kept."""

    thresholds: Array  # shape (n_cells,): The cells' thresholds
    moves: int  # Moves kept
    tried: int  # Moves whose flip rate was found
    # Mean flip rate in the search's own resamples, at the start and at the end
    objective_before: float
    objective: float
    finished: bool  # False when the search ended at its bound and not for want of a better move


def refine_thresholds(
    strata: Strata, thresholds: Array, *, constraint: Constraint, objective: FlipObjective, start: float = 0.5
) -> Refinement:
    r"""Refine thresholds (B4): one cell moves at a time, while the mean flip rate falls and every DI holds.

    .. math:: t^{(r + 1)} = \arg\min_{t \in M(t^{(r)})} \overline{\mathrm{VFR}}(t)
              \quad \text{subject to} \quad \min_a \mathrm{DI}_a(t) \ge c

    with M(t) the thresholds after one move of one cell by 0.01, 0.02 or 0.05, up or down. In each round all
    moves of all cells are tried. Those that break a disparate impact are out, whatever they would gain. Of
    the rest the one with the lowest mean flip rate is kept if that is lower than before; among equals the
    most accurate; among those the first. From thresholds that fail the constraint no move is made.

    Parameters
    ----------
    strata : Strata
        The records that thresholds are chosen on.
    thresholds : float array, shape (n_cells,)
        Where the search starts.
    constraint : Constraint
        The disparate impacts that every move has to keep.
    objective : FlipObjective
        The mean flip rate, from `make_objective`.
    start : float
        The common threshold; moves stay within [0.01, 0.99], or as far out as it lies.

    Returns
    -------
    Refinement
        Ends when no move helps, or after 200 kept moves.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846
    """
    now, counts = np.array(thresholds, dtype=np.float64), strata.count(thresholds)
    before = best = float(objective.evaluate(counts))
    moves = tried = 0
    if np.isnan(best) or not constraint.accepts(parity_ratios(strata, counts, constraint)):
        return Refinement(now, 0, 0, before, best, True)
    for _ in range(MOST_MOVES):
        offered = _offer_moves(now, strata, start)
        tables = _count_moves(strata, counts, now, offered)
        allowed = constraint.accepts(parity_ratios(strata, tables, constraint))
        offered, tables = offered[allowed], tables[allowed]
        tried += len(offered)
        found = _pick_move(tables, objective, best) if len(offered) else None
        if found is None:
            return Refinement(now, moves, tried, before, best, True)
        place, best = found
        now, counts, moves = offered[place], tables[place], moves + 1
    return Refinement(now, moves, tried, before, best, False)


def _offer_moves(now: Array, strata: Strata, start: float) -> Array:
    """List the thresholds after every move of a cell with enough records, shape (n_moves, n_cells)."""
    sizes = np.bincount(strata.cell, strata.count(now).sum(axis=-1))
    cells = np.flatnonzero(sizes >= FEWEST_RECORDS)
    moved = np.tile(now, (len(cells) * len(STEPS), 1))
    row = np.arange(len(moved))
    moved[row, np.repeat(cells, len(STEPS))] += np.tile(STEPS, len(cells))
    moved = clip_thresholds(moved, start=start)
    return moved[(moved != now).any(axis=1)]


def _count_moves(strata: Strata, counts: NDArray[np.int64], now: Array, offered: Array) -> NDArray[np.int64]:
    """Count every stratum after each move; only those of the moved cell are counted again."""
    tables = np.repeat(counts[None], len(offered), axis=0)
    for place, cell in enumerate(strata.cell):
        moved = np.flatnonzero(offered[:, cell] != now[cell])
        tables[moved, place] = strata.count_one(place, offered[moved, cell])
    return tables


def _pick_move(tables: NDArray[np.int64], objective: FlipObjective, best: float) -> tuple[int, float] | None:
    """Pick the move with the lowest mean flip rate, of equals the most accurate; None when none is better."""
    rates = objective.evaluate(tables)
    lowest = float(rates.min())
    if not lowest < best - BETTER:
        return None
    equals = np.flatnonzero(rates <= lowest + BETTER)
    right = accuracy(tables[equals].sum(axis=-2))
    return int(equals[np.argmax(right)]), lowest
