"""Pictures of who is in the cohort: flow, event rates of groups, sites, missing values."""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, PercentFormatter

from auditbook.book.draw.style import (
    COLOURS,
    FAIL,
    FONT_SIZE,
    GUIDE,
    NEUTRAL,
    SMALL_SIZE,
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

FLOW_COLOURS = {"read": NEUTRAL, "left out": COLOURS[1], "kept": COLOURS[0]}


def draw_flow(flow: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw rows read, left out by reason, and kept, as bars that hand on what remains."""
    ax = new_axes(ax, rows=len(flow))
    for position, row in enumerate(rows(flow)):
        ax.barh(position, row.rows, left=row.start, color=FLOW_COLOURS[row.kind], height=0.62)
        ax.annotate(
            "withheld" if math.isnan(row.rows) else f"{int(row.rows):,}",
            (0.0 if math.isnan(row.rows) else row.start + row.rows, position),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL_SIZE,
        )
    label_rows(ax, [wrap_label(step, width=34) for step in flow["step"]])
    ax.set_xlim(0, 1.12 * max(flow["rows"].max(), 1))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set_xlabel("rows")
    return ax


def draw_event_rates(groups: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the event rate of each group of one attribute with its 95% Wilson interval."""
    ax = new_axes(ax, rows=len(groups))
    if groups.empty:
        return say_nothing_to_draw(ax, "This attribute has no group.")
    marks = mark_groups(groups["group"])
    label_rows(ax, [label_with_n(row.group, row.n) for row in rows(groups)])
    ax.set_xlim(0, _upper_limit(groups["event_rate_high"]))
    for position, row in enumerate(rows(groups)):
        draw_estimate(
            ax,
            row.event_rate,
            position,
            low=row.event_rate_low,
            high=row.event_rate_high,
            mark=marks[row.group],
        )
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel("event rate with 95% interval")
    return ax


def _upper_limit(values: pd.Series) -> float:
    """End of an axis of shares: a little above the largest, at most 1."""
    largest = values.max()
    return 1.0 if math.isnan(largest) else min(1.0, 1.08 * largest + 0.005) if largest < 1 else 1.02


def draw_base_rate_ratios(ratios: pd.DataFrame, *, threshold: float = 0.80, ax: Axes | None = None) -> Axes:
    """Draw each attribute's ratio of lowest to highest event rate against a ratio rule."""
    ax = new_axes(ax, rows=len(ratios))
    if ratios.empty:
        return say_nothing_to_draw(ax, "No attribute was declared.")
    marks = mark_groups(ratios["attribute"])
    label_rows(ax, [label_with_n(row.attribute, row.smallest_n) for row in rows(ratios)])
    highest = ratios["ratio_high"].max()
    ax.set_xlim(0, max(1.1, 1.05 * highest) if not math.isnan(highest) else 1.1)
    ax.axvline(threshold, color=FAIL, linestyle="--", linewidth=1.2)
    ax.annotate(
        f"rule: {threshold:.2f}",
        (threshold, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        color=FAIL,
        fontsize=SMALL_SIZE,
    )
    ax.axvline(1.0, color=GUIDE, linewidth=0.8)
    for position, row in enumerate(rows(ratios)):
        draw_estimate(
            ax, row.ratio, position, low=row.ratio_low, high=row.ratio_high, mark=marks[row.attribute]
        )
    ax.set_xlabel("lowest / highest event rate = ratio of selection rates without any error")
    return ax


def draw_site_volumes(sites: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the number of records of each site, largest first."""
    ax = new_axes(ax)
    if sites.empty:
        return say_nothing_to_draw(ax, "No site column: there are no sites to draw.")
    ax.plot(sites["rank"], sites["n"], "o-", color=COLOURS[0], markersize=3.5, linewidth=1)
    ax.set_yscale("log")
    ax.set_ylim(0.8, 1.5 * sites["n"].max())
    _count_ticks(ax.yaxis)
    ax.set_xlim(0.5, len(sites) + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("site, by rank of volume")
    ax.set_ylabel("records (log scale)")
    number = f"{len(sites):,} site{'' if len(sites) == 1 else 's'}"
    ax.set_title(f"{number}, {write_n(sites['n'].sum(skipna=False))}", loc="left", fontsize=FONT_SIZE)
    return ax


def _count_ticks(axis: Axis) -> None:
    """Label a logarithmic axis of counts with plain numbers, at least one of them within the limits."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0,) if high > 50 * low else (1.0, 2.0, 3.0, 5.0)))
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else "")
    axis.set_minor_formatter(NullFormatter())


def draw_site_rates(sites: pd.DataFrame, *, overall: float, ax: Axes | None = None) -> Axes:
    """Draw each site's event rate against its volume."""
    ax = new_axes(ax)
    if sites.empty:
        return say_nothing_to_draw(ax, "No site column: there are no site rates to compare.")
    ax.vlines(
        sites["n"], sites["event_rate_low"], sites["event_rate_high"], color=GUIDE, linewidth=0.8, alpha=0.6
    )
    ax.plot(sites["n"], sites["event_rate"], "o", color=COLOURS[0], markersize=4)
    ax.axhline(overall, color=COLOURS[1], linestyle="--", linewidth=1.2, label="whole cohort")
    ax.set_xscale("log")
    ax.set_xlim(0.7 * sites["n"].min(), 1.5 * sites["n"].max())
    _count_ticks(ax.xaxis)
    ax.set_ylim(-0.02, 1.02)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel("records of the site, n (log scale)")
    ax.set_ylabel("event rate with 95% interval")
    put_key_above(ax)
    return ax


def draw_missing_shares(columns: pd.DataFrame, *, limit: int = 15, ax: Axes | None = None) -> Axes:
    """Draw the share of missing values of the columns that have any."""
    holed = columns[columns["missing"] > 0].nlargest(limit, "missing", keep="first")
    ax = new_axes(ax, rows=len(holed))
    if holed.empty:
        return say_nothing_to_draw(ax, "No column has a missing value.")
    names = [f"{row.column} [{row.role}]" for row in rows(holed)]
    label_rows(
        ax,
        [
            f"{wrap_label(name, width=34)}\n({missing:,.0f} missing)"
            for name, missing in zip(names, holed["missing"], strict=True)
        ],
    )
    for position, row in enumerate(rows(holed)):
        ax.barh(position, row.missing_share, color=COLOURS[0], height=0.6)
    ax.set_xlim(0, _upper_limit(holed["missing_share"]))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
    ax.set_xlabel("share of records without a value")
    return ax
