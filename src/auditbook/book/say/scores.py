"""The models and their scores: sentences and tables on source, discrimination, calibration and threshold."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from auditbook.book.say.text import (
    agree,
    count,
    escape,
    interval,
    join_words,
    name_list,
    number,
    plural,
    read_layout,
    share,
)
from auditbook.results import match_rows, rows

MANY_MODELS = 4
"""More models than this are not told one by one."""
MODEL_COLUMNS = read_layout("book", "scores.model")
QUALITY_COLUMNS = read_layout("book", "scores.quality")
SHARE_COLUMNS = read_layout("book", "scores.share")
BIN_COLUMNS = read_layout("book", "scores.bin")
LEVEL_COLUMNS = read_layout("book", "scores.level")
SWEEP_COLUMNS = read_layout("book", "scores.sweep")
KINDS = {
    "probability": "a probability: it orders records and says how likely the event is",
    "rank": "a rank: it orders records and says nothing of how likely the event is",
    "decision": "a decision, 0 or 1: the order behind it was not supplied",
}
TURNED = {"probability": "1 minus the score", "decision": "1 minus the decision", "rank": "minus the score"}


def find_model(models: pd.DataFrame, model: str) -> Any:
    """Return the row of one model as a named tuple."""
    return rows(models[models["model"] == model])[0]


def describe_sources(models: pd.DataFrame, info: Mapping[str, Any]) -> str:
    """Say which models were given and which trained here, and on how many records each is audited."""
    given, trained = (models[models["source"] == source] for source in ("given", "trained"))
    parts = []
    if len(given):
        verb = agree(len(given), "was", "were")
        parts.append(
            f"{name_list(given['model'])} {verb} given with the data. What such a model was trained on is "
            "not known here, so nobody can rule out that it has seen these records."
        )
    if len(trained):
        parts.append(_describe_training(trained, info))
    n = models["n_audit"].max()
    parts.append(
        f"The audit looks at {plural(n, 'record')}, {count(models['events_audit'].max())} with the event."
    )
    return " ".join(parts)


def _describe_training(trained: pd.DataFrame, info: Mapping[str, Any]) -> str:
    """Say how the records were split for the models trained here."""
    verb, pronoun = ("was", "it") if len(trained) == 1 else ("were", "they")
    unit = info.get("unit")
    whole = f"no {escape(unit)} has records in both parts" if unit else "each record is its own unit"
    return (
        f"{name_list(trained['model'])} {verb} trained here on {plural(trained['n_train'].max(), 'record')}; "
        f"{pronoun} never saw the outcomes of the audited ones, and {whole}."
    )


def describe_kinds(models: pd.DataFrame) -> str:
    """Say what the numbers of each model mean, and what therefore cannot be judged."""
    points = []
    for kind, meaning in KINDS.items():
        names = models.loc[models["kind"] == kind, "model"]
        if len(names):
            points.append(f"- {name_list(names)}: {meaning}.{_describe_limits(kind)}")
    points += [f"- {told}" for told in describe_turned(models)]
    return "\n".join(points)


def describe_turned(models: pd.DataFrame) -> list[str]:
    """Say of which scores low ones speak for the event, and how these were turned round."""
    turned = models[models["event_is"] == "low"]
    return [
        f"{name_list(part['model'])}: low scores speak for the event, so that {how} stands for each of them "
        "in every table and figure: there a higher score speaks for the event."
        for how, part in turned.groupby(turned["kind"].map(TURNED))
    ]


def _describe_limits(kind: str) -> str:
    if kind == "rank":
        return " Calibration cannot be judged, so CAL and TI will be inconclusive."
    if kind == "decision":
        return " Neither calibration nor the AUROC can be judged, so CAL and TI will be inconclusive."
    return ""


def describe_late(columns: pd.DataFrame, models: pd.DataFrame) -> str:
    """Say whether models trained here use what is known only late."""
    held = columns[columns["role"] == "late feature"]
    late = held["column"]
    if not (models["source"] == "trained").any():
        return (
            "No model was trained here. "
            "Ask whoever built the scores which columns went in, and when each of them was known."
        )
    if late.empty:
        return (
            "The cohort file marks no column as late. That is a claim about when each column was filled in; "
            "only somebody who knows the data can check it."
        )
    number_of = plural(held["n_columns"].sum(), "column")
    lean = models.loc[models["features"] == "admission", "model"]
    but = f" {name_list(lean)} {agree(len(lean), 'does', 'do')} without: compare." if len(lean) else ""
    return (
        f"The models trained here use {number_of} that the cohort file marks as late: "
        f"{name_list(late)}. Read their AUROC as an upper bound on what could be reached at admission.{but}"
    )


def describe_discrimination(models: pd.DataFrame) -> str:
    """Say how well models order records, in words of pairs."""
    told = models
    if len(models) > MANY_MODELS:
        ends = models["auroc"].rank(method="first").isin([1, models["auroc"].count()])
        told = models[ends | (models["model"] == models["model"].iloc[0])]
    lines = [f"- {_describe_auroc(row)}" for row in rows(told)]
    if len(told) < len(models):
        lines.append("- The others lie between: see the table.")
    return "\n".join(lines)


def _describe_auroc(row: Any) -> str:
    """Say one model's AUROC as a share of pairs in the right order."""
    name = f"**{escape(row.model)}**"
    if math.isnan(row.auroc):
        if row.kind == "decision":
            return f"{name} gives decisions only, so no AUROC is given."
        return (
            f"{name} has no AUROC: among {plural(row.n_audit, 'record')} one of the two outcomes is missing."
        )
    text = (
        f"{name} puts the event above the non-event in {share(row.auroc)} of pairs, ties counted half"
        f"{_bracket(row.auroc_low, row.auroc_high)}"
    )
    if row.auroc_low <= 0.5 <= row.auroc_high:
        return f"{text}. The interval holds one half, which is what blind guessing reaches."
    if row.auroc < 0.5:
        return f"{text}. That is below one half: check whether the score points the other way."
    return f"{text}."


