"""How do a metric's spread and its verdict change with the size of the audit?"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.style import (
    COLOURS,
    GUIDE,
    MARKERS,
    NEUTRAL,
    Mark,
    new_axes,
    put_key,
    say_nothing_to_draw,
    wrap_label,
)
from auditbook.verdicts import METRICS

NUDGE = 1.018
"""Factor between the positions of neighbouring curves, so that their marks do not hide each other."""


def mark_metrics(names: Iterable[str]) -> dict[str, Mark]:
    """Give every metric the colour and marker that it has in all figures; other labels take their turn."""
    known = list(METRICS)
    marks = {}
    for turn, name in enumerate(dict.fromkeys(names)):
        place = known.index(name) if name in known else turn
        marks[name] = Mark(COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)])
    return marks


def draw_spread(
    sweep: pd.DataFrame, *, bound: float, by: str = "metric", half: float = math.inf, ax: Axes | None = None
) -> Axes:
    """Draw the coefficient of variation against the size of the audit, with its interval."""
    ax = new_axes(ax, rows=8)
    shown = sweep[~(sweep["cv"] == 0)]
    if not (shown["cv"] > 0).any():
        return say_nothing_to_draw(ax, "No size smaller than the whole has a coefficient of variation.")
    ax.set(xscale="log", yscale="log")
    _draw_curves(ax, shown, by, ("cv", "cv_low", "cv_high"))
    ax.axhline(bound, color=NEUTRAL, linewidth=1.2, linestyle="--")
    ax.yaxis.set_major_formatter(lambda y, _: f"{100 * y:g}%")
    _finish(ax, shown["n"], half, "coefficient of variation")
    return ax


def draw_pass_shares(
    sweep: pd.DataFrame, *, by: str = "metric", half: float = math.inf, ax: Axes | None = None
) -> Axes:
    """Draw the share of subsamples that pass against the size of the audit, with its interval."""
    ax = new_axes(ax, rows=8)
    if not sweep["pass_share"].notna().any():
        return say_nothing_to_draw(ax, "No cell has a verdict, so no subsample passes or fails.")
    ax.set(xscale="log", ylim=(-0.04, 1.04))
    _draw_curves(ax, sweep, by, ("pass_share", "pass_low", "pass_high"))
    ax.axhline(0.5, color=NEUTRAL, linewidth=1.2, linestyle="--")
    ax.yaxis.set_major_formatter(lambda y, _: f"{100 * y:.0f}%")
    _finish(ax, sweep["n"], half, "subsamples that pass")
    return ax


def _draw_curves(ax: Axes, sweep: pd.DataFrame, by: str, columns: tuple[str, str, str]) -> None:
    """Draw one curve a name, nudged sideways."""
    marks = mark_metrics(sweep[by])
    for turn, (name, part) in enumerate(sweep.groupby(by, sort=False)):
        mark, x = marks[str(name)], part["n"] * NUDGE ** (turn - len(marks) / 2)
        value, low, high = (part[column].to_numpy(float) for column in columns)
        ends = np.nan_to_num(np.stack([value - low, high - value]))
        look: dict[str, Any] = {
            "color": mark.colour,
            "marker": mark.marker,
            "markersize": 5,
            "linewidth": 1.4,
        }
        ax.errorbar(x, value, yerr=np.maximum(ends, 0), label=wrap_label(str(name)), elinewidth=1, **look)
        for missing in x[np.isnan(value)]:
            hollow: dict[str, Any] = {"color": mark.colour, "markerfacecolor": "none", "clip_on": False}
            ax.plot(missing, 0.02, mark.marker, transform=ax.get_xaxis_transform(), **hollow)


def _finish(ax: Axes, sizes: "pd.Series[int]", half: float, label: str) -> None:
    """Shade the sizes that do not count, and label the axes."""
    low, high = ax.get_xlim()
    if half < high:
        ax.axvspan(max(half, low), high, color=GUIDE, alpha=0.18, linewidth=0, zorder=0)
        ax.set_xlim(low, high)
    ticks = sorted(set(sizes))
    ax.set_xticks(ticks, [f"{size:,}" for size in ticks], rotation=30, ha="right")
    ax.set_xticks([], minor=True)
    ax.grid(axis="y", color="#E3E3E3", linewidth=0.8)
    ax.set(xlabel="records in the audit", ylabel=label)
    put_key(ax, ncols=4)
