"""How do scores look when one thing is changed at a time, beside what is printed?"""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.style import (
    COLOURS,
    NEUTRAL,
    SMALL_SIZE,
    STYLE,
    WIDTH,
    label_rows,
    new_figure,
    say_nothing_to_draw,
    wrap_label,
)
from auditbook.results import rows

NOTHING = "No replicates are stored."
LABEL_WIDTH = 38
COLUMNS = 2
"""Panels side by side."""


def draw_variants(table: pd.DataFrame) -> list[Axes]:
    """Draw one panel for each published score, one row for the declared scenario and for each change."""
    parts = list(table.groupby(["scenario", "method"], sort=False))
    counts = [len(part) for _, part in parts]
    heights = [0.9 + 0.48 * max(counts[start : start + COLUMNS]) for start in range(0, len(counts), COLUMNS)]
    height = max(0.6 + sum(heights), 2.0)
    figure = new_figure(WIDTH, height)
    with plt.rc_context(STYLE):
        if not parts:
            return [say_nothing_to_draw(figure.add_subplot(), NOTHING)]
        grid = figure.add_gridspec(len(heights), COLUMNS, height_ratios=heights)
        panels = [figure.add_subplot(grid[divmod(place, COLUMNS)]) for place in range(len(parts))]
    for place, (ax, (_, part)) in enumerate(zip(panels, parts, strict=True)):
        _draw_panel(ax, part, labelled=place % COLUMNS == 0)
    for ax in panels[-COLUMNS:]:
        ax.set_xlabel("F1")
    panels[0].plot([], [], "o-", color=COLOURS[0], label="here, 95% interval")
    panels[0].plot([], [], color="black", linestyle="--", label="published")
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=SMALL_SIZE)
    return panels


def _draw_panel(ax: Axes, part: pd.DataFrame, *, labelled: bool) -> None:
    """Draw the rows of one published score."""
    listed = rows(part)
    names = [f"{wrap_label(row.change, width=LABEL_WIDTH, lines=3)} (n = {row.replicates})" for row in listed]
    label_rows(ax, names if labelled else [""] * len(names))
    ax.axvspan(listed[0].f1_low, listed[0].f1_high, color=NEUTRAL, alpha=0.18, linewidth=0)
    ax.axvline(listed[0].printed, color="black", linestyle="--", linewidth=1)
    for y, row in enumerate(listed):
        ax.plot((row.f1_low, row.f1_high), (y, y), color=COLOURS[0], linewidth=1.6, solid_capstyle="butt")
        ax.plot(row.f1, y, "o", color=COLOURS[0], markersize=6, clip_on=False, zorder=3)
    ax.set_xlim(0, 1.03)
    ax.set_title(f"{listed[0].scenario}\n{listed[0].method}", fontsize=SMALL_SIZE)
