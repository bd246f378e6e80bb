"""Which ratio of selection rates do the groups' event rates alone lead to?"""

from typing import Any

import numpy as np
import pandas as pd

from auditbook.evidence import find_short_groups, ratio_interval
from auditbook.settings import Protocol


def compare_base_rates(groups: pd.DataFrame, *, protocol: Protocol) -> pd.DataFrame:
    """Divide the lowest by the highest event rate of each attribute, with the interval of `ratio_interval`.

    That ratio is the ratio of selection rates of a model that makes no error. Groups below the protocol's
    minimum support are left out and listed.
    """
    parts = groups.groupby("attribute", sort=False)
    return pd.DataFrame([_compare_attribute(str(name), part, protocol) for name, part in parts])


def _compare_attribute(name: str, part: pd.DataFrame, protocol: Protocol) -> dict[str, Any]:
    supported = has_support(part, protocol) & part["events"].notna()
    if _is_weighted(part):
        worth = part["n_effective"]
        part = part.assign(events=part["event_rate"] * worth, n=worth)
    kept = part[supported]
    row: dict[str, Any] = {"attribute": name, "left_out": part["group"][~supported].tolist()}
    if len(kept) < 2:
        numbers = ("lowest_rate", "highest_rate", "ratio", "ratio_low", "ratio_high", "smallest_n")
        return row | {"lowest_group": "", "highest_group": ""} | dict.fromkeys(numbers, np.nan)
    low, high = kept.loc[kept["event_rate"].idxmin()], kept.loc[kept["event_rate"].idxmax()]
    bounds = ratio_interval(low["events"], low["n"], high["events"], high["n"])
    row |= {"lowest_group": low["group"], "lowest_rate": low["event_rate"]}
    row |= {"highest_group": high["group"], "highest_rate": high["event_rate"]}
    row |= {"ratio": low["event_rate"] / high["event_rate"]}
    row |= {"ratio_low": float(bounds.low), "ratio_high": float(bounds.high)}
    return row | {"smallest_n": min(low["n"], high["n"])}


def has_support(groups: pd.DataFrame, protocol: Protocol) -> "pd.Series[bool]":
    """Tell which groups hold the records, events and non-events that a verdict may ask for.

    From the columns n and events. A number of events that is not known does not fall short.

    >>> has_support(pd.DataFrame({"n": [100, 100], "events": [20, 4]}), Protocol()).tolist()
    [True, False]
    """
    if _is_weighted(groups):
        strata = groups[["events_effective", "non_events_effective"]].to_numpy(float)
    else:
        strata = np.stack([groups["events"], groups["n"] - groups["events"]], axis=-1)
    return pd.Series(~find_short_groups(strata, protocol=protocol), groups.index)


def _is_weighted(groups: pd.DataFrame) -> bool:
    """Tell whether the rows of groups.csv are of weighted records."""
    return "n_effective" in groups and bool(groups["n_effective"].notna().any())


def ratio_with_equal_errors(low_rate: float, high_rate: float, *, tpr: float, fpr: float) -> float:
    r"""Find the ratio of selection rates of a model with the same error rates in both groups.

    .. math:: \frac{f + (t - f) p_{low}}{f + (t - f) p_{high}}

    Parameters
    ----------
    low_rate, high_rate : float
        Event rates p of the two groups.
    tpr, fpr : float
        True and false positive rate t and f, in both groups.

    Returns
    -------
    float
        The ratio of event rates for a model without error, 1 for a blind one; nan when nobody is selected.

    Examples
    --------
    >>> round(ratio_with_equal_errors(0.2, 0.4, tpr=1.0, fpr=0.0), 3)
    0.5
    """
    low, high = (fpr + (tpr - fpr) * rate for rate in (low_rate, high_rate))
    return low / high if high > 0 else float("nan")
