"""How do errors by pocket, the map itself and a repair look?"""

from collections.abc import Iterable, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from auditbook.book.draw.style import (
    COLOURS,
    MARK_SIZE,
    NEUTRAL,
    ROW_HEIGHT,
    SMALL_SIZE,
    STYLE,
    WIDTH,
    Mark,
    draw_estimate,
    draw_missing,
    label_rows,
    label_with_n,
    mark_groups,
    new_axes,
    new_figure,
    put_key_above,
    say_nothing_to_draw,
    wrap_label,
    write_n,
)
from auditbook.results import rows

MARKS = {
    "over": Mark(COLOURS[1], ">"),
    "under": Mark(COLOURS[0], "<"),
    "none": Mark(NEUTRAL, "o"),
    "untested": Mark(NEUTRAL, "s"),
}
"""By what was found of a pocket; see `auditbook.book.say.pocket_errors.lay_out`."""
KEY = {
    "over": "flagged, too high",
    "under": "flagged, too low",
    "none": "tested, not flagged",
    "untested": "not tested",
}
BEFORE, AFTER = Mark(COLOURS[1], "o"), Mark(COLOURS[0], "s")
NOTE_WIDTH = 74
"""Characters of a reason beside a hollow mark."""
KEY_COLUMNS = 3
"""Groups in one line of a key."""
NAME_WIDTH, NAME_LINES = 38, 6
"""Room for a pocket's whole name: names of three features begin alike and differ at their end."""


def draw_errors(errors: pd.DataFrame, *, label: str, ax: Axes | None = None) -> Axes:
    """Draw the error of every pocket with its interval; a pocket that is not tested has a hollow mark."""
    labels = label_pockets(errors["label"], errors["size"]) if len(errors) else []
    ax = new_axes(ax, rows=count_rows(labels))
    if errors.empty:
        return say_nothing_to_draw(ax, "There is no pocket to show.")
    label_rows(ax, labels)
    _set_reach(ax, errors[errors["kind"] != "untested"])
    for y, row in enumerate(rows(errors)):
        mark = MARKS[row.kind]
        if row.kind == "untested":
            draw_missing(ax, y, mark=mark)
            note = wrap_label(row.note, width=NOTE_WIDTH)
            drawn = ax.text(0.045, y, note, transform=ax.get_yaxis_transform(), va="center")
            drawn.set(fontsize=SMALL_SIZE - 1, color=NEUTRAL)
            drawn.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0})
        else:
            draw_estimate(ax, row.estimate, y, low=row.ci_low, high=row.ci_high, mark=mark)
    ax.set_xlabel(label)
    _put_kinds_above(ax, list(dict.fromkeys(errors["kind"])))
    return ax


def label_pockets(names: Iterable[str], sizes: Iterable[str]) -> list[str]:
    """Write each pocket's whole name, and its size below: what is cut off may be all that tells two apart."""
    return [
        f"{wrap_label(name, width=NAME_WIDTH, lines=NAME_LINES)}\n({size})"
        for name, size in zip(names, sizes, strict=True)
    ]


def count_rows(labels: Sequence[str]) -> int:
    """Count the rows of a figure, of one line each, that labels of several lines take."""
    longest = max((label.count("\n") + 1 for label in labels), default=0)
    return round(0.36 * (longest + 1) * len(labels))


def _set_reach(ax: Axes, tested: pd.DataFrame) -> None:
    """Set limits that hold zero and every interval."""
    ends = tested[["estimate", "ci_low", "ci_high"]].to_numpy(float)
    ends = np.append(ends[np.isfinite(ends)], 0.0)
    low, high = ends.min(), ends.max()
    room = 0.06 * (high - low) if high > low else 1.0
    ax.set_xlim(low - room, high + room)
    if tested.empty:
        ax.set_xticks([0])
    ax.axvline(0, color=NEUTRAL, linewidth=1.4, linestyle="--", zorder=1)


def _put_kinds_above(ax: Axes, kinds: list[str]) -> None:
    """Explain, above the axes, the marks that are used."""
    handles = [
        Line2D(
            [],
            [],
            color=MARKS[kind].colour,
            marker=MARKS[kind].marker,
            markerfacecolor="none" if kind == "untested" else MARKS[kind].colour,
            linewidth=0 if kind == "untested" else 2,
            markersize=MARK_SIZE,
            label=KEY[kind],
        )
        for kind in KEY
        if kind in kinds
    ]
    ax.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=4,
        frameon=False,
        fontsize=SMALL_SIZE,
        columnspacing=1.2,
        handlelength=1.6,
    )


