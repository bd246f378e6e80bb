"""Which conclusions hold under other protocols, models and constants, said in words on any cohort?"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import (
    Column,
    agree,
    count,
    count_of,
    escape,
    join_words,
    name_list,
    number,
    plural,
    read_layout,
    say_cost,
    share,
)
from auditbook.mitigation import LEAN, OTHER_SEED, SINGLE, di_column
from auditbook.results import rows
from auditbook.verdicts import TIER_COUNTS, bound_spread

HELD = ("done", "nearest")
CONSTANTS = MappingProxyType(
    {
        "vfr_stable": "largest flip rate of a stable verdict",
        "resample_size": "records in a resample, N",
        "resamples": "number of resamples, K",
        "min_records": "minimum support of a group",
        "kappa_stable": "smallest kappa of folds that agree",
        "cv_stable": "largest CV of a metric that has settled",
        "field_size": "records that one site can audit",
    }
)
"""What each setting of sensitivity.csv is, in words."""
TIER_BOUNDS = MappingProxyType({"kappa_stable": "kappa", "cv_stable": "CV", "field_size": "field size"})
STANDINGS = MappingProxyType({"stable": "stable", "unstable": "not stable", "inconclusive": "inconclusive"})
MOST_CURVES = 4
"""Cells that a figure of curves has room for."""

SWEEP_COLUMNS = read_layout("book", "robustness.sweep")
COUNT_COLUMNS = (
    Column("label", "value"),
    Column("cells", "cells with a verdict", "count"),
    Column("stable", "stable", "count"),
    Column("surely_stable", "surely stable", "count"),
    Column("surely_unstable", "surely not", "count"),
    Column("flipped", "ever reversed", "count"),
    *(Column(column, name, "count") for name, column in TIER_COUNTS.items()),
)
LUCK_COLUMNS = read_layout("book", "robustness.luck")
LEVERAGE_COLUMNS = read_layout("book", "robustness.leverage")
LINE_COLUMNS = read_layout("book", "robustness.line")
EVIDENCE_COLUMNS = read_layout("book", "robustness.evidence")
SILENCE_COLUMNS = read_layout("book", "robustness.silence")


def setting_columns(attributes: Sequence[str]) -> tuple[Column, ...]:
    """List what the table of settings shows, with a column of disparate impact for each attribute."""
    return (
        Column("setting", "setting"),
        Column("model", "model"),
        Column("baseline", "baseline"),
        Column("seed", "seed", "number", digits=0),
        Column("features", "features"),
        Column("n_train", "trained on", "count"),
        Column("n_selected", "chosen on", "count"),
        Column("n", "reported on", "count"),
        Column("auroc", "AUROC", "number"),
        Column("accuracy_cost", "cost (points)", "number", digits=2),
        *(Column(di_column(name), f"DI {name}", "number") for name in attributes),
        Column("passes_selected", "DI pass where chosen", "count"),
        Column("di_passes", "DI pass", "count"),
        Column("stable", "stable", "count"),
        Column("cells", "of", "count"),
        Column("mean_vfr", "mean flip rate", "share"),
        Column("mean_kappa", "mean kappa", "number", digits=2),
        Column("status", "status"),
    )


def keep_made(found: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows that could be made."""
    return found[found["status"].isin(HELD)].reset_index(drop=True)


def select_check(robustness: pd.DataFrame, check: str) -> pd.DataFrame:
    """Select one check's rows of robustness.csv, numbered from zero."""
    found = robustness[robustness["check"] == check].reset_index(drop=True)
    models = found["setting"] if check == "protocol" else found["setting"] + ", " + found["model"]
    return found.assign(title=models + ": " + found["baseline"])


def list_lowest(found: pd.DataFrame) -> pd.DataFrame:
    """List the lowest disparate impact of B1 and B4 in every setting that was made, for `draw_lowest`."""
    kept = found[found["status"].isin(HELD) & found["baseline"].isin(["B1", "B4"])]
    names = {"lowest_di": "value", "lowest_di_low": "low", "lowest_di_high": "high"}
    names["lowest_di_selected"] = "chosen"
    columns = ["title", "n", *names.values(), "baseline"]
    return kept.rename(columns=names)[columns].reset_index(drop=True)


