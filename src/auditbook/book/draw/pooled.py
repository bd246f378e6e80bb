"""How do counted and partially pooled rates look side by side?"""

from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.style import (
    GUIDE,
    draw_estimate,
    label_rows,
    label_with_n,
    mark_groups,
    new_axes,
    say_nothing_to_draw,
)
from auditbook.results import rows


def draw_pooled(rates: pd.DataFrame, *, title: str, ax: Axes | None = None) -> Axes:
    """Draw the counted rate of every group in grey and the pooled one in colour, each with its interval."""
    ax = new_axes(ax, rows=max(len(rates), 3))
    if rates.empty:
        return say_nothing_to_draw(ax, "There is no group.")
    marks = mark_groups(rates["group"])
    label_rows(ax, [label_with_n(row.group, row.trials) for row in rows(rates)])
    for y, row in enumerate(rows(rates)):
        mark = marks[row.group]
        grey = replace(mark, colour=GUIDE)
        draw_estimate(ax, row.raw, y - 0.17, low=row.raw_low, high=row.raw_high, mark=grey)
        draw_estimate(ax, row.pooled, y + 0.17, low=row.low, high=row.high, mark=mark)
        if not (pd.isna(row.raw) or pd.isna(row.pooled)):
            ax.plot((row.raw, row.pooled), (y - 0.17, y + 0.17), color=GUIDE, linewidth=0.8, zorder=1)
    ax.set_xlim(-0.02, 1.02 if rates["raw_high"].max() > 0.5 else max(rates["raw_high"].max(), 0.02) * 1.05)
    ax.set_xlabel(title)
    return ax
