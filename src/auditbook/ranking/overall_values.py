"""Which overall values of a run are the weighted means of its groups' values, and which lie outside them?"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import rate
from auditbook.ranking.collapsibility import PERFORMANCE
from auditbook.ranking.units import WHOLE
from auditbook.results import Run, rows

Array = NDArray[np.float64]

EXACT = 1e-8
"""Differences below this are what result files lose by rounding."""


def compare_overall(run: Run, model: str, attribute: str) -> pd.DataFrame:
    """Set overall values beside the weighted means of the groups' values."""
    chosen = run.groups[(run.groups["model"] == model) & (run.groups["attribute"] == attribute)]
    groups = chosen[chosen["n"] > 0]
    about = run.models.set_index("model").loc[model]
    found = [
        _compare(name, groups["n"], rate(top, below), below, float(rate(np.sum(top), np.sum(below))))
        for name, (top, below) in _split_ratios(groups, about).items()
    ]
    held = groups["n"].to_numpy(float)
    fitted = _look_up(run, model, attribute, groups)
    found += [
        _compare(name, groups["n"], values, held, overall) for name, (values, overall) in fitted.items()
    ]
    return pd.DataFrame(found)


def compare_attributes(run: Run, model: str) -> pd.DataFrame:
    """Stack `compare_overall` of every attribute of a run, with the attribute's name in front."""
    parts = [compare_overall(run, model, name).assign(attribute=name) for name in run.info["attributes"]]
    return pd.concat(parts, ignore_index=True)


def _split_ratios(groups: pd.DataFrame, about: Any) -> dict[str, tuple[Array, Array]]:
    """Write each collapsible metric as a sum over records, divided by another, for every group."""
    n, events, tp, fp, fn, tn = (
        groups[name].to_numpy(float) for name in ("n", "events", "tp", "fp", "fn", "tn")
    )
    probability = about["kind"] == "probability"
    expected = n * groups["mean_score"].to_numpy(float) if probability else np.full(len(n), np.nan)
    usable = probability and 0 < about["threshold"] < 1
    odds = about["threshold"] / (1 - about["threshold"]) if usable else np.nan
    return {
        "oe_ratio": (events, expected),
        "accuracy": (tp + tn, n),
        "f1": (2 * tp, 2 * tp + fp + fn),
        "tpr": (tp, tp + fn),
        "tnr": (tn, tn + fp),
        "ppv": (tp, tp + fp),
        "npv": (tn, tn + fn),
        "net_benefit": (tp - odds * fp, n),
    }


def _look_up(run: Run, model: str, attribute: str, groups: pd.DataFrame) -> dict[str, tuple[Array, float]]:
    """Find the groups' values and the overall value of the metrics that are no such ratio."""
    names = groups["group"].tolist()
    areas = run.auc_fairness.query("model == @model and attribute == @attribute and metric == 'auc'")["value"]
    area = float(areas.iloc[0]) if len(areas) else float("nan")
    known = run.calibration[run.calibration["model"] == model]
    fits = known[known["attribute"] == attribute].set_index("group").reindex(names)
    whole = known[known["attribute"] == WHOLE].iloc[0]
    same = whole["n"] == groups["n"].sum()  # else it holds records without a group
    found = {"auc": (groups["auc"].to_numpy(float), area)}
    for name in ("intercept", "slope"):
        overall = float(whole[name]) if same else float("nan")
        found[f"calibration_{name}"] = (fits[name].to_numpy(float), overall)
    return found | {"ece": _find_errors(run, model, attribute, names)}


def _find_errors(run: Run, model: str, attribute: str, names: list[str]) -> tuple[Array, float]:
    """Find the expected calibration error of every group and of their records together."""
    bins = run.score_bins.query("model == @model and attribute == @attribute and n > 0")
    away = (bins["events"] - bins["n"] * bins["mean_score"]).rename("away")
    if run.models.set_index("model").loc[model, "kind"] != "probability" or bins.empty:
        return np.full(len(names), np.nan), float("nan")
    sizes = bins.groupby("group")["n"].sum().reindex(names)
    by_group = away.abs().groupby(bins["group"]).sum().reindex(names) / sizes
    overall = away.groupby(bins["bin"]).sum().abs().sum() / bins["n"].sum()
    return by_group.to_numpy(float), float(overall)


def _compare(name: str, sizes: pd.Series, values: Array, weights: Array, overall: float) -> dict[str, Any]:
    """Set one metric's overall value beside the weighted mean."""
    metric, known = PERFORMANCE[name], ~np.isnan(values)
    low, high = (part(values, initial=np.nan) for part in (np.fmin.reduce, np.fmax.reduce))
    mean = float(rate(np.sum(weights[known] * values[known]), np.sum(weights[known])))
    return {
        "metric": name,
        "title": metric.title,
        "collapsible": metric.weight is not None,
        "weighed_by": metric.weighed_by or "none fits; records",
        "n": int(sizes.sum()),
        "groups": int(known.sum()),
        "lowest": low,
        "highest": high,
        "mean": mean,
        "overall": overall,
        "difference": overall - mean,
        "outside": bool(overall < low - EXACT or overall > high + EXACT),
    }


def list_areas(run: Run, model: str, attribute: str) -> pd.DataFrame:
    """List the area over all records, the mean of the groups' areas, and each group's."""
    found = compare_overall(run, model, attribute).set_index("metric").loc["auc"]
    chosen = run.auc_fairness.query("model == @model and attribute == @attribute and metric == 'auc'")
    ends = (chosen["ci_low"].iloc[0], chosen["ci_high"].iloc[0]) if len(chosen) else (np.nan, np.nan)
    lines = [
        ("overall", "all records", found["n"], found["overall"], *ends),
        ("mean", "mean of the groups, by records", found["n"], found["mean"], np.nan, np.nan),
    ]
    within = run.auc_matrix.query(
        "model == @model and attribute == @attribute and event_group == nonevent_group"
    )
    lines += [
        ("group", row.event_group, row.n_events + row.n_nonevents, row.auc, row.ci_low, row.ci_high)
        for row in rows(within)
    ]
    return pd.DataFrame(lines, columns=["role", "name", "n", "value", "low", "high"])


def compare_models(run: Run, attribute: str) -> pd.DataFrame:
    """Set mean and overall value of three metrics side by side for every model."""
    found = []
    for model in run.models["model"]:
        table = compare_overall(run, model, attribute).set_index("metric")
        row: dict[str, Any] = {"model": model}
        for short, name in (("auc", "auc"), ("slope", "calibration_slope"), ("ece", "ece")):
            row |= {f"{short}_mean": table.loc[name, "mean"], f"{short}_overall": table.loc[name, "overall"]}
        found.append(row)
    return pd.DataFrame(found)
