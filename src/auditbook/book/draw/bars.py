"""How are cells divided into parts: one bar a row, a part for each standing, the number written in it."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from auditbook.book.draw.style import (
    SMALL_SIZE,
    label_rows,
    label_with_n,
    new_axes,
    put_key,
    say_nothing_to_draw,
)
from auditbook.results import rows

PLATE = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}


def draw_divided(
    table: pd.DataFrame,
    *,
    row: str,
    part: str,
    looks: Mapping[str, dict[str, Any]],
    label: Callable[[str, float], str],
    keys: list[str] | None = None,
    ncols: int = 3,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the cells of each row are divided: one bar a row."""
    names = list(dict.fromkeys(table[row]))
    ax = new_axes(ax, rows=len(names) + 1)
    if not table["cells"].any():
        return say_nothing_to_draw(ax, "There is no cell.")
    left = dict.fromkeys(names, 0)
    for kind, cells in table.groupby(part, sort=False):
        for one in rows(cells):
            name = getattr(one, row)
            y, x = names.index(name), left[name]
            ax.barh(y, one.cells, left=x, height=0.64, linewidth=0.6, **looks[str(kind)])
            if one.cells:
                written = f"{one.cells:,.0f}"
                ax.text(
                    x + one.cells / 2, y, written, ha="center", va="center", fontsize=SMALL_SIZE, bbox=PLATE
                )
            left[name] += one.cells
    label_rows(ax, [label(name, left[name]) for name in names])
    shown = keys if keys is not None else list(dict.fromkeys(table[part]))
    put_key(ax, [Patch(label=kind, **looks[kind]) for kind in shown], ncols=ncols, middle=0.4)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel("cells")
    return ax


def label_with_cells(name: str, cells: float) -> str:
    """Write a row's name with its number of cells."""
    return label_with_n(name, cells).replace("(n =", "(cells:")
