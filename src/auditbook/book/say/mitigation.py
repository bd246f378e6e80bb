"""What does mitigation cost, does it hold, and who bears it, said in words on any cohort?"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from auditbook.book.say.text import (
    Column,
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
from auditbook.evidence import accuracy, selection_rate
from auditbook.mitigation import AUDIT, SINGLE, VALIDATION, di_column, weighted_event_rates
from auditbook.results import match_rows, rows
from auditbook.verdicts import FlipRate, find_metric

TITLES = MappingProxyType(
    {
        "B1": "B1, the model as it is",
        "B2": "B2, reweighing",
        "B3": "B3, shifted thresholds",
        "B4": "B4, refined thresholds",
        "TO": "threshold optimiser",
        "EG": "exponentiated gradient",
    }
)
SHIFTED = ("B3", "B4")
MOST_CELLS = 16
"""Joint cells that a figure has room for."""
HELD = ("done", "nearest")
CHOOSERS = ("B3", "B4", "TO")
"""Baselines that choose thresholds on the validation part."""

CELL_COLUMNS = read_layout("book", "mitigation.cell")
MOVE_COLUMNS = read_layout("book", "mitigation.move")
WEIGHT_COLUMNS = read_layout("book", "mitigation.weight")
SWEEP_COLUMNS = read_layout("book", "mitigation.sweep")
PRICE_COLUMNS = read_layout("book", "mitigation.price")


def trust_columns(attributes: Sequence[str]) -> tuple[Column, ...]:
    """List what the table about disparate impacts, flip rates and agreement shows."""
    return (
        Column("baseline", "baseline"),
        *(Column(di_column(name), f"DI {name}", "number") for name in attributes),
        Column("passes", "cells that pass", "count"),
        Column("mean_vfr", "mean flip rate", "share"),
        Column("max_vfr", "largest", "share"),
        Column("flipped", "cells that flip", "count"),
        Column("mean_kappa", "mean kappa", "number", digits=2),
    )


def protocol_with_parts(baselines: pd.DataFrame) -> str:
    """Return the protocol whose audit part is unseen: ``70/15/15`` or ``50/50``; blank when there is none."""
    names = [name for name in dict.fromkeys(baselines["protocol"]) if name != SINGLE]
    return names[0] if names else ""


def select_rows(baselines: pd.DataFrame, protocol: str, *, part: str = AUDIT) -> pd.DataFrame:
    """Select the main rows of one protocol and part, with the baselines' titles."""
    found = match_rows(baselines, protocol=protocol, part=part, sweep="").reset_index(drop=True)
    return found.assign(title=[TITLES[name] for name in found["baseline"]])


def describe_work(baselines: pd.DataFrame) -> str:
    """Say which model is mitigated, on how many records, and what could not be made."""
    made = baselines[baselines["status"].isin(HELD)]
    if made.empty:
        return f"Nothing could be mitigated here: {escape(baselines['note'].iloc[0])}."
    lines = [f"The model that is mitigated: {escape(made['model'].iloc[0])}."]
    for protocol in dict.fromkeys(made["protocol"]):
        first = match_rows(made, protocol=protocol, part=AUDIT).iloc[0]
        trained = f"{count(first['n_train'])} train, " if first["n_train"] else ""
        same = plural(first["n"], "record")
        lines.append(
            f"{escape(protocol)}: {trained}thresholds are chosen and reported on the same {same}."
            if protocol == SINGLE
            else f"{escape(protocol)}: {trained}{count(first['n_selected'])} choose the thresholds, "
            f"{count(first['n'])} that nobody has seen report."
        )
    return "\n".join(f"- {line}" for line in [*lines, *_describe_gaps(baselines)])


def _describe_gaps(baselines: pd.DataFrame) -> list[str]:
    """Say what was not made, each reason once."""
    gone = baselines[~baselines["status"].isin(HELD) & (baselines["sweep"] == "")]
    lines = []
    for (protocol, note), part in gone.groupby(["protocol", "note"], sort=False):
        names = join_words(dict.fromkeys(part["baseline"]))
        lines.append(f"Not made in {escape(protocol)}: {names}, because {escape(note)}.")
    return lines


