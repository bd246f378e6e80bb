"""What would this audit say, had it seen what was not recorded?"""

import numpy as np
import pandas as pd

from auditbook.book.say.text import agree, count, escape, number, plural, read_layout, share
from auditbook.results import Run, match_rows, rows

TIPPING_COLUMNS = read_layout("book", "unseen.tipping")
LABEL_COLUMNS = read_layout("book", "unseen.label")
AGREEMENT_COLUMNS = read_layout("book", "unseen.agreement")
MISSING_COLUMNS = read_layout("book", "unseen.missing")
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
    if run.info.get("weights"):
        return "The records of this run have weights, so that nothing is counted here."
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


def describe_missing(run: Run) -> str:
    """Say of each attribute that some records lack what that leaves of the verdicts on known groups."""
    lines = list_missing(run)
    if not lines:
        return "Nothing has to be dealt here: no record that could be judged lacks an attribute."
    return "\n".join(f"- {line}" for line in lines)


def list_missing(run: Run) -> list[str]:
    """List the same, a text an attribute."""
    parts = run.missing_attribute.groupby("attribute", sort=False)
    return [_write_missing(str(attribute), part) for attribute, part in parts]


def _write_missing(attribute: str, part: pd.DataFrame) -> str:
    """Say it of one attribute."""
    lacking, turning = float(part["missing"].max()), int(part["can_turn"].sum())
    shown = part["shown"].isin(["fail", "pass"])
    lost = int((shown & (part["shown_dealt"] != part["shown"])).sum())
    told = (
        f"**{escape(attribute)}**: {plural(lacking, 'record')} {agree(lacking, 'lacks', 'lack')} it. To "
        f"whichever group they belong, {_write_cells(len(part) - turning, len(part))} the side of the "
        "threshold on which the known groups lie."
    )
    if shown.any():
        kept = int(shown.sum()) - lost
        told += (
            f" Of {plural(int(shown.sum()), 'cell')} in which something is shown of the known groups, "
            f"{count(kept)} {agree(kept, 'stays', 'stay')} shown."
        )
    return told


def _write_cells(kept: int, whole: int) -> str:
    return f"{count(kept)} of {plural(whole, 'cell')} {agree(kept, 'keeps', 'keep')}"


def describe_range(run: Run, *, model: str) -> str:
    """Say of the widest cell of a model between which values it lies; blank where nothing is missing."""
    table = match_rows(run.missing_attribute, model=model)
    table = table.dropna(subset=["low", "high"])
    if table.empty:
        return ""
    widest = table.assign(width=table["high"] - table["low"]).sort_values("width", kind="stable").iloc[-1]
    return (
        f"Widest is {escape(widest['metric'])} for {escape(widest['attribute'])}: "
        f"{number(widest['estimate'])} among those whose group is known, and anything from "
        f"{number(widest['low'])} to {number(widest['high'])} if it were known of all."
    )


def describe_labels(run: Run, *, model: str) -> str:
    """Say which answers on a model change with the outcome that judges it."""
    table = match_rows(run.label_change, model=model)
    if table.empty:
        return "The cohort file names no other outcome of these records."
    main = table["outcome"].iloc[0]
    lines = [
        _write_label(part, match_rows(table, outcome=main), str(main), str(name))
        for name, part in table.groupby("outcome", sort=False)
        if name != main
    ]
    return "\n".join(f"- {line}" for line in lines)


def _write_label(part: pd.DataFrame, main: pd.DataFrame, first: str, name: str) -> str:
    """Say it of one other outcome."""
    pair = part.merge(main, on=["metric", "attribute"], suffixes=("", "_first"))
    changed = pair[pair["shown"] != pair["shown_first"]]
    told = (
        f"**{escape(name)}** in place of {escape(first)}: {plural(part['events'].max(), 'event')} among "
        f"{plural(part['n'].max(), 'record')}. What is shown is another in {count(len(changed))} of "
        f"{plural(len(pair), 'cell')}"
    )
    named = "; ".join(
        f"{escape(row.metric)} for {escape(row.attribute)}, {row.shown_first} to {row.shown}"
        for row in rows(changed)
    )
    return f"{told}{f' ({named})' if named else ''}."
