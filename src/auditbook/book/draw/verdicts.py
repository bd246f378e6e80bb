"""How often would the next sample reverse a verdict, and what decides that?"""

from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.bars import draw_divided, label_with_cells
from auditbook.book.draw.style import (
    COLOURS,
    FAIL,
    GUIDE,
    NEUTRAL,
    PASS,
    Mark,
    draw_estimate,
    label_rows,
    label_with_n,
    new_axes,
    put_key,
    put_marks_above,
    say_nothing_to_draw,
    wrap_label,
)
from auditbook.results import rows


@dataclass(frozen=True)
class Series:
    """One of the three flip rates."""

    column: str  # Its column in verdicts.csv; ``_low`` and ``_high`` end the columns of its interval
    label: str  # What the legend calls it
    mark: Mark  # How it is drawn
    offset: float  # Where in the row


SERIES = (
    Series("vfr", "at the protocol's size", Mark(COLOURS[0], "o"), -0.22),
    Series("vfr_own_size", "at the cohort's own size", Mark(COLOURS[1], "s"), 0.0),
    Series("vfr_site", "drawing whole sites", Mark(COLOURS[2], "^"), 0.22),
)


def draw_flip_rates(cells: pd.DataFrame, *, stable: float, ax: Axes | None = None) -> Axes:
    """Draw the three flip rates of every cell, with their Monte Carlo intervals."""
    ax = new_axes(ax, rows=len(cells))
    if cells.empty:
        return say_nothing_to_draw(ax, "There is no cell.")
    ax.set_xlim(-0.015, 0.515)
    label_rows(ax, [label_with_n(f"{row.metric}, {row.attribute}", row.smallest_n) for row in rows(cells)])
    ax.axvspan(-0.015, stable, color=GUIDE, alpha=0.18, linewidth=0, zorder=0)
    shown = [series for series in SERIES if series.column != "vfr_site" or cells["site_count"].max() > 0]
    for y, (_, row) in enumerate(cells.iterrows()):
        for series in shown:
            low, high = row[f"{series.column}_low"], row[f"{series.column}_high"]
            draw_estimate(ax, row[series.column], y + series.offset, low=low, high=high, mark=series.mark)
    put_marks_above(ax, {series.label: series.mark for series in shown}, linewidth=2)
    ax.set_xlabel("verdict flip rate (shaded: stable)")
    return ax


def draw_resamples(draws: pd.DataFrame, *, threshold: float, estimate: float, ax: Axes | None = None) -> Axes:
    """Draw how the values of a metric in many resamples lie about its threshold."""
    ax = new_axes(ax, rows=7)
    known = draws.dropna(subset="value")
    if known.empty:
        return say_nothing_to_draw(ax, "The metric is undefined in every resample.")
    span = (min(known["value"].min(), threshold), max(known["value"].max(), threshold))
    span = span if span[1] > span[0] else (span[0] - 0.01, span[1] + 0.01)
    for colour, (label, part) in zip(COLOURS, known.groupby("label", sort=False), strict=False):
        name = wrap_label(f"{label} ({len(part):,} resamples)", width=60)
        look: dict[str, Any] = {"color": colour, "alpha": 0.45, "linewidth": 1.5, "edgecolor": colour}
        ax.hist(part["value"], bins=40, range=span, histtype="stepfilled", label=name, **look)
    ax.axvline(threshold, color=NEUTRAL, linewidth=2, linestyle="--", label=f"threshold {threshold:.2f}")
    ax.axvline(estimate, color=NEUTRAL, linewidth=1.2, label=f"whole sample {estimate:.3f}")
    put_key(ax, ncols=2)
    ax.set(xlabel="value of the metric", ylabel="resamples")
    return ax


def draw_sweep(
    table: pd.DataFrame, *, guide: float, labels: tuple[str, str], log: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw what a quantity does when one setting is varied, with its interval and a line to compare with."""
    ax = new_axes(ax, rows=7)
    markers = ("o", "s", "^", "D")
    for position, (name, part) in enumerate(table.groupby("name", sort=False)):
        colour, marker = COLOURS[position % len(COLOURS)], markers[position % len(markers)]
        ax.fill_between(part["x"], part["low"], part["high"], color=colour, alpha=0.2, linewidth=0)
        ax.plot(
            part["x"],
            part["value"],
            color=colour,
            marker=marker,
            markersize=5,
            label=wrap_label(str(name), width=60),
        )
    ax.axhline(guide, color=NEUTRAL, linewidth=1.2, linestyle="--")
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    ax.grid(axis="y", color="#E3E3E3", linewidth=0.8)
    ax.set(xlabel=labels[0], ylabel=labels[1])
    put_key(ax, ncols=2)
    return ax


def draw_board(board: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how many cells of each model stand where: one bar a model."""
    return draw_divided(
        board, row="model", part="standing", looks=BOARD_LOOKS, label=label_with_cells, ncols=2, ax=ax
    )


BOARD_LOOKS: dict[str, dict[str, Any]] = {
    "shown to fail": {"color": FAIL},
    "open, fails so far": {"color": FAIL, "alpha": 0.45, "hatch": "//"},
    "open, passes so far": {"color": PASS, "alpha": 0.35, "hatch": "//"},
    "passes for those compared": {"color": PASS, "alpha": 0.7, "hatch": ".."},
    "cannot be judged": {"color": "#DDDDDD", "hatch": ".."},
    "shown to pass": {"color": PASS},
}
