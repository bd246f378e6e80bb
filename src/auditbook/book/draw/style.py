"""How does every figure look: what colour and marker has a group, how are n and missing values drawn?"""

import math
import textwrap
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from auditbook.book.draw.description import describe_when_shown
from auditbook.book.draw.glyphs import FONT, INVISIBLE, put_drawable
from auditbook.plain_text import show_hidden

# The Okabe-Ito palette without its yellow (too pale on white), dark grey in place of black.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "h", "*")
NEUTRAL = "#4D4D4D"
GUIDE = "#8C8C8C"
WHITE, BLACK = "#FFFFFF", "#000000"
PASS, FAIL, INCONCLUSIVE = "#0072B2", "#D55E00", "#8C8C8C"

FONT_SIZE = 10
DPI = 220
"""Twice what a figure takes on its page: sharp on fine screens and in print."""
SMALL_SIZE = 9
MARK_SIZE = 7.5
WIDTH = 7.2
ROW_HEIGHT = 0.42
LABEL_WIDTH = 26
STYLE: dict[Any, Any] = {
    "font.family": FONT,
    "font.size": FONT_SIZE,
    "axes.titlesize": FONT_SIZE,
    "axes.labelsize": FONT_SIZE,
    "xtick.labelsize": SMALL_SIZE,
    "ytick.labelsize": SMALL_SIZE,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def ink_on(face: Any) -> str:
    """Choose dark or white letters for a coloured ground, whichever contrasts more: at least 4.5 to 1."""
    shares = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(face)]
    light = 0.2126 * shares[0] + 0.7152 * shares[1] + 0.0722 * shares[2]
    return WHITE if 1.05 / (light + 0.05) > (light + 0.05) / 0.05 else BLACK


@dataclass(frozen=True)
class Mark:
    """How a group is drawn: a colour and a marker, so that neither has to be seen to tell groups apart."""

    colour: str
    marker: str


def mark_groups(groups: Iterable[str]) -> dict[str, Mark]:
    """Give every group its colour and marker.

    A group's first choice follows from its name alone, so it looks the same in every figure and on
    every cohort; where two names want the same colour, the later in the alphabet takes the next free one.
    """
    used_colours = dict.fromkeys(COLOURS, 0)
    used_markers = dict.fromkeys(MARKERS, 0)
    marks = {}
    for group in sorted(set(groups)):
        wish = zlib.crc32(group.encode())
        colour = _next_free(used_colours, wish)
        marker = _next_free(used_markers, wish // len(COLOURS))
        marks[group] = Mark(colour, marker)
    return marks


def _next_free(used: dict[str, int], wish: int) -> str:
    """Take the wished entry, or the next one among those used least."""
    names = list(used)
    start = wish % len(names)
    best = min(names[start:] + names[:start], key=used.__getitem__)
    used[best] += 1
    return best


def wrap_label(text: str, *, width: int = LABEL_WIDTH, lines: int = 2) -> str:
    r"""Break a name from the cohort into short lines that matplotlib draws as they stand.

    What no font can draw is a number (see `glyphs`), and an underscore in front does not hide a name in keys.
    """
    clean = put_drawable(show_hidden(" ".join(text.split())))
    parts = textwrap.wrap(clean, width=width) or ["(blank)"]
    if len(parts) > lines:
        parts = [*parts[: lines - 1], parts[lines - 1][: width - 2].rstrip() + " \u2026"]
    drawn = "\n".join(parts).replace("$", r"\$")
    return f"{INVISIBLE}{drawn}" if drawn.startswith("_") else drawn


def write_n(n: float) -> str:
    """Write a number of records as figures do, or that it is withheld."""
    return "n withheld" if math.isnan(n) else f"n = {int(n):,}"


def label_with_n(text: str, n: float, *, width: int = LABEL_WIDTH) -> str:
    """Write a name with its number of records, as every axis of groups does."""
    name = wrap_label(text, width=width)
    count = f"({write_n(n)})"
    fits = len(name.splitlines()[-1]) + 1 + len(count) <= width
    return name + (" " if fits else "\n") + count


def new_figure(width: float, height: float) -> Figure:
    """Start an empty figure; make it outside the context of a style, which would undo a notebook's backend.

    A notebook draws a figure when it shows it. pyplot's own hook would draw it once more before, for nobody.
    """
    _forget_user_settings()
    figure = plt.figure(figsize=(width, height), dpi=DPI, layout="constrained")
    plt.uninstall_repl_displayhook()
    describe_when_shown()
    return figure


@cache
def _forget_user_settings() -> None:
    """Draw by matplotlib's own settings, whatever a matplotlibrc of the user or in a folder says."""
    matplotlib.rcdefaults()


def new_axes(ax: Axes | None = None, *, rows: int = 8, width: float = WIDTH) -> Axes:
    """Return the axes given, or fresh ones in the book's style."""
    if ax is not None:
        return ax
    figure = new_figure(width, 1.1 + ROW_HEIGHT * max(rows, 2))
    with plt.rc_context(STYLE):
        return figure.add_subplot()


def label_rows(ax: Axes, labels: Iterable[str]) -> None:
    """Name the rows of a dot plot, first row on top, with room above and below."""
    names = list(labels)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0, pad=9)
    ax.grid(axis="x", color="#E3E3E3", linewidth=0.8)
    ax.set_axisbelow(True)