def _bracket(low: float, high: float) -> str:
    if math.isnan(low) or math.isnan(high):
        return " (no interval can be given)"
    return f" (95% interval {interval(low, high, kind='share')})"


def describe_accuracy(models: pd.DataFrame) -> str:
    """Compare accuracies with that of deciding blindly."""
    known = models[models["accuracy"].notna() & models["blind"].notna()]
    if known.empty:
        return "No accuracy can be given."
    first = rows(known)[0]
    rule = "everybody" if first.event_rate > 0.5 else "nobody"
    parts = [f"Selecting {rule} is right for {share(first.blind)} of the audited records."]
    beaten = known[known["accuracy"] <= known["blind"]]
    if beaten.empty:
        best = max(rows(known), key=lambda row: row.accuracy)
        gain = number(100 * (best.accuracy - best.blind), digits=1)
        parts.append(
            f"The most accurate model, {escape(best.model)}, is right for {share(best.accuracy)}: "
            f"{gain} points more."
        )
    else:
        verb = agree(len(beaten), "does", "do")
        parts.append(f"At the threshold used, {name_list(beaten['model'])} {verb} no better than that.")
    return " ".join(parts)


def select_bins(bins: pd.DataFrame, model: str, *, attribute: str = "all") -> pd.DataFrame:
    """Take the score bins of one model and attribute ("all": all records in one)."""
    return match_rows(bins, model=model, attribute=attribute).reset_index(drop=True)


def describe_shares(shares: pd.DataFrame) -> str:
    """Say how far apart the scores of events and of non-events lie."""
    events, others = shares["events"].sum(skipna=False), shares["others"].sum(skipna=False)
    if not events or not others:
        return "One of the two outcomes does not occur, so there is nothing to tell apart."
    if math.isnan(events):
        return "Some bins hold so few events or others that their numbers are withheld."
    overlap = shares[["event_share", "other_share"]].min(axis=1).sum()
    return (
        f"{plural(events, 'event')} and {plural(others, 'non-event')}: by bins, the two pictures share "
        f"{share(overlap)} of their area. Where they overlap, no threshold tells the two apart."
    )


