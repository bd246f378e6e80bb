"""What may a board conclude from this audit, what may it not, and what would it take to know more?"""

import math
from typing import Any

import pandas as pd

from auditbook.book.say.metrics import pick_rates, sort_metrics, write_rule
from auditbook.book.say.text import (
    agree,
    count,
    count_of,
    escape,
    join_words,
    name_list,
    number,
    plural,
    read_layout,
    share,
)
from auditbook.results import Run, match_rows, rows
from auditbook.tables import tell_named_missing
from auditbook.verdicts import METRICS, STANDINGS, judge_reach, name_bin, pick_deciding

SHOWN_TO_FAIL = "shown to fail"
RATE_SENTENCES = {
    "SR": ("the model selects", "records"),
    "TPR": ("the model finds", "records with the event"),
    "FPR": ("the model wrongly selects", "records without the event"),
    "PPV": ("the event follows in", "selected records"),
}

BOARD_COLUMNS = read_layout("book", "audit.board")
NOTICED = 0.05
"""Equal groups that fail more often than this are told of."""
SHOWN_BY_OTHER = {
    "fail": "are shown to fail",
    "pass": "are shown to pass",
    "open": "leave it open",
    "none": "cannot be judged",
}
"""What the same decisions come to by another outcome."""
FEW_UNRECORDED = 0.02
"""Largest share of a group's events that, unrecorded, makes what is shown hang on the records."""
LEAST_SHARE = 0.001
"""Smaller shares are written as this one."""
FEW = 0.005
"""A share below this is called hardly any."""
MOST_MODELS = 3
"""Models that the report writes out in full; of more, only the first."""


def build_board(run: Run) -> pd.DataFrame:
    """Sort every cell by what it asks of the board (its `standing`), the strongest evidence first in each."""
    cells = run.verdicts.assign(place=pd.factorize(run.verdicts["model"])[0])
    cells["passes"] = [write_rule(row.metric, row.threshold, short=True) for row in rows(cells)]
    many = len(run.models) > 1
    cells["cell"] = [f"{row.metric}, {row.attribute}" + f", {row.model}" * many for row in rows(cells)]
    order = cells["standing"].map(list(STANDINGS).index)
    keys = ["order", "p_fail", "p_pass"]
    ranked = cells.assign(order=order).sort_values(keys, ascending=[True, True, False], kind="stable")
    return ranked.drop(columns="order").reset_index(drop=True)


def pick_board(run: Run, board: pd.DataFrame) -> pd.DataFrame:
    """Pick the cells that the report writes out: of every model, or of the first when there are many."""
    if len(run.models) <= MOST_MODELS:
        return board
    picked = board[board["model"] == run.models["model"].iloc[0]].reset_index(drop=True)
    return picked.assign(cell=picked["metric"] + ", " + picked["attribute"])


def describe_choice(run: Run) -> str:
    """Say which model the report writes out; blank when it writes out all."""
    if len(run.models) <= MOST_MODELS:
        return ""
    first = escape(run.models["model"].iloc[0])
    return (
        f"From here on the report is about **{first}**, the first model that the cohort file names. "
        f"The other {count(len(run.models) - 1)} are compared with it in the chapter on the panel, and all "
        "their cells stand on the board of tiers."
    )


def count_standings(board: pd.DataFrame) -> pd.DataFrame:
    """Count the cells of each standing by model: columns model, standing, cells."""
    models = list(dict.fromkeys(board.sort_values("place", kind="stable")["model"]))
    tally = board.groupby(["model", "standing"]).size()
    found = [
        {"model": model, "standing": standing, "cells": int(tally.get((model, standing), 0))}
        for standing in STANDINGS
        for model in models
    ]
    return pd.DataFrame(found, columns=["model", "standing", "cells"])


def describe_standings(board: pd.DataFrame) -> str:
    """Say in one list how many cells stand where, and what each standing asks for."""
    tally = board["standing"].value_counts()
    lines = [
        f"- **{name.capitalize()}: {count_of(int(tally[name]), len(board), 'cell')}.** {standing.action}"
        for name, standing in STANDINGS.items()
        if name in tally
    ]
    return "\n".join(lines) if lines else "This run judged no cell."


def _write_told(n: float) -> str:
    """Write a count, or that it is withheld."""
    return "(number withheld)" if math.isnan(n) else count(n)


def describe_decisions(run: Run, board: pd.DataFrame, *, limit: int = 12) -> str:
    """Say in plain words what was shown to fail, and what that means for people."""
    failing = board[board["standing"] == SHOWN_TO_FAIL]
    if failing.empty:
        return (
            "No cell asks for a decision: nothing was shown to fail. That is no proof that nothing does; "
            "see what is open."
        )
    return _list_cells(failing, run, limit)


