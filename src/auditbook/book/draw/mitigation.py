"""How does mitigation look: what each baseline reaches, whether it holds, and who gets which threshold?"""

import math

import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.style import (
    COLOURS,
    GUIDE,
    MARK_SIZE,
    NEUTRAL,
    Mark,
    draw_estimate,
    draw_missing,
    label_rows,
    label_with_n,
    mark_groups,
    new_axes,
    put_marks_above,
    say_nothing_to_draw,
    wrap_label,
)
from auditbook.book.draw.verdicts import draw_sweep
from auditbook.results import rows

CHOSEN, UNSEEN = Mark(GUIDE, "D"), Mark(COLOURS[0], "o")
THIRD, FOURTH = Mark(COLOURS[1], "s"), Mark(COLOURS[0], "o")


def draw_parity(parity: pd.DataFrame, *, threshold: float, ax: Axes | None = None) -> Axes:
    """Draw every baseline's disparate impact by attribute, with the middle 95 % of the resamples."""
    titles = list(dict.fromkeys(parity["title"]))
    ax = new_axes(ax, rows=2 * len(titles))
    if parity.empty:
        return say_nothing_to_draw(ax, "There is no baseline to compare.")
    names = list(dict.fromkeys(parity["attribute"]))
    marks = mark_groups(names)
    ax.set_xlim(-0.02, 1.02)
    sizes = dict(zip(parity["title"], parity["n"], strict=True))
    label_rows(ax, [label_with_n(title, sizes[title]) for title in titles])
    ax.axvline(threshold, color=NEUTRAL, linewidth=1.4, linestyle="--", zorder=1)
    step = 0.7 / max(len(names), 1)
    for row in rows(parity):
        y = titles.index(row.title) + (names.index(row.attribute) - (len(names) - 1) / 2) * step
        draw_estimate(ax, row.value, y, low=row.low, high=row.high, mark=marks[row.attribute])
    put_marks_above(ax, {wrap_label(name): marks[name] for name in names})
    ax.set_xlabel("disparate impact (dashed: passes from here)")
    return ax


def draw_holding(parity: pd.DataFrame, *, threshold: float, ax: Axes | None = None) -> Axes:
    """Draw each disparate impact where thresholds were chosen and on the unseen part, joined by a line."""
    parity = parity[parity["chosen"].notna()]
    ax = new_axes(ax, rows=len(parity))
    if parity.empty:
        return say_nothing_to_draw(ax, "There are no separate parts, so nothing can be compared.")
    ax.set_xlim(-0.02, 1.02)
    label_rows(ax, [label_with_n(f"{row.title}: {row.attribute}", row.n, width=34) for row in rows(parity)])
    ax.axvline(threshold, color=NEUTRAL, linewidth=1.4, linestyle="--", zorder=1)
    for y, row in enumerate(rows(parity)):
        if not math.isnan(row.chosen + row.value):
            ax.plot((row.chosen, row.value), (y, y), color=GUIDE, linewidth=1, zorder=1)
        draw_estimate(ax, row.chosen, y - 0.12, low=math.nan, high=math.nan, mark=CHOSEN)
        draw_estimate(ax, row.value, y + 0.12, low=row.low, high=row.high, mark=UNSEEN)
    put_marks_above(ax, {"where it was chosen": CHOSEN, "unseen part": UNSEEN})
    ax.set_xlabel("disparate impact (dashed: passes from here)")
    return ax


def draw_curves(
    table: pd.DataFrame, *, guide: float, labels: tuple[str, str], nothing: str, ax: Axes | None = None
) -> Axes:
    """Draw what varies with one setting, or say why there is nothing to vary."""
    if table["x"].nunique() < 2:
        return say_nothing_to_draw(new_axes(ax), nothing)
    return draw_sweep(table, guide=guide, labels=labels, ax=ax)


def draw_moves(moves: pd.DataFrame, *, stable: float, ax: Axes | None = None) -> Axes:
    """Draw the flip rates of cells under B3 and B4, joined by a line, the largest rise on top."""
    ax = new_axes(ax, rows=len(moves))
    if moves.empty:
        return say_nothing_to_draw(ax, "The refinement changed no flip rate on these records.")
    ax.set_xlim(-0.015, 0.515)
    label_rows(ax, [label_with_n(f"{row.metric}, {row.attribute}", row.n) for row in rows(moves)])
    ax.axvspan(-0.015, stable, color=GUIDE, alpha=0.18, linewidth=0, zorder=0)
    for y, row in enumerate(rows(moves)):
        draw_estimate(ax, row.vfr_from, y - 0.14, low=row.vfr_low_from, high=row.vfr_high_from, mark=THIRD)
        draw_estimate(ax, row.vfr_to, y + 0.14, low=row.vfr_low_to, high=row.vfr_high_to, mark=FOURTH)
    put_marks_above(ax, {"B3": THIRD, "B4": FOURTH})
    ax.set_xlabel("verdict flip rate (shaded: stable)")
    return ax


def draw_thresholds(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw each joint cell's threshold under B3 and B4, with the common threshold as a dashed line."""
    ax = new_axes(ax, rows=len(table))
    if table.empty:
        return say_nothing_to_draw(ax, "There are no shifted thresholds.")
    ax.set_xlim(-0.02, 1.02)
    label_rows(ax, [label_with_n(row.cell, row.n, width=38) for row in rows(table)])
    ax.axvline(float(table["start"].iloc[0]), color=NEUTRAL, linewidth=1.2, linestyle="--", zorder=1)
    for y, row in enumerate(rows(table)):
        for value, offset, mark in ((row.threshold_b3, -0.14, THIRD), (row.threshold_b4, 0.14, FOURTH)):
            if math.isnan(value):
                draw_missing(ax, y + offset, mark=mark)
            else:
                ax.plot(value, y + offset, mark.marker, color=mark.colour, markersize=MARK_SIZE)
    put_marks_above(ax, {"B3": THIRD, "B4": FOURTH})
    ax.set_xlabel("threshold (dashed: the same for all)")
    return ax
