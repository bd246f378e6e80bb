"""How near do figures of many simulated audits come to the truth, and how often do they say so rightly?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.verdicts import TIE

Array = NDArray[np.float64]

READING_COLUMNS = ["figure", "estimate", "low", "high", "right", "supported"]
MEASURES = (
    "figure support replicates given truth threshold mean bias rmse intervals covered below above told width "
    "judged right"
).split()
EVERY, SUPPORTED = "every", "supported"
"""All audits in which a figure exists, and those to which the minimum support would have let it through."""

Reading = tuple[str, float, float, float, float, float]
"""One figure of one audit, in the order of `READING_COLUMNS`; nan where there is nothing."""


@dataclass(frozen=True)
class Truth:
    """What a figure estimates, in the population."""

    value: float  # The truth; nan for a figure that is only right or wrong
    threshold: float = float("nan")  # The bound that the figure is held against; nan without one


Truths = Mapping[tuple[str, str], Truth]
"""By figure and support; a figure whose truth is one for all stands under `EVERY` alone."""


def measure_figures(readings: pd.DataFrame, truths: Truths) -> pd.DataFrame:
    """Measure every figure of one design over its replicates."""
    found = []
    for figure, rows in readings.groupby("figure", sort=False):
        for support, part in ((EVERY, rows), (SUPPORTED, rows[rows["supported"] == 1])):
            truth = truths.get((str(figure), support)) or truths[str(figure), EVERY]
            found.append({"figure": figure, "support": support, **_measure(part, truth)})
    return pd.DataFrame(found, columns=MEASURES)


def _measure(rows: pd.DataFrame, truth: Truth) -> dict[str, float]:
    """Measure one figure over some replicates."""
    estimate, low, high, right = (rows[name].to_numpy(float) for name in READING_COLUMNS[1:5])
    given, bounded = ~np.isnan(estimate), ~(np.isnan(low) | np.isnan(high))
    below, above = bounded & (high < truth.value), bounded & (low > truth.value)
    right_side = _leave_out(low, high, truth)
    known = bool(given.any()) and not np.isnan(truth.value)
    error = estimate[given] - truth.value
    return {
        "replicates": len(rows),
        "given": int(given.sum()),
        "truth": truth.value,
        "threshold": truth.threshold,
        "mean": float(estimate[given].mean()) if given.any() else np.nan,
        "bias": float(error.mean()) if known else np.nan,
        "rmse": float(np.sqrt((error**2).mean())) if known else np.nan,
        "intervals": int(bounded.sum()),
        "covered": int((bounded & ~below & ~above).sum()) if not np.isnan(truth.value) else 0,
        "below": int(below.sum()),
        "above": int(above.sum()),
        "told": int((bounded & right_side).sum()),
        "width": float(np.median((high - low)[bounded])) if bounded.any() else np.nan,
        "judged": int((~np.isnan(right)).sum()),
        "right": int(np.nansum(right)),
    }


def _leave_out(low: Array, high: Array, truth: Truth) -> NDArray[np.bool_]:
    """Tell which intervals lie wholly on the truth's side of the threshold; none when the truth is at it."""
    if abs(truth.value - truth.threshold) < TIE:
        return np.zeros(low.shape, bool)
    return np.asarray(low > truth.threshold if truth.value > truth.threshold else high < truth.threshold)


def frame_readings(replicates: Sequence[Sequence[Reading]]) -> pd.DataFrame:
    """Put the readings of many replicates into one table."""
    rows = [(place, *reading) for place, readings in enumerate(replicates) for reading in readings]
    return pd.DataFrame(rows, columns=["replicate", *READING_COLUMNS])


def mark_right(said: bool, true: bool, *, known: bool = True) -> float:
    """Return 1 when what was said is so, 0 when not, nan when nothing was said."""
    return float(said == true) if known else float("nan")
