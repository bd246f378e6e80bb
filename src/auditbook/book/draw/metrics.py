"""How do the rates of the groups look side by side, and which cells pass?"""

import math

import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.style import (
    FAIL,
    GUIDE,
    INCONCLUSIVE,
    NEUTRAL,
    PASS,
    SMALL_SIZE,
    WIDTH,
    draw_estimate,
    ink_on,
    label_rows,
    label_with_n,
    mark_groups,
    new_axes,
    say_nothing_to_draw,
    wrap_label,
)
from auditbook.results import rows

VERDICT_COLOURS = {"pass": PASS, "fail": FAIL, "inconclusive": INCONCLUSIVE}
VERDICT_SIGNS = {"pass": "\N{CHECK MARK}", "fail": "\N{MULTIPLICATION X}", "inconclusive": "?"}


def draw_rates(rates: pd.DataFrame, *, title: str, ax: Axes | None = None) -> Axes:
    """Draw one rate of every group with its interval, and the records that it rests on."""
    ax = new_axes(ax, rows=len(rates))
    if rates.empty:
        return say_nothing_to_draw(ax, "There is no group.")
    marks = mark_groups(rates["group"])
    ax.set_xlim(-0.02, 1.02)
    label_rows(ax, [label_with_n(row.group, row.trials) for row in rows(rates)])
    _shade_gap(ax, rates["value"].dropna())
    for y, row in enumerate(rows(rates)):
        draw_estimate(ax, row.value, y, low=row.low, high=row.high, mark=marks[row.group])
    ax.set_xlabel(title)
    return ax


def _shade_gap(ax: Axes, values: pd.Series) -> None:
    """Shade the range from the lowest to the highest defined value."""
    if len(values) > 1:
        ax.axvspan(values.min(), values.max(), color=GUIDE, alpha=0.18, linewidth=0, zorder=0)


def draw_bins(gaps: pd.DataFrame, *, threshold: float, ax: Axes | None = None) -> Axes:
    """Draw how far the event rate lies from the mean score, by group and score bin."""
    names = list(dict.fromkeys(gaps["group"]))
    ax = new_axes(ax, rows=9 + max(0, len(names) - 10) // 2)
    if gaps.empty:
        return say_nothing_to_draw(ax, "There is no probability to compare with events.")
    marks = mark_groups(gaps["group"])
    width = float((gaps["bin_high"] - gaps["bin_low"]).max())
    step = 0.8 * width / len(names)
    for position, name in enumerate(names):
        part = gaps[gaps["group"] == name]
        x = (part["bin_low"] + part["bin_high"]) / 2 + step * (position - (len(names) - 1) / 2)
        bars = (part[["value", "high"]].to_numpy() - part[["low", "value"]].to_numpy()).T
        mark, label = marks[name], label_with_n(name, part["n"].sum(skipna=False))
        ax.errorbar(
            x.to_numpy(),
            part["value"].to_numpy(),
            yerr=bars,
            fmt="none",
            ecolor=mark.colour,
            elinewidth=1.2,
            alpha=0.7,
        )
        ax.scatter(
            x,
            part["value"],
            s=_mark_area(part["n"]),
            c=mark.colour,
            marker=mark.marker,
            label=label,
            zorder=3,
        )
    ax.axhspan(-threshold, threshold, color=PASS, alpha=0.12, linewidth=0, zorder=0)
    ax.axhline(0, color=GUIDE, linewidth=0.8, zorder=1)
    ax.set_xlim(gaps["bin_low"].min() - width / 4, gaps["bin_high"].max() + width / 4)
    ax.set(xlabel="score", ylabel="event rate \N{MINUS SIGN} mean score")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize=SMALL_SIZE)
    return ax


def _mark_area(n: pd.Series) -> pd.Series:
    """Area of a mark in points squared: larger with more records, never too small to see."""
    return 14 + 22 * (n + 1).map(math.log10)


def draw_verdict_grid(cells: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the verdict and estimate of every metric and attribute of one model."""
    metrics, attributes = list(dict.fromkeys(cells["metric"])), list(dict.fromkeys(cells["attribute"]))
    ax = new_axes(ax, rows=max(len(metrics), 3) + 1, width=max(WIDTH * 0.6, 1.7 * len(attributes) + 1))
    if cells.empty:
        return say_nothing_to_draw(ax, "There is no cell.")
    for row in rows(cells):
        x, y = attributes.index(row.attribute), metrics.index(row.metric)
        hollow = row.verdict == "inconclusive"
        colour = VERDICT_COLOURS[row.verdict]
        ax.barh(
            y,
            0.94,
            left=x - 0.47,
            height=0.88,
            color="none" if hollow else colour,
            edgecolor=colour,
            hatch="///" if hollow else None,
            alpha=0.35 if hollow else 1,
            linewidth=1,
        )
        estimate = "\N{EN DASH}" if math.isnan(row.estimate) else f"{row.estimate:.2f}"
        ink = NEUTRAL if hollow else ink_on(colour)
        text = f"{VERDICT_SIGNS[row.verdict]}  {estimate}"
        ax.text(x, y, text, ha="center", va="center", color=ink, fontweight="bold")
    smallest = cells.groupby("attribute", sort=False)["smallest_n"].min()
    labels = [f"{wrap_label(name, width=16)}\nsmallest n = {smallest[name]:,.0f}" for name in attributes]
    ax.set_xticks(range(len(attributes)), labels)
    ax.set_yticks(range(len(metrics)), metrics)
    ax.set(xlim=(-0.5, len(attributes) - 0.5), ylim=(len(metrics) - 0.5, -0.5))
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax
