"""How do gaps move from look to look, and how far are they known at each?"""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from auditbook.book.draw.style import BLACK, GUIDE, NEUTRAL, STYLE, WIDTH, new_figure, wrap_label
from auditbook.months.conclusions import conclude
from auditbook.months.gaps import CELL
from auditbook.months.ledger import Ledger
from auditbook.results import match_rows
from auditbook.verdicts import CONTRAST, METRICS

PANELS, COLUMNS, PANEL_HEIGHT = 6, 2, 2.3


def draw_watch(ledger: Ledger) -> Figure | None:
    """Draw the gaps of most interest: those that are shown first, then those nearest to their thresholds.

    The line is the estimate at each look, the grey band its confidence sequence, which holds at all looks
    together; dashes are the threshold, on both sides. None where no gap was ever judged.
    """
    chosen = choose_gaps(ledger)
    if not chosen:
        return None
    n_rows = -(-len(chosen) // COLUMNS)
    figure = new_figure(WIDTH, PANEL_HEIGHT * n_rows + 0.4)
    with plt.rc_context(STYLE):
        axes = np.atleast_1d(figure.subplots(n_rows, COLUMNS, squeeze=False)).ravel()
        for ax, part in zip(axes, chosen, strict=False):
            draw_gap(part, ledger.looks, ax=ax)
        for ax in axes[len(chosen) :]:
            ax.set_axis_off()
    return figure


def choose_gaps(ledger: Ledger) -> list[pd.DataFrame]:
    """Choose the contrasts to draw, each with its rows at all looks; one of each cell."""
    if not len(ledger.gaps):
        return []
    last = ledger.gaps.sort_values("look", kind="stable").drop_duplicates(CONTRAST, keep="last")
    ranked = last.sort_values("most_fail", ascending=False, kind="stable").drop_duplicates(CELL)
    shown = {(one.model, one.what, one.attribute) for one in conclude(ledger) if one.question == "gap"}
    first = [tuple(row) not in shown for row in ranked[CELL].to_numpy(object)]
    ranked = ranked.assign(first=first).sort_values("first", kind="stable")
    return [_take(ledger.gaps, row) for row in ranked.head(PANELS).to_dict("records")]


def _take(gaps: pd.DataFrame, row: dict) -> pd.DataFrame:
    """Take the rows of one contrast."""
    named = {name: row[name] for name in CONTRAST if name != "bin"}
    mine = match_rows(gaps, **named)
    bins = mine["bin"].astype(float)
    return mine[bins.isna() if pd.isna(row["bin"]) else bins == row["bin"]]


def draw_gap(gap: pd.DataFrame, looks: pd.DataFrame, *, ax: Axes) -> Axes:
    """Draw one gap from look to look."""
    first = gap.iloc[0]
    x = gap["look"].to_numpy(float)
    estimate, low, high = (gap[name].to_numpy(float) for name in ("estimate", "low", "high"))
    ax.fill_between(x, low, high, color=GUIDE, alpha=0.35, linewidth=0)
    ax.vlines(x, low, high, color=GUIDE, linewidth=0.8)
    ax.plot(x, estimate, color=BLACK, marker="o", markersize=3.5, linewidth=1.2)
    ratio = METRICS[first["metric"]].direction == "at_least"
    threshold = float(first["threshold"])
    for limit in (threshold, 1 / threshold if ratio else -threshold):
        ax.axhline(limit, color=NEUTRAL, linestyle=(0, (5, 3)), linewidth=1)
    ax.axhline(1.0 if ratio else 0.0, color=NEUTRAL, linewidth=0.6)
    ax.set_title(wrap_label(_name(first, ratio), width=40), loc="left")
    ends = dict(zip(looks["look"].astype(int), looks["window_end"], strict=True))
    ticks = _space(x.astype(int))
    ax.set_xticks(ticks, [ends[tick] for tick in ticks])
    ax.margins(x=0.03)
    return ax


def _name(row: pd.Series, ratio: bool) -> str:
    """Name what is drawn."""
    sides = f"{row['group']} {'over' if ratio else 'less'} {row['other']}" if row["other"] else row["group"]
    return f"{row['model']}, {row['metric']} ({row['rate']}): {sides}"


def _space(looks: np.ndarray) -> Sequence[int]:
    """Take at most three looks whose days fit under an axis."""
    return [
        int(one) for one in np.unique(looks[np.unique(np.linspace(0, len(looks) - 1, 3).round().astype(int))])
    ]
