"""Overall values and means of group values: sentences and tables on which of them agree."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.book.say.text import Column, count_of, escape, interval, join_words, number, plural
from auditbook.evidence import rate
from auditbook.ranking import (
    PERFORMANCE,
    Sample,
    collapse,
    compare_intercept_weights,
    find_counterexample,
    pool_samples,
)
from auditbook.results import Run, rows

Array = NDArray[np.float64]

OUTSIDE = ("auc", "calibration_slope", "ece", "nagelkerke")
"""Metrics whose overall value can lie outside the groups' values."""
UNKNOWN = ("log_loss", "brier", "nagelkerke")
"""Metrics that need every record's score, which result files do not hold."""
EXACT = 1e-8
"""Differences below this are what result files lose by rounding."""
WEIGHT_COLUMNS = (
    Column("title", "metric"),
    Column("weighed_by", "weight of a group: its"),
    Column("value_a", "A", "number", 3),
    Column("weight_a", "weight of A", "number", 1),
    Column("value_b", "B", "number", 3),
    Column("weight_b", "weight of B", "number", 1),
    Column("mean", "weighted mean", "number", 3),
    Column("overall", "overall", "number", 3),
)
COUNTEREXAMPLE_COLUMNS = (
    Column("title", "metric"),
    Column("n", "records", "count"),
    Column("one", "group 1", "number", 3),
    Column("other", "group 2", "number", 3),
    Column("overall", "overall", "number", 3),
)
INTERCEPT_COLUMNS = (
    Column("first", "group"),
    Column("second", "with"),
    Column("intercept_first", "intercept of the first", "number", 3),
    Column("intercept_second", "of the second", "number", 3),
    Column("overall", "overall", "number", 3),
    Column("weight_ratio", "ratio of weights that fits", "number", 3),
)
OVERALL_COLUMNS = (
    Column("title", "metric"),
    Column("weighed_by", "weighed by"),
    Column("groups", "groups", "count"),
    Column("lowest", "lowest group", "number", 3),
    Column("highest", "highest", "number", 3),
    Column("mean", "weighted mean", "number", 3),
    Column("overall", "overall", "number", 3),
    Column("difference", "difference", "number", 3),
)
MODEL_COLUMNS = (
    Column("model", "model"),
    Column("auc_mean", "AUC: mean of groups", "number", 3),
    Column("auc_overall", "AUC: overall", "number", 3),
    Column("slope_mean", "slope: mean", "number", 3),
    Column("slope_overall", "slope: overall", "number", 3),
    Column("ece_mean", "ECE: mean", "number", 3),
    Column("ece_overall", "ECE: overall", "number", 3),
)
AREA_COLUMNS = (
    Column("name", "records"),
    Column("n", "n", "count"),
    Column("value", "AUC (95% interval)", "number", 3, low="low", high="high"),
)


def tabulate_weights(samples: Sequence[Sample]) -> pd.DataFrame:
    """Work out the ten collapsible metrics of two groups with their weights, for `WEIGHT_COLUMNS`."""
    whole, found = pool_samples(samples), []
    for metric in PERFORMANCE.values():
        if metric.weight is None:
            continue
        row: dict[str, Any] = {"title": metric.title, "weighed_by": metric.weighed_by}
        for letter, sample in zip("ab", samples, strict=True):
            row |= {f"value_{letter}": metric.value(sample), f"weight_{letter}": metric.weight(sample)}
        found.append(row | {"mean": collapse(metric, samples), "overall": metric.value(whole)})
    return pd.DataFrame(found)


def tabulate_counterexamples() -> pd.DataFrame:
    """List pairs of groups whose overall value lies outside both, for `COUNTEREXAMPLE_COLUMNS`."""
    found = []
    for name in OUTSIDE:
        case = find_counterexample(name)
        n = sum(len(group.outcome) for group in case.groups)
        one, other = case.values
        row = {
            "metric": name,
            "title": PERFORMANCE[name].title,
            "n": n,
            "one": one,
            "other": other,
            "overall": case.overall,
        }
        found.append(row)
    return pd.DataFrame(found)


def describe_sample(sample: Sample) -> str:
    """Say which scores a group has, and how often each came with the event."""
    parts = []
    for score in np.unique(sample.score):
        here = sample.outcome[sample.score == score]
        parts.append(
            f"score {score:g}: {count_of(here.sum(), len(here), 'with the event', 'with the event')}"
        )
    return "; ".join(parts)


def describe_counterexample(name: str) -> str:
    """Write a counterexample out, so that a reader can check it."""
    case = find_counterexample(name)
    one, other = (describe_sample(group) for group in case.groups)
    return f"- **{PERFORMANCE[name].title}**. Group 1: {one}. Group 2: {other}."


def describe_intercepts() -> str:
    """Say how far the four weights of the calibration intercept are from following from the groups."""
    ratio = compare_intercept_weights()["weight_ratio"]
    one, other = ratio[0] * ratio[3], ratio[1] * ratio[2]
    return (
        f"A with C times B with D is {number(one, digits=3)}; A with D times B with C is "
        f"{number(other, digits=3)}. Were there weights, the two would be equal; one is "
        f"{number(max(one, other) / min(one, other), digits=1)} times the other."
    )


def compare_overall(run: Run, model: str, attribute: str) -> pd.DataFrame:
    """Set overall values beside the weighted means of the groups' values, for `OVERALL_COLUMNS`."""
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
    whole = known[known["attribute"] == "all"].iloc[0]
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


def compare_attributes(run: Run, model: str) -> pd.DataFrame:
    """Stack `compare_overall` of every attribute of a run, with the attribute's name in front."""
    parts = [compare_overall(run, model, name).assign(attribute=name) for name in run.info["attributes"]]
    return pd.concat(parts, ignore_index=True)


