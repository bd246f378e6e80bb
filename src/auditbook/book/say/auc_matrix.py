"""Whom does the score put above whom, said in words, on any cohort?"""

import math
from typing import Any

import pandas as pd

from auditbook.book.say.text import (
    Column,
    agree,
    count,
    count_of,
    escape,
    interval,
    number,
    plural,
    read_layout,
)
from auditbook.privacy import WITHHELD
from auditbook.ranking import UNDEFINED, WHOLE, weigh_entries
from auditbook.results import rows

MOST_ENTRIES = 16
"""Areas shown one by one; of a larger matrix only those within groups and the most extreme across."""

ENTRY_COLUMNS = read_layout("book", "auc_matrix.entry")
REASON_COLUMNS = read_layout("book", "auc_matrix.reason")
DIFFERENCE_COLUMNS = read_layout("book", "auc_matrix.difference")
GROUP_DIFFERENCE_COLUMNS = (Column("event_group", "within"), *DIFFERENCE_COLUMNS[1:])


def select_matrix(table: pd.DataFrame, *, model: str, attribute: str) -> pd.DataFrame:
    """Take one model's rows of one attribute."""
    here = (table["model"] == model) & (table["attribute"] == attribute)
    return table[here].reset_index(drop=True)


def choose_entries(matrix: pd.DataFrame, *, limit: int = MOST_ENTRIES) -> pd.DataFrame:
    """Choose the areas that are shown one by one, with their intervals written out."""
    chosen = matrix
    if len(matrix) > limit:
        within = matrix["event_group"] == matrix["nonevent_group"]
        room = max(limit - int(within.sum()), 2)
        ranked = matrix[~within].dropna(subset="auc").sort_values("auc", kind="stable").index
        keep = (
            set(ranked[: (room + 1) // 2])
            | set(ranked[len(ranked) - room // 2 :])
            | set(matrix[within].index)
        )
        chosen = matrix.loc[sorted(keep)]
    written = {
        "single": _write_intervals(chosen, "ci_low", "ci_high"),
        "joint": _write_intervals(chosen, "joint_low", "joint_high"),
        "by_site": _write_intervals(chosen, "site_low", "site_high"),
    }
    return chosen.assign(**written).reset_index(drop=True)


def _write_intervals(table: pd.DataFrame, low: str, high: str) -> list[str]:
    """Write intervals as text; blank where there is none."""
    ends = zip(table[low].astype(float), table[high].astype(float), strict=True)
    return ["" if math.isnan(one + other) else interval(one, other) for one, other in ends]


def describe_choice(matrix: pd.DataFrame, chosen: pd.DataFrame) -> str:
    """Say whether all areas are shown."""
    if len(chosen) == len(matrix):
        return f"All {plural(len(matrix), 'area')} of the matrix are listed."
    return (
        f"Of {plural(len(matrix), 'area')}, {count(len(chosen))} are listed: all those within a group, and "
        "of those across groups the smallest and the largest. The whole matrix stands in `auc_matrix.csv`."
    )


def describe_matrix(matrix: pd.DataFrame) -> str:
    """Say which areas are largest and smallest, within groups and across."""
    known = matrix.dropna(subset="auc")
    if known.empty:
        return "No area can be computed: every group lacks events or non-events."
    inside = known["event_group"] == known["nonevent_group"]
    parts = [f"The overall area is {number(weigh_entries(matrix))}."]
    parts += [
        _describe_part(known[inside], "within a group"),
        _describe_part(known[~inside], "across groups"),
    ]
    below = known[~inside & (known["auc"] < 0.5)]
    if len(below):
        worst = rows(below.sort_values("auc", kind="stable"))[0]
        parts.append(
            f"In {plural(len(below), 'entry', 'entries')} across groups the area is below one half: "
            f"an event of {escape(worst.event_group)} usually scores lower than a non-event of "
            f"{escape(worst.nonevent_group)}."
        )
    return " ".join(part for part in parts if part)


def describe_within(matrix: pd.DataFrame) -> str:
    """Name the area within every group."""
    inside = matrix[matrix["event_group"] == matrix["nonevent_group"]]
    return ", ".join(f"{escape(row.event_group)} {number(row.auc, digits=2)}" for row in rows(inside))


def _describe_part(part: pd.DataFrame, where: str) -> str:
    """Say where the areas of one kind lie."""
    if part.empty:
        return ""
    ranked = rows(part.sort_values("auc", kind="stable"))
    low, high = ranked[0], ranked[-1]
    if low.auc == high.auc:
        return f"{agree(len(part), 'The', 'Every')} area {where} is {number(low.auc)}."
    ends = (f"{number(end.auc)} ({_name(end)})" for end in (low, high))
    return f"Areas {where} run from {' to '.join(ends)}."


def _name(entry: Any) -> str:
    """Name an entry: a group, or the events of one against the non-events of another."""
    one, other = escape(entry.event_group), escape(entry.nonevent_group)
    return one if one == other else f"events of {one} against non-events of {other}"


def list_reasons(matrix: pd.DataFrame) -> pd.DataFrame:
    """List the entries of which something has to be said, the undefined ones first."""
    told = matrix[matrix["reason"] != ""]
    order = (told["status"] != UNDEFINED).sort_values(kind="stable").index
    return told.loc[order].head(MOST_ENTRIES).reset_index(drop=True)


def describe_reasons(matrix: pd.DataFrame) -> str:
    """Say how many entries are undefined, or rest on too little."""
    undefined = int((matrix["status"] == UNDEFINED).sum())
    withheld = int((matrix["status"] == WITHHELD).sum())
    thin = int((matrix["reason"] != "").sum()) - undefined - withheld
    if not undefined + thin + withheld:
        return "Every area is defined and has its interval, and every group has enough events and non-events."
    parts = []
    if undefined:
        parts.append(
            f"{count_of(undefined, len(matrix), 'area')} {agree(undefined, 'is', 'are')} undefined, "
            "because there is no pair to compare: hollow in the figure."
        )
    if thin:
        parts.append(
            f"{count_of(thin, len(matrix), 'area')} {agree(thin, 'rests', 'rest')} on too little, or "
            f"{agree(thin, 'has', 'have')} no common interval: a star in the figure."
        )
    if withheld:
        parts.append(f"{count_of(withheld, len(matrix), 'area')} {agree(withheld, 'is', 'are')} withheld.")
    listed = undefined + thin + withheld
    return " ".join(parts) + (f" The table has the first {MOST_ENTRIES}." if listed > MOST_ENTRIES else "")


def describe_intervals(matrix: pd.DataFrame) -> str:
    """Say how much wider the intervals are that hold all at once, and those with sites as units."""
    single = (matrix["ci_high"] - matrix["ci_low"]).where(matrix["status"] == "two-sided")
    if single.notna().sum() == 0:
        return "No area has a two-sided interval, so there is nothing to compare."
    joint = ((matrix["joint_high"] - matrix["joint_low"]) / single).median()
    text = (
        f"Alone, half of the areas have an interval no wider than {number(single.median())}. "
        f"For all to hold at once, the typical interval has to be {number(joint, digits=2)} times as wide."
    )
    sited = ((matrix["site_high"] - matrix["site_low"]) / single).dropna()
    lacking = _write_lacking(matrix)
    if sited.empty:
        why = lacking or " There are no sites to take as units."
        return f"{text}{why} So the third kind of interval is missing."
    return (
        f"{text} With whole sites as the units it is {number(sited.median(), digits=2)} times as wide as "
        f"alone (from {number(sited.min(), digits=2)} to {number(sited.max(), digits=2)} times).{lacking}"
    )


def _write_lacking(matrix: pd.DataFrame) -> str:
    """Say which groups have too few sites for an interval by sites; blank where none has."""
    own = matrix[(matrix["event_group"] == matrix["nonevent_group"]) & (matrix["site_reason"] != "")]
    if own.empty:
        return ""
    named = "; ".join(escape(reason) for reason in own["site_reason"].unique())
    return f" Some groups stand in too few sites, or too unevenly, to take sites as units ({named})."


def list_model_differences(differences: pd.DataFrame) -> pd.DataFrame:
    """List every further model's overall area less the first model's."""
    here = differences[differences["attribute"] == WHOLE].reset_index(drop=True)
    return here.assign(by_site=_write_intervals(here, "site_low", "site_high"))


def list_group_differences(differences: pd.DataFrame, *, model: str, attribute: str) -> pd.DataFrame:
    """List one further model's areas within groups, less the first model's."""
    here = select_matrix(differences, model=model, attribute=attribute)
    here = here[here["event_group"] == here["nonevent_group"]].reset_index(drop=True)
    return here.assign(by_site=_write_intervals(here, "site_low", "site_high"))


def pick_other(differences: pd.DataFrame) -> str:
    """Pick the model whose overall area lies farthest from the first model's; blank with one."""
    whole = list_model_differences(differences)
    if whole.empty:
        return ""
    size = whole["difference"].abs().fillna(-1)
    return str(whole.loc[size.idxmax(), "model"])


def describe_differences(differences: pd.DataFrame, *, other: str) -> str:
    """Say which models order the records differently from the first one."""
    whole = list_model_differences(differences)
    if whole.empty:
        return "This run has one model, so there is nothing to compare it with."
    known = whole.dropna(subset="difference")
    if known.empty:
        return "No difference can be computed, because there are no events or no non-events."
    first = escape(known["other_model"].iloc[0])
    apart = known[(known["ci_low"] > 0) | (known["ci_high"] < 0)]
    text = (
        f"Of {plural(len(known), 'further model')}, {count(len(apart))} "
        f"{agree(len(apart), 'has', 'have')} an overall area that differs from that of {first} beyond "
        "what the records allow for, each taken by itself."
    )
    sited = known.dropna(subset=["site_low", "site_high"])
    if len(sited):
        clear = sited[(sited["site_low"] > 0) | (sited["site_high"] < 0)]
        text += f" With whole sites as the units it is {count(len(clear))}."
    return f"{text} By group, {escape(other)} is shown: it lies farthest from {first}."
