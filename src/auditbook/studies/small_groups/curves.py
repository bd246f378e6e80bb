"""How far does an interval reach, how often should it hold, and what do simulated audits measure of both?"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtr

from auditbook.evidence import Z_95, wilson_interval
from auditbook.studies.small_groups.worlds import FPR, TPR

SHARES = {
    "coverage": ("covered", "intervals"),
    "right": ("right", "judged"),
    "wrong": ("right", "judged"),
    "shown": ("right", "replicates"),
}
"""Measures that are shares of audits: what is counted, among what."""


def tabulate_reach(events: Sequence[int], *, tpr: float = TPR) -> pd.DataFrame:
    """Work out how far the interval of a TPR reaches."""
    held = np.asarray(events, float)
    se = np.sqrt(tpr * (1 - tpr) / held)
    return pd.DataFrame({"events": held, "records": held / 0.2, "se": se, "reach": Z_95 * se})


def bound_measure(rows: pd.DataFrame, value: str) -> pd.DataFrame:
    """Bound a measure over simulated audits at 95 %: shares by Wilson, means by their standard error."""
    if value in SHARES:
        part, whole = SHARES[value]
        hits = rows[whole] - rows[part] if value == "wrong" else rows[part]
        bounds = wilson_interval(hits, rows[whole])
        middle = hits / rows[whole].where(rows[whole] > 0)
        low, high = pd.Series(bounds.low, rows.index), pd.Series(bounds.high, rows.index)
    else:
        middle = rows[value]
        spread = np.sqrt(np.maximum(rows["rmse"] ** 2 - rows["bias"] ** 2, 0) / rows["given"])
        reach = Z_95 * spread if value in ("bias", "mean") else np.nan
        low, high = middle - reach, middle + reach
    return pd.DataFrame({"value": middle, "low": low, "high": high}, index=rows.index)


def conditional_coverage(event_rate: float, *, tpr: float = TPR, fpr: float = FPR) -> float:
    r"""Find how often an interval for a selection rate covers when events are held at their number.

    .. math:: 2\Phi\left(1.96 \sqrt{\frac{e\,t(1 - t) + (1 - e)\,f(1 - f)}{p(1 - p)}}\right) - 1

    with the event rate e, the TPR t, the FPR f and the selection rate p: the resamples' variance over that of
    fresh audits, in which events vary too.
    """
    rate = event_rate * tpr + (1 - event_rate) * fpr
    held = event_rate * tpr * (1 - tpr) + (1 - event_rate) * fpr * (1 - fpr)
    return float(2 * ndtr(Z_95 * np.sqrt(held / (rate * (1 - rate)))) - 1)
