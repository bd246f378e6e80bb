"""From which share of unrecorded events on is a cell no longer shown to fail, or to pass?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import Bounded, mover_bounds
from auditbook.verdicts.contrasts import Contrasts
from auditbook.verdicts.quantities import RATE_CELLS
from auditbook.verdicts.tipping_cases import Array, Cases, Places
from auditbook.verdicts.unrecorded import AMONG

STEPS = 16
"""Shares that are looked at, up to the largest, before the one where a contrast turns is found exactly."""


@dataclass(frozen=True)
class ShownCells:
    """What is shown of one metric and attribute, and at which level; shape (n_models,)."""

    fails: NDArray[np.bool_]  # Shown to fail
    passes: NDArray[np.bool_]  # Shown to pass
    z: Array  # Normal quantile of the level at which each contrast is held against the threshold
    threshold: float

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Whether anything is shown."""
        return self.fails | self.passes


@dataclass(frozen=True)
class _Ties:
    """Which contrasts each case touches, shape (k,): a contrast touches the cases of either of its groups."""

    case: Places
    contrast: Places
    is_first: NDArray[np.bool_]  # Whether the changed group stands first in it


def find_shown(cell: ShownCells, contrasts: Contrasts, rates: tuple[str, ...], cases: Cases) -> Array:
    """Find the smallest share at which what is shown of each case's cell falls; infinite where none is.

    Every contrast of the group stops to show it at one share and may show it again, the other way round, from
    a larger one on. A failure falls where no contrast shows it, a pass where the first one does not.
    """
    n = len(cases.most)
    asked = cell.asked[cases.model] & ~_stands_without(cell, contrasts, cases) & (cases.most > 0)
    ties = _tie(contrasts, cases, np.flatnonzero(asked))
    stops, again = _find_turns(_Tied(cell, contrasts, rates, cases, ties))
    last, next_, first = np.zeros(n), np.full(n, np.inf), np.full(n, np.inf)
    np.maximum.at(last, ties.case, stops)
    np.minimum.at(next_, ties.case, again)
    np.minimum.at(first, ties.case, stops)
    fails = cell.fails[cases.model]
    found = np.where(fails, np.where(last <= next_, last, np.inf), first)
    return np.where(asked & np.isin(np.arange(n), ties.case), found, np.inf)


def _find_turns(tied: "_Tied") -> tuple[Array, Array]:
    """Find where each tied contrast stops to show what is concluded, and where it begins again."""
    rows = np.arange(len(tied.ties.case))
    most = tied.cases.most[tied.ties.case]
    grid = most * ((np.arange(STEPS + 1) / STEPS) ** 2)[:, None]
    shows = np.array([tied.margin(share, rows) > 0 for share in grid]).reshape(STEPS + 1, len(rows))
    stop = _first_step(~shows)
    begin = _first_step(shows & (np.arange(STEPS + 1)[:, None] > stop))
    return tuple(_refine(tied, grid, step, rows) for step in (stop, begin))  # type: ignore[return-value]


def _first_step(holds: NDArray[np.bool_]) -> Places:
    """Find the first step at which something holds; one more than there are where it never does."""
    return np.where(holds.any(axis=0), holds.argmax(axis=0), len(holds))


def _refine(tied: "_Tied", grid: Array, step: Places, rows: Places) -> Array:
    """Find between a step and the one before exactly where the margin is zero; infinite without a step."""
    found = np.where(step == 0, 0.0, np.inf)
    places = rows[(step > 0) & (step < len(grid))]
    if len(places):
        from scipy.optimize import (
            elementwise,
        )  # takes long to import, and a chapter that shows a run needs it not

        ends = tuple(grid[step[places] - back, places] for back in (1, 0))
        args, tolerances = (places.astype(float),), {"xatol": 1e-8, "xrtol": 1e-8}
        roots = elementwise.find_root(
            lambda share, row: tied.margin(share, row.astype(np.intp)), ends, args=args, tolerances=tolerances
        )
        found[places] = roots.x
    return found


