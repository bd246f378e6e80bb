"""What would this audit say, had it seen what was not recorded?"""

import numpy as np
import pandas as pd

from auditbook.book.say.text import count, escape, read_layout, share
from auditbook.results import Run, match_rows, rows

TIPPING_COLUMNS = read_layout("book", "unseen.tipping")
AMONG = {
    "any": "drawn from all its recorded non-events alike",
    "selected": "all of them selected",
    "not selected": "none of them selected",
}


def pick_nearest(run: Run, *, model: str) -> pd.DataFrame:
    """Pick for each cell the group and the place that take away what is shown with the smallest share."""
    points = match_rows(run.tipping_points, model=model)
    shown = points[points["shown"].isin(["fail", "pass"])]
    nearest = shown.sort_values("shown_share", kind="stable").drop_duplicates(["metric", "attribute"])
    return nearest.reset_index(drop=True)


def describe_tipping(run: Run, *, model: str) -> str:
    """Say which conclusion about a model hangs on the smallest share of unrecorded events."""
    nearest = pick_nearest(run, model=model)
    if nearest.empty:
        return (
            f"Of {escape(model)} nothing that rests on counts of events was shown, so that nothing can be "
            "taken away."
        )
    first = rows(nearest)[0]
    if np.isinf(first.shown_share):
        return "No share of unrecorded events in a single group takes anything away that was shown."
    return (
        f"What is shown of {escape(first.metric)} for {escape(first.attribute)} is taken away first: by "
        f"{share(first.shown_share)} of the events in {escape(first.group)} that went unrecorded, "
        f"{AMONG[first.among]}. Recorded were {count(first.events)}."
    )
