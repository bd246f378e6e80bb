"""How long before the event were those selected who had it, as a picture?"""

import math

import numpy as np
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

SPANS = {"hours": "hours before the event", "units": "before the event, in the unit of the two columns"}


def draw_leads(leads: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the median lead of each group with its 95% interval, on a pale line from quartile to quartile."""
    ax = new_axes(ax, rows=max(len(leads), 2))
    if leads.empty:
        return say_nothing_to_draw(ax, "No column of this cohort says when the event happened.")
    marks = mark_groups(leads["group"])
    label_rows(ax, [label_with_n(row.group, row.ahead) for row in rows(leads)])
    for position, row in enumerate(rows(leads)):
        if not math.isnan(row.median):
            ends = [row.quarter, row.three_quarters]
            ax.plot(
                ends, [position] * 2, color=GUIDE, alpha=0.5, linewidth=6, solid_capstyle="butt", zorder=1
            )
        draw_estimate(
            ax, row.median, position, low=row.median_low, high=row.median_high, mark=marks[row.group]
        )
    last = float(np.nanmax([0.0, *leads["three_quarters"], *leads["median_high"]]))
    ax.set_xlim(0, 1.08 * last if last > 0 else 1)
    ax.set_xlabel(f"median with 95% interval, {SPANS[str(leads['span'].iloc[0])]}")
    return ax
