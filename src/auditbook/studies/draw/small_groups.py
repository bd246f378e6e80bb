"""How does a figure of an audit behave as its smallest group grows?"""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from auditbook.book.draw.style import (
    COLOURS,
    GUIDE,
    MARKERS,
    NEUTRAL,
    SMALL_SIZE,
    label_rows,
    label_with_n,
    new_axes,
    put_key_above,
    say_nothing_to_draw,
)

NUDGE = 1.03
"""Factor between the positions of neighbouring curves, so that their marks do not hide each other."""


def draw_by_size(
    curves: pd.DataFrame,
    *,
    quantity: str,
    guides: Sequence[float] = (),
    in_percent: bool = True,
    held: str = "records of the smallest group",
    ax: Axes | None = None,
) -> Axes:
    """Draw curves over the records of the smallest group, or over another size."""
    ax = new_axes(ax, rows=8)
    if not curves["value"].notna().any():
        return say_nothing_to_draw(ax, "Nothing was simulated that could be drawn here.")
    ax.set_xscale("log")
    names = list(dict.fromkeys(curves["curve"]))
    for (name, dashed), part in curves.groupby(["curve", "dashed"], sort=False):
        place = names.index(name)
        if dashed:
            colour = COLOURS[place % len(COLOURS)]
            ax.plot(part["smallest"], part["value"], color=colour, linewidth=1.5, linestyle=":")
        else:
            _draw_curve(ax, part, str(name), place, len(names))
    if curves["dashed"].any():
        ax.plot([], [], color=NEUTRAL, linewidth=1.5, linestyle=":", label="truth")
    for turn, guide in enumerate(guides):
        if turn:
            ax.axhline(guide, linewidth=0.8, color=GUIDE, zorder=0)
        else:
            ax.axhline(guide, linewidth=1.2, color=NEUTRAL, linestyle="--", zorder=0)
    sizes = sorted(set(curves["smallest"]))
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.minorticks_off()
    ax.set_xlabel(held)
    ax.set_ylabel(quantity)
    if in_percent:
        ax.yaxis.set_major_formatter(lambda y, _: f"{100 * y:.0f}%")
    ax.grid(axis="y", color="#E3E3E3", linewidth=0.8)
    ax.set_axisbelow(True)
    put_key_above(ax)
    return ax


def _draw_curve(ax: Axes, part: pd.DataFrame, name: str, place: int, count: int) -> None:
    """Draw one curve with its bounds, and hollow marks where it has no value."""
    colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
    x = part["smallest"] * NUDGE ** (place - (count - 1) / 2)
    ax.plot(x, part["value"], color=colour, linewidth=1.3)
    ax.vlines(x, part["low"], part["high"], color=colour, linewidth=1.6)
    ax.plot(x, part["value"], marker, color=colour, markersize=5.5, label=name)
    gone = x[part["value"].isna()]
    ax.plot(
        gone,
        [0.02] * len(gone),
        marker,
        transform=ax.get_xaxis_transform(),
        color=colour,
        markersize=5.5,
        markerfacecolor="none",
        clip_on=False,
    )


def draw_group_lines(groups: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how many figures each group of an audit can bear, a bar a group."""
    ax = new_axes(ax, rows=len(groups))
    if groups.empty:
        return say_nothing_to_draw(ax, "There is no group to look up.")
    label_rows(ax, [label_with_n(name, n) for name, n in zip(groups["group"], groups["n"], strict=True)])
    asked = int(groups["asked"].max())
    ax.set_xlim(0, asked + 0.5)
    ax.barh(range(len(groups)), groups["borne"], height=0.5, color=COLOURS[0])
    for row, (borne, whole) in enumerate(zip(groups["borne"], groups["asked"], strict=True)):
        ax.text(borne + 0.1, row, f"{borne} of {whole}", va="center", fontsize=SMALL_SIZE)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("figures that the group is large enough for")
    return ax
