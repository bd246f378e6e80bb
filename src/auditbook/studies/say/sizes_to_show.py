"""From how many records of the smallest group on is something shown, and what does that ask of this run?"""

import math
from typing import Any

import numpy as np
import pandas as pd

from auditbook.book.say.text import agree, count, number, plural, read_layout, share
from auditbook.results import Run, match_rows
from auditbook.results import rows as each
from auditbook.studies.small_groups.curves import bound_measure
from auditbook.studies.small_groups.sizes_to_show import BOARDS, DESIGN
from auditbook.studies.small_groups.worlds import VerdictDesign
from auditbook.verdicts import judge_reach

BASE = {"groups": 2, "event_rate": 0.2}
ALONE, BOARD = BOARDS
CONDITIONS: dict[str, dict[str, float]] = {
    "two groups, 20% events": BASE,
    "five groups": BASE | {"groups": 5},
    "nine groups": BASE | {"groups": 9},
    "5% events": BASE | {"event_rate": 0.05},
    "40% events": BASE | {"event_rate": 0.4},
}
"""Populations beside which the smallest sizes are tabulated, by the name of the column."""
LEAST_COLUMNS = read_layout("studies", "sizes_to_show.least")
CONDITION_COLUMNS = read_layout("studies", "sizes_to_show.condition")
NEED_COLUMNS = read_layout("studies", "sizes_to_show.need")


def list_least(counted: pd.DataFrame) -> pd.DataFrame:
    """Take every population at the smallest size that the rule finds enough, with what drawn audits show."""
    enough = counted[counted["n_to_show"] <= counted["records"]].sort_values("smallest", kind="stable")
    least = enough.drop_duplicates(["metric", "groups", "event_rate", "distance", "cells"])
    right = np.where(least["distance"] < 0, least["fail"], least["pass"])
    value = [VerdictDesign(*(getattr(row, name) for name in DESIGN)).value for row in each(least)]
    return least.assign(
        value=value,
        truth=[
            _say_truth(row.metric, found, row.distance) for row, found in zip(each(least), value, strict=True)
        ],
        events=least["smallest"] * least["event_rate"],
        right=right,
        shown=right / least["replicates"],
    ).reset_index(drop=True)


def _say_truth(metric: str, value: float, distance: float) -> str:
    """Say where a population lies."""
    if value == (1.0 if metric == "DI" else 0.0):
        return "no difference"
    return f"{'passes' if distance > 0 else 'fails'} by {number(abs(distance), digits=2)}"


