"""Errors by pocket: what was tested, flagged and ruled out, and where a gap comes from."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.pockets import MAPS, title_pockets
from auditbook.book.say.text import (
    MISSING,
    agree,
    count,
    count_of,
    escape,
    interval,
    join_words,
    name_list,
    number,
    plural,
    read_layout,
    share,
)
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets import OVERALL, is_true, name_kinds
from auditbook.results import match_rows, rows

QUANTITIES = {"mu": "mean error", "delta": "gap in mean error", "paired": "paired gap of two models"}
AXIS = {
    "mu": "mean error (prediction minus outcome)",
    "delta": "gap in mean error (focal minus reference)",
    "paired": "difference of the two models' gaps",
}
WORDS = {"over": "too high", "under": "too low"}
ERROR_COLUMNS = read_layout("book", "pocket_errors.error")
SUMMARY_COLUMNS = read_layout("book", "pocket_errors.summary")
TOLERANCE_COLUMNS = read_layout("book", "pocket_errors.tolerance")
SPLIT_COLUMNS = read_layout("book", "pocket_errors.split")


def pick_errors(
    errors: pd.DataFrame, *, model: str, name: str, quantity: str, contrast: str = "", other_model: str = ""
) -> pd.DataFrame:
    """Take the rows of one model, map, quantity and contrast."""
    found = match_rows(
        errors, model=model, map=name, quantity=quantity, contrast=contrast, other_model=other_model
    )
    first = found["pocket"] == OVERALL
    return pd.concat([found[first], found[~first]], ignore_index=True)


def lay_out(errors: pd.DataFrame, pockets: pd.DataFrame) -> pd.DataFrame:
    """Give rows of one map their labels, sizes and findings in words, for `ERROR_COLUMNS` and the figure."""
    titles = title_pockets(pockets, errors["map"].iloc[0]) if len(errors) else {}
    ends = {name: errors[name].replace([np.inf, -np.inf], np.nan) for name in ("ci_low", "ci_high")}
    errors = errors.assign(**ends)  # too few draws for the level leave an interval without ends
    kinds = name_kinds(errors)
    notes = [
        row.reason or row.status if kind == "untested" else ""
        for row, kind in zip(rows(errors), kinds, strict=True)
    ]
    words = {"none": "not flagged", "over": "flagged, too high", "under": "flagged, too low"}
    found = [
        f"not tested: {note}" if kind == "untested" else words[kind]
        for note, kind in zip(notes, kinds, strict=True)
    ]
    return errors.assign(
        label=[titles.get(name, name) for name in errors["pocket"]],
        size=[_write_size(row) for row in rows(errors)],
        kind=kinds,
        note=notes,
        found=found,
    )


def _write_size(row: Any) -> str:
    """Write the records behind one row, both groups' where two are compared."""
    if row.quantity == "mu" or np.isnan(row.n_focal):
        return f"n = {count(row.n)}"
    return f"n = {count(row.n_focal)} and {count(row.n_reference)}"


def write_confidence(level: float) -> str:
    """Write the confidence of simultaneous intervals of a level."""
    return MISSING if np.isnan(level) else f"{100 * (1 - level):g}%"


def describe_errors(laid: pd.DataFrame) -> str:
    """Say what is found overall and in each flagged pocket, and how many could not be tested."""
    if laid.empty:
        return "There is nothing of this kind in this run."
    points = [_describe_overall(row) for row in rows(laid[laid["pocket"] == OVERALL])]
    inside = laid[laid["pocket"] != OVERALL]
    tested = inside[inside["kind"] != "untested"]
    flagged = tested[tested["kind"].isin(WORDS)]
    level = write_confidence(laid["level"].max())
    if len(tested):
        text = f"- {count_of(len(flagged), len(tested), 'tested pocket')} flagged"
        points.append(f"{text}; the {level} intervals hold for all rows at once.")
    else:
        points.append("- No pocket could be tested.")
    points += [f"  - {_describe_flag(row)}" for row in rows(flagged)]
    points += _describe_sides(flagged["kind"], laid.loc[laid["pocket"] == OVERALL, "kind"])
    if len(inside) > len(tested):
        points.append(_describe_untested(inside[inside["kind"] == "untested"]))
    return "\n".join(points)


def _describe_sides(kinds: pd.Series, whole: pd.Series) -> list[str]:
    """Say whether flagged pockets err to both sides, or all to the side of the whole."""
    sides = set(kinds)
    if len(sides) == 2:
        return ["- Errors of both signs: in the mean of all records they cancel, in part or altogether."]
    if len(kinds) > 1 and sides == set(whole):
        return [
            "- The whole and all flagged pockets err to the same side: this is first of all one error of the "
            "whole model. Mend that, then look again, on other records."
        ]
    return []