def describe_costs(found: pd.DataFrame, *, attributes: Sequence[str]) -> str:
    """Say what each baseline reaches and what it costs."""
    made = found[found["status"].isin(HELD)]
    if made.empty:
        return "There is no baseline to compare."
    first = made.iloc[0]
    lines = [
        f"As it is, the model passes disparate impact for {_parity(first, attributes)} and is right in "
        f"{share(first['accuracy'])} of the records."
    ]
    for row in made.to_dict(orient="records")[1:]:
        near = (
            " (no candidate passed everywhere, so this is the nearest)" if row["status"] == "nearest" else ""
        )
        lines.append(
            f"{row['title']}: {_parity(row, attributes)}, {say_cost(row['accuracy_cost'])}, "
            f"{share(row['changed'])} of the decisions changed, "
            f"mean flip rate {share(row['mean_vfr'])}{near}."
        )
    return "\n".join(f"- {line}" for line in lines)


def _parity(row: Any, attributes: Sequence[str]) -> str:
    words = count_of(row["di_passes"], len(attributes), "attribute")
    unknown = len(attributes) - row["di_judged"]
    return words + (f" ({count(unknown)} cannot be judged)" if unknown else "")


def list_parity(
    baselines: pd.DataFrame, cells: pd.DataFrame, *, protocol: str, attributes: Sequence[str]
) -> pd.DataFrame:
    """List every disparate impact where thresholds were chosen and on the audit part."""
    audit = select_rows(baselines, protocol)
    before = select_rows(baselines, protocol, part=VALIDATION).set_index("baseline")
    inside = match_rows(cells, protocol=protocol, part=AUDIT, metric="DI")
    bounds = {(row.baseline, row.attribute): (row.ci_low, row.ci_high) for row in rows(inside)}
    found = []
    for row in audit[audit["status"].isin(HELD)].to_dict(orient="records"):
        for name in attributes:
            low, high = bounds.get((row["baseline"], name), (math.nan, math.nan))
            seen = row["baseline"] in before.index and row["baseline"] in CHOOSERS
            chosen = before.loc[row["baseline"], di_column(name)] if seen else math.nan
            found.append((row["title"], name, row["n"], chosen, row[di_column(name)], low, high))
    columns = ["title", "attribute", "n", "chosen", "value", "low", "high"]
    return pd.DataFrame(found, columns=columns)


def describe_holding(baselines: pd.DataFrame, *, attributes: Sequence[str]) -> str:
    """Say whether what passed where it was chosen passes on records that nobody had seen."""
    protocol = protocol_with_parts(baselines)
    chosen, unseen = (select_rows(baselines, protocol, part=part) for part in (VALIDATION, AUDIT))
    lines = []
    for name in SHIFTED:
        before, after = _find_row(chosen, name), _find_row(unseen, name)
        if before is None or after is None:
            continue
        held = after["di_passes"] >= before["di_passes"]
        verdict = "it held" if held else "it did not hold"
        if not before["di_passes"]:
            verdict = "there was nothing to hold"
        lost = [
            f"{escape(item)} {number(before[di_column(item)])} to {number(after[di_column(item)])}"
            for item in attributes
            if after[di_column(item)] < before[di_column(item)] - 0.005
        ]
        lines.append(
            f"{TITLES[name]}: {count_of(before['di_passes'], len(attributes), 'attribute')} passed where the "
            f"thresholds were chosen, {count(after['di_passes'])} on the unseen part: {verdict}."
            + (f" Smaller on the unseen part: {join_words(lost)}." if lost else "")
        )
    if not lines:
        return "Without separate parts nobody can say whether a choice of thresholds would hold."
    return "\n".join(f"- {line}" for line in lines)


def _find_row(found: pd.DataFrame, name: str) -> dict[str, Any] | None:
    """Return the row of one baseline; None where it was not made."""
    made = found[(found["baseline"] == name) & found["status"].isin(HELD)]
    return None if made.empty else {str(key): value for key, value in made.iloc[0].items()}


