"""How do simulations of whole audits look: false flags, scores by scenario, wins and losses?"""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from auditbook.book.draw.style import (
    COLOURS,
    FAIL,
    FONT_SIZE,
    NEUTRAL,
    PASS,
    SMALL_SIZE,
    STYLE,
    WIDTH,
    Mark,
    draw_estimate,
    label_rows,
    new_axes,
    new_figure,
    say_nothing_to_draw,
    wrap_label,
)
from auditbook.results import rows

MARKS = {
    "combined": Mark(COLOURS[0], "o"),
    "forest": Mark(COLOURS[2], "^"),
    "ridge": Mark(COLOURS[1], "s"),
    "leiden": Mark(COLOURS[3], "D"),
    "strongest alternative": Mark(COLOURS[6], "X"),
    "targeted": Mark(COLOURS[4], "v"),
    "targeted plain": Mark(COLOURS[5], "P"),
}
"""By grouping, the same in every figure."""
PRINTED = Mark("black", "D")
NOTHING = "No replicates are stored."
LABEL_WIDTH = 34
SMALL_MARK = 6
PALE = {"win": "#CFE3F1", "loss": "#FBDCC9", "not distinguishable": "#EFEFEF"}
SIGNS = {"win": "\u25b2", "loss": "\u25bc", "not distinguishable": "\u00b7"}