def describe_open(run: Run, board: pd.DataFrame, *, limit: int = 12) -> str:
    """Say in plain words what this audit leaves open, those nearest to a failure first."""
    left = board[board["shown"] == "open"]
    if left.empty:
        return "Nothing is open: every cell that could be judged was shown to fail or to pass."
    return _list_cells(left, run, limit)


def describe_shown(run: Run, board: pd.DataFrame, *, limit: int = 12) -> str:
    """Say in plain words what was shown to pass."""
    passing = board[board["shown"] == "pass"]
    return "Nothing was shown to pass." if passing.empty else _list_cells(passing, run, limit)


def _list_cells(cells: pd.DataFrame, run: Run, limit: int) -> str:
    """List metrics and attributes, at most so many."""
    parts = [part for _, part in cells.groupby(["metric", "attribute"], sort=False)]
    lines = [f"- {_write_cells(part, run)}" for part in parts[:limit]]
    if len(parts) > limit:
        left = sum(len(part) for part in parts[limit:])
        lines.append(f"- {plural(left, 'more cell')} {agree(left, 'stands', 'stand')} in the table below.")
    return "\n".join(lines)


def _write_cells(cells: pd.DataFrame, run: Run) -> str:
    """Put one metric and attribute into words: which models, and the difference in the first of them."""
    first = rows(cells)[0]
    standings = cells.groupby("standing", sort=False)["model"]
    told = "; ".join(f"{standing} in {name_list(names)}" for standing, names in standings)
    where = f"Most in {escape(first.model)}: " if len(cells) > 1 else ""
    difference = _write_contrast(first, run)
    if where:
        difference = difference[:1].lower() + difference[1:]
    parts = [f"**{escape(first.metric)} for {escape(first.attribute)}: {told}.**", f"{where}{difference}"]
    parts += [*_write_beside(first, run), *_write_tipping(first, run), *_write_labels(first, run)]
    ends = (first.lowest_group, first.highest_group)
    parts += [told] if (told := tell_named_missing(ends, first.attribute, write=escape)) else []
    if first.left_out and first.metric == "CAL":
        parts.append("Score bins of fewer records than a group needs are not compared.")
    elif first.left_out:
        parts.append(f"Not compared: {escape(first.left_out)}.")
    return " ".join(parts)


def _write_beside(cell: Any, run: Run) -> list[str]:
    """Say what a model without error would have, and of an open cell how the next audit may end."""
    found = []
    perfect = METRICS[cell.metric].passes(cell.error_free, threshold=cell.threshold)
    if cell.metric in ("DI", "SPD") and not math.isnan(cell.error_free) and not perfect:
        found.append(f"A model without any error would have {number(cell.error_free)}, and fail too.")
    if cell.shown == "open":
        found += [told for told in (*_write_next(cell), write_size(cell, run)) if told]
    return found


def _write_tipping(cell: Any, run: Run) -> list[str]:
    """Say of what is shown that it hangs on few unrecorded events of one group; nothing where it does not."""
    points = match_rows(run.tipping_points, model=cell.model, metric=cell.metric, attribute=cell.attribute)
    near = points[points["shown_share"] <= FEW_UNRECORDED].sort_values("shown_share", kind="stable")
    if near.empty or cell.shown not in ("fail", "pass"):
        return []
    point = rows(near)[0]
    missed = max(round(point.shown_missed), 1)
    among = {"any": "", "selected": ", all of them selected", "not selected": ", none of them selected"}
    return [
        f"If {share(max(point.shown_share, LEAST_SHARE))} of the events in {escape(point.group)} had gone "
        f"unrecorded ({count(missed)} beside the {count(point.events)} recorded{among[point.among]}), this "
        "would not be shown."
    ]


def _write_labels(cell: Any, run: Run) -> list[str]:
    """Say by which other outcome the cell would be answered otherwise; nothing where none is named."""
    told = match_rows(run.label_change, model=cell.model, metric=cell.metric, attribute=cell.attribute)
    return [
        f"Judged by {escape(row.outcome)}, the same decisions {SHOWN_BY_OTHER[row.shown]}."
        for row in rows(told[1:])  # the first is the audited outcome
        if row.shown != cell.shown
    ]


def _write_next(cell: Any) -> list[str]:
    """Say how the next audit may end, and how often equal groups fail; nothing without a verdict."""
    if math.isnan(cell.next_audit):
        return []
    few = cell.next_audit < FEW
    other = "hardly any audit" if few else f"about {share(cell.next_audit, digits=0)} of audits"
    other += " of as many other patients would end in the other one"
    told = f"As published, the verdict is {cell.verdict}; {other}."
    if cell.verdict == "fail" and cell.fail_if_equal > NOTICED:
        told += (
            f" But groups of these sizes that are equal would fail in {share(cell.fail_if_equal, digits=0)}."
        )
    return [told]


