"""How do other protocols, models and constants look beside the ones in force?"""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.bars import draw_divided
from auditbook.book.draw.style import (
    COLOURS,
    GUIDE,
    MARK_SIZE,
    NEUTRAL,
    Mark,
    draw_estimate,
    label_rows,
    label_with_n,
    new_axes,
    put_marks_above,
    say_nothing_to_draw,
    wrap_label,
)
from auditbook.book.draw.tiers import TIER_LOOKS
from auditbook.book.draw.verdicts import draw_sweep
from auditbook.results import rows

BASELINES = MappingProxyType({"B1": Mark(COLOURS[1], "s"), "B4": Mark(COLOURS[0], "o")})
CHOSEN = Mark(GUIDE, "D")
LOOKS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        **TIER_LOOKS,
        "stable": {"facecolor": COLOURS[0], "alpha": 0.75},
        "not stable": {"facecolor": COLOURS[1], "alpha": 0.65, "hatch": "//"},
        "inconclusive": {"facecolor": "#FFFFFF", "edgecolor": NEUTRAL, "hatch": "...."},
    }
)


def draw_lowest(table: pd.DataFrame, *, threshold: float, ax: Axes | None = None) -> Axes:
    """Draw the lowest disparate impact of B1 and B4 in every setting, where chosen and where reported."""
    ax = new_axes(ax, rows=len(table))
    if table.empty:
        return say_nothing_to_draw(ax, "No setting could be made.")
    ax.set_xlim(-0.02, 1.02)
    label_rows(ax, [label_with_n(row.title, row.n, width=34) for row in rows(table)])
    ax.axvline(threshold, color=NEUTRAL, linewidth=1.4, linestyle="--", zorder=1)
    for y, row in enumerate(rows(table)):
        if not math.isnan(row.chosen):
            ax.plot(row.chosen, y - 0.2, CHOSEN.marker, color=CHOSEN.colour, markersize=MARK_SIZE - 1)
        draw_estimate(ax, row.value, y + 0.1, low=row.low, high=row.high, mark=BASELINES[row.baseline])
    entries = {"B1, the model as it is": BASELINES["B1"], "B4": BASELINES["B4"], "where chosen": CHOSEN}
    put_marks_above(ax, entries, middle=0.4)
    ax.set_xlabel("lowest disparate impact (dashed: passes from here)")
    return ax


def draw_curves(
    table: pd.DataFrame,
    *,
    guide: float,
    labels: tuple[str, str],
    nothing: str,
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw what varies with one constant, or say why there is nothing to draw."""
    if table.empty or table["value"].isna().all():
        return say_nothing_to_draw(new_axes(ax), nothing)
    named = table.assign(name=[wrap_label(name, width=34, lines=1) for name in table["name"]])
    ax = draw_sweep(named, guide=guide, labels=labels, log=log, ax=ax)
    if log:
        ticks = sorted(set(table["x"]))
        ax.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks], rotation=30, ha="right")
        ax.set_xticks([], minor=True)
    return ax


def draw_parts(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how the cells are divided at each value of a constant: one bar a value."""

    def name(label: str, cells: float) -> str:
        return wrap_label(label, width=30)

    return draw_divided(table, row="label", part="part", looks=LOOKS, label=name, ax=ax)
