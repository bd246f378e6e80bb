"""The map of pockets: what is said of its pockets, of the level chosen and of whom they hold."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from auditbook.book.say.text import (
    agree,
    count_of,
    escape,
    join_words,
    name_list,
    number,
    pick,
    plural,
    read_layout,
    share,
)
from auditbook.pockets import ABSTAINED, holds_nearly_all, is_true
from auditbook.results import match_rows, rows

LOOSE = 0.5
"""A name that covers a smaller share of the members, or of whose records fewer are members, is loose."""
ALIKE = 0.02
"""Shares of groups that differ by less are not told apart in a sentence."""
SMALL = 100
"""Groups with fewer audited records than this are not held against others in a sentence."""
MAPS = {"forest": "forest map", "ridge": "ridge map", "combined": "both maps together"}
PARTITIONS = {
    "sbm": "nested block model",
    "leiden": "Leiden communities",
    "tree_cut": "tree cut of the nested block model",
    "spectral": "spectral clustering",
}
POCKET_COLUMNS = read_layout("book", "pockets.pocket")
LEVEL_COLUMNS = read_layout("book", "pockets.level")
SHARE_COLUMNS = read_layout("book", "pockets.share")


def pick_audited(table: pd.DataFrame, column: str, wanted: str, *, known: Sequence[str]) -> str:
    """Choose what a chapter on pockets shows: the one asked for, or the first where pockets leave it out."""
    left_out = wanted in known and wanted not in set(table[column])
    return pick(table, column, "" if left_out else wanted)


def announce_pockets(info: Mapping[str, Any], pockets: pd.DataFrame, errors: pd.DataFrame) -> str:
    """Say first whether this run has pockets, whether any could be tested, and whether they are local."""
    return describe_absence(info, pockets, errors) or describe_locality(pockets)


def describe_absence(info: Mapping[str, Any], pockets: pd.DataFrame, errors: pd.DataFrame) -> str:
    """Say that there are no pockets, or none that could be tested; blank where there are some."""
    if pockets.empty:
        reason = (info.get("pockets") or {}).get("reason", "")
        why = f": {escape(reason)}" if reason else ""
        return (
            f"> **No pockets in this run.** The pocket audit was left out{why}. What follows shows the "
            "method on examples; figures and tables of the cohort stay empty."
        )
    if errors.empty or not (errors["status"] == "tested").any():
        return (
            "> **Pockets were learned, and none could be tested.** Every table gives the reason. That is a "
            "finding about how much data there is, not about the model."
        )
    return ""


def describe_locality(pockets: pd.DataFrame) -> str:
    """Say on which maps one pocket holds everybody or nearly so; blank where there is none."""
    counts = pockets.groupby("map", sort=False)["n_audit"]
    whole = [str(name) for name, part in counts if holds_nearly_all(part)]
    if not whole:
        return ""
    parts = [f"on the {MAPS[name]} one pocket holds {_write_part(pick_map(pockets, name))}" for name in whole]
    head = (
        "No local audit"
        if len(whole) == pockets["map"].nunique()
        else f"No local audit on the {MAPS[whole[0]]}"
    )
    return (
        f"> **{head}:** {join_words(parts)}. Such a pocket tells nobody apart: what is found of it is found "
        "of the whole, and of no kind of patients."
    )


def _write_part(pockets: pd.DataFrame) -> str:
    """Write how much of one map its largest pocket holds."""
    if len(pockets) == 1:
        return "everybody"
    held = pockets["n_audit"].max() / pockets["n_audit"].sum(skipna=False)
    return (
        "a withheld share" if math.isnan(held) else f"{share(held)} of the audited records that have a pocket"
    )


def pick_map(pockets: pd.DataFrame, name: str) -> pd.DataFrame:
    """Take the pockets of one map, for `POCKET_COLUMNS`."""
    return pockets[pockets["map"] == name].reset_index(drop=True)


def title_pockets(pockets: pd.DataFrame, name: str) -> dict[str, str]:
    """Write each pocket of a map with its name in words."""
    found = {"overall": "all audited records", ABSTAINED: "no pocket (abstained)"}
    for row in rows(pick_map(pockets, name)):
        found[row.pocket] = f"{row.pocket}: {row.name}" if row.name else row.pocket
    return found


def describe_map(pockets: pd.DataFrame) -> str:
    """Say how many pockets a map has, how unequal they are, and which names fit loosely."""
    if pockets.empty:
        return "There is no such map in this run."
    if len(pockets) == 1:
        return (
            "This map has one pocket: no finer one is projected to support more comparisons, or there are "
            "too few records. A map of one pocket is a check of the whole, and no local audit."
        )
    low, high = pockets["event_rate"].min(), pockets["event_rate"].max()
    total = pockets["n_audit"].sum(skipna=False)
    largest, smallest = pockets["n_audit"].max(), pockets["n_audit"].min()
    text = (
        f"The map has {plural(len(pockets), 'pocket')}. Their mean outcome among the records that they were "
        f"learned from runs from {number(low)} to {number(high)}."
    )
    if total > 0:
        text += (
            f" The largest holds {share(largest / total)} of the audited records that have a pocket, the "
            f"smallest {share(smallest / total)}."
        )
    if holds_nearly_all(pockets["n_audit"]):
        text += " One pocket for nearly everybody is a check of the whole, and no local audit."
    loose = pockets[(pockets["fidelity_covered"] < LOOSE) | (pockets["fidelity_members"] < LOOSE)]
    if len(loose):
        text += (
            f" Loose names: {name_list(loose['pocket'])}. A loose name misses more than half of the members, "
            "or more than half of those whom it fits are elsewhere. Take it as a hint."
        )
    return text


def lay_out_levels(levels: pd.DataFrame) -> pd.DataFrame:
    """Give each level that was considered a label, for `LEVEL_COLUMNS` and the figure."""
    labels = [f"level {row.level:g} ({plural(row.pockets, 'pocket')})" for row in rows(levels)]
    return levels.assign(label=labels, chosen=is_true(levels["chosen"]))


def describe_levels(levels: pd.DataFrame) -> str:
    """Say which level was chosen, among how many, and what a finer and a coarser one would support."""
    if levels.empty:
        return "No levels were considered in this run."
    chosen = levels[levels["chosen"]]
    partition = PARTITIONS.get(levels["partition"].iloc[0], escape(levels["partition"].iloc[0]))
    text = f"Pockets come from the {partition}, {plural(len(levels), 'level')} considered."
    if chosen.empty:
        return text + " None of them is marked as chosen."
    row = rows(chosen)[0]
    text += (
        f" Chosen was the one with {plural(row.pockets, 'pocket')}, which the audit part is projected to "
        f"support in {plural(row.supported, 'comparison')}."
    )
    finer = levels[levels["pockets"] > row.pockets]
    if len(finer) and row.supported:
        best = rows(finer.sort_values(["supported", "pockets"], ascending=[False, True]))[0]
        text += (
            f" The best of the finer ones has {plural(best.pockets, 'pocket')} and would support "
            f"{plural(best.supported, 'comparison')}"
        )
        text += (
            ": more places, each with too few records."
            if best.supported < row.supported
            else ", no fewer; where they are as many, the coarser one is taken."
        )
    if row.supported == 0:
        text += " No level is projected to support any comparison: expect untested pockets."
    return text


def write_size(n: float) -> str:
    """Write a number of records, or that it is withheld."""
    return "n withheld" if math.isnan(n) else f"n = {int(n):,}"


def lay_out_shares(groups: pd.DataFrame, pockets: pd.DataFrame, *, name: str, attribute: str) -> pd.DataFrame:
    """Set out the share of each group in each pocket, for `SHARE_COLUMNS` and the figure."""
    found = match_rows(groups, map=name, attribute=attribute).reset_index(drop=True)
    titles = title_pockets(pockets, name)
    totals = found.groupby("group")["n"].agg(lambda part: part.sum(skipna=False))
    found["group_n"] = found["group"].map(totals)
    found = found[found["group_n"] != 0]
    order = {pocket: place for place, pocket in enumerate([*pick_map(pockets, name)["pocket"], ABSTAINED])}
    found = found.sort_values("pocket", key=lambda column: column.map(order), kind="stable")
    sizes = found.groupby("pocket")["n"].agg(lambda part: part.sum(skipna=False))
    return found.assign(
        label=found["pocket"].map(lambda pocket: titles.get(pocket, pocket)),
        size=found["pocket"].map(lambda pocket: write_size(sizes[pocket])),
    ).reset_index(drop=True)


def describe_shares(shares: pd.DataFrame) -> str:
    """Say in which pocket the groups' shares differ most, and of which group most records have no pocket."""
    if shares.empty:
        return "There is no group to place on this map."
    inside = shares[(shares["pocket"] != ABSTAINED) & (shares["group_n"] >= SMALL)]
    points = []
    spread = inside.groupby("pocket", sort=False)["share"].agg(lambda column: column.max() - column.min())
    if len(set(inside["group"])) > 1 and spread.max() < ALIKE:
        points.append(
            f"- Groups are spread alike: no pocket's share differs by more than {share(spread.max())}."
        )
    elif len(set(inside["group"])) > 1:
        widest = spread.idxmax()
        here = inside[inside["pocket"] == widest].sort_values("share")
        low, high = rows(here)[0], rows(here)[-1]
        points.append(
            f"- Groups differ most in {escape(high.label)}: it holds {share(high.share)} of "
            f"{escape(high.group)} ({plural(high.group_n, 'record')}) and {share(low.share)} of "
            f"{escape(low.group)} ({plural(low.group_n, 'record')}). An error in that pocket falls on "
            "the former more often."
        )
    points.append(_describe_abstained(shares[shares["pocket"] == ABSTAINED]))
    return "\n".join(points)


