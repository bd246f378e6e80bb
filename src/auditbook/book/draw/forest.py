"""How does a group fare beside another in each hospital, and in the next?"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.style import COLOURS, GUIDE, MARK_SIZE, NEUTRAL, ROW_HEIGHT, STYLE, WIDTH
from auditbook.plain_text import show_hidden

MOST_ROWS = 40
"""Of more hospitals those with the most weight are drawn, and the caption says so."""


def draw_forest(hospitals: pd.DataFrame, pooled: pd.Series, ax: Axes | None = None) -> Axes:
    """Draw one contrast: a row a hospital with its interval, the mean, and what to expect of the next.

    Parameters
    ----------
    hospitals : DataFrame
        The rows of ``hospital_contrasts`` of one contrast.
    pooled : Series
        Its row of ``pooled_contrasts``.
    ax : Axes, optional
        Where to draw; by default a figure of its own.
    """
    rows = hospitals.sort_values("weight", ascending=False, kind="stable").head(MOST_ROWS)
    named = [("mean of hospitals", pooled["low"], pooled["estimate"], pooled["high"])]
    if np.isfinite(pooled["prediction_low"]):
        named.append(("next hospital", pooled["prediction_low"], np.nan, pooled["prediction_high"]))
    with plt.rc_context(STYLE):
        if ax is None:
            height = 1.3 + ROW_HEIGHT * (len(rows) + len(named))
            _, ax = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        _draw_hospitals(ax, rows)
        for place, one in enumerate(named, start=len(rows)):
            _draw_summary(ax, place, *one)
        labels = [_label(row) for row in rows.itertuples()] + [name for name, *_ in named]
        ax.set_yticks(range(len(labels)), labels)
        ax.set_ylim(len(labels) - 0.4, -0.6)
        ax.axvline(0, color=GUIDE, linewidth=0.8, zorder=0)
        group, other = show_hidden(str(pooled["group"])), show_hidden(str(pooled["other"]))
        ax.set_xlabel(f"{pooled['rate']}, {group} minus {other}", parse_math=False)
    return ax


def _label(row: object) -> str:
    """Name a hospital with how many records each side has."""
    site, n, other = (getattr(row, name) for name in ("site", "n", "n_other"))
    return f"{show_hidden(str(site))} ({n:,} and {other:,})".replace("$", r"\$")


def _draw_hospitals(ax: Axes, rows: pd.DataFrame) -> None:
    places = np.arange(len(rows))
    ax.hlines(places, rows["low"], rows["high"], color=COLOURS[0], linewidth=1.4)
    sizes = MARK_SIZE**2 * (0.3 + 1.7 * rows["weight"] / rows["weight"].max())
    ax.scatter(rows["estimate"], places, s=sizes, marker="s", color=COLOURS[0], zorder=3)


def _draw_summary(ax: Axes, place: int, name: str, low: float, middle: float, high: float) -> None:
    """Draw the mean as a diamond, and what to expect of the next hospital as a bar."""
    if np.isfinite(middle):
        ends = (low, high) if np.isfinite(low) else (middle, middle)
        ax.fill(
            [ends[0], middle, ends[1], middle], [place, place - 0.25, place, place + 0.25], color=COLOURS[1]
        )
    else:
        ax.hlines(place, low, high, color=NEUTRAL, linewidth=4)