def describe_bins(rates: pd.DataFrame, kind: str) -> str:
    """Say whether event rates follow the scores."""
    filled = rates[rates["n"] > 0]
    if kind == "decision":
        return "These are decisions, not scores, so there is no calibration to look at."
    if len(filled) < 2:
        return "All scores lie in one bin, so nothing can be said of how event rates follow them."
    steps = filled["event_rate"].diff().iloc[1:]
    falls = int((steps < 0).sum())
    rises = (
        "The event rate rises from each bin to the next."
        if not falls
        else f"From one filled bin to the next the event rate falls {plural(falls, 'time')} in {len(steps)}."
    )
    if kind == "rank":
        return f"{rises} These scores are ranks: there is no number that a bin's event rate should equal."
    return f"{rises} {_describe_gaps(filled)}"


def _describe_gaps(filled: pd.DataFrame) -> str:
    """Say in how many bins the mean score lies outside the interval of the event rate."""
    outside = filled[
        (filled["mean_score"] < filled["event_rate_low"]) | (filled["mean_score"] > filled["event_rate_high"])
    ]
    worst = max(rows(filled), key=lambda row: abs(row.event_rate - row.mean_score))
    side = "above" if worst.mean_score > worst.event_rate else "below"
    bins = f"{count(len(outside))} of {plural(len(filled), 'filled bin')}"
    return (
        f"The mean score lies outside the interval in {bins}; about one in twenty would by chance. "
        f"The widest gap is in the bin from {number(worst.bin_low, digits=1)} "
        f"to {number(worst.bin_high, digits=1)} ({plural(worst.n, 'record')}): "
        f"the mean score, {number(worst.mean_score, digits=2)}, lies {side} "
        f"the event rate, {number(worst.event_rate, digits=2)}."
    )


def describe_levels(levels: pd.DataFrame, kind: str) -> str:
    """Say for which groups the mean score lies off the event rate."""
    if kind != "probability":
        return "The scores are not probabilities, so a mean score has no event rate to be compared with."
    known = levels[levels["excess"].notna()]
    high = known.loc[known["mean_score"] > known["event_rate_high"], "group"]
    low = known.loc[known["mean_score"] < known["event_rate_low"], "group"]
    parts = []
    if len(high):
        parts.append(f"The mean score lies above the interval of the event rate for {name_list(high)}.")
    if len(low):
        parts.append(f"The mean score lies below the interval of the event rate for {name_list(low)}.")
    if not parts:
        parts.append("For no group does the mean score lie outside the interval of the event rate.")
    parts.append("A match of means can still hide errors of opposite sign at low and at high scores.")
    return " ".join(parts)


def describe_threshold(row: Any) -> str:
    """Say what the threshold in use selects."""
    name = f"**{escape(row.model)}**"
    if row.kind == "decision":
        text = f"{name} supplies decisions; whatever threshold stands behind them cannot be moved here."
    else:
        text = f"{name} selects a record when its score is {_write_cut(row)}."
    if row.selection_rate == 0:
        return f"{text} Nobody is selected: every metric that needs a selected record is undefined."
    if row.selection_rate == 1:
        return f"{text} Everybody is selected: every group has the same selection and error rates."
    return (
        f"{text} {share(row.selection_rate)} of the audited records are selected, "
        f"while {share(row.event_rate)} have the event."
    )


def _write_cut(row: Any) -> str:
    """Write from, or up to, which score a record is selected."""
    low = row.event_is == "low"
    limit = f"at least {number(row.threshold)}"
    if low:
        limit = f"at most {number(row.given_threshold)} (at least {number(row.threshold)} once turned round)"
    if math.isnan(row.percentile):
        return limit
    percentile = number(100 - row.percentile if low else row.percentile, digits=1).removesuffix(".0")
    return f"{limit}, percentile {percentile} of the audited scores"


def list_models(models: pd.DataFrame) -> str:
    """Name the models of the run, for a chapter that shows one of them."""
    others = join_words([escape(name) for name in models["model"]])
    return f"This run has {plural(len(models), 'model')}: {others}."