def describe_single(baselines: pd.DataFrame, *, attributes: Sequence[str]) -> str:
    """Compare the single split, selected and reported on the same records, with the unseen part."""
    row = _find_row(select_rows(baselines, SINGLE), "B4")
    other = _find_row(select_rows(baselines, protocol_with_parts(baselines)), "B4")
    if row is None:
        return "There are no shifted thresholds in the single split."
    text = (
        f"Selected and reported on the same records, B4 passes {_parity(row, attributes)} at "
        f"{say_cost(row['accuracy_cost'])}."
    )
    if other is None:
        return text + " There is no unseen part to set beside it."
    return (
        f"{text} On a part that nobody had seen it passes {_parity(other, attributes)} at "
        f"{say_cost(other['accuracy_cost'])}. The first figure describes the records at hand; "
        "the second is what a hospital can expect."
    )


def list_headrooms(baselines: pd.DataFrame, protocol: str) -> pd.DataFrame:
    """List what B4 costs and how stable it is at each headroom, main setting included."""
    found = match_rows(baselines, protocol=protocol, part=AUDIT, baseline="B4")
    found = found[found["status"].isin(HELD)]
    return found.sort_values("headroom", kind="stable").reset_index(drop=True)


def sweep_headrooms(found: pd.DataFrame) -> pd.DataFrame:
    """Turn the rows of `list_headrooms` into curves: the cost, and what is bought."""
    curves = {
        "accuracy lost (points)": found["accuracy_cost"].astype(float),
        "mean flip rate (%)": 100 * found["mean_vfr"].astype(float),
        "largest flip rate (%)": 100 * found["max_vfr"].astype(float),
    }
    return _stack_curves(curves, found["headroom"])


def _stack_curves(curves: dict[str, Any], x: pd.Series) -> pd.DataFrame:
    parts = [
        pd.DataFrame({"name": name, "x": x, "value": values, "low": values, "high": values})
        for name, values in curves.items()
    ]
    return pd.concat(parts, ignore_index=True)


def describe_headrooms(found: pd.DataFrame, *, attributes: Sequence[str]) -> str:
    """Price the headroom: accuracy and flips between the least and the most that was asked."""
    if found["headroom"].nunique() < 2:
        return "There are not two headrooms to compare, so no price can be read off."
    least, most = found.iloc[0], found.iloc[-1]
    said = [
        f"With a headroom of {number(row['headroom'], digits=2)}, B4 passes {_parity(row, attributes)} on "
        f"the records reported, at {say_cost(row['accuracy_cost'])}; mean flip rate "
        f"{share(row['mean_vfr'])}, {count_of(row['unstable'], row['cells'], 'verdict')} not stable."
        for row in (least, most)
    ]
    extra = float(most["accuracy_cost"] - least["accuracy_cost"])
    calmer = float(least["mean_vfr"] - most["mean_vfr"])
    bought = "lowers" if calmer > 0.0005 else "raises" if calmer < -0.0005 else "leaves"
    price = f"costs {number(extra, digits=2)} points"
    if extra < 0.005:
        price = "costs nothing"
    if extra <= -0.005:
        price += f"; it gains {number(-extra, digits=2)} points"
    end = f"The headroom {price} and {bought} the mean flip rate" + (
        f" by {number(100 * abs(calmer), digits=1)} points." if bought != "leaves" else " where it was."
    )
    return " ".join([*said, end])


def list_moves(cells: pd.DataFrame, *, protocol: str, part: str = AUDIT) -> pd.DataFrame:
    """Set the flip rates of B3 and B4 side by side, cell by cell."""
    here = match_rows(cells, protocol=protocol, part=part)
    pair = [here[here["baseline"] == name] for name in SHIFTED]
    wide = pair[0].merge(pair[1], on=["metric", "attribute"], suffixes=("_from", "_to"))
    wide = wide.dropna(subset=["vfr_from", "vfr_to"])
    wide = wide[wide["vfr_from"] != wide["vfr_to"]].assign(n=lambda table: table["smallest_n_to"])
    wide = wide.assign(rise=wide["vfr_to"] - wide["vfr_from"])
    return wide.sort_values("rise", ascending=False, kind="stable").reset_index(drop=True)


