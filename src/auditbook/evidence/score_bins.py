"""How do scores lie, follow the events and trade off, read from score bins and counts?"""

import numpy as np
import pandas as pd

from auditbook.evidence.intervals import add_share, f1_interval, rate_events, wilson_interval


def add_baseline(models: pd.DataFrame) -> pd.DataFrame:
    """Add `blind`, the accuracy of selecting nobody or everybody, whichever is right more often."""
    return models.assign(blind=models["event_rate"].map(lambda rate: max(rate, 1 - rate)))


def bound_quality(models: pd.DataFrame, groups: pd.DataFrame) -> pd.DataFrame:
    """Add the 95 % intervals of accuracy and F1, found from the counts of one attribute's groups."""
    first = groups[groups["attribute"] == groups["attribute"].iloc[0]]
    counts = first.groupby("model")[["tp", "fp", "fn", "tn"]].sum().reindex(models["model"])
    tp, fp, fn, tn = counts.to_numpy().T
    accuracy = wilson_interval(tp + tn, tp + fp + fn + tn)
    f1 = f1_interval(tp, fp, fn)
    ends = {"accuracy_low": accuracy.low, "accuracy_high": accuracy.high}
    return models.assign(**ends, f1_low=f1.low, f1_high=f1.high).reset_index(drop=True)


def share_bins(bins: pd.DataFrame) -> pd.DataFrame:
    """Find which share of events and of non-events falls in each score bin."""
    table = bins.assign(others=bins["n"] - bins["events"])
    for column, name in (("events", "event_share"), ("others", "other_share")):
        table = add_share(table, name, table[column], table[column].sum())
    return table


def compare_levels(groups: pd.DataFrame, model: str, attribute: str, *, kind: str) -> pd.DataFrame:
    """Set each group's mean score beside its event rate."""
    part = groups[(groups["model"] == model) & (groups["attribute"] == attribute)].reset_index(drop=True)
    table = rate_events(part)
    if kind != "probability":
        table["mean_score"] = np.nan
    return table.assign(excess=table["mean_score"] - table["event_rate"])


def sweep_thresholds(bins: pd.DataFrame) -> pd.DataFrame:
    """Find what would be selected if the threshold stood at the lower end of each score bin, with bounds."""
    ordered = bins.sort_values("bin")
    n = ordered["n"][::-1].cumsum()[::-1]
    tp = ordered["events"][::-1].cumsum()[::-1]
    table = pd.DataFrame({"threshold": ordered["bin_low"], "selected": n})
    table = add_share(table, "selection_rate", n, ordered["n"].sum())
    table = add_share(table, "tpr", tp, ordered["events"].sum())
    table = add_share(table, "fpr", n - tp, (ordered["n"] - ordered["events"]).sum())
    return add_share(table, "ppv", tp, n)