def describe_overall(table: pd.DataFrame) -> str:
    """Say where the overall value is the weighted mean, and where it is not."""
    known = table[table["difference"].notna()]
    mean, other = known[known["collapsible"]], known[~known["collapsible"]]
    if known.empty:
        return "No metric has both an overall value and values by group here."
    exact = int((mean["difference"].abs() < EXACT).sum())
    text = [
        f"With the right weights, {count_of(exact, len(mean), 'overall value')} "
        f"{'is' if exact == 1 else 'are'} the weighted mean, to the last digit that the files keep."
    ]
    if other.empty:
        return f"{text[0]} Of the metrics without weights, none has a value here."
    worst = max(rows(other), key=lambda row: abs(row.difference))
    side = "above" if worst.difference > 0 else "below"
    text.append(
        f"Of the metrics without weights the widest distance is that of the {_lower(worst.title)} by "
        f"{escape(worst.attribute)}: the overall value is {number(worst.overall)}, "
        f"{number(abs(worst.difference))} {side} the mean by records."
    )
    return " ".join([*text, _describe_outside(other)])


def _lower(title: str) -> str:
    """Write a metric's title inside a sentence."""
    kept = title[:2].isupper() or title.startswith(("Brier", "F1", "Nagelkerke", "O:E"))
    return title if kept else title[0].lower() + title[1:]


def _describe_outside(other: pd.DataFrame) -> str:
    """Name the overall values that lie outside those of the groups."""
    outside = other[other["outside"]]
    if outside.empty:
        return (
            "Each overall value lies between the lowest and the highest group: here the trap is not sprung."
        )
    cases = [
        f"{_lower(row.title)} by {escape(row.attribute)} ({number(row.overall)}, groups "
        f"{interval(row.lowest, row.highest)})"
        for row in rows(outside)
    ]
    shown = cases[:4] + ([f"{len(cases) - 4} more"] if len(cases) > 4 else [])
    return f"Outside all groups' values: {join_words(shown)}."


def describe_gaps(run: Run) -> str:
    """Say which of the fifteen metrics this run's files cannot give by group, and why."""
    names = join_words(_lower(PERFORMANCE[name].title) for name in UNKNOWN)
    text = (
        f"A run keeps counts, sums and fits of each group, never the records, so {names} cannot be "
        "worked out by group here; the first two would agree, the third need not."
    )
    ranks = run.models.loc[run.models["kind"] != "probability", "model"]
    if len(ranks):
        text += (
            f" {plural(len(ranks), 'model')} of this run {'gives' if len(ranks) == 1 else 'give'} no "
            "probabilities: O:E ratio, net benefit and everything on calibration stay blank there."
        )
    counted = run.groups.groupby(["model", "attribute"], as_index=False)["n"].sum()
    audited = counted[["model"]].merge(run.models[["model", "n_audit"]], on="model")["n_audit"]
    if (counted["n"] < audited).any():
        text += (
            " Some records have no group in some attribute. They are in no group's value, so overall "
            "intercept and slope, which hold them, are left blank there."
        )
    return text


def list_areas(run: Run, model: str, attribute: str) -> pd.DataFrame:
    """List the area over all records, the mean of the groups' areas, and each group's, for `AREA_COLUMNS`."""
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


def describe_areas(areas: pd.DataFrame) -> str:
    """Say on which side of the groups' mean the overall area lies, and what that does to a gap to it."""
    overall, mean = areas["value"][:2]
    groups = areas.loc[(areas["role"] == "group") & areas["value"].notna()]
    if np.isnan(overall) or groups.empty:
        return "There is no area to compare: one of the two outcomes is missing, or there are decisions only."
    below = int((groups["value"] < overall).sum())
    text = (
        f"Over all records the AUC is {number(overall)}; the mean of the groups' is {number(mean)}. "
        f"{count_of(below, len(groups), 'group')} {'has' if below == 1 else 'have'} an area below the "
        "overall one."
    )
    if below == len(groups) > 1:
        return f"{text} Measured against it, *every* group is served worse than the whole: an illusion."
    if below == 0 and len(groups) > 1:
        return (
            f"{text} Measured against it, *no* group is served worse than the whole, whatever the model does."
        )
    return text


def compare_models(run: Run, attribute: str) -> pd.DataFrame:
    """Set mean and overall value of three metrics side by side for every model, for `MODEL_COLUMNS`."""
    found = []
    for model in run.models["model"]:
        table = compare_overall(run, model, attribute).set_index("metric")
        row: dict[str, Any] = {"model": model}
        for short, name in (("auc", "auc"), ("slope", "calibration_slope"), ("ece", "ece")):
            row |= {f"{short}_mean": table.loc[name, "mean"], f"{short}_overall": table.loc[name, "overall"]}
        found.append(row)
    return pd.DataFrame(found)


def describe_models(table: pd.DataFrame, info: Mapping[str, Any], attribute: str) -> str:
    """Say for how many models overall AUC lies below the mean of the groups', and for how many above."""
    apart = (table["auc_overall"] - table["auc_mean"]).dropna()
    if apart.empty:
        return "No model has areas to compare."
    made = " These are figures of a synthetic cohort." if info.get("synthetic") else ""
    most = apart.abs().max()
    return (
        f"By {escape(attribute)}, the overall AUC of {count_of((apart > 0).sum(), len(apart), 'model')} lies "
        f"above the mean of the groups' AUCs, and of {(apart < 0).sum()} below; "
        f"{f'at most {number(most)}' if most >= 0.0005 else 'under 0.001'} apart.{made}"
    )
