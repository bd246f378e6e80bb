"""How do reliability curves, calibration intercepts and slopes look, group by group?"""

import math

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from auditbook.book.draw.style import (
    COLOURS,
    GUIDE,
    NEUTRAL,
    SMALL_SIZE,
    STYLE,
    WIDTH,
    Mark,
    draw_estimate,
    label_rows,
    label_with_n,
    mark_groups,
    new_axes,
    new_figure,
    put_marks_above,
    say_nothing_to_draw,
)
from auditbook.results import rows

BY_RECORDS, BY_SITES = Mark(COLOURS[0], "o"), Mark(COLOURS[1], "s")
ACROSS = 3
"""Curves side by side."""
TITLES = {
    "intercept": "calibration intercept (dashed: as many events as predicted)",
    "slope": "calibration slope (dashed: scores spread as they should)",
}


def draw_curves(curves: pd.DataFrame, *, sparse: int) -> list[Axes]:
    """Draw each group's reliability curve on axes of its own, side by side."""
    if curves.empty:
        return [say_nothing_to_draw(new_axes(), "There is no probability to compare with events.")]
    names = list(dict.fromkeys(curves["group"]))
    width = min(ACROSS, max(len(names), 2))
    height = math.ceil(len(names) / width)
    figure = new_figure(WIDTH, 0.5 + 2.35 * height)
    marks = mark_groups(names)
    with plt.rc_context(STYLE):
        grid = figure.add_gridspec(height, width)
        drawn = [figure.add_subplot(grid[divmod(place, width)]) for place in range(len(names))]
    for ax, name in zip(drawn, names, strict=True):
        _draw_curve(ax, curves[curves["group"] == name], marks[name], sparse)
        ax.set_title(
            label_with_n(name, curves.loc[curves["group"] == name, "n"].sum(), width=24), fontsize=8.5
        )
    figure.supxlabel("mean score of the bin (dashed: score = event rate)", fontsize=SMALL_SIZE)
    figure.supylabel("event rate with 95% interval", fontsize=SMALL_SIZE)
    return drawn


def _draw_curve(ax: Axes, bins: pd.DataFrame, mark: Mark, sparse: int) -> None:
    """Draw one group's bins."""
    ax.plot([0, 1], [0, 1], color=GUIDE, linestyle="--", linewidth=1)
    ax.vlines(
        bins["mean_score"], bins["event_rate_low"], bins["event_rate_high"], color=mark.colour, linewidth=1.6
    )
    for row in rows(bins):
        face = "white" if row.n < sparse else mark.colour
        ax.plot(
            row.mean_score,
            row.event_rate,
            mark.marker,
            color=mark.colour,
            markerfacecolor=face,
            markersize=5.5,
            clip_on=False,
            zorder=3,
        )
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))


def draw_fits(fits: pd.DataFrame, *, name: str, ax: Axes | None = None) -> Axes:
    """Draw calibration intercept or slope of every group, with intervals by records and by sites."""
    ax = new_axes(ax, rows=len(fits))
    if fits[name].isna().all():
        return say_nothing_to_draw(ax, f"No group has a calibration {name}.")
    by_sites = fits[f"{name}_site_low"].notna().any()
    columns = [name, f"{name}_low", f"{name}_high"]
    columns += [f"{name}_site_low", f"{name}_site_high"] if by_sites else []
    _set_reach(ax, fits[columns], guide=1.0 if name == "slope" else 0.0)
    label_rows(ax, [label_with_n(row.group, row.n) for row in rows(fits)])
    shift = 0.15 if by_sites else 0.0
    for y, row in enumerate(fits.to_dict(orient="records")):
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        draw_estimate(ax, row[name], y - shift, low=low, high=high, mark=BY_RECORDS)
        if by_sites:
            low, high = row[f"{name}_site_low"], row[f"{name}_site_high"]
            draw_estimate(ax, row[name], y + shift, low=low, high=high, mark=BY_SITES)
    ax.set_xlabel(TITLES[name])
    _put_units_above(ax, by_sites=bool(by_sites))
    return ax


def _set_reach(ax: Axes, table: pd.DataFrame, *, guide: float) -> None:
    """Set limits that hold every estimate and, of very wide intervals, a part; draw the guide line."""
    middle = table.iloc[:, 0].dropna()
    low, high = min(table.min().min(), guide), max(table.max().max(), guide)
    span = max(middle.max() - middle.min(), abs(middle - guide).max(), 0.5)
    low, high = max(low, min(middle.min(), guide) - 2 * span), min(high, max(middle.max(), guide) + 2 * span)
    ax.set_xlim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    ax.axvline(guide, color=NEUTRAL, linewidth=1.4, linestyle="--", zorder=1)


def _put_units_above(ax: Axes, *, by_sites: bool) -> None:
    """Say above the axes what the independent units of each mark's interval are."""
    entries = {"95% interval": BY_RECORDS} | ({"by whole sites": BY_SITES} if by_sites else {})
    put_marks_above(ax, entries, ncols=2, linewidth=2)


def draw_model_slopes(models: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw every model's calibration slope over all records, with its interval."""
    ax = new_axes(ax, rows=len(models))
    if models["slope"].isna().all():
        return say_nothing_to_draw(ax, "No model has a calibration slope.")
    _set_reach(ax, models[["slope", "slope_lower", "slope_upper"]], guide=1.0)
    label_rows(ax, [label_with_n(row.model, row.n) for row in rows(models)])
    for y, row in enumerate(rows(models)):
        draw_estimate(ax, row.slope, y, low=row.slope_lower, high=row.slope_upper, mark=BY_RECORDS)
    ax.set_xlabel(f"{TITLES['slope']}, 95% interval")
    return ax
