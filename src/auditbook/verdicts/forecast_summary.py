"""Which flip rate came nearer, which cells surprised, and which part of the error is whose?"""

import math
from typing import Any

import pandas as pd

from auditbook.verdicts.forecast import RECORDS, SITES
from auditbook.verdicts.forecast_tables import PREDICTIONS

WAY = ["halving", "drawing"]
CELL = ["metric", "attribute"]
REALISED = ["realised", "realised_low", "realised_high", "realised_mixed", "abs_error"]
CAUSES = "error from_range from_spread from_halves bias_resample bias_audit resample_sd audit_sd".split()


def select_bin(summary: pd.DataFrame, way: tuple[str, str], prediction: str, place: int = 0) -> pd.DataFrame:
    """Take one bin of one prediction for one way of halving and drawing; bin 0 holds all."""
    keep = (summary["halving"] == way[0]) & (summary["drawing"] == way[1])
    return summary[keep & (summary["prediction"] == prediction) & (summary["bin"] == place)]


def select_way(truth: pd.DataFrame, halving: str = RECORDS, drawing: str = RECORDS) -> pd.DataFrame:
    """Take what was measured in one way of halving and drawing."""
    return truth[(truth["halving"] == halving) & (truth["drawing"] == drawing) & (truth["halvings"] > 0)]


def tabulate_ways(summary: pd.DataFrame) -> pd.DataFrame:
    """Set the mean predictions and the mean realised flip rate of every way side by side."""
    found = []
    for way, part in summary[summary["bin"] == 0].groupby(WAY, sort=False):
        by = part.set_index("prediction")
        means = {name: by["predicted"].get(name, math.nan) for name in PREDICTIONS}
        row: dict[str, Any] = {**dict(zip(WAY, way, strict=True)), **means}
        row |= {name: part.loc[part["prediction"] == "vfr", name].iloc[0] for name in REALISED}
        found.append(row | {"abs_error_site": by["abs_error"].get("vfr_site", math.nan)})
    return pd.DataFrame(found, columns=[*WAY, *PREDICTIONS, *REALISED, "abs_error_site"])


def list_surprises(truth: pd.DataFrame, way: tuple[str, str]) -> pd.DataFrame:
    """List every cell at the largest size that it was checked at, the largest surprise on top.

    `distance` is that of the whole from its threshold, in standard deviations of a half.
    """
    last = select_way(truth, *way).sort_values("n", kind="stable").groupby(CELL, sort=False).tail(1)
    distance = (last["estimate"] - last["threshold"]).abs() / last["halves_sd"].where(last["halves_sd"] > 0)
    order = last.assign(distance=distance).sort_values("error", ascending=False, kind="stable")
    return order.reset_index(drop=True)


def tabulate_causes(truth: pd.DataFrame) -> pd.DataFrame:
    """Split the mean error by metric and way into range, spread and the other half."""
    known = truth[truth["halvings"] > 0].groupby([*WAY, "metric"], sort=False)
    table = known[CAUSES].mean().assign(cells=known.size()).reset_index()
    spread = table["audit_sd"] / table["resample_sd"].where(table["resample_sd"] > 0)
    return table.assign(spread_ratio=spread)


def compare_halves(truth: pd.DataFrame) -> pd.DataFrame:
    """Set halves of whole sites beside halves of records; `ratio` is how many times as far apart they lie."""
    both = select_way(truth).merge(select_way(truth, SITES), on=[*CELL, "n"], suffixes=("", "_apart"))
    both = both[both["halves_sd"] > 0]
    return both.assign(ratio=both["halves_sd_apart"] / both["halves_sd"])


def summarise_cohort(summary: pd.DataFrame) -> pd.DataFrame:
    """Reduce a run's summary to the row a way that the stored comparison over cohorts keeps."""
    found = []
    for row in tabulate_ways(summary).to_dict(orient="records"):
        way = (row["halving"], row["drawing"])
        sure = select_bin(summary, way, "vfr", 1)
        first: dict[Any, Any] = sure.iloc[0].to_dict() if len(sure) else {}
        row["cells"] = int(select_bin(summary, way, "vfr")["predictions"].iloc[0])
        row |= {"sure": int(first.get("predictions", 0)), "sure_realised": first.get("realised", math.nan)}
        found.append(row | {"sure_mixed": first.get("realised_mixed", math.nan)})
    names = [*WAY, "cells", *PREDICTIONS, "realised", "realised_mixed", "abs_error", "abs_error_site"]
    return pd.DataFrame(found, columns=[*names, "sure", "sure_realised", "sure_mixed"])
