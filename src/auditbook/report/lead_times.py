"""How long before the event were those selected who had it, and what is not known of that?"""

import math
from collections.abc import Iterator

import pandas as pd

from auditbook.book.say.text import agree, interval, join_words, number, plural
from auditbook.report.source import list_names
from auditbook.results import rows

SPANS = {"hours": "hours", "units": "units of the two columns"}


def describe_leads(table: pd.DataFrame) -> str:
    """Say of every model and attribute how long before the event its true positives were selected.

    Parameters
    ----------
    table : DataFrame
        ``lead_times.csv``, or some of its rows.

    Returns
    -------
    str
        Blank without rows.
    """
    if table.empty:
        return ""
    cells = table.groupby(["model", "attribute"], sort=False)
    told = [_describe_cell(str(model), str(attribute), part) for (model, attribute), part in cells]
    missed = (
        "Those who were not selected have no such time: a model that misses those hardest to foresee can "
        "look early."
    )
    return " ".join([*told, _describe_rest(table), missed])


def _describe_cell(model: str, attribute: str, part: pd.DataFrame) -> str:
    """Say the medians of one model's groups."""
    head = (
        f"Of those with the event whom {list_names([model])} selected in time, by {list_names([attribute])}"
    )
    known = part[part["median"].notna()].sort_values(["median", "group"])
    if known.empty:
        return f"{head}, no group has a median that can be told."
    span = SPANS[str(known["span"].iloc[0])]
    named = join_words(list(_list_medians(known)))
    return f"{head}, half were selected at least this long before it, in {span}: {named}."


def _list_medians(known: pd.DataFrame) -> Iterator[str]:
    """Write the median of each group with its interval and number."""
    for row in rows(known):
        bounds = interval(row.median_low, row.median_high, digits=1)
        sure = "no interval" if math.isnan(row.median_low) else f"95% {bounds}"
        median = f"{list_names([row.group])} {number(row.median, digits=1)}"
        yield f"{median} ({sure}; {plural(row.ahead, 'record')})"


def _describe_rest(table: pd.DataFrame) -> str:
    """Say of each model how many were selected after the event only, or at no known time."""
    once = table[table["attribute"] == table["attribute"].iloc[0]]
    return " ".join(
        _tell_sums(str(model), part["late"].sum(skipna=False), part["unknown"].sum(skipna=False))
        for model, part in once.groupby("model", sort=False)
    )


def _tell_sums(model: str, late: float, unknown: float) -> str:
    if math.isnan(late) or math.isnan(unknown):
        return f"How many {list_names([model])} selected after the event is withheld."
    told = f"{plural(late, 'true positive')} of {list_names([model])} {agree(late, 'was', 'were')} selected "
    rest = f", and of {plural(unknown, 'other')} the time is not known." if unknown else "."
    return f"{told[0].upper()}{told[1:]}only after the event{rest}"
