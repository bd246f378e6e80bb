"""How do printed figures lie beside this run's?"""

import math

import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.style import (
    COLOURS,
    GUIDE,
    NEUTRAL,
    Mark,
    draw_estimate,
    label_rows,
    new_axes,
    put_marks_above,
)
from auditbook.results import rows

PRINTED, HERE = Mark(GUIDE, "D"), Mark(COLOURS[0], "o")


def draw_pairs(
    table: pd.DataFrame,
    *,
    label: str,
    limits: tuple[float, float],
    guide: float = math.nan,
    ax: Axes | None = None,
) -> Axes:
    """Draw every printed figure as a diamond and this run's as a dot with its interval."""
    ax = new_axes(ax, rows=len(table))
    ax.set_xlim(*limits)
    label_rows(ax, list(table["label"]))
    if not math.isnan(guide):
        ax.axvline(guide, color=NEUTRAL, linewidth=1.4, linestyle="--", zorder=1)
    for y, row in enumerate(rows(table)):
        draw_estimate(ax, row.printed, y - 0.14, low=math.nan, high=math.nan, mark=PRINTED)
        if not math.isnan(row.here):
            draw_estimate(ax, row.here, y + 0.14, low=row.low, high=row.high, mark=HERE)
    put_marks_above(ax, {"printed": PRINTED, "this run": HERE})
    ax.set_xlabel(label)
    return ax