def draw_quiet(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how often audits flag something where nothing is wrong."""
    titles = list(dict.fromkeys(table["title"]))
    ax = new_axes(ax, rows=round(1.7 * len(titles)))
    if table.empty:
        return say_nothing_to_draw(ax, NOTHING)
    firsts = [rows(table[table["title"] == title])[0] for title in titles]
    label_rows(ax, [_label(row.title, f"{row.audits:,} audits, {row.replicates:,} maps") for row in firsts])
    ends = table[["share_high", "level", "printed_high"]].to_numpy(float)
    ax.set_xlim(0, min(1.0, 1.04 * np.nanmax(ends)))
    methods = list(dict.fromkeys(table["method"]))
    for y, title in enumerate(titles):
        part = table[table["title"] == title]
        for row in rows(part):
            place = y + _offset(methods, row.method)
            _draw_mark(ax, row.share, place, low=row.share_low, high=row.share_high, mark=MARKS[row.method])
        row = rows(part)[0]
        ax.plot((row.level, row.level), (y - 0.42, y + 0.42), color="black", linewidth=1.6, zorder=1)
        told = [row.printed_low, row.printed_high]
        ax.plot(told, [y + 0.38] * 2, PRINTED.marker, color=NEUTRAL, markersize=4.5, linestyle="-")
    _add_keys(ax, methods, extra={"level asked for": ("black", "|"), "published (combined)": (NEUTRAL, "D")})
    ax.xaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10]))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlabel("share of audits with any flag, although nothing is wrong")
    _put_key_above_figure(ax)
    return ax


def draw_scores(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw F1 of several groupings, scenario by scenario."""
    numbers = list(dict.fromkeys(table["number"]))
    methods = [name for name in dict.fromkeys(table["method"]) if name != "oracle"]
    ax = new_axes(ax, rows=round((0.65 + 0.3 * len(methods)) * len(numbers)))
    if table.empty:
        return say_nothing_to_draw(ax, NOTHING)
    firsts = [rows(table[table["number"] == number])[0] for number in numbers]
    told = "strongest alternative" in methods
    label_rows(ax, [_label_scenario(row, f"strongest: {row.named}" if told else "") for row in firsts])
    ax.set_xlim(0, 1.02)
    for y, number in enumerate(numbers):
        for row in rows(table[table["number"] == number]):
            if row.method == "oracle":
                ax.plot((row.f1, row.f1), (y - 0.42, y + 0.42), color="black", linewidth=2, zorder=1)
                continue
            place = y + _offset(methods, row.method)
            _draw_mark(ax, row.f1, place, low=row.f1_low, high=row.f1_high, mark=MARKS[row.method])
        everything = firsts[y].everything
        ax.plot((everything, everything), (y - 0.42, y + 0.42), color=NEUTRAL, linewidth=1.4, linestyle=":")
        ax.axhline(y + 0.5, color="#E3E3E3", linewidth=0.8, zorder=0)
    extra = {"oracle": ("black", "|")} if (table["method"] == "oracle").any() else {}
    _add_keys(ax, methods, extra=extra)
    ax.plot([], [], color=NEUTRAL, linestyle=":", linewidth=1.4, label="flagging everyone")
    ax.set_xlabel("F1 of flagged records (1: exactly the affected ones)")
    _put_key_above_figure(ax)
    return ax


def draw_differences(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the difference of one of our groupings from the strongest alternative."""
    ax = new_axes(ax, rows=round(1.3 * len(table)))
    if table.empty:
        return say_nothing_to_draw(ax, NOTHING)
    label_rows(ax, [_label_scenario(row, f"against {row.other}") for row in rows(table)])
    reach = 1.06 * max(np.nanmax(np.abs(table[["difference", "low", "high"]].to_numpy(float))), 0.05)
    ax.set_xlim(-reach, reach)
    ax.axvline(0, color=NEUTRAL, linewidth=1.4, linestyle="--", zorder=1)
    marks = {"win": Mark(PASS, ">"), "loss": Mark(FAIL, "<"), "not distinguishable": Mark(NEUTRAL, "o")}
    for y, row in enumerate(rows(table)):
        draw_estimate(ax, row.difference, y, low=row.low, high=row.high, mark=marks[row.says])
    for says, mark in marks.items():
        if (table["says"] == says).any():
            ax.plot([], [], mark.marker, color=mark.colour, linewidth=2, label=says)
    ax.set_xlabel("difference in F1, ours minus the strongest alternative")
    _put_key_above_figure(ax)
    return ax


def draw_printed(table: pd.DataFrame, *, titles: Sequence[str]) -> list[Axes]:
    """Draw printed scores of local errors beside ours, one panel for each kind of grouping."""
    height = 1.3 + 0.56 * max(len(table), 1)
    figure = new_figure(WIDTH, height)
    with plt.rc_context(STYLE):
        panels = [figure.add_subplot(1, 3, place + 1) for place in range(3)]
    if table.empty:
        for ax in panels[1:]:
            ax.remove()
        return [say_nothing_to_draw(panels[0], NOTHING)]
    labels = [_label_scenario(row) for row in rows(table)]
    for ax, name, title in zip(panels, ("combined", "targeted", "other"), titles, strict=True):
        label_rows(ax, labels if ax is panels[0] else [""] * len(labels))
        ax.set_xlim(0, 1.03)
        ax.set_title(title, fontsize=SMALL_SIZE)
        _draw_panel(ax, table, name)
    panels[1].set_xlabel("F1")
    panels[0].plot([], [], "o-", color=COLOURS[0], label="here, 95% interval")
    panels[0].plot([], [], "D", color="black", markerfacecolor="none", label="published")
    panels[0].plot([], [], "P", color=COLOURS[5], label="here, targeted plain")
    figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize=SMALL_SIZE)
    return panels


def _draw_panel(ax: Axes, table: pd.DataFrame, name: str) -> None:
    """Draw one kind of grouping."""
    mark = MARKS.get(name, MARKS["strongest alternative"])
    for y, row in enumerate(table.to_dict(orient="records")):
        _draw_mark(ax, row[name], y, low=row[f"{name}_low"], high=row[f"{name}_high"], mark=mark)
        ax.plot(
            row[f"printed_{name}"], y, "D", color="black", markerfacecolor="none", markersize=6.5, zorder=4
        )
        if name == "targeted":
            ax.plot(row["plain"], y + 0.22, "P", color=COLOURS[5], markersize=5, clip_on=False)


def draw_grid(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw who wins where: our groupings against the strongest alternative of each scenario."""
    numbers = list(dict.fromkeys(table["number"]))
    methods = list(dict.fromkeys(table["method"]))
    ax = new_axes(ax, rows=max(round(1.3 * len(numbers)), 2))
    if table.empty:
        return say_nothing_to_draw(ax, NOTHING)
    for row in rows(table):
        place = numbers.index(row.number), methods.index(row.method)
        text = f"{SIGNS[row.says]}  {row.difference:+.2f}".replace("-", "\u2212")
        _fill(ax, place, PALE[row.says], text, bold=row.says != "not distinguishable")
    firsts = [rows(table[table["number"] == number])[0] for number in numbers]
    names = [_label_scenario(row, f"against {row.other}") for row in firsts]
    _frame(ax, names, methods)
    for says, colour in PALE.items():
        ax.plot([], [], "s", color=colour, markersize=10, label=f"{SIGNS[says]} {says}")
    _put_key_above_figure(ax)
    return ax


def draw_matrix(counts: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw wins, draws and losses of each of our groupings against each alternative."""
    pairs: list[Any] = list(dict.fromkeys(zip(counts["setting"], counts["method"], strict=True)))
    others = list(dict.fromkeys(counts["against"]))
    ax = new_axes(ax, rows=max(len(pairs), 2), width=WIDTH + 1.6)
    if counts.empty:
        return say_nothing_to_draw(ax, NOTHING)
    for row in rows(counts):
        place = pairs.index((row.setting, row.method)), others.index(row.against)
        total = row.win + row.neither + row.loss
        shade = _blend((row.win - row.loss) / total)
        _fill(ax, place, shade, f"{row.win} / {row.neither} / {row.loss}", bold=row.against == "strongest")
    _frame(
        ax, [f"{setting}: {method}" for setting, method in pairs], [wrap_label(o, width=11) for o in others]
    )
    for y in range(1, len(pairs)):
        if pairs[y][0] != pairs[y - 1][0]:
            ax.axhline(y - 0.5, color="black", linewidth=1.2)
    runs = ", ".join(dict.fromkeys(counts["replicates"]))
    title = f"wins / not distinguishable / losses, in scenarios (replicates: {runs})"
    ax.set_title(title, loc="left", fontsize=SMALL_SIZE, pad=34)
    return ax


def _blend(balance: float) -> tuple[float, float, float]:
    """Mix a colour for the balance of wins and losses, from -1 (orange) over 0 (white) to 1 (blue)."""
    pure = np.array([0.55, 0.74, 0.87] if balance > 0 else [0.96, 0.71, 0.53])
    red, green, blue = 1 - abs(balance) * (1 - pure)
    return float(red), float(green), float(blue)


def _fill(ax: Axes, place: tuple[int, int], colour: Any, text: str, *, bold: bool) -> None:
    """Fill one cell of a picture in rows and columns."""
    y, x = place
    ax.add_patch(plt.Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=colour, edgecolor="none"))
    weight = "bold" if bold else "normal"
    ax.text(x, y, text, ha="center", va="center", fontsize=SMALL_SIZE, fontweight=weight)


def _frame(ax: Axes, names: Sequence[str], columns: Sequence[str]) -> None:
    """Name the rows and columns of a picture in cells."""
    label_rows(ax, names)
    ax.grid(visible=False)
    ax.set_xlim(-0.55, len(columns) - 0.45)
    ax.set_xticks(range(len(columns)), columns)
    ax.tick_params(axis="x", length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


def _label(first: str, second: str) -> str:
    """Write a row's name, and below it a remark."""
    return f"{wrap_label(first, width=LABEL_WIDTH)}\n{wrap_label(second, width=LABEL_WIDTH + 6, lines=1)}"


def _label_scenario(row: Any, remark: str = "") -> str:
    """Name a scenario, and below it its replicates with a remark."""
    second = ", ".join(part for part in (f"n = {row.replicates}", remark) if part)
    return _label(f"{row.number} {row.scenario}", second)


def _offset(methods: Sequence[str], method: str) -> float:
    """Place a grouping within its row."""
    count = len(methods)
    return 0.0 if count < 2 else 0.66 * (list(methods).index(method) / (count - 1) - 0.5)


def _draw_mark(ax: Axes, x: float, y: float, *, low: float, high: float, mark: Mark) -> None:
    """Draw an estimate with its interval, small enough to stand with others in one row."""
    if np.isnan(x):
        return
    ax.plot((low, high), (y, y), color=mark.colour, linewidth=1.6, solid_capstyle="butt", zorder=2)
    ax.plot(x, y, mark.marker, color=mark.colour, markersize=SMALL_MARK, clip_on=False, zorder=3)


def _add_keys(ax: Axes, methods: Sequence[str], *, extra: dict[str, tuple[str, str]]) -> None:
    """Name the groupings that are drawn, and what else is."""
    for method in methods:
        mark = MARKS[method]
        ax.plot([], [], color=mark.colour, marker=mark.marker, markersize=SMALL_MARK, label=method)
    for name, (colour, marker) in extra.items():
        ax.plot([], [], color=colour, marker=marker, linewidth=0, markersize=FONT_SIZE - 3, label=name)


def _put_key_above_figure(ax: Axes) -> None:
    """Put the key above the whole figure, so that long row names leave it room."""
    figure = ax.figure
    if isinstance(figure, Figure):
        handles, names = ax.get_legend_handles_labels()
        figure.legend(
            handles,
            names,
            loc="outside upper left",
            ncols=4,
            frameon=False,
            fontsize=SMALL_SIZE,
            handlelength=1.6,
        )
