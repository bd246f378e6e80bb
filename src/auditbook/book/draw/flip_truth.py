"""How do foretold flip rates look beside those that came about?"""

from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.style import (
    COLOURS,
    GUIDE,
    NEUTRAL,
    Mark,
    draw_estimate,
    label_rows,
    label_with_n,
    new_axes,
    put_marks_above,
    say_nothing_to_draw,
)
from auditbook.results import rows

FORETOLD = {
    "vfr": (Mark(COLOURS[0], "o"), "records drawn (vfr)"),
    "vfr_wide": (Mark(COLOURS[5], "v"), "records, stretched"),
    "vfr_site": (Mark(COLOURS[2], "^"), "sites drawn (vfr_site)"),
    "vfr_site_wide": (Mark(COLOURS[4], "P"), "sites, stretched"),
}
CAME_TRUE = Mark(COLOURS[1], "D")
SMALLEST, LARGEST = 4.0, 13.0


def _name_marks(predictions: Iterable[str]) -> dict[str, Mark]:
    return {label: mark for mark, label in map(FORETOLD.__getitem__, predictions)}


def draw_calibration(bins: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the realised against the foretold flip rate, bin by bin, with intervals."""
    ax = new_axes(ax, rows=8)
    if bins.empty:
        return say_nothing_to_draw(ax, "There is no prediction to compare with what came of it.")
    ax.plot((0, 0.5), (0, 0.5), color=NEUTRAL, linewidth=1.2, linestyle="--", zorder=1)
    most = bins["predictions"].max()
    for name, part in bins.groupby("prediction", sort=False):
        mark, _ = FORETOLD[str(name)]
        ax.plot(part["predicted"], part["realised"], color=mark.colour, linewidth=1.2, alpha=0.6, zorder=2)
        for row in rows(part):
            ax.plot(
                (row.predicted,) * 2, (row.realised_low, row.realised_high), color=mark.colour, linewidth=2
            )
            size = SMALLEST + (LARGEST - SMALLEST) * (row.predictions / most) ** 0.5
            ax.plot(
                row.predicted,
                row.realised,
                mark.marker,
                color=mark.colour,
                markersize=size,
                markeredgecolor="white",
                zorder=3,
            )
    put_marks_above(ax, _name_marks(dict.fromkeys(bins["prediction"])))
    ax.set(xlim=(-0.02, 0.52), ylim=(-0.02, max(0.6, float(bins["realised_high"].max()) + 0.03)))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{round(100 * value, 1):g}%")
    ax.grid(color="#E3E3E3", linewidth=0.8)
    ax.set(xlabel="flip rate foretold from one half", ylabel="flip rate realised in the other")
    return ax


def draw_ways(ways: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the mean foretold flip rates and the mean realised one for every way of halving and drawing."""
    ax = new_axes(ax, rows=2 * len(ways))
    if ways.empty:
        return say_nothing_to_draw(ax, "No way of halving could be tried.")
    shown = [name for name in FORETOLD if ways[name].notna().any()]
    top = max(float(ways[[*shown, "realised_high"]].max().max()) + 0.03, 0.2)
    ax.set_xlim(-0.01, top)
    label_rows(ax, [f"halved by {row.halving[:-1]},\naudits of {row.drawing}" for row in rows(ways)])
    for y, row in enumerate(rows(ways)):
        for name in shown:
            value = getattr(row, name)
            if value == value:
                mark = FORETOLD[name][0]
                draw_estimate(ax, value, y - 0.16, low=value, high=value, mark=mark)
        ax.plot((row.realised_mixed, row.realised), (y + 0.18,) * 2, color=CAME_TRUE.colour, linewidth=1)
        draw_estimate(
            ax, row.realised, y + 0.18, low=row.realised_low, high=row.realised_high, mark=CAME_TRUE
        )
        ax.plot(
            row.realised_mixed,
            y + 0.18,
            CAME_TRUE.marker,
            color=CAME_TRUE.colour,
            markerfacecolor="white",
            markersize=5,
        )
    put_marks_above(ax, _name_marks(shown) | {"realised (small: mixed halves)": CAME_TRUE})
    ax.xaxis.set_major_formatter(lambda value, _: f"{round(100 * value, 1):g}%")
    ax.set_xlabel("mean flip rate")
    return ax


def draw_cells(cells: pd.DataFrame, *, stable: float, ax: Axes | None = None) -> Axes:
    """Draw each cell's foretold and realised flip rate, with the middle 95 % of the halvings."""
    ax = new_axes(ax, rows=len(cells))
    if cells.empty:
        return say_nothing_to_draw(ax, "No cell could be checked.")
    ax.set_xlim(-0.03, 1.03)
    label_rows(ax, [label_with_n(f"{row.metric}, {row.attribute}", row.n) for row in rows(cells)])
    ax.axvspan(-0.03, stable, color=GUIDE, alpha=0.18, linewidth=0, zorder=0)
    for y, row in enumerate(rows(cells)):
        draw_estimate(
            ax, row.realised, y + 0.16, low=row.realised_low, high=row.realised_high, mark=CAME_TRUE
        )
        for value, name in ((row.predicted, "vfr"), (row.predicted_site, "vfr_site")):
            if value == value:
                draw_estimate(ax, value, y - 0.16, low=value, high=value, mark=FORETOLD[name][0])
    drawn = ["vfr", *(["vfr_site"] if cells["predicted_site"].notna().any() else [])]
    put_marks_above(ax, _name_marks(drawn) | {"realised": CAME_TRUE})
    ax.xaxis.set_major_formatter(lambda value, _: f"{round(100 * value, 1):g}%")
    ax.set_xlabel("flip rate (shaded: stable)")
    return ax
