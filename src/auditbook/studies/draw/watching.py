"""How many months after a change do watches call it?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from auditbook.book.draw.style import BLACK, GUIDE, new_axes, say_nothing_to_draw, wrap_label
from auditbook.studies.watching.worlds import CHANGE, WORLDS


def draw_delays(replicates: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the share of watches that have called a gap (dashed) or a change (solid) by each month."""
    ax = new_axes(ax, rows=8)
    planted = [world for world in WORLDS if world.later is not None]
    kept = replicates[replicates["world"].isin([world.name for world in planted])]
    if not len(kept):
        return say_nothing_to_draw(ax, "Nothing was planted.")
    for world, colour in zip(planted, (BLACK, GUIDE), strict=False):
        mine = kept[kept["world"] == world.name]
        months = np.arange(world.months - CHANGE + 1)
        for column, style, word in (("changed_at", "-", "change"), ("shown_at", "--", "gap")):
            delay = mine[column].to_numpy(float) - CHANGE
            called = [(delay <= month).mean() if len(delay) else np.nan for month in months]
            label = wrap_label(f"{world.name}: {word} (n = {len(mine)})", width=48)
            ax.step(months, called, where="post", linestyle=style, color=colour, label=label)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("months since what was planted began")
    ax.set_ylabel("share of watches that have called it")
    ax.legend(frameon=False, fontsize=8)
    return ax
