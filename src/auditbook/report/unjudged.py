"""Who cannot be judged, and how many more records would it take?"""

import math
from typing import Any

import pandas as pd

from auditbook.book.say.text import count, join_words, plural
from auditbook.report.content import Statement
from auditbook.report.matrix import TOPICS, round_up
from auditbook.report.source import Source, rest_on
from auditbook.results import rows
from auditbook.verdicts import judge_reach

WORDS = {"selected": "record", "found": "event", "alarms": "non-event", "meaning": "selected record"}
"""What a group has too little of, by the question that it holds back."""


def list_unjudged(source: Source, model: str) -> tuple[Statement, ...]:
    """Say of each group that is too small what cannot be judged, and which size would bring it."""
    lacking = source.find_uncompared(model)
    parts = lacking.groupby(["attribute", "group"], sort=False)
    return tuple(_write_group(source, model, part) for _, part in parts)


def _write_group(source: Source, model: str, lacking: pd.DataFrame) -> Statement:
    """Say it of one group."""
    row = rows(lacking)[0]
    who = f"{row.group} ({row.attribute}; {_write_held(source, row)})"
    asked = source.count_asked(model, row.attribute)
    if len(lacking) == asked and not source.is_compared(model, row.attribute, row.group):
        text = f"{who} cannot be judged at all."
    else:
        text = f"Of {who} cannot be judged: {join_words(TOPICS[name] for name in lacking['question'])}."
    return Statement(
        f"{text} {_write_size(source, model, lacking)}",
        (rest_on("groups.csv", model=model, attribute=row.attribute, group=row.group),),
    )


def _write_held(source: Source, row: Any) -> str:
    """Write how many there are, and how many of them have the event."""
    if row.n == 0:
        return "nobody"
    people = source.people(row.n)
    return people if math.isnan(row.n) else f"{people}, {_write_few(source, row.events)} with the event"


def _write_few(source: Source, n: float) -> str:
    return f"fewer than {source.smallest_cell}" if math.isnan(n) else "none" if n == 0 else count(n)


def _write_size(source: Source, model: str, lacking: pd.DataFrame) -> str:
    """Say how much is missing of the group, and which audit would probably bring it."""
    missing = [
        plural(math.ceil(row.needed - row.held), WORDS[row.question])
        for row in rows(lacking)
        if not math.isnan(row.held)
    ]
    if len(missing) < len(lacking):
        return "How many more it takes is withheld with its numbers."
    wanted = f"It lacks {join_words(missing)}"
    if set(lacking["question"]) == {"meaning"} and not lacking["held"].any():
        return f"{wanted}: none of them is selected at this threshold."
    size = lacking["size"].max()
    match judge_reach(size, source.count_audited(model)):
        case "can be had":
            all_told = plural(round_up(size), "record")
            return f"{wanted}; if shares stay as they are, an audit of about {all_told} in all would do."
        case "far more than can be had":
            return f"{wanted}: far more records than can be had, so choose patients of this group."
    return (
        f"{wanted}, and so few were seen that no size can be named: ask whether they reach the data at all."
    )


def name_nobody(source: Source, model: str) -> list[str]:
    """Name the groups of which nobody can be judged."""
    lacking = source.find_uncompared(model).groupby(["attribute", "group"], sort=False)
    held = lacking.size().rename("held").reset_index()
    return [
        f"{row.group} ({row.attribute})"
        for row in rows(held)
        if row.held == source.count_asked(model, row.attribute)
        and not source.is_compared(model, row.attribute, row.group)
    ]