def _tie(contrasts: Contrasts, cases: Cases, asked: Places) -> _Ties:
    """Tie the cases that are asked about to the contrasts of their group."""
    n_groups = int(cases.group.max(initial=0)) + 1
    sides = np.concatenate([contrasts.group, contrasts.other])
    model, places = np.tile(contrasts.model, 2), np.tile(np.arange(len(contrasts)), 2)
    case = ((model * n_groups + sides)[:, None] * len(AMONG) + np.arange(len(AMONG))).ravel()
    contrast = np.repeat(places, len(AMONG))
    first = np.repeat(np.arange(len(sides)) < len(contrasts), len(AMONG))
    kept = np.flatnonzero(np.isin(case, asked))
    return _Ties(case[kept], contrast[kept], first[kept])


def _stands_without(cell: ShownCells, contrasts: Contrasts, cases: Cases) -> NDArray[np.bool_]:
    """Tell of which cases contrasts of other groups alone show the failure."""
    z = np.where(cell.fails, cell.z, 0.0)[contrasts.model]
    bounds = mover_bounds(contrasts.first, contrasts.second, np.ones(len(z)), contrasts.correlation, z)
    showing = (_fall_short(*bounds, np.ones(len(z), bool), cell.threshold) > 0) & cell.fails[contrasts.model]
    shape = len(cell.fails), int(cases.group.max(initial=0)) + 1
    every, own = np.zeros(shape[0]), np.zeros(shape)
    np.add.at(every, contrasts.model, showing)
    for side in (contrasts.group, contrasts.other):
        np.add.at(own, (contrasts.model, side), showing)
    return (every[:, None] > own)[cases.model, cases.group]


def _fall_short(low: Array, high: Array, fails: NDArray[np.bool_], threshold: float) -> Array:
    """Measure how far a contrast is from no longer showing what is concluded; positive while it does."""
    beyond = np.maximum(low - threshold, -threshold - high)
    within = np.minimum(threshold - high, low + threshold)
    return np.where(fails, beyond, within)


@dataclass(frozen=True)
class _Tied:
    """The contrasts of every case, to be bounded as the counts of its group change."""

    cell: ShownCells
    contrasts: Contrasts
    rates: tuple[str, ...]
    cases: Cases
    ties: _Ties

    def margin(self, share: Array, rows: Places) -> Array:
        """Measure how far some tied contrasts are from no longer showing what is concluded."""
        case, place, is_first = self.ties.case[rows], self.ties.contrast[rows], self.ties.is_first[rows]
        model = self.contrasts.model[place]
        first, second = self.contrasts.first.take(place), self.contrasts.second.take(place)
        held = self.contrasts.held[place], self.contrasts.held_other[place]
        counts, part = self.cases.count(share, case), self.contrasts.part[place]
        first, second = (
            _replace_where(here, side, counts, self._sides[part], trials)
            for here, side, trials in ((is_first, first, held[0]), (~is_first, second, held[1]))
        )
        z = self.cell.z[model]
        bounds = mover_bounds(first, second, np.ones(len(z)), self.contrasts.correlation[place], z)
        return _fall_short(*bounds, self.cell.fails[model], self.cell.threshold)

    @property
    def _sides(self) -> NDArray[np.float64]:
        """Which counts add up to numerator and denominator, shape (n_rates, 2, 4)."""
        sides = np.zeros((len(self.rates), 2, 4))
        for place, name in enumerate(self.rates):
            for side, parts in enumerate(RATE_CELLS[name]):
                sides[place, side, list(parts)] = 1
        return sides


def _replace_where(
    here: NDArray[np.bool_], side: Bounded, counts: Array, sides: Array, trials: Array
) -> Bounded:
    """Put new rates in place of some; their records are worth as much each as before."""
    top, bottom = np.moveaxis((counts[:, None] * sides).sum(axis=-1), -1, 0)
    value = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
    worth = side.effective * np.divide(bottom, trials, out=np.zeros_like(bottom), where=trials > 0)
    return Bounded(
        side.kind,
        np.where(here, value, side.value),
        np.where(here, worth, side.effective),
        side.error,
        side.df,
    )
