"""How does a matrix of areas look, and the scores that it is made of?"""

import math
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from auditbook.book.draw.style import (
    BLACK,
    COLOURS,
    GUIDE,
    NEUTRAL,
    SMALL_SIZE,
    STYLE,
    WIDTH,
    Mark,
    draw_estimate,
    ink_on,
    label_rows,
    label_with_n,
    mark_groups,
    new_axes,
    new_figure,
    put_marks_above,
    say_nothing_to_draw,
    wrap_label,
    write_n,
)
from auditbook.results import rows

SHADES = LinearSegmentedColormap.from_list("areas", ("#D55E00", "#F6F6F6", "#0072B2"))
"""Orange where the score puts events below non-events, blue where above."""
KINDS = (
    ("ci_low", "ci_high", "alone", Mark(COLOURS[0], "o")),
    ("joint_low", "joint_high", "all at once", Mark(COLOURS[1], "s")),
    ("site_low", "site_high", "whole sites", Mark(COLOURS[2], "^")),
)
DIFFERENCES = (KINDS[0], KINDS[2])


def draw_matrix(matrix: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the areas as a table of shades: events of each row's group against non-events of each column's."""
    groups = list(dict.fromkeys(matrix["event_group"]))
    ax = new_axes(ax, rows=max(round(1.5 * len(groups)), 4))
    if not groups:
        return say_nothing_to_draw(ax, "There is no group.")
    place = {group: number for number, group in enumerate(groups)}
    for entry in rows(matrix):
        _draw_entry(ax, entry, place[entry.nonevent_group], place[entry.event_group], small=len(groups) > 6)
    ax.set_xlim(-0.5, len(groups) - 0.5)
    ax.set_ylim(len(groups) - 0.5, -0.5)
    events = dict(zip(matrix["event_group"], matrix["n_events"], strict=True))
    others = dict(zip(matrix["nonevent_group"], matrix["n_nonevents"], strict=True))
    ax.set_yticks(range(len(groups)), [_label(group, events[group]) for group in groups])
    steep = 90 if len(groups) > 4 else 0
    wide = 24 if steep else max(48 // len(groups), 12)
    names = [_label(group, others[group], width=wide) for group in groups]
    ax.set_xticks(range(len(groups)), names, rotation=steep)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_ylabel("events of")
    ax.set_xlabel("non-events of")
    return ax


def _label(group: str, n: float, *, width: int = 24) -> str:
    """Write a group with its number of records, if there are any behind the figure."""
    return wrap_label(group, width=width) if math.isnan(n) else label_with_n(group, n, width=width)


def _draw_entry(ax: Axes, entry: Any, x: int, y: int, *, small: bool) -> None:
    """Draw one area."""
    area, inside = entry.auc, x == y
    known = not math.isnan(area)
    edge = NEUTRAL if inside else "white"
    ax.add_patch(
        Rectangle(
            (x - 0.47, y - 0.47),
            0.94,
            0.94,
            facecolor=SHADES(area) if known else "none",
            edgecolor=edge if known else GUIDE,
            linewidth=1.8 if inside or not known else 0.5,
            linestyle="-" if known else ":",
            zorder=3 if inside else 2,
        )
    )
    star = "*" if known and entry.reason else ""
    text = f"{area:.2f}{star}" if known else "\u2013"
    ink = ink_on(SHADES(area)[:3]) if known else BLACK
    size = SMALL_SIZE - 1 if small else SMALL_SIZE + 1
    ax.text(x, y, text, ha="center", va="center", color=ink, fontsize=size, zorder=4)


def draw_scenarios(densities: pd.DataFrame, matrices: Mapping[str, pd.DataFrame]) -> list[Axes]:
    """Draw score densities by group and outcome, each scenario beside the matrix that it makes."""
    figure = new_figure(WIDTH, 2.5 * len(matrices) + 0.4)
    found: list[Axes] = []
    with plt.rc_context(STYLE):
        grid = figure.add_gridspec(len(matrices), 2, width_ratios=(1.75, 1))
        for row, (name, matrix) in enumerate(matrices.items()):
            left, right = figure.add_subplot(grid[row, 0]), figure.add_subplot(grid[row, 1])
            draw_densities(densities[densities["scenario"] == name], key=not row, ax=left)
            left.set_title(f"scenario ({name})", loc="left")
            draw_matrix(matrix, ax=right)
            right.set_aspect("equal")
            found += [left, right]
    return found


def draw_densities(densities: pd.DataFrame, *, key: bool = True, ax: Axes | None = None) -> Axes:
    """Draw score densities of events (full lines) and non-events (broken lines) of each group."""
    ax = new_axes(ax)
    marks = mark_groups(densities["group"])
    handles = []
    for (group, event), part in densities.groupby(["group", "event"], sort=False):
        look: dict[str, Any] = {"color": marks[str(group)].colour, "linestyle": "-" if event else "--"}
        ax.plot(part["score"], part["density"], linewidth=1.8, **look)
        name = f"{wrap_label(str(group))}, {'events' if event else 'non-events'}"
        handles.append(Line2D([], [], label=name, **look))
    ax.set_xlabel("score")
    ax.set_yticks([])
    ax.set_ylim(bottom=0)
    ax.set_xlim(densities["score"].min(), densities["score"].max())
    if key:
        ax.legend(handles=handles, loc="upper right", frameon=False, fontsize=SMALL_SIZE)
    return ax


def draw_intervals(entries: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw areas with three intervals each: alone, all at once, and with whole sites as the units."""
    ax = new_axes(ax, rows=round(1.3 * len(entries)))
    if entries.empty:
        return say_nothing_to_draw(ax, "There is no area to draw.")
    columns = ["auc", *(name for kind in KINDS for name in kind[:2])]
    least = float(entries[columns].min().min())
    ax.set_xlim(-0.02 if math.isnan(least) else max(least - 0.04, -0.02), 1.02)
    label_rows(ax, [_name_pair(row) for row in rows(entries)])
    ax.axvline(0.5, color=NEUTRAL, linewidth=0.8, zorder=1)
    shown = [kind for kind in KINDS if entries[kind[0]].notna().any()] or [KINDS[0]]
    for y, row in enumerate(rows(entries)):
        for place, (low, high, _, mark) in enumerate(shown):
            offset = (place - (len(shown) - 1) / 2) * 0.24
            draw_estimate(ax, row.auc, y + offset, low=getattr(row, low), high=getattr(row, high), mark=mark)
    put_marks_above(ax, {kind[2]: kind[3] for kind in shown})
    ax.set_xlabel("area (the line at one half: no order)")
    return ax


def _name_pair(row: Any) -> str:
    """Name an entry in two short lines, with its events and non-events."""
    one, other = row.event_group, row.nonevent_group
    held = f"({write_n(row.n_events)} and {write_n(row.n_nonevents).removeprefix('n = ')})"
    if one == other:
        return wrap_label(f"within {one}", width=36, lines=1) + "\n" + held
    first, second = (wrap_label(name, width=18, lines=1) for name in (one, other))
    return f"{first} / {second}\n{held}"


def draw_differences(table: pd.DataFrame, *, n: int, nothing: str, ax: Axes | None = None) -> Axes:
    """Draw paired differences of areas with records and with sites as the units."""
    ax = new_axes(ax, rows=len(table))
    if not table["difference"].notna().any():
        return say_nothing_to_draw(ax, nothing)
    columns = ["difference", "ci_low", "ci_high", "site_low", "site_high"]
    wide = 1.08 * max(float(table[columns].abs().max().max()), 0.01)
    ax.set_xlim(-wide, wide)
    label_rows(ax, [wrap_label(name) for name in table["model"]])
    ax.axvline(0, color=NEUTRAL, linewidth=1, zorder=1)
    shown = [kind for kind in DIFFERENCES if table[kind[0]].notna().any()] or [DIFFERENCES[0]]
    for y, row in enumerate(rows(table)):
        for place, (low, high, _, mark) in enumerate(shown):
            offset = (place - (len(shown) - 1) / 2) * 0.26
            bounds = {"low": getattr(row, low), "high": getattr(row, high)}
            draw_estimate(ax, row.difference, y + offset, **bounds, mark=mark)
    put_marks_above(
        ax,
        {"records": KINDS[0][3], "whole sites": KINDS[2][3]} if len(shown) > 1 else {"records": KINDS[0][3]},
    )
    ax.set_xlabel(f"area less the first model's (n = {n:,} records)")
    return ax
