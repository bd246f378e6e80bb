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
    """What a figure estimates, in the population.

    Attributes
    ----------
    value : float
        The truth; nan for a figure that is only right or wrong.
    threshold : float
        The bound that the figure is held against; nan without one.
    """

    value: float
    threshold: float = float("nan")


Truths = Mapping[tuple[str, str], Truth]
"""By figure and support; a figure whose truth is one for all stands under `EVERY` alone."""


def measure_figures(readings: pd.DataFrame, truths: Truths) -> pd.DataFrame:
    """Measure every figure of one design over its replicates.

    Parameters
    ----------
    readings : DataFrame
        Columns `READING_COLUMNS`, a row a figure and replicate.
    truths : mapping of (figure, support) to Truth
        What the figures estimate.

    Returns
    -------
    DataFrame
        Two rows a figure, for all replicates and for the supported ones, with the columns `MEASURES`:

        - `replicates`, `given`: audits of this kind, and those in which the figure exists;
        - `truth`, `threshold`, `mean`, `bias`, `rmse`: what is estimated, what it is held against,
          and how far the estimates lie from the truth;
        - `intervals`, `covered`, `below`, `above`: intervals, those that hold the truth, and those that lie
          wholly below it and wholly above it;
        - `told`: intervals that leave out the threshold and lie on the same side of it as the truth;
        - `width`: median width of the intervals;
        - `judged`, `right`: audits that decided something, and those that decided as the truth has it.

    Examples
    --------
    >>> rows = [("kappa", 0.5, 0.3, 0.7, 1.0, 1.0), ("kappa", 0.1, 0.0, 0.2, 0.0, 0.0)]
    >>> readings = pd.DataFrame(rows, columns=READING_COLUMNS)
    >>> found = measure_figures(readings, {("kappa", EVERY): Truth(0.6, 0.4)})
    >>> found[["support", "given", "covered", "below"]].to_numpy().tolist()
    [['every', 2, 1, 1], ['supported', 1, 1, 0]]
    """
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
    """Put the readings of many replicates into one table.

    Parameters
    ----------
    replicates : sequence of sequence of Reading
        One a replicate, from 0.

    Returns
    -------
    DataFrame
        Columns `replicate` and `READING_COLUMNS`.

    Examples
    --------
    >>> nan = float("nan")
    >>> frame_readings([[("kappa", 0.5, nan, nan, 1.0, 1.0)]])["replicate"].tolist()
    [0]
    """
    rows = [(place, *reading) for place, readings in enumerate(replicates) for reading in readings]
    return pd.DataFrame(rows, columns=["replicate", *READING_COLUMNS])


def mark_right(said: bool, true: bool, *, known: bool = True) -> float:
    """Return 1 when what was said is so, 0 when not, nan when nothing was said.

    Examples
    --------
    >>> mark_right(True, True), mark_right(True, False)
    (1.0, 0.0)
    """
    return float(said == true) if known else float("nan")
