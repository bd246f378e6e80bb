"""How well does one column alone rank the records by their outcome?"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from auditbook.tables import as_numbers

LEAK_AREA = 0.98
"""AUC of a single feature from which it is taken for the outcome in disguise."""

CHECKED_ROWS = 50_000
"""Records at the most that are ranked."""


def single_area(column: pd.Series, outcome: NDArray[np.float64]) -> float:
    """Return the AUC of one feature, whichever way it points; 0.5 where it cannot be had."""
    if column.dtype.kind in "biuf":
        score = as_numbers(column).cells
    elif column.nunique() <= 50:
        codes = pd.factorize(column, use_na_sentinel=False)[0]
        score = (np.bincount(codes, outcome) / np.bincount(codes))[codes]
    else:
        return 0.5
    area = area_under(score, outcome) if (~np.isnan(score)).mean() >= 0.5 else np.nan
    return 0.5 if np.isnan(area) else max(area, 1 - area)


def area_under(score: NDArray[np.float64], outcome: NDArray[np.float64]) -> float:
    """Return the AUC among the records that have a score; nan without a pair."""
    there = ~np.isnan(score)
    events = outcome[there] == 1
    pairs = int(events.sum()) * int((~events).sum())
    if pairs == 0:
        return np.nan
    ranks = rankdata(score[there])
    wins = ranks[events].sum() - events.sum() * (events.sum() + 1) / 2
    return float(wins / pairs)


def rank_correlation(column: pd.Series, outcome: NDArray[np.float64]) -> float:
    """Return the size of the rank correlation with a continuous outcome; 0 where there is none."""
    score = as_numbers(column).cells
    there = ~np.isnan(score)
    if there.sum() < 100 or np.ptp(score[there]) == 0 or np.ptp(outcome[there]) == 0:
        return 0.0
    return float(abs(np.corrcoef(rankdata(score[there]), rankdata(outcome[there]))[0, 1]))
