"""Which columns give the outcome away?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import Cohort
from auditbook.intake.caution import Caution
from auditbook.intake.single_areas import CHECKED_ROWS, LEAK_AREA, rank_correlation, single_area
from auditbook.tables import as_text

LEAK_CHANCE = 1e-9
"""Chance below which a value that is always, or never, an event is taken for a leak."""


def warn_leaks(cohort: Cohort) -> Iterator[Caution]:
    """Point out features that give the outcome away on their own."""
    step = -(-len(cohort.table) // CHECKED_ROWS)
    outcome = np.asarray(cohort.outcome, dtype=float)[::step]
    for name in cohort.feature_columns:
        column = cohort.table[name].iloc[::step]
        if cohort.continuous:
            strength = rank_correlation(column, outcome)
            if strength > LEAK_AREA:
                yield _leak(name, f"rank correlation {strength:.2f}")
            continue
        area = single_area(column, outcome)
        if area > LEAK_AREA:
            yield _leak(name, f"AUC {area:.3f} on its own")
        else:
            pure = _pure_value(column, outcome) or _pure_presence(column, outcome)
            if pure:
                yield _leak(name, pure)


def _leak(name: str, reason: str) -> Caution:
    return Caution("[features]", f"'{name}' may be the outcome in disguise ({reason}); if so, exclude it")


def _pure_presence(column: pd.Series, outcome: NDArray[np.float64]) -> str:
    """Say that a column is filled, or blank, for events only; blank when it is not."""
    filled = column.notna().to_numpy()
    for word, there in (("filled", filled), ("blank", ~filled)):
        count, hits = int(there.sum()), int(outcome[there].sum())
        is_common = count >= 100 and count >= 0.01 * len(outcome)
        if is_common and hits == count and outcome.mean() ** count < LEAK_CHANCE:
            return f"all {count:,} records where it is {word} are events"
    return ""


def _pure_value(column: pd.Series, outcome: NDArray[np.float64]) -> str:
    """Describe a common value whose records are all events, or none is; blank when there is none."""
    codes, values = pd.factorize(column, use_na_sentinel=False)
    if len(values) > 50:
        return ""
    counts, events = np.bincount(codes), np.bincount(codes, outcome)
    rate = outcome.mean()
    for value, count, hits in zip(values, counts, events, strict=True):
        chance = rate**count if hits == count else (1 - rate) ** count if hits == 0 else 1.0
        if chance < LEAK_CHANCE and count >= 100 and count >= 0.01 * len(outcome):
            those = f"{count:,} records with the value {as_text(pd.Series([value]))[0]}"
            return f"all {those} are events" if hits == count else f"none of the {those} is an event"
    return ""
