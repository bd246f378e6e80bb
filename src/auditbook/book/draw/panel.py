"""Where do the models of a panel agree, and how far apart are their estimates?"""

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from auditbook.book.draw.style import (
    FAIL,
    GUIDE,
    INCONCLUSIVE,
    NEUTRAL,
    PASS,
    label_rows,
    label_with_n,
    new_axes,
    put_key,
    say_nothing_to_draw,
    wrap_label,
)
from auditbook.book.draw.tiers import LETTERS, TILES
from auditbook.results import rows

COLOURS = {"pass": PASS, "fail": FAIL, "inconclusive": INCONCLUSIVE}
MARKERS = {"pass": "o", "fail": "s", "inconclusive": "D"}


def draw_matrix(verdicts: pd.DataFrame, cells: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the verdict of every model in every cell."""
    places = list(zip(cells["metric"], cells["attribute"], strict=True))
    models = list(dict.fromkeys(verdicts["model"]))
    width = max(7.2, 3.2 + 0.42 * len(models))
    ax = new_axes(ax, rows=math.ceil(0.75 * len(places)) + 2, width=width)
    if not places:
        return say_nothing_to_draw(ax, "There is no cell.")
    smallest = verdicts.groupby(["metric", "attribute"])["smallest_n"].min()
    for row in rows(verdicts):
        x, y = models.index(row.model), places.index((row.metric, row.attribute))
        ax.bar(x, 0.86, width=0.92, bottom=y - 0.43, edgecolor=NEUTRAL, linewidth=0.4, **TILES[row.verdict])
        ax.text(x, y, LETTERS[row.verdict], ha="center", va="center", fontsize=8)
    wide = max(len(models), 4)
    for y, row in enumerate(rows(cells)):
        text = f"{row.passes} of {row.judged} pass" if row.judged else "none judged"
        ax.text(wide - 0.35, y, text, ha="left", va="center", fontsize=8, clip_on=False)
    label_rows(
        ax, [label_with_n(f"{metric}, {name}", smallest[metric, name], width=32) for metric, name in places]
    )
    ax.grid(visible=False)
    ax.set_xticks(range(len(models)), [wrap_label(model, width=24) for model in models])
    ax.tick_params(axis="x", length=0, labelrotation=90 if len(models) > 4 else 0)
    ax.set_xlim(-0.55, wide + 1.6)
    ax.spines["bottom"].set_visible(False)
    handles: list[Any] = [
        Patch(label=f"{LETTERS[name]} {name}", edgecolor=NEUTRAL, **look) for name, look in TILES.items()
    ]
    put_key(ax, handles, ncols=len(handles), middle=0.4)
    return ax


def draw_spread(spread: pd.DataFrame, *, metric: str, ax: Axes | None = None) -> Axes:
    """Draw the estimates of all models for one metric, each with its interval."""
    attributes = list(dict.fromkeys(spread["attribute"]))
    models = list(dict.fromkeys(spread["model"]))
    ax = new_axes(ax, rows=math.ceil(len(attributes) * max(1.4, 0.32 * len(models))) + 1)
    if spread.empty:
        return say_nothing_to_draw(ax, "There is no cell of this metric.")
    step = 0.76 / max(len(models), 2)
    for row in rows(spread):
        y = attributes.index(row.attribute) + step * (models.index(row.model) - (len(models) - 1) / 2)
        _draw_mark(ax, row, y)
    smallest = spread.groupby("attribute", sort=False)["smallest_n"].min()
    label_rows(ax, [label_with_n(name, smallest[name]) for name in attributes])
    ax.set_ylim(len(attributes) - 0.5, -0.5)
    for edge in range(1, len(attributes)):
        ax.axhline(edge - 0.5, color="#E3E3E3", linewidth=0.8)
    ax.axvline(spread["threshold"].iloc[0], color=GUIDE, linestyle="--", linewidth=1)
    ax.set_xlabel(f"{metric}: estimate with 95% interval of its resamples (dashed: threshold)")
    handles = [
        Line2D([], [], color=COLOURS[name], marker=MARKERS[name], linestyle="none", markersize=5, label=name)
        for name in COLOURS
    ]
    put_key(ax, handles, ncols=len(handles), middle=0.4)
    return ax


def _draw_mark(ax: Axes, row: Any, y: float) -> None:
    """Draw one model's estimate with its interval; hollow at the edge when there is none."""
    colour, marker = COLOURS[row.verdict], MARKERS[row.verdict]
    if math.isnan(row.estimate):
        edge = ax.get_yaxis_transform()
        ax.plot(0.015, y, marker, color=colour, markersize=4.5, markerfacecolor="none", transform=edge)
        return
    if not math.isnan(row.ci_low):
        ax.plot((row.ci_low, row.ci_high), (y, y), color=colour, linewidth=1.3, solid_capstyle="butt")
    ax.plot(row.estimate, y, marker, color=colour, markersize=4.5)