def describe_settings(found: pd.DataFrame, *, attributes: Sequence[str]) -> str:
    """Say what B4 comes to in every setting, and which settings were not made."""
    refined = found[found["baseline"] == "B4"]
    made, gone = refined[refined["status"].isin(HELD)], refined[~refined["status"].isin(HELD)]
    lines = [_describe_setting(row, attributes) for row in rows(made)]
    for note, part in gone.groupby("note", sort=False):
        names = join_words(dict.fromkeys(_name_setting(row) for row in rows(part)))
        lines.append(f"Not made: {names}, because {escape(note)}.")
    return "\n".join(f"- {line}" for line in lines) if lines else "There is no other model to compare."


def _name_setting(row: Any) -> str:
    """Name a setting, with its model where the check is about models."""
    model = f" with {escape(row.model)}" if row.check == "family" else ""
    return f"{escape(row.setting)}{model}"


def _describe_setting(row: Any, attributes: Sequence[str]) -> str:
    """Describe B4 in one setting."""
    passing = count_of(row.di_passes, len(attributes), "attribute")
    unknown = len(attributes) - row.di_judged
    passing += f" ({count(unknown)} cannot be judged)" if unknown else ""
    if row.setting == SINGLE:
        where = f"disparate impact passes for {passing}, selected and reported on the same records"
    else:
        where = (
            f"disparate impact passed for {count(row.passes_selected)} where thresholds were chosen and "
            f"passes for {passing} on the unseen part"
        )
    stable = count_of(row.stable, row.cells, "verdict")
    return (
        f"**{_name_setting(row)}** (AUROC {number(row.auroc)}): {where}; {say_cost(row.accuracy_cost)}; "
        f"{stable} {agree(row.stable, 'is', 'are')} stable."
    )


def describe_story(found: pd.DataFrame, *, attributes: Sequence[str]) -> str:
    """Say whether the settings agree on what a board would act on."""
    made = found[(found["baseline"] == "B4") & found["status"].isin(HELD)]
    if made.empty:
        return "No setting could be made, so there is nothing to compare."
    full = (made["di_passes"] == made["di_judged"]) & (made["di_judged"] > 0)
    unseen = made["setting"] != SINGLE
    which = "attribute that can be judged" if (made["di_judged"] < len(attributes)).any() else "attribute"
    text = f"Every {which} passes under B4 in {count_of(int(full.sum()), len(made), 'setting')}"
    if unseen.any() and not unseen.all():
        text += (
            f", and in {count_of(int(full[unseen].sum()), int(unseen.sum()), 'setting')} on unseen records"
        )
    verdict = (
        "So the settings agree." if full.all() or not full.any() else "So the story depends on the setting."
    )
    text += f". {verdict} " if len(made) > 1 else ". "
    steady = made["stable"] / made["cells"].where(made["cells"] > 0)
    if steady.notna().any():
        span = f"{share(steady.min(), digits=0)} to {share(steady.max(), digits=0)}"
        one = share(steady.max(), digits=0)
        text += f"The share of stable verdicts is {one if steady.min() == steady.max() else span}."
    return (text + _describe_lean(found)).strip()


def _describe_lean(found: pd.DataFrame) -> str:
    """Say what the late features are worth."""
    first = found[(found["baseline"] == "B1") & found["status"].isin(HELD)].set_index("setting")["auroc"]
    whole = [name for name in first.index if name not in (SINGLE, LEAN, OTHER_SEED)]
    if LEAN not in first.index or not whole:
        return ""
    before, after = first[whole[0]], first[LEAN]
    return f" Without the late features AUROC goes from {number(before)} to {number(after)}."


def describe_selection(found: pd.DataFrame) -> str:
    """Say how many passes of chosen thresholds were lost on records that had no part in the choice."""
    kept = found[(found["setting"] != SINGLE) & found["baseline"].isin(["B3", "B4"])]
    kept = kept[kept["status"].isin(HELD)]
    if kept.empty:
        return "No setting here has an unseen part, so what was lost by selection cannot be told."
    before, after = int(kept["passes_selected"].sum()), int(kept["di_passes"].sum())
    lost = int((kept["di_passes"] < kept["passes_selected"]).sum())
    return (
        f"Over the {plural(len(kept), 'choice')} of thresholds above that have an unseen part, disparate "
        f"impact passed {plural(before, 'time')} where they were chosen and {plural(after, 'time')} on the "
        f"unseen part; {count_of(lost, len(kept), 'choice')} lost at least one pass."
    )


