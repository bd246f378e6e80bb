"""Overall values and means of group values: sentences and tables on which of them agree."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from auditbook.book.say.text import agree, count_of, escape, interval, join_words, number, plural, read_layout
from auditbook.ranking import (
    EXACT,
    PERFORMANCE,
    Sample,
    compare_intercept_weights,
    find_counterexample,
    multiply_weights,
)
from auditbook.results import Run, rows

UNKNOWN = ("log_loss", "brier", "nagelkerke")
"""Metrics that need every record's score, which result files do not hold."""
WEIGHT_COLUMNS = read_layout("book", "collapsibility.weight")
COUNTEREXAMPLE_COLUMNS = read_layout("book", "collapsibility.counterexample")
INTERCEPT_COLUMNS = read_layout("book", "collapsibility.intercept")
OVERALL_COLUMNS = read_layout("book", "collapsibility.overall")
MODEL_COLUMNS = read_layout("book", "collapsibility.model")
AREA_COLUMNS = read_layout("book", "collapsibility.area")


def describe_sample(sample: Sample) -> str:
    """Say which scores a group has, and how often each came with the event."""
    parts = []
    for score in sorted(set(sample.score.tolist())):
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
    one, other = multiply_weights(compare_intercept_weights())
    return (
        f"A with C times B with D is {number(one, digits=3)}; A with D times B with C is "
        f"{number(other, digits=3)}. Were there weights, the two would be equal; one is "
        f"{number(max(one, other) / min(one, other), digits=1)} times the other."
    )


def describe_overall(table: pd.DataFrame) -> str:
    """Say where the overall value is the weighted mean, and where it is not."""
    known = table[table["difference"].notna()]
    mean, other = known[known["collapsible"]], known[~known["collapsible"]]
    if known.empty:
        return "No metric has both an overall value and values by group here."
    exact = int((mean["difference"].abs() < EXACT).sum())
    text = [
        f"With the right weights, {count_of(exact, len(mean), 'overall value')} "
        f"{agree(exact, 'is', 'are')} the weighted mean, to the last digit that the files keep."
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
            f" {plural(len(ranks), 'model')} of this run {agree(len(ranks), 'gives', 'give')} no "
            "probabilities: O:E ratio, net benefit and everything on calibration stay blank there."
        )
    counted = run.groups.groupby(["model", "attribute"], as_index=False)["n"].agg(
        lambda part: part.sum(skipna=False)
    )
    audited = counted[["model"]].merge(run.models[["model", "n_audit"]], on="model")["n_audit"]
    if (counted["n"] < audited).any():
        text += (
            " Some records have no group in some attribute. They are in no group's value, so overall "
            "intercept and slope, which hold them, are left blank there."
        )
    return text


def describe_areas(areas: pd.DataFrame) -> str:
    """Say on which side of the groups' mean the overall area lies, and what that does to a gap to it."""
    overall, mean = areas["value"][:2]
    groups = areas.loc[(areas["role"] == "group") & areas["value"].notna()]
    if math.isnan(overall) or groups.empty:
        return "There is no area to compare: one of the two outcomes is missing, or there are decisions only."
    below = int((groups["value"] < overall).sum())
    text = (
        f"Over all records the AUC is {number(overall)}; the mean of the groups' is {number(mean)}. "
        f"{count_of(below, len(groups), 'group')} {agree(below, 'has', 'have')} an area below the "
        "overall one."
    )
    if below == len(groups) > 1:
        return f"{text} Measured against it, *every* group is served worse than the whole: an illusion."
    if below == 0 and len(groups) > 1:
        return (
            f"{text} Measured against it, *no* group is served worse than the whole, whatever the model does."
        )
    return text


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
