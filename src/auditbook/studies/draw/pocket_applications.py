"""How do several models err on one map of pockets?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.pockets import count_rows, label_pockets
from auditbook.book.draw.style import (
    NEUTRAL,
    draw_estimate,
    label_rows,
    mark_groups,
    new_axes,
    put_key_above,
    say_nothing_to_draw,
    wrap_label,
)
from auditbook.results import rows

SPREAD = 0.5
"""Height of a row that the marks of its models share."""


def draw_models(table: pd.DataFrame, *, label: str, ax: Axes | None = None) -> Axes:
    """Draw the errors of several models, pocket by pocket."""
    places = list(dict.fromkeys(table["label"]))
    models = list(dict.fromkeys(table["model"]))
    labels = label_pockets(places, table.drop_duplicates("label")["size"])
    ax = new_axes(ax, rows=max(count_rows(labels), round((1.1 + 0.3 * len(models)) * len(places))))
    if not places:
        return say_nothing_to_draw(ax, "There is no pocket to show.")
    label_rows(ax, labels)
    ends = np.append(table[["estimate", "ci_low", "ci_high"]].to_numpy(float).ravel(), 0.0)
    low, high = np.nanmin(ends), np.nanmax(ends)
    room = 0.06 * (high - low) if high > low else 1.0
    ax.set_xlim(low - room, high + room)
    ax.axvline(0, color=NEUTRAL, linewidth=1.4, linestyle="--", zorder=1)
    marks = mark_groups(models)
    shifts = np.linspace(-SPREAD / 2, SPREAD / 2, len(models)) if len(models) > 1 else [0.0]
    for model, shift in zip(models, shifts, strict=True):
        for row in rows(table[table["model"] == model]):
            place = places.index(row.label) + float(shift)
            draw_estimate(ax, row.estimate, place, low=row.ci_low, high=row.ci_high, mark=marks[model])
        ax.plot([], [], color=marks[model].colour, marker=marks[model].marker, label=wrap_label(model))
    put_key_above(ax)
    ax.set_xlabel(label)
    return ax
