"""How do metrics made of areas look, with the advice on each?"""

import math
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.style import (
    COLOURS,
    GUIDE,
    MARK_SIZE,
    NEUTRAL,
    ROW_HEIGHT,
    STYLE,
    WIDTH,
    Mark,
    draw_estimate,
    label_rows,
    new_axes,
    new_figure,
    put_marks_above,
    say_nothing_to_draw,
    wrap_label,
    write_n,
)
from auditbook.results import rows

ADVICE = {
    "report beside": Mark(NEUTRAL, "o"),
    "recommended": Mark(COLOURS[0], "D"),
    "with caution": Mark(COLOURS[1], "s"),
    "not recommended": Mark(GUIDE, "X"),
}
PUBLISHED, EXACT, SIMULATED = Mark(COLOURS[1], "D"), Mark(COLOURS[0], "o"), Mark(COLOURS[2], "^")


def draw_scenarios(table: pd.DataFrame) -> list[Axes]:
    """Draw published, exact and simulated values of every scenario, and what rounding allows."""
    names = list(dict.fromkeys(table["scenario"]))
    titles = list(dict.fromkeys(table["title"]))
    figure = new_figure(WIDTH + 0.6, 1.2 + ROW_HEIGHT * len(titles))
    found: list[Axes] = []
    with plt.rc_context(STYLE):
        for place, name in enumerate(names):
            ax = figure.add_subplot(1, len(names), place + 1)
            _draw_scenario(ax, table[table["scenario"] == name])
            ax.set_xlabel(f"scenario ({name})")
            if place:
                ax.set_yticklabels([])
            found.append(ax)
        entries = {"published": PUBLISHED, "exact": EXACT, "simulated": SIMULATED}
        put_marks_above(found[len(found) // 2], entries)
    return found


def _draw_scenario(ax: Axes, part: pd.DataFrame) -> None:
    """Draw the values of one scenario."""
    ax.set_xlim(-0.03, 1.03)
    label_rows(ax, [wrap_label(title, width=22) for title in part["title"]])
    for y, row in enumerate(rows(part)):
        ax.plot((row.low, row.high), (y, y), color="#D8D8D8", linewidth=9, solid_capstyle="butt", zorder=1)
        for value, offset, mark in ((row.published, -0.2, PUBLISHED), (row.exact, 0, EXACT)):
            ax.plot(value, y + offset, mark.marker, color=mark.colour, markersize=MARK_SIZE - 2.5, zorder=3)
        ends = (row.simulated_low, row.simulated_high)
        ax.plot(ends, (y + 0.2, y + 0.2), color=SIMULATED.colour, linewidth=1.6)
        ax.plot(row.simulated, y + 0.2, SIMULATED.marker, color=SIMULATED.colour, markersize=MARK_SIZE - 2.5)


def draw_metrics(metrics: pd.DataFrame, *, n: int, ax: Axes | None = None) -> Axes:
    """Draw every metric with its interval and the advice on it."""
    ax = new_axes(ax, rows=len(metrics))
    if metrics.empty:
        return say_nothing_to_draw(ax, "There is no metric to draw.")
    ax.set_xlim(-0.02, 1.02)
    label_rows(ax, [_label(row) for row in rows(metrics)])
    for y, row in enumerate(rows(metrics)):
        draw_estimate(ax, row.value, y, low=row.ci_low, high=row.ci_high, mark=ADVICE[row.advice])
    seen = dict.fromkeys(metrics["advice"])
    put_marks_above(ax, {name: mark for name, mark in ADVICE.items() if name in seen})
    ax.set_xlabel(f"value (n = {n:,} records)")
    return ax


def _label(row: Any) -> str:
    """Name a metric, and the one group that it is about."""
    if row.metric in ("xauc1", "xauc0"):
        return wrap_label(f"{row.title}: {row.whom}", width=36, lines=1)
    return wrap_label(row.title, width=36, lines=1)


def draw_parities(verdicts: pd.DataFrame, *, threshold: float, ax: Axes | None = None) -> Axes:
    """Draw AUC parity of every attribute with its interval and its verdict."""
    ax = new_axes(ax, rows=len(verdicts))
    if verdicts.empty:
        return say_nothing_to_draw(ax, "There is no attribute to judge.")
    most = float(verdicts[["estimate", "area_high"]].max().max())
    ax.set_xlim(-0.005, 1.1 * max(0.1, 0.0 if math.isnan(most) else most))
    names = [f"{wrap_label(row.attribute)}\n(smallest {write_n(row.smallest_n)})" for row in rows(verdicts)]
    label_rows(ax, names)
    ax.axvline(threshold, color=NEUTRAL, linewidth=1.4, linestyle="--", zorder=1)
    marks = {"pass": Mark(COLOURS[0], "o"), "fail": Mark(COLOURS[1], "s"), "inconclusive": Mark(GUIDE, "D")}
    for y, row in enumerate(rows(verdicts)):
        draw_estimate(ax, row.estimate, y, low=row.area_low, high=row.area_high, mark=marks[row.verdict])
    put_marks_above(ax, {name: mark for name, mark in marks.items() if name in set(verdicts["verdict"])})
    ax.set_xlabel("within-group AUC parity (dashed: passes up to here)")
    return ax
