"""How far do overall values lie from the means of the groups' values?"""

import math

import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.style import (
    GUIDE,
    NEUTRAL,
    Mark,
    draw_estimate,
    label_rows,
    label_with_n,
    mark_groups,
    new_axes,
    put_key_above,
    say_nothing_to_draw,
    wrap_label,
    write_n,
)
from auditbook.results import rows

OVERALL, MEAN = Mark("black", "D"), Mark(GUIDE, "X")


def draw_differences(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the overall value less the weighted mean, one row a metric and one mark an attribute."""
    titles = list(dict.fromkeys(table["title"]))
    ax = new_axes(ax, rows=len(titles))
    if table["difference"].isna().all():
        return say_nothing_to_draw(ax, "No metric has both an overall value and values by group.")
    marks = mark_groups(table["attribute"])
    names = list(dict.fromkeys(table["attribute"]))
    reach = 1.15 * max(table["difference"].abs().max(), 0.01)
    ax.set_xlim(-reach, reach)
    label_rows(ax, titles)
    ax.axvline(0, color=NEUTRAL, linewidth=1.4, linestyle="--", zorder=1)
    ax.axhline(table.drop_duplicates("title")["collapsible"].sum() - 0.5, color=GUIDE, linewidth=0.8)
    step = 0.6 / len(names)
    for row in rows(table):
        y = titles.index(row.title) + (names.index(row.attribute) - (len(names) - 1) / 2) * step
        draw_estimate(ax, row.difference, y, low=math.nan, high=math.nan, mark=marks[row.attribute])
    for name in names:
        ax.plot([], [], marks[name].marker, color=marks[name].colour, label=wrap_label(name))
    ax.set_xlabel(f"overall value less weighted mean ({write_n(table['n'].max())}; dashed: the same)")
    put_key_above(ax)
    return ax


def draw_areas(areas: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the overall AUC, the mean of the groups' AUCs and each group's, with 95 % intervals."""
    ax = new_axes(ax, rows=len(areas))
    if areas["value"].isna().all():
        return say_nothing_to_draw(ax, "There is no area to compare.")
    marks = mark_groups(areas.loc[areas["role"] == "group", "name"])
    ends = areas[["value", "low", "high"]].to_numpy()
    low, high = pd.Series(ends.ravel()).min(), pd.Series(ends.ravel()).max()
    ax.set_xlim(low - 0.1 * (high - low) - 0.01, min(high + 0.1 * (high - low) + 0.01, 1.02))
    label_rows(ax, [label_with_n(row.name, row.n) for row in rows(areas)])
    ax.axvline(areas["value"].iloc[0], color=NEUTRAL, linewidth=1.2, linestyle="--", zorder=1)
    for y, row in enumerate(rows(areas)):
        mark = {"overall": OVERALL, "mean": MEAN}.get(row.role) or marks[row.name]
        draw_estimate(ax, row.value, y, low=row.low, high=row.high, mark=mark)
    ax.set_xlabel("AUC with 95% interval (dashed: all records)")
    return ax