def select_sweep(sensitivity: pd.DataFrame, setting: str) -> pd.DataFrame:
    """Select the rows of one constant, from the smallest value to the largest."""
    return sensitivity[sensitivity["setting"] == setting].reset_index(drop=True)


def describe_model(sensitivity: pd.DataFrame) -> str:
    """Name the model whose cells are judged under other constants."""
    return f"The model: {name_list(dict.fromkeys(sensitivity['model']))}."


def sweep_stable(sweep: pd.DataFrame) -> pd.DataFrame:
    """Follow the number of stable verdicts, with the range that Monte Carlo error leaves open."""
    return pd.DataFrame(
        {
            "name": "stable verdicts",
            "x": sweep["value"],
            "value": sweep["stable"],
            "low": sweep["surely_stable"],
            "high": sweep["cells"] - sweep["surely_unstable"],
        }
    )


def describe_bound(sweep: pd.DataFrame) -> str:
    """Say what the bound on the flip rate does to the number of stable verdicts."""
    own = sweep[sweep["in_force"]].iloc[0]
    if not own["cells"]:
        return "No cell has a verdict, so none is stable under any bound."
    first, last = sweep.iloc[0], sweep.iloc[-1]
    text = (
        f"With the bound in force, {escape(own['label'])}, "
        f"{count_of(own['stable'], own['cells'], 'verdict')} {agree(own['stable'], 'is', 'are')} stable; "
        f"with {escape(first['label'])} it would be {count(first['stable'])}, "
        f"and with {escape(last['label'])}, {count(last['stable'])}."
    )
    same = sweep[sweep["stable"] == own["stable"]]["label"]
    text += f" The count is the same for {join_words(map(escape, same))}."
    unsure = own["cells"] - own["surely_stable"] - own["surely_unstable"]
    if unsure:
        text += f" For {plural(unsure, 'cell')} Monte Carlo error alone could decide on which side it falls."
    return text


def list_curves(cells: pd.DataFrame, *, least: float = 0.02) -> pd.DataFrame:
    """List the flip rates by size of the resample of those cells whose flip rate moves most."""
    kept = cells[(cells["setting"] == "resample_size") & (cells["verdict"] != "inconclusive")]
    kept = kept.assign(name=kept["metric"] + " for " + kept["attribute"])
    rate = kept.groupby("name", sort=False)["vfr"]
    moves = (rate.max() - rate.min()).sort_values(ascending=False, kind="stable")
    names = list(moves[moves >= least].index[:MOST_CURVES])
    order = kept[kept["name"].isin(names)].assign(place=lambda part: part["name"].map(names.index))
    order = order.sort_values(["place", "value"], kind="stable")
    columns = {"value": "x", "vfr": "value", "vfr_low": "low", "vfr_high": "high"}
    return order[["name", *columns]].rename(columns=columns).reset_index(drop=True)


def describe_sizes(sweep: pd.DataFrame, cells: pd.DataFrame, *, bound: float, weighted: bool = False) -> str:
    """Say what the size of a resample does, and whose standing it decides."""
    if not sweep["cells"].any():
        return "No cell has a verdict, so none has a flip rate at any size."
    steps = [f"{escape(row.label)} records: {count(row.stable)}" for row in rows(sweep)]
    total = count(sweep["cells"].iloc[0])
    lines = [f"Stable verdicts, of {total}, by size of the resample: {'; '.join(steps)}."]
    rates = cells[(cells["setting"] == "resample_size") & (cells["verdict"] != "inconclusive")]
    wide = rates.pivot_table(index=["metric", "attribute"], columns="value", values="vfr", sort=False)
    sides = wide <= bound
    mixed = sides[sides.any(axis=1) & ~sides.all(axis=1)]
    if len(mixed):
        verb = agree(len(mixed), "is", "are")
        lines.append(
            f"{plural(len(mixed), 'cell').capitalize()} {verb} stable at one size and not at another: "
            f"{_name_cells(mixed.index)}."
        )
    elif len(sweep) > 1:
        lines.append("No cell changes its standing with the size.")
    elif weighted:
        lines.append("Weighted records are drawn anew as they were drawn, so no other size was tried.")
    else:
        lines.append("The audit is too small for another size to be tried.")
    rising = wide[(wide.iloc[:, -1] - wide.min(axis=1)) > 0.05]
    if len(rising):
        lines.append(
            f"More records do not always calm a verdict: the flip rate ends more than five points above its "
            f"lowest for {_name_cells(rising.index)}."
        )
    return "\n".join(f"- {line}" for line in lines)


