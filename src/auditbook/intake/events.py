"""In which records did the guessed outcome happen, and how well does a column tell them apart?"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from auditbook.intake.guesses import OutcomeGuess, TableFacts
from auditbook.tables import as_numbers, as_text, is_missing

_CHECKED_ROWS = 50_000
_FEWEST = 10
_COMPARISON = re.compile(r"\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)\s*")
_COMPARE: dict[str, Callable[[NDArray[np.float64], float], NDArray[np.bool_]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


@dataclass(frozen=True)
class Events:
    """Outcomes of the records in which they are known, thinned where there are very many."""

    rows: NDArray[np.intp]  # positions of these records
    happened: NDArray[np.float64]  # 1 for an event, 0 for none

    def area_under(self, cells: NDArray[np.float64]) -> float:
        """Return the AUC of a column of numbers; nan where too few records have one."""
        part = cells[self.rows]
        there = ~np.isnan(part)
        event = self.happened[there] == 1
        n_events, n_others = int(event.sum()), int((~event).sum())
        if min(n_events, n_others) < _FEWEST:
            return float("nan")
        ranks = rankdata(part[there])
        return float((ranks[event].sum() - n_events * (n_events + 1) / 2) / (n_events * n_others))


def find_events(table: TableFacts, guess: OutcomeGuess | None) -> Events | None:
    """Find the events of a guessed outcome; None without an outcome, or without events or others."""
    if guess is None or guess.event == "":
        return None
    column = table.frame[guess.guess.column]
    known = np.flatnonzero(~is_missing(column))
    known = known[:: -(-len(known) // _CHECKED_ROWS) or 1]
    happened = _compare(column.iloc[known], guess)
    return Events(known, happened) if len(known) and 0 < happened.sum() < len(known) else None


def _compare(column: pd.Series, guess: OutcomeGuess) -> NDArray[np.float64]:
    """Tell which cells are events."""
    compared = _COMPARISON.fullmatch(str(guess.event))
    if compared is None:
        event = re.fullmatch(r'\s*==\s*"(.*)"\s*', str(guess.event))
        return np.asarray(as_text(column) == (event[1] if event else str(guess.event)), dtype=float)
    cells = as_numbers(column).cells
    for value, number in guess.numbers.items():
        cells = np.where(as_text(column) == value, number, cells)
    return np.asarray(_COMPARE[compared[1]](cells, float(compared[2])), dtype=float)
