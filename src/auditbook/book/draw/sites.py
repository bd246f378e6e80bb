"""Which folds of sites pass which cells, and how well do they agree?"""

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from auditbook.book.draw.style import (
    COLOURS,
    FAIL,
    INCONCLUSIVE,
    NEUTRAL,
    PASS,
    Mark,
    draw_estimate,
    draw_missing,
    label_rows,
    new_axes,
    put_key,
    put_marks_above,
    say_nothing_to_draw,
    wrap_label,
)
from auditbook.results import rows

LOOKS: dict[str, dict[str, Any]] = {
    "pass": {"marker": "o", "color": PASS, "markerfacecolor": PASS},
    "fail": {"marker": "s", "color": FAIL, "markerfacecolor": FAIL},
    "inconclusive": {"marker": "o", "color": INCONCLUSIVE, "markerfacecolor": "none"},
}
NAMES = {"pass": "pass", "fail": "fail", "inconclusive": "missing (too little support)"}
MEASURES = (
    ("kappa", "Fleiss' kappa", Mark(COLOURS[0], "o"), -0.2),
    ("gwet_ac1", "Gwet's AC1", Mark(COLOURS[1], "s"), 0.0),
    ("raw_agreement", "raw agreement", Mark(COLOURS[2], "^"), 0.2),
)


def draw_fold_verdicts(site_verdicts: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the verdict of every cell in every fold: a row a cell, a column a fold."""
    cells = list(dict.fromkeys(zip(site_verdicts["metric"], site_verdicts["attribute"], strict=True)))
    ax = new_axes(ax, rows=max(4, math.ceil(0.7 * len(cells))))
    if site_verdicts.empty:
        return say_nothing_to_draw(ax, "There are no folds of sites.")
    place = {cell: y for y, cell in enumerate(cells)}
    for verdict, part in site_verdicts.groupby("verdict", sort=False):
        y = [place[cell] for cell in zip(part["metric"], part["attribute"], strict=True)]
        look = LOOKS[str(verdict)]
        ax.plot(part["fold"], y, linestyle="none", markersize=6, **look)
    label_rows(ax, [wrap_label(f"{metric}, {attribute}", lines=1) for metric, attribute in cells])
    folds = sorted(set(site_verdicts["fold"]))
    ax.set_xticks(folds)
    ax.set_xlim(folds[0] - 0.6, folds[-1] + 0.6)
    low, high = site_verdicts["n"].min(), site_verdicts["n"].max()
    ax.set_xlabel(f"fold (n = {int(low):,} to {int(high):,} records)")
    handles = [
        Line2D([], [], linestyle="none", label=NAMES[verdict], **look) for verdict, look in LOOKS.items()
    ]
    put_key(ax, handles, ncols=3)
    return ax


def draw_agreement(agreement: pd.DataFrame, *, bound: float, ax: Axes | None = None) -> Axes:
    """Draw kappa with its interval, AC1 and raw agreement of every metric."""
    ax = new_axes(ax, rows=len(agreement))
    if not agreement["ratings"].gt(0).any():
        return say_nothing_to_draw(ax, "No fold could be judged, so there is no agreement to draw.")
    lowest = agreement[["kappa", "kappa_low", "gwet_ac1", "raw_agreement"]].min().min()
    ax.set_xlim(max(min(-0.1, lowest - 0.05), -1.05), 1.03)
    label_rows(ax, [f"{row.metric} ({row.ratings:,} ratings)" for row in rows(agreement)])
    ax.axvline(0, color=NEUTRAL, linewidth=0.8)
    ax.axvline(bound, color=NEUTRAL, linewidth=1.2, linestyle="--")
    for y, row in enumerate(rows(agreement)):
        for column, _, mark, offset in MEASURES:
            value = getattr(row, column)
            low, high = (row.kappa_low, row.kappa_high) if column == "kappa" else (math.nan, math.nan)
            if math.isnan(value):
                draw_missing(ax, y + offset, mark=mark)
            else:
                draw_estimate(ax, value, y + offset, low=low, high=high, mark=mark)
    put_marks_above(ax, {label: mark for _, label, mark, _ in MEASURES})
    ax.set_xlabel("agreement of the folds (dashed: bound of kappa)")
    return ax