def _name_cells(cells: Any, *, limit: int = 8) -> str:
    return name_list((f"{metric} for {attribute}" for metric, attribute in cells), limit=limit)


def sweep_luck(sweep: pd.DataFrame) -> pd.DataFrame:
    """Follow the spread of a pass share between runs, and its prediction, over the number of resamples."""
    spread = sweep["pass_share_sd"]
    bounds = bound_spread(spread, sweep["repeats"])
    seen = pd.DataFrame({"name": "seen between runs", "x": sweep["value"], "value": spread})
    predicted = seen.assign(name="predicted", value=sweep["pass_share_sd_predicted"])
    table = pd.concat([seen.assign(low=bounds.low, high=bounds.high), predicted], ignore_index=True)
    return table.dropna(subset="value").assign(
        low=lambda part: part["low"].fillna(part["value"]),
        high=lambda part: part["high"].fillna(part["value"]),
    )


def describe_luck(sweep: pd.DataFrame) -> str:
    """Say what more resamples buy."""
    if not sweep["cells"].any():
        return "No cell has a verdict, so there is nothing to draw again."
    lines = []
    for row in (sweep.iloc[0], sweep[sweep["in_force"]].iloc[0], sweep.iloc[-1]):
        span = f"{count(row['stable_least'])} to {count(row['stable_most'])}"
        same = row["stable_least"] == row["stable_most"]
        lines.append(
            f"K = {escape(row['label'])}: {count(row['stable_least']) if same else span} of "
            f"{plural(row['cells'], 'verdict')} stable in {count(row['repeats'])} runs; a pass share varies "
            f"by {_points(row['pass_share_sd'])} points, and the binomial distribution has "
            f"{_points(row['pass_share_sd_predicted'])}; "
            f"{number(row['flipped'], digits=1)} verdicts are reversed at least once."
        )
    return "\n".join(f"- {line}" for line in dict.fromkeys(lines))


def _points(part: float) -> str:
    return number(100 * part, digits=2)


def stack_standings(sweep: pd.DataFrame) -> pd.DataFrame:
    """Stack stable, unstable and inconclusive cells by value, for `draw_parts`: label, part, cells."""
    return _stack(sweep, {column: title for column, title in STANDINGS.items()})


def stack_tiers(sensitivity: pd.DataFrame) -> pd.DataFrame:
    """Stack the tiers by value of the bounds that only tiers use, for `draw_parts`: label, part, cells."""
    parts = {column: name for name, column in TIER_COUNTS.items()} | {"inconclusive": "no tier"}
    kept = sensitivity[sensitivity["setting"].isin(TIER_BOUNDS)]
    named = kept.assign(label=kept["setting"].map(TIER_BOUNDS) + " " + kept["label"])
    return _stack(named, parts)


def _stack(sweep: pd.DataFrame, parts: Mapping[str, str]) -> pd.DataFrame:
    labels = [f"{row.label}, in force" if row.in_force else str(row.label) for row in rows(sweep)]
    frames = [
        pd.DataFrame({"label": labels, "part": title, "cells": sweep[column]})
        for column, title in parts.items()
    ]
    return pd.concat(frames, ignore_index=True)


def describe_support(sweep: pd.DataFrame, cells: pd.DataFrame, *, bound: float) -> str:
    """Say what the minimum support silences, and what speaks without it."""
    steps = [
        f"{escape(row.label)}: {count(row.cells)} verdicts, {count(row.unstable)} of them not stable"
        for row in rows(sweep)
    ]
    lines = [f"Records/events/non-events asked of every group: {'; '.join(steps)}."]
    kept = cells[cells["setting"] == "min_records"]
    own = kept[kept["in_force"]].set_index(["metric", "attribute"])["verdict"]
    first = kept[kept["label"] == sweep["label"].iloc[0]].set_index(["metric", "attribute"])
    freed = first[(first["verdict"] != "inconclusive") & (own.reindex(first.index) == "inconclusive")]
    if len(freed):
        loose = int((~(freed["vfr"] <= bound)).sum())
        lines.append(
            f"Without a minimum {plural(len(freed), 'cell')} more would have a verdict "
            f"({_name_cells(freed.index)}); {count(loose)} of these would not be stable, and the smallest "
            f"group behind them has {plural(freed['smallest_n'].min(), 'record')}."
        )
    else:
        lines.append("No cell is inconclusive for want of support alone.")
    return "\n".join(f"- {line}" for line in lines)