def draw_estimate(
    ax: Axes, x: float, y: float, *, low: float, high: float, mark: Mark, horizontal: bool = True
) -> None:
    """Draw an estimate with its interval; hollow, at the edge of the axes, when it is nan."""
    value = x if horizontal else y
    if math.isnan(value):
        draw_missing(ax, y if horizontal else x, mark=mark, horizontal=horizontal)
        return
    if not (math.isnan(low) or math.isnan(high)):
        line = ((low, high), (y, y)) if horizontal else ((x, x), (low, high))
        ax.plot(*line, color=mark.colour, linewidth=2, solid_capstyle="butt", zorder=2)
    ax.plot(x, y, mark.marker, color=mark.colour, markersize=MARK_SIZE, clip_on=False, zorder=3)


def draw_missing(ax: Axes, position: float, *, mark: Mark, horizontal: bool = True) -> None:
    """Draw a hollow mark at the near edge of the axes: a value that cannot be computed."""
    transform = ax.get_yaxis_transform() if horizontal else ax.get_xaxis_transform()
    point = (0.015, position) if horizontal else (position, 0.02)
    ax.plot(
        *point,
        mark.marker,
        transform=transform,
        color=mark.colour,
        markersize=MARK_SIZE,
        markerfacecolor="none",
        clip_on=False,
        zorder=3,
    )


def put_key(
    ax: Axes, handles: Sequence[Any] | None = None, *, ncols: int, middle: float = 0.5, **spacing: float
) -> None:
    """Put a key above the axes, about their middle; of all that has a label where no handles are given."""
    shown = ax.get_legend_handles_labels()[0] if handles is None else handles
    look: dict[str, Any] = {"ncols": ncols, "frameon": False, "fontsize": SMALL_SIZE, **spacing}
    ax.legend(handles=shown, loc="lower center", bbox_to_anchor=(middle, 1.0), **look)


def put_marks_above(
    ax: Axes, entries: Mapping[str, Mark], *, ncols: int = 3, middle: float = 0.5, linewidth: float = 0
) -> None:
    """Put a key of marks, with lines where they have a width, above the axes."""
    look: dict[str, Any] = {"linestyle": "-" if linewidth else "", "linewidth": linewidth or None}
    handles = [
        Line2D([], [], color=mark.colour, marker=mark.marker, markersize=MARK_SIZE, label=name, **look)
        for name, mark in entries.items()
    ]
    put_key(ax, handles, ncols=ncols, middle=middle)


def put_key_above(ax: Axes) -> None:
    """Put the key of a figure above it, in one row, where it hides nothing."""
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=4,
        frameon=False,
        fontsize=SMALL_SIZE,
        borderaxespad=0.2,
        handlelength=1.6,
        columnspacing=1.4,
    )


def say_nothing_to_draw(ax: Axes, sentence: str) -> Axes:
    """Put one sentence where a figure would be, when there is nothing to draw."""
    ax.set_axis_off()
    if isinstance(ax.figure, Figure) and ax.figure.axes == [ax]:
        ax.figure.set_size_inches(WIDTH, 0.9)
    text = wrap_label(sentence, width=60, lines=4)
    ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes, color=NEUTRAL)
    return ax