def describe_moves(moves: pd.DataFrame) -> str:
    """Say where the refinement lowered instability and where it raised it."""
    if moves.empty:
        return "The refinement changed no flip rate on these records."
    up, down = moves[moves["rise"] > 0], moves[moves["rise"] < 0]
    text = (
        f"From B3 to B4 the flip rate fell in {plural(len(down), 'cell')} and rose in "
        f"{plural(len(up), 'cell')}; over the cells that changed, the mean moved by "
        f"{number(100 * float(moves['rise'].mean()), digits=1)} points."
    )
    if len(up) and len(down):
        worst, best = up.iloc[0], down.iloc[-1]
        text += (
            f" The largest fall: {_cell(best)}. The largest rise: {_cell(worst)}. "
            "A mean alone would hide that one was paid for with the other."
        )
    turned = match_rows(moves, verdict_from="pass", verdict_to="fail")
    if len(turned):
        named = name_list(f"{row.metric} for {row.attribute}" for row in rows(turned))
        text += f" The verdict itself went from pass to fail for {named}."
    return text


def _cell(row: Any) -> str:
    return (
        f"{escape(row['metric'])} for {escape(row['attribute'])}, {share(row['vfr_from'])} to "
        f"{share(row['vfr_to'])}"
    )


def protocol_with_strengths(baselines: pd.DataFrame) -> str:
    """Return the protocol in which most strengths of reweighing were trained; of two, the single split."""
    made = baselines[(baselines["baseline"] == "B2") & baselines["status"].isin(HELD)]
    made = made[made["part"] == AUDIT]
    trained = {str(name): int(times) for name, times in made["protocol"].value_counts().items()}
    return max((SINGLE, *trained), key=lambda name: (trained.get(name, 0), name == SINGLE))


def list_strengths(baselines: pd.DataFrame, protocol: str) -> pd.DataFrame:
    """List the model as it is (strength 0) and every strength of reweighing that was trained."""
    keep = (baselines["protocol"] == protocol) & (baselines["part"] == AUDIT)
    keep &= baselines["baseline"].isin(["B1", "B2"]) & baselines["status"].isin(HELD)
    found = baselines[keep].copy()
    found.loc[found["baseline"] == "B1", "lambda"] = 0.0
    return found.sort_values("lambda", kind="stable").reset_index(drop=True)


def sweep_strengths(found: pd.DataFrame, *, attributes: Sequence[str]) -> pd.DataFrame:
    """Turn the rows of `list_strengths` into one curve of disparate impact an attribute."""
    return _stack_curves({name: found[di_column(name)] for name in attributes}, found["lambda"])


def describe_strengths(found: pd.DataFrame, *, attributes: Sequence[str], left_out: int) -> str:
    """Say what reweighing reached at every strength, without carrying it to strengths not tried."""
    tried = found[found["baseline"] == "B2"]
    if tried.empty:
        return "No strength of reweighing was trained here, so nothing can be said of it on this cohort."
    lines = [
        f"- lambda {number(row['lambda'], digits=1)}: {_parity(row, attributes)} pass, "
        f"{say_cost(row['accuracy_cost'])}, AUROC {number(row['auroc'])}."
        for row in tried.to_dict(orient="records")
    ]
    best = tried[tried["di_passes"] == len(attributes)]
    end = (
        f"Every attribute passes at lambda {join_words(number(one, digits=1) for one in best['lambda'])}."
        if len(best)
        else "At no strength tried here do all attributes pass. That says nothing of strengths not tried."
    )
    if left_out:
        end += f" The profile left out {plural(left_out, 'strength')}."
    return "\n".join([*lines, "", end])


def count_left_out(baselines: pd.DataFrame, protocol: str) -> int:
    """Count the strengths of reweighing that the profile left out of one protocol."""
    gone = (baselines["protocol"] == protocol) & (baselines["part"] == AUDIT)
    return int((gone & (baselines["baseline"] == "B2") & (baselines["status"] == "not run")).sum())