def describe_tier_bounds(sensitivity: pd.DataFrame, *, weighted: bool = False) -> str:
    """Say what the bounds of the tiers do."""
    lines = []
    if weighted:
        lines.append(
            "No size was judged, since the records are weighted: CV and field size can move nothing."
        )
    for setting, title in TIER_BOUNDS.items():
        sweep = select_sweep(sensitivity, setting)
        best, worst = map(_write_range, (sweep["practical_stability"], sweep["catastrophic_instability"]))
        lines.append(
            f"{title}, from {escape(sweep['label'].iloc[0])} to {escape(sweep['label'].iloc[-1])}: "
            f"{best} cell{'s' * (best != '1')} in the best tier, {worst} in the worst."
        )
    return "\n".join(f"- {line}" for line in lines)


def _write_range(counts: "pd.Series[float]") -> str:
    """Write the smallest and the largest of some counts."""
    low, high = round(counts.min()), round(counts.max())
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def list_leverage(sensitivity: pd.DataFrame) -> pd.DataFrame:
    """List how far each constant moves what is reported, for `LEVERAGE_COLUMNS`."""
    found = []
    for setting, title in CONSTANTS.items():
        sweep = select_sweep(sensitivity, setting)
        found.append(
            {
                "name": title,
                "tried": f"{sweep['label'].iloc[0]} to {sweep['label'].iloc[-1]}",
                "in_force": sweep[sweep["in_force"]]["label"].iloc[0],
                "stable": _write_range(sweep["stable"]),
                "open": _write_range(sweep["inconclusive"]),
                "best": _write_range(sweep["practical_stability"]),
                "worst": _write_range(sweep["catastrophic_instability"]),
                "reach": sweep["stable"].max() - sweep["stable"].min(),
            }
        )
    return pd.DataFrame(found)


def describe_leverage(leverage: pd.DataFrame) -> str:
    """Name the constants that the number of stable verdicts depends on, the strongest first."""
    moving = leverage[leverage["reach"] >= 1].sort_values("reach", ascending=False, kind="stable")
    if moving.empty:
        return "On this cohort none of the values tried changes the number of stable verdicts."
    parts = [f"{escape(row.name)} ({escape(row.stable)})" for row in rows(moving)]
    return f"What the number of stable verdicts depends on here, the strongest first: {join_words(parts)}."


def count_within(flips: Sequence[float], bounds: Sequence[float]) -> pd.DataFrame:
    """Count flip rates within several bounds, for `LINE_COLUMNS`."""
    rates = np.asarray(flips)
    return pd.DataFrame({"bound": bounds, "stable": [int((rates <= bound).sum()) for bound in bounds]})


def describe_published(found: pd.DataFrame, *, attributes: Sequence[str]) -> str:
    """Put the paper's finding beside this run's."""
    made = found[(found["baseline"] == "B4") & found["status"].isin(HELD)]
    if made.empty:
        return "This run made none of them."
    full = int(((made["di_passes"] == made["di_judged"]) & (made["di_judged"] > 0)).sum())
    near = int((made["status"] == "nearest").sum())
    limited = bool((made["di_judged"] < len(attributes)).any())
    which = "every attribute that can be judged" if limited else "every attribute"
    verb = agree(full, "passes", "pass")
    text = f"In this run {count_of(full, len(made), 'setting')} {verb} {which}."
    if near:
        text += (
            f" In {count(near)} no candidate reaches the target where thresholds are chosen, "
            "so that B4 is the nearest thing to it."
        )
    cost = made["accuracy_cost"]
    if math.isfinite(cost.min()):
        ends = [number(end, digits=2) for end in (cost.min(), cost.max())]
        text += f" The cost is {' to '.join(dict.fromkeys(ends))} points."
    return text
