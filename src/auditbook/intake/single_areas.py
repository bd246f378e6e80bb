"""How well does one column alone rank the records by their outcome?"""

from math import sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from auditbook.tables import as_numbers, read_people_numbers

Array = NDArray[np.float64]

LEAK_AREA = 0.98
"""AUC of a single column from which it is taken for the outcome in disguise (ours)."""

HONEST_AREA = 0.90
"""AUC that a single honest column may well reach (ours)."""

FEWEST = 10
"""Events, and non-events, from which a column is held against the outcome (ours)."""

CHECKED_ROWS = 50_000
"""Records at the most that are ranked."""

MANY_CODES = 50
"""Distinct numbers up to which these are tried as codes, too."""

_THERE = 0.5
_PERFECT = 0.9999


def bound_area(events: int, others: int) -> float:
    r"""Find the AUC from which a column is taken for the outcome in disguise.

    It is `LEAK_AREA`; with few records more, namely what an honest column of AUC `HONEST_AREA` exceeds in one
    of forty samples by Hanley and McNeil's standard error (doi:10.1148/radiology.143.1.7063747), and at
    the most a ranking without any error.

    >>> bound_area(500, 1500), round(bound_area(20, 300), 4), bound_area(10, 10)
    (0.98, 0.9931, 0.9999)
    """
    area = HONEST_AREA
    above, below = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (events - 1) * (above - area**2) + (others - 1) * (below - area**2)
    return min(max(LEAK_AREA, area + 2 * sqrt(spread / (events * others))), _PERFECT)


def single_area(column: pd.Series, outcome: Array) -> float:
    """Return the AUC of one column, whichever way it points; 0.5 where it cannot be had."""
    scores = [*_read_numbers(column), _code_rates(column, outcome)]
    areas = [area_under(score, outcome) for score in scores]
    return max((max(area, 1 - area) for area in areas if not np.isnan(area)), default=0.5)


def _read_numbers(column: pd.Series) -> list[Array]:
    """Read the column as numbers, also as people write them, with and without limits such as "<0.2".

    Readings in which most cells are no number are left out.
    """
    readings = [as_numbers(column).cells]
    if column.dtype == object and (people := read_people_numbers(column)) is not None:
        readings += [people.cells, people.held]
    return [cells for cells in readings if (~np.isnan(cells)).mean() >= _THERE]


def _code_rates(column: pd.Series, outcome: Array) -> Array:
    """Give each record the share of events that its code has in the other half of the records.

    All nan for numbers of many values. A code that the other half lacks has the share of all.
    """
    if column.dtype.kind not in "bO" and column.nunique() > MANY_CODES:
        return np.full(len(column), np.nan)
    codes = pd.factorize(column, use_na_sentinel=False)[0]
    half = np.arange(len(codes)) % 2
    rates = np.empty(len(codes))
    for part in (0, 1):
        learned = half != part
        counts = np.bincount(codes[learned], minlength=codes.max() + 1)
        events = np.bincount(codes[learned], outcome[learned], minlength=len(counts))
        known = (events + outcome.mean()) / (counts + 1)
        rates[half == part] = known[codes[half == part]]
    return rates


def area_under(score: Array, outcome: Array) -> float:
    """Return the AUC among the records that have a score; nan without a pair."""
    there = ~np.isnan(score)
    events = outcome[there] == 1
    pairs = int(events.sum()) * int((~events).sum())
    if pairs == 0:
        return np.nan
    ranks = rankdata(score[there])
    wins = ranks[events].sum() - events.sum() * (events.sum() + 1) / 2
    return float(wins / pairs)


def find_cut(column: pd.Series, outcome: Array) -> str:
    """Say at which number all events begin, or end; blank where no number parts them from the others."""
    cells = next((cells for cells in _read_numbers(column) if not np.isnan(cells).any()), np.empty(0))
    if not len(cells):
        return ""
    events, others = cells[outcome == 1], cells[outcome == 0]
    if events.min() > others.max():
        return f"every event has {events.min():g} or more, every other record {others.max():g} or less"
    if events.max() < others.min():
        return f"every event has {events.max():g} or less, every other record {others.min():g} or more"
    return ""


def rank_correlation(column: pd.Series, outcome: Array) -> float:
    """Return the size of the rank correlation with a continuous outcome; 0 where there is none."""
    score = as_numbers(column).cells
    there = ~np.isnan(score)
    if there.sum() < 100 or np.ptp(score[there]) == 0 or np.ptp(outcome[there]) == 0:
        return 0.0
    return float(abs(np.corrcoef(rankdata(score[there]), rankdata(outcome[there]))[0, 1]))
