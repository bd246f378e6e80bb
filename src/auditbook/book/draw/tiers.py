"""What does the whole grid look like: verdict, flip rate and tier of every cell at a glance?"""

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from auditbook.book.draw.bars import draw_divided, label_with_cells
from auditbook.book.draw.style import (
    FAIL,
    NEUTRAL,
    PASS,
    label_rows,
    label_with_n,
    new_axes,
    put_key,
    say_nothing_to_draw,
    wrap_label,
)
from auditbook.results import rows

TILES: dict[str, dict[str, Any]] = {
    "pass": {"facecolor": PASS, "alpha": 0.30},
    "fail": {"facecolor": FAIL, "alpha": 0.55},
    "inconclusive": {"facecolor": "none", "hatch": "....", "alpha": 0.6},
}
LETTERS = {"pass": "P", "fail": "F", "inconclusive": "?"}
TIER_LOOKS: dict[str, dict[str, Any]] = {
    "Practical-Stability": {"facecolor": "#FFFFFF", "edgecolor": NEUTRAL},
    "Caution-Required": {"facecolor": "#C9C9C9", "edgecolor": NEUTRAL},
    "High-Variance": {"facecolor": "#8C8C8C", "edgecolor": NEUTRAL},
    "Catastrophic-Instability": {"facecolor": "#3C3C3C", "edgecolor": NEUTRAL},
    "no tier": {"facecolor": "#FFFFFF", "edgecolor": NEUTRAL, "hatch": "...."},
}


def draw_board(board: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw every cell of the grid: a row a metric and attribute, a column a model."""
    places = list(dict.fromkeys(zip(board["metric"], board["attribute"], strict=True)))
    models = list(dict.fromkeys(board.sort_values("place", kind="stable")["model"]))
    ax = new_axes(ax, rows=math.ceil(0.85 * len(places)) + 1, width=max(7.2, 2.6 + 0.62 * len(models)))
    if board.empty:
        return say_nothing_to_draw(ax, "There is no cell.")
    smallest = board.groupby(["metric", "attribute"])["smallest_n"].min()
    for row in rows(board):
        _draw_tile(ax, row, models.index(row.model), places.index((row.metric, row.attribute)))
    label_rows(ax, [label_with_n(f"{metric}, {name}", smallest[metric, name]) for metric, name in places])
    ax.grid(visible=False)
    ax.set_xticks(
        range(len(models)), [wrap_label(model, width=24 if len(models) > 4 else 16) for model in models]
    )
    ax.tick_params(axis="x", length=0, labelrotation=90 if len(models) > 4 else 0)
    ax.set_xlim(-0.55, max(len(models), 4) - 0.45)  # few models keep narrow tiles
    _add_key(ax)
    return ax


def _draw_tile(ax: Axes, cell: Any, x: int, y: int) -> None:
    """Draw one cell: colour, letter, flip rate, dots."""
    ax.bar(x, 0.86, width=0.92, bottom=y - 0.43, edgecolor=NEUTRAL, linewidth=0.4, **TILES[cell.verdict])
    flips = "" if math.isnan(cell.vfr) or math.isnan(cell.violations) else f"{100 * cell.vfr:.0f}%"
    ax.text(x, y - 0.13, f"{LETTERS[cell.verdict]} {flips}", ha="center", va="center", fontsize=8)
    dots = 0 if math.isnan(cell.violations) else int(cell.violations)
    spread = [0.12 * (turn - (dots - 1) / 2) for turn in range(dots)]
    ax.plot([x + step for step in spread], [y + 0.26] * dots, "o", color="black", markersize=3.2)


def _add_key(ax: Axes) -> None:
    """Explain tiles and dots above the figure."""
    handles: list[Any] = [
        Patch(label=f"{LETTERS[name]} {name}", edgecolor=NEUTRAL, **look) for name, look in TILES.items()
    ]
    handles.append(
        Line2D(
            [], [], color="black", marker="o", markersize=3.2, linestyle="none", label="an axis falls short"
        )
    )
    put_key(ax, handles, ncols=4, middle=0.4, columnspacing=1.2)


def draw_tiers(tally: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how many cells of each model stand in each tier: one bar a model."""
    keys = list(TIER_LOOKS)
    return draw_divided(
        tally, row="model", part="tier", looks=TIER_LOOKS, label=label_with_cells, keys=keys, ax=ax
    )