def write_size(cell: Any, run: Run) -> str:
    """Say how many records would show what the estimates of an open cell point to."""
    audited = rows(match_rows(run.models, model=cell.model))[0].n_audit
    side = "fail" if cell.standing == "open, fails so far" else "pass"
    match judge_reach(cell.n_to_show, audited):
        case "can be had":
            size = plural(int(float(f"{cell.n_to_show:.2g}")), "record")
            return (
                f"If these estimates are the truth, about {size} would show it to {side}, "
                "in four of five audits."
            )
        case "far more than can be had":
            return (
                "If these estimates are the truth, it would take far more records than can be had to show it "
                f"to {side}."
            )
        case "no number":
            return "No number of records would show it if these estimates are the truth."
    return ""


def _write_contrast(cell: Any, run: Run) -> str:
    """Put the contrast that decides a cell into words, with its bounds."""
    of_cell = match_rows(run.contrasts, model=cell.model, metric=cell.metric, attribute=cell.attribute)
    contrast = rows(pick_deciding(of_cell))[0]
    if contrast.rate in ("CAL", "CAL_large"):
        return f"{_write_calibration(contrast)} Event rate less mean score is {_write_gap(cell)}."
    what = "ratio" if METRICS[cell.metric].direction == "at_least" else "difference"
    if contrast.rate in RATE_SENTENCES:
        return f"{_write_rates(contrast, run)} That {what} is {_write_gap(cell)}, and must be {cell.passes}."
    pair = f"{escape(contrast.group)} and {escape(contrast.other)}"
    return f"The {what} of {pair} is {_write_gap(cell)}, and must be {cell.passes}."


def _write_gap(cell: Any) -> str:
    return "withheld" if math.isnan(cell.gap) else f"{number(cell.gap)}{_write_bounds(cell)}"


def _write_bounds(cell: Any) -> str:
    """Write the bounds of a cell's deciding contrast; only one where the other is unknown."""
    low, high = (None if math.isnan(bound) else number(bound) for bound in (cell.gap_low, cell.gap_high))
    if low and high:
        return f" (bounds {low} to {high})"
    return f" (at least {low})" if low else f" (at most {high})" if high else ""


def _write_rates(contrast: Any, run: Run) -> str:
    """Say what the two rates of a contrast are, of a hundred people."""
    known = pick_rates(_select(run.groups, contrast), rate=contrast.rate, bounds=run.rates).set_index("group")
    ends = [(name, known.loc[name]) for name in (contrast.other, contrast.group)]
    verb, of = RATE_SENTENCES[contrast.rate]
    rare = all(row["value"] < 0.01 for _, row in ends if not math.isnan(row["value"]))
    of_rows = 10_000 if rare and not known["value"].isna().all() else 100
    told = " and ".join(
        f"{number(of_rows * row['value'], digits=0)} in {escape(name)} (n = {count(row['trials'])})"
        for name, row in ends
    )
    return f"Of {count(of_rows)} {of}, {verb} {told}."


def _write_calibration(contrast: Any) -> str:
    """Say how far from what the scores say the event is, and for whom."""
    points = plural(round(100 * abs(contrast.estimate)), "point")
    side = "rarer" if contrast.estimate < 0 else "more frequent"
    where = "" if math.isnan(contrast.bin) else f" with {name_bin(int(contrast.bin))}"
    return (
        f"In {escape(contrast.group)}{where} (n = {count(contrast.n)}) the event is {points} {side} than the "
        "scores say."
    )


def _select(table: pd.DataFrame, cell: Any) -> pd.DataFrame:
    return match_rows(table, model=cell.model, attribute=cell.attribute)


def describe_unjudged(board: pd.DataFrame) -> str:
    """List the reasons for which cells cannot be judged, with the cells that each holds back."""
    held = board[board["standing"] == "cannot be judged"]
    if held.empty:
        return f"In every cell at least two groups could be compared.{_count_partial(board)}"
    lines = []
    why = held["left_out"].where(held["left_out"] != "", held["reason"])
    for (attribute, reason), part in held.assign(why=why).groupby(["attribute", "why"], sort=False):
        metrics = join_words(sort_metrics(part["metric"]))
        lines.append(f"- **{escape(attribute)}** ({metrics}; {plural(len(part), 'cell')}): {escape(reason)}.")
    return "\n".join(lines)


def _count_partial(board: pd.DataFrame) -> str:
    """Count the cells that leave groups out, for the end of a sentence."""
    part = int((board["left_out"] != "").sum())
    leave = "leaves" if part == 1 else "leave"
    return f" {plural(part, 'cell')} {leave} out groups of whom there is too little." if part else ""