def tabulate_least(counted: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the sizes that show what is so with two groups and 20 % events, for `LEAST_COLUMNS`."""
    here = match_rows(list_least(counted), **BASE)
    keys = ["metric", "value", "truth"]
    parts = [
        match_rows(here, cells=cells)[[*keys, "smallest", "events", "shown"]].rename(
            columns={name: f"{name}_{cells}" for name in ("smallest", "events", "shown")}
        )
        for cells in BOARDS
    ]
    return parts[0].merge(parts[1], on=keys, how="outer", sort=False)


def tabulate_least_conditions(counted: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the sizes with more groups and other event rates, on a board, for `CONDITION_COLUMNS`."""
    here = match_rows(list_least(counted), cells=BOARD)
    here = here[here["distance"].abs() == 0.05]
    found = []
    for (metric, truth), part in here.groupby(["metric", "truth"], sort=False):
        row = {"metric": metric, "truth": truth}
        for name, where in CONDITIONS.items():
            row[name] = float(match_rows(part, **where)["smallest"].iloc[0])
        found.append(row)
    return pd.DataFrame(found)


def describe_promise(counted: pd.DataFrame) -> str:
    """Say how often drawn audits of the sizes that the rule names show what is so."""
    least = list_least(counted)
    worst = each(least.sort_values("shown", kind="stable"))[0]
    wrong = int(np.where(least["distance"] < 0, least["pass"], least["fail"]).sum())
    drawn = int(least["replicates"].sum())
    return (
        f"Audits were drawn at every size that the rule names: {count(drawn)} in all. What is so was shown "
        f"in {share(least['right'].sum() / drawn)} of them, where the rule promises 80%; least often in "
        f"{share(worst.shown)} ({worst.metric} that {worst.truth}, {plural(worst.groups, 'group')}, "
        f"{share(worst.event_rate, digits=0)} events, {plural(worst.cells, 'cell')} on the board). "
        f"The opposite was shown in {count(wrong)}."
    )


def describe_contrast(counted: pd.DataFrame, *, metric: str = "EOPP") -> str:
    """Say what a gap beyond the threshold and none at all ask for."""
    here = match_rows(list_least(counted), metric=metric, **BASE).set_index(["truth", "cells"])
    told = []
    for truth in ("fails by 0.10", "no difference"):
        board, alone = (each(here.loc[[(truth, cells)]])[0] for cells in (BOARD, ALONE))
        told.append(
            f"{count(board.smallest)} records in the smallest group ({count(board.events)} events), and "
            f"{count(alone.smallest)} where the cell was named beforehand"
        )
    return (
        f"With two groups and 20% events, on a board of {count(BOARD)} cells, to show that {metric} fails by "
        f"0.10 takes {told[0]}. To show that there is no difference takes {told[1]}."
    )


def list_power(counted: pd.DataFrame, *, metric: str = "EOPP") -> pd.DataFrame:
    """Lay the share of audits that show what is so out as curves over the smallest group."""
    here = match_rows(counted, metric=metric, cells=BOARD, **BASE)
    here = here.assign(right=np.where(here["distance"] < 0, here["fail"], here["pass"]))
    value = [VerdictDesign(*(getattr(row, name) for name in DESIGN)).value for row in each(here)]
    told = [_say_truth(row.metric, found, row.distance) for row, found in zip(each(here), value, strict=True)]
    curves = here.assign(curve=told, dashed=False).join(bound_measure(here, "shown"))
    return curves.sort_values(["distance", "smallest"], kind="stable").reset_index(drop=True)


def list_needs(run: Run, *, model: str) -> pd.DataFrame:
    """List what every cell of a model would take to be shown, for `NEED_COLUMNS`.

    The numbers are those of verdicts.csv that the report reads: nothing is estimated anew.
    """
    found = []
    for cell in each(match_rows(run.verdicts, model=model)):
        groups = match_rows(run.groups, model=model, attribute=cell.attribute)
        groups = groups[groups["n"] > 0]
        if groups.empty:
            continue
        total, small = groups["n"].sum(), each(groups.sort_values("n", kind="stable"))[0]
        row = {name: getattr(cell, name) for name in ("metric", "attribute", "standing", "n_to_show")}
        row |= {
            "told": "no number" if math.isinf(cell.n_to_show) else count(cell.n_to_show),
            "n": total,
            "group": small.group,
            "smallest": small.n,
            "events": small.events,
        }
        found.append(row | _need_there(cell.n_to_show / total, small))
    columns = ["metric", "attribute", "standing", "n", "n_to_show", "told", "group", "smallest", "events"]
    return pd.DataFrame(found, columns=[*columns, "smallest_needed", "events_needed"])


def _need_there(scale: float, small: Any) -> dict[str, float]:
    """Say how many records and events the smallest group would have in an audit so many times as large."""
    return (
        {"smallest_needed": math.nan, "events_needed": math.nan}
        if not math.isfinite(scale)
        else {"smallest_needed": math.ceil(scale * small.n), "events_needed": math.ceil(scale * small.events)}
    )


def describe_needs(needs: pd.DataFrame) -> str:
    """Count the cells that are shown, that more records would show, and that none that can be had would."""
    if needs.empty:
        return "This run judged no cell of the model."
    done = needs["standing"].isin(["shown to fail", "shown to pass"])
    rest = needs[~done]
    reach = pd.Series([judge_reach(row.n_to_show, row.n) for row in each(rest)], rest.index, dtype=object)
    more, far = rest[reach == "can be had"], int((reach == "far more than can be had").sum())
    never, left = int((reach == "no number").sum()), int((reach == "not known").sum())
    shown = int(done.sum())
    verb = agree(shown, "is", "are")
    text = f"Of {plural(len(needs), 'cell')}, {count(shown)} {verb} shown to fail or to pass."
    if len(more):
        text += (
            f" If today's estimates are the truth, more records would show {count(len(more))}, the median at "
            f"{count(more['n_to_show'].median())} records."
        )
    if far:
        text += f" For {count(far)} it would take far more records than can be had."
    if never:
        text += f" For {count(never)} no number of records would do."
    return f"{text} For {count(left)} there is nothing to go by." if left else text
