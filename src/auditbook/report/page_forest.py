"""How is a group drawn beside another in each hospital, over all of them, and in the next?"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from auditbook.book.say.text import number, plural
from auditbook.report.content import Section

MOST_FORESTS = 4
"""Differences that are drawn: those whose mean lies farthest from zero."""
MOST_HOSPITALS = 12
"""Of more hospitals those with the most weight are drawn, and the figure says so."""
WIDTH = 200.0
KEY = ["model", "attribute", "rate", "group", "other"]
RATES: Mapping[str, str] = {
    "SR": "selected (SR)",
    "TPR": "found among those with the event (TPR)",
    "FPR": "false alarms among those without it (FPR)",
    "PPV": "events among the selected (PPV)",
}


@dataclass(frozen=True)
class ForestRow:
    """A hospital, the mean, or the next hospital, in the units of the drawing."""

    name: str
    told: str
    kind: Literal["hospital", "mean", "next"]
    low: float | None
    middle: float | None
    high: float | None


@dataclass(frozen=True)
class Forest:
    """One difference of two rates, drawn."""

    title: str
    rows: tuple[ForestRow, ...]
    note: str  # What is not drawn, and how far the axis goes


def lay_forests(section: Section) -> tuple[Forest, ...]:
    """Draw the largest differences of the tables of a section; nothing where it has none of hospitals."""
    tables = {sheet.name: sheet.table for sheet in section.sheets}
    if "pooled_contrasts" not in tables:
        return ()
    means = tables["pooled_contrasts"]
    known = means[(means["hospitals"] > 1) & means["estimate"].notna()]
    order = known["estimate"].abs().sort_values(ascending=False, kind="stable").index[:MOST_FORESTS]
    hospitals = tables.get("hospital_contrasts", pd.DataFrame(columns=[*KEY, "estimate"]))
    return tuple(_lay_one(means.loc[place], hospitals) for place in order)


def _lay_one(mean: pd.Series, hospitals: pd.DataFrame) -> Forest:
    mine = hospitals[(hospitals[KEY] == mean[KEY]).all(axis=1)]
    told = mine[mine["estimate"].notna()]
    drawn = told.sort_values("weight", ascending=False, kind="stable").head(MOST_HOSPITALS)
    parts = drawn[["low", "estimate", "high"]].to_numpy(float).tolist()
    ends = [
        *parts,
        *mean[["low", "high", "prediction_low", "prediction_high"]].to_numpy(float)[:, None].tolist(),
    ]
    reach = _round_up(max(abs(end) for part in ends for end in part if math.isfinite(end)))
    rows = [
        _lay_row(str(name), "hospital", part, reach) for name, part in zip(drawn["site"], parts, strict=True)
    ]
    rows.append(_lay_row("mean of hospitals", "mean", [mean["low"], mean["estimate"], mean["high"]], reach))
    ahead = [mean["prediction_low"], math.nan, mean["prediction_high"]]
    if math.isfinite(ahead[0]):
        rows.append(_lay_row("next hospital", "next", ahead, reach))
    title = (
        f"{mean['model']}, {mean['attribute']}: {RATES[mean['rate']]}, {mean['group']} less {mean['other']}"
    )
    return Forest(title, tuple(rows), _note(len(mine), len(told), len(drawn), reach))


def _note(held: int, told: int, drawn: int, reach: float) -> str:
    """Say which hospitals are not drawn, and how far the axis goes."""
    axis = f"The line goes from -{number(100 * reach, digits=0)} to {number(100 * reach, digits=0)} points."
    if told < held:
        return f"The differences of the hospitals themselves are withheld: some rest on few people. {axis}"
    if drawn < told:
        return f"Of {plural(told, 'hospital')} the {drawn} with the most weight are drawn. {axis}"
    return axis


def _round_up(value: float) -> float:
    return math.ceil(max(value, 0.01) * 20) / 20


def _lay_row(
    name: str, kind: Literal["hospital", "mean", "next"], part: list[float], reach: float
) -> ForestRow:
    low, middle, high = part
    return ForestRow(name, _tell(low, middle, high), kind, *(_place(value, reach) for value in part))


def _tell(low: float, middle: float, high: float) -> str:
    """Write a difference in points, with its interval."""
    ends = f"{number(100 * low, digits=0)} to {number(100 * high, digits=0)}"
    return f"{number(100 * middle, digits=0)} ({ends}) points" if math.isfinite(middle) else f"{ends} points"


def _place(value: float, reach: float) -> float | None:
    return round(WIDTH / 2 * (1 + value / reach), 1) if math.isfinite(value) else None