def list_thresholds(thresholds: pd.DataFrame, *, protocol: str, limit: int | None = None) -> pd.DataFrame:
    """Set thresholds and selection of every joint cell side by side: before, B3, B4."""
    here = match_rows(thresholds, protocol=protocol, part=AUDIT)
    before, third, fourth = (here[here["baseline"] == name].set_index("cell") for name in ("B1", "B3", "B4"))
    table = before[["n", "event_rate"]].assign(
        start=before["threshold"],
        threshold_b3=third["threshold"],
        threshold_b4=fourth["threshold"],
        selection_before=before["selection_rate"],
        selection_after=fourth["selection_rate"],
        selected_before=before["selected"],
        selected_after=fourth["selected"],
        changed=fourth["changed"],
    )
    table = table.sort_values("n", ascending=False, kind="stable").reset_index()
    return table if limit is None else table.head(limit)


def _count_changed(known: pd.DataFrame, shift: pd.Series) -> str:
    """Say how many are decided otherwise, and in which direction."""
    if shift.isna().any():
        return "How many get another decision is withheld: some of these cells hold too few people."
    return (
        f"Of {plural(known['n'].sum(), 'record')}, {count(known['changed'].sum())} get another decision. "
        f"{plural(int((shift > 0).sum()), 'cell')} have more people selected than before "
        f"({count(shift[shift > 0].sum())} more in all), {count(int((shift < 0).sum()))} have fewer "
        f"({count(-shift[shift < 0].sum())} fewer)."
    )


def describe_thresholds(table: pd.DataFrame, *, harm: str = "") -> str:
    """Say who is selected anew, who no longer, and how far apart the thresholds lie."""
    known = table.dropna(subset=["threshold_b4"])
    if known.empty:
        return "There are no shifted thresholds to list."
    ranked = known.sort_values("threshold_b4", kind="stable").to_dict(orient="records")
    low, high = ranked[0], ranked[-1]
    shift = known["selected_after"] - known["selected_before"]
    text = _count_changed(known, shift)
    if low["threshold_b4"] < high["threshold_b4"]:
        text += (
            f" The lowest threshold, {number(low['threshold_b4'], digits=2)}, is that of "
            f"{escape(low['cell'])}; the highest, {number(high['threshold_b4'], digits=2)}, that of "
            f"{escape(high['cell'])}. Two people with the same score between the two get opposite decisions "
            "because of who they are."
        )
    return text + (f" What is at stake: {escape(harm)}." if harm else "")


def describe_pair(counts: ArrayLike) -> str:
    """Say selection rates, disparate impact and accuracy of a small table of groups."""
    table = np.asarray(counts)
    rates = join_words(share(float(rate), digits=0) for rate in selection_rate(table))
    ratio, right = float(find_metric("DI").values(table)), float(accuracy(table.sum(axis=0)))
    return f"selected {rates}; DI {number(ratio, digits=2)}; accuracy {share(right, digits=0)}"


def lay_out_weights(
    groups: Sequence[str], counts: ArrayLike, weights: Mapping[float, ArrayLike]
) -> pd.DataFrame:
    """Lay out the weights of a small table and the event rates that a weighted model is told."""
    found = []
    for strength, each in weights.items():
        told = weighted_event_rates(counts, each)
        for group, (other, event), rate in zip(groups, np.asarray(each), told, strict=True):
            found.append((strength, group, event, other, rate))
    columns = ["strength", "group", "weight_events", "weight_others", "event_rate"]
    return pd.DataFrame(found, columns=columns)


def lay_out_curve(name: str, x: Sequence[float], values: ArrayLike) -> pd.DataFrame:
    """Lay out an exact curve, for `draw_sweep`."""
    return _stack_curves({name: np.asarray(values)}, pd.Series(list(x)))


def lay_out_flips(name: str, found: Mapping[float, FlipRate]) -> pd.DataFrame:
    """Lay out flip rates by some value, for `draw_sweep`."""
    rows = [(name, x, rate.vfr, rate.vfr_low, rate.vfr_high) for x, rate in found.items()]
    return pd.DataFrame(rows, columns=["name", "x", "value", "low", "high"])