def draw_shares(shares: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw which share of each group lies in each pocket."""
    places = list(dict.fromkeys(shares["label"])) if len(shares) else []
    labels = label_pockets(places, shares.drop_duplicates("label")["size"]) if places else []
    ax = new_axes(ax, rows=count_rows(labels) + shares["group"].nunique() // KEY_COLUMNS)
    if not places:
        return say_nothing_to_draw(ax, "There is no group to place.")
    label_rows(ax, labels)
    marks = mark_groups(shares["group"])
    for group in dict.fromkeys(shares["group"]):
        mine = shares[shares["group"] == group]
        mark = marks[group]
        ax.plot(
            mine["share"],
            [places.index(name) for name in mine["label"]],
            mark.marker,
            color=mark.colour,
            markersize=MARK_SIZE,
            alpha=0.9,
            clip_on=False,
            label=label_with_n(group, mine["group_n"].iloc[0], width=22),
        )
    ax.set_xlim(0, max(float(shares["share"].max()) * 1.05, 0.05))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlabel("share of the group's audited records")
    _put_key_above_figure(ax)
    return ax


def _put_key_above_figure(ax: Axes) -> None:
    """Put the key above the whole figure, where long names do not narrow the axes."""
    handles, labels = ax.get_legend_handles_labels()
    ax.figure.legend(
        handles,
        labels,
        loc="outside upper left",
        ncols=KEY_COLUMNS,
        frameon=False,
        fontsize=SMALL_SIZE,
        columnspacing=1.0,
        handletextpad=0.3,
    )


def draw_levels(levels: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how much each level of the hierarchy would let the audit test."""
    ax = new_axes(ax, rows=len(levels))
    if levels.empty:
        return say_nothing_to_draw(ax, "No level was chosen among.")
    label_rows(ax, [wrap_label(row.label) for row in rows(levels)])
    for y, row in enumerate(rows(levels)):
        mark = Mark(COLOURS[0], "D") if row.chosen else Mark("#A0A0A0", "o")
        ax.plot((0, row.supported), (y, y), color=mark.colour, linewidth=1.6)
        ax.plot(row.supported, y, mark.marker, color=mark.colour, markersize=MARK_SIZE, clip_on=False)
        ax.annotate(
            "chosen" if row.chosen else "",
            (row.supported, y),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL_SIZE,
        )
    ax.set_xlim(0, max(float(levels["supported"].max()) * 1.15, 1.0))
    ax.set_xlabel("comparisons that the audit part is projected to support")
    return ax


def draw_repairs(repairs: pd.DataFrame, *, label: str, ax: Axes | None = None) -> Axes:
    """Draw mean errors before and after a correction that was learned on the other half of the units."""
    labels = label_pockets(repairs["label"], repairs["n"].map(write_n)) if len(repairs) else []
    ax = new_axes(ax, rows=count_rows(labels))
    if repairs.empty:
        return say_nothing_to_draw(ax, "No pocket was flagged in one half, so nothing was corrected.")
    label_rows(ax, labels)
    columns = ["before", "before_low", "before_high", "after", "after_low", "after_high"]
    ends = np.append(repairs[columns].to_numpy(float).ravel(), 0.0)
    low, high = np.nanmin(ends), np.nanmax(ends)
    room = 0.06 * (high - low) if high > low else 1.0
    ax.set_xlim(low - room, high + room)
    ax.axvline(0, color=NEUTRAL, linewidth=1.4, linestyle="--", zorder=1)
    for y, row in enumerate(rows(repairs)):
        draw_estimate(ax, row.before, y - 0.15, low=row.before_low, high=row.before_high, mark=BEFORE)
        draw_estimate(ax, row.after, y + 0.15, low=row.after_low, high=row.after_high, mark=AFTER)
    for name, mark in (("before", BEFORE), ("after", AFTER)):
        ax.plot([], [], color=mark.colour, marker=mark.marker, linewidth=2, label=name)
    put_key_above(ax)
    ax.set_xlabel(label)
    return ax


def draw_null(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how often the testing step flags something where there is no error."""
    ax = new_axes(ax, rows=len(table))
    if table.empty:
        return say_nothing_to_draw(ax, "No replicates are stored.")
    label_rows(ax, [wrap_label(row.label, width=44) for row in rows(table)])
    ours, theirs = Mark(COLOURS[0], "o"), Mark(COLOURS[1], "D")
    ends = table[["share", "share_high", "level", "published_high"]].to_numpy(float)
    ax.set_xlim(0, 1.05 * np.nanmax(ends))
    for y, row in enumerate(rows(table)):
        draw_estimate(ax, row.share, y, low=row.share_low, high=row.share_high, mark=ours)
        ax.plot((row.level, row.level), (y - 0.35, y + 0.35), color="black", linewidth=1.6)
        told = [row.published_low, row.published_high]
        ax.plot(told, [y - 0.25] * 2, theirs.marker, color=theirs.colour, markersize=5.5, linestyle="-")
    ax.plot([], [], color=ours.colour, marker=ours.marker, linewidth=2, label="found here, 95% interval")
    ax.plot([], [], color="black", marker="|", linewidth=0, markersize=11, label="level asked for")
    ax.plot([], [], color=theirs.colour, marker=theirs.marker, linewidth=0, label="published")
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlabel("share of replicates with any flag, although nothing is wrong")
    _put_key_above_figure(ax)
    return ax


def draw_links(similar: NDArray[np.integer], linked: NDArray[np.bool_], *, names: list[str]) -> list[Axes]:
    """Draw a similarity matrix of a few records, and beside it which of them are linked."""
    size = 1.2 + ROW_HEIGHT * len(names)
    figure = new_figure(WIDTH, size)
    with plt.rc_context(STYLE):
        drawn = [figure.add_subplot(1, 2, place + 1) for place in range(2)]
    panels = ((similar, "trees that share a leaf"), (linked.astype(int), "linked: mutual neighbours"))
    for ax, (values, title) in zip(drawn, panels, strict=True):
        shown = np.where(np.eye(len(names), dtype=bool), 0, values)
        ax.imshow(shown, cmap="Blues", vmin=0, vmax=1.6 * max(shown.max(), 1))
        for one, other in np.argwhere(~np.eye(len(names), dtype=bool)):
            ax.text(other, one, f"{values[one, other]}", ha="center", va="center", fontsize=SMALL_SIZE)
        ax.set_xticks(range(len(names)), names)
        ax.set_yticks(range(len(names)), names)
        ax.set_title(title)
    return drawn