def _describe_overall(row: Any) -> str:
    """Say what is found of all audited records together."""
    if row.kind == "untested":
        return f"- All records together could not be tested: {escape(row.note)}."
    ends = interval(row.ci_low, row.ci_high)
    what = QUANTITIES[row.quantity]
    verdict = "not shown to differ from zero" if row.kind == "none" else f"flagged, {WORDS[row.kind]}"
    return f"- All records: {what} {number(row.estimate)} ({ends}), {verdict}."


def _describe_flag(row: Any) -> str:
    """Say where one flagged pocket errs and by how much."""
    text = f"{escape(row.label)} ({escape(row.size)}): {number(row.estimate)} "
    text += f"({interval(row.ci_low, row.ci_high)}), {WORDS[row.kind]}"
    if row.quantity == "mu" and not np.isnan(row.mean_prediction):
        text += f": {number(row.mean_prediction)} predicted, {number(row.mean_outcome)} happened"
    elif row.quantity == "delta":
        text += " for the focal group compared with the reference group"
    return f"{text}."


def _describe_untested(untested: pd.DataFrame) -> str:
    """Name the pockets that were not tested, with their reasons."""
    reasons = [f"{escape(row.pocket)} ({escape(row.note)})" for row in rows(untested.head(6))]
    more = [f"{len(untested) - 6} more"] if len(untested) > 6 else []
    known = agree(len(untested), "it; it is", "them; they are")
    return f"- Not tested: {join_words(reasons + more)}. Nothing is known of {known} not merged with others."


def describe_shortfall(laid: pd.DataFrame) -> str:
    """Say how many times the records would let untested pockets be tested, and where sites lack."""
    inside = laid[(laid["pocket"] != OVERALL) & (laid["kind"] == "untested")]
    known = inside[inside["growth"].notna()].sort_values("growth", kind="stable")
    parts = []
    if len(known):
        times = [_round_up(growth) for growth in known["growth"]]
        more = f"; with {times[-1]} times, {len(known) - 1} more." if len(known) > 1 else "."
        parts.append(
            f"With about {times[0]} times as many audited records of the same kind, "
            f"{escape(known['pocket'].iloc[0])} could be tested{more}"
        )
    if is_true(inside["lacks_units"]).any():
        parts.append(
            "Where sites (or other units) are too few or one holds too much, more of them help and more "
            "records do not."
        )
    return " ".join(parts)


def _round_up(growth: float) -> str:
    """Write a factor so that it never reads as enough before it is."""
    return number(math.ceil(round(10 * growth, 6)) / 10, digits=1)


def describe_strict(errors: pd.DataFrame, *, level: float) -> str:
    """Say which flags of a mean error stay at the stricter level that dependent sites ask for."""
    if errors.empty or not errors["flagged_strict"].astype(str).isin(["True", "False", "1.0", "0.0"]).any():
        return ""
    flagged, strict = errors["kind"].isin(WORDS), is_true(errors["flagged_strict"])
    text = f"Sites are the units, so mean errors are also held against the level {level:g} a map. "
    if not flagged.any():
        return text + "Nothing was flagged at the usual one either."
    names = errors["pocket"].replace(OVERALL, "all records")
    kept, gone = name_list(names[flagged & strict]), name_list(names[flagged & ~strict])
    text += f"There stay flagged: {kept}." if kept else "No flag stays."
    hints = agree((flagged & ~strict).sum(), "it as a hint", "them as hints")
    return text + (f" No longer flagged: {gone}; take {hints}." if gone and kept else "")


def list_contrasts(errors: pd.DataFrame) -> list[str]:
    """List the contrasts of a run in the order of its tables, tested or not."""
    return [name for name in dict.fromkeys(errors["contrast"]) if name]


def list_pairs(errors: pd.DataFrame) -> list[tuple[str, str]]:
    """List the pairs of models whose gaps are compared."""
    found = errors[errors["quantity"] == "paired"]
    return list(dict.fromkeys(zip(found["model"], found["other_model"], strict=True)))


def describe_contrasts(errors: pd.DataFrame, *, model: str, name: str) -> str:
    """Say of each contrast how many pockets were tested and flagged."""
    found = match_rows(errors, model=model, map=name, quantity="delta")
    if found.empty:
        return "No groups are compared in this run."
    points = []
    for contrast in dict.fromkeys(found["contrast"]):
        inside = found[(found["contrast"] == contrast) & (found["pocket"] != OVERALL)]
        tested = inside[inside["status"] == "tested"]
        text = f"- {escape(contrast)}: {count_of(len(tested), len(inside), 'pocket')} could be tested"
        if len(tested):
            flagged = tested.loc[is_true(tested["flagged"]), "pocket"]
            text += f", flagged: {name_list(flagged)}" if len(flagged) else ", none flagged"
        points.append(f"{text}.")
    return "\n".join(points)