def _describe_abstained(shares: pd.DataFrame) -> str:
    """Say how many records of each group no pocket takes."""
    if shares.empty or not shares["n"].sum(skipna=False):
        return "- Every audited record has a pocket."
    large = shares[shares["group_n"] >= SMALL]
    most = rows((large if len(large) else shares).sort_values("share", ascending=False))[0]
    total = shares["n"].sum(skipna=False) / shares["group_n"].sum(skipna=False)
    if math.isnan(total) or math.isnan(most.n):
        return "- Some audited records have no pocket; they count overall and nowhere else."
    return (
        f"- {share(total)} of the audited records have no pocket. The share is largest in "
        f"{escape(most.group)}: {share(most.share)}, {count_of(most.n, most.group_n, 'record')}. They count "
        "overall and nowhere else."
    )


def _name_development(trained: Sequence[str] | None, mapped: Sequence[str] | None) -> tuple[str, str]:
    """Say what development records are for, as far as the run tells: models, mapped scores, or nothing."""
    if trained is None or mapped is None:
        return "serves development", "serve development"
    if trained and mapped:
        return "develops models and maps scores", "develop models and map scores"
    if trained:
        return "develops models", "develop models"
    return ("maps scores", "map scores") if mapped else ("stays aside", "stay aside")


def describe_roles(info: Mapping[str, Any]) -> str:
    """Say what a unit is and how records were divided, as far as run.json tells."""
    told = info.get("pockets") or {}
    if told.get("status") != "done":
        return ""
    kind = {"record": "each record", "site": "each site", "unit": "each unit of the cohort file"}
    names = {
        "development": _name_development(told.get("trained"), told.get("mapped")),
        "graph": ("forms the graph", "form the graph"),
        "calibration": ("calibrates the assignment", "calibrate the assignment"),
        "audit": ("is audited", "are audited"),
    }
    parts = [
        f"{plural(told['records'][key], 'record')} ({plural(told['units'][key], 'unit')}) "
        f"{agree(told['records'][key], *verbs)}"
        for key, verbs in names.items()
        if told["records"][key]
    ]
    text = f"In this run {kind[told['unit_kind']]} has one role: {join_words(parts)}. "
    if not told["records"]["development"]:
        text += "Scores are given and nothing is fitted, so that no record is set aside for development. "
    text += f"The maps may use {plural(told.get('n_columns', len(told['columns'])), 'column')}."
    notes = "; ".join(escape(note) for note in told["notes"])
    return f"{text} Of the predictions: {notes}." if notes else text