def pick_summary(
    summary: pd.DataFrame, *, model: str, quantity: str, contrast: str = "", other_model: str = ""
) -> pd.DataFrame:
    """Take the rows of both maps and of the two together, for `SUMMARY_COLUMNS` and `TOLERANCE_COLUMNS`."""
    found = match_rows(
        summary, model=model, quantity=quantity, contrast=contrast, other_model=other_model
    ).reset_index(drop=True)
    return found.assign(map_words=[MAPS.get(name, name) for name in found["map"]])


def one_row_a_map(summary: pd.DataFrame) -> pd.DataFrame:
    """Keep one row a map of a table with one row a map and tolerance."""
    return summary.drop_duplicates("map").reset_index(drop=True)


def describe_combined(summary: pd.DataFrame) -> str:
    """Say how many records lie in flagged pockets of either map, by direction, and how many in conflict."""
    found = summary[summary["map"] == "combined"]
    if found.empty:
        return "There is no audit of both maps together in this run."
    row = rows(found)[0]
    if math.isnan(row.over_share):
        return "How many records lie in flagged pockets of both maps together is withheld."
    whose = "of the focal group's records" if row.contrast else "of records"
    text = (
        f"Both maps together, each at half the level: {share(row.over_share)} {whose} are flagged too "
        f"high and {share(row.under_share)} too low."
    )
    if row.conflict_share > 0:
        text += (
            f" For {share(row.conflict_share)} one map says too high and the other too low: a conflict, "
            "which counts for neither."
        )
    return text


def describe_ruled_out(summary: pd.DataFrame) -> str:
    """Say for which share of records errors beyond each tolerance are ruled out."""
    found = summary[(summary["map"] == "forest") & summary["equivalence_share"].notna()]
    if found.empty or not found["tested"].max():
        return "Nothing could be ruled out: no pocket was tested."
    whose = "focal group's records" if found["contrast"].iloc[0] else "records"
    parts = [
        f"beyond ±{number(row.tolerance)} for {share(row.equivalence_share)}"
        for row in rows(found.sort_values("tolerance"))
    ]
    text = f"In the forest map, average errors of pockets are ruled out {join_words(parts)} of all {whose}."
    if found["equivalence_share"].max() == 0:
        text += " So the absence of a flag says little here: the intervals are wide."
    return text


def describe_split(split: pd.DataFrame) -> str:
    """Say of each clear overall gap where it comes from."""
    known = split[split["overall"].notna()]
    if known.empty:
        return "No overall gap could be split: no groups are compared, or too few records were."
    clear = known[known["composition_share"].notna()]
    if clear.empty:
        return (
            "No overall gap is shown to differ from zero by its simultaneous interval, so there is nothing "
            "to divide: a share of a gap that may be zero means nothing."
        )
    points = [_describe_part(row) for row in rows(clear)]
    if len(known) > len(clear):
        rest = plural(len(known) - len(clear), "more overall gap")
        points.append(f"- {rest}: not shown to differ from zero, so not divided.")
    return "\n".join(points)


def _describe_part(row: Any) -> str:
    """Say where one overall gap comes from."""
    text = (
        f"- {escape(row.model)}, {escape(row.contrast)}: of an overall gap of {number(row.overall)}, "
        f"{number(row.composition)} comes from where the groups are and {number(row.within)} from gaps "
        "within pockets."
    )
    return f"{text} The two pull in opposite directions." if row.opposed else text


def strict_level(info: Mapping[str, Any]) -> float:
    """Find the stricter level of one map that a run used for mean errors (published: 0.0025)."""
    settings = (info.get("pockets") or {}).get("settings") or {}
    return float(settings.get("strict_level", PocketSettings().strict_level))


def describe_ratios(info: Mapping[str, Any]) -> str:
    """Say whether this run judges ratios as published or corrected, and why; blank without pockets."""
    told = info.get("pockets") or {}
    if told.get("status") != "done" or "ratios" not in told:
        return ""
    if told["ratios"] == "published":
        return "In this run ratios are judged as published: each estimate divided by its standard error."
    why = "the outcome is a number, whose errors may be skewed"
    if not told["continuous"]:
        why = "units hold several records, and may be few and unequal"
    return f"In this run ratios are corrected, since {why}. An interval need not be as long on both sides."


def describe_shown(model: str, contrast: str = "", *, asked: str = "") -> str:
    """Say which model and contrast a chapter shows, and why not the one asked for."""
    if not model:
        return ""
    text = f"Shown here: the model **{escape(model)}**"
    text += f" and the contrast **{escape(contrast)}** (focal minus reference)." if contrast else "."
    if asked and asked != model:
        text += f" The model {escape(asked)} is not among those that were audited in pockets."
    return text


def describe_pair(one: str, other: str, laid: pd.DataFrame) -> str:
    """Say which two models are compared, if any are, and what is found."""
    if not one:
        return "No two models are compared in this run; the cohort file names them under `paired`."
    return f"The gap of **{escape(one)}** minus that of **{escape(other)}**.\n\n{describe_errors(laid)}"
