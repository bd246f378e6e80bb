"""Who cannot be judged, and how many more records would it take?"""

import math
from collections.abc import Sequence
from typing import Any

from auditbook.book.say.text import count, join_words, plural
from auditbook.evidence import Shortfall
from auditbook.report.content import Statement
from auditbook.report.source import Source, rest_on
from auditbook.results import rows
from auditbook.verdicts import find_shortfalls

LACKING = {
    "records": "cannot be judged at all",
    "events": "cannot be told whether those with the event are found",
    "non_events": "cannot be told how many false alarms there are",
}


def list_unjudged(source: Source, model: str) -> tuple[Statement, ...]:
    """Say of each group that lacks support what cannot be judged, and which size would bring it."""
    groups = source.of("groups", model=model)
    if groups.empty:
        return ()
    whole = groups.dropna(subset=["n", "events", "non_events"])
    withheld = groups[~groups.index.isin(whole.index)]
    lacking = find_shortfalls(whole, protocol=source.run.protocol)
    found = [_write_group(source, model, row) for row in rows(lacking)]
    found += [_write_withheld(source, model, row) for row in rows(withheld)]
    return tuple(found)


def _write_group(source: Source, model: str, row: Any) -> Statement:
    """Say it of one group."""
    lacks: Sequence[Shortfall] = row.shortfalls
    what = {each.what for each in lacks}
    told = "records" if "records" in what else "events" if "events" in what else "non_events"
    held = f"{source.people(row.n, 'record', 'records')}, {count(row.events)} with the event"
    text = f"{row.group} ({row.attribute}; {held}): {LACKING[told]}"
    if {"events", "non_events"} <= what and told == "events":
        text += ", nor how many false alarms there are"
    return Statement(
        f"{text}. {_write_size(row, lacks)}",
        (rest_on("groups.csv", model=model, attribute=row.attribute, group=row.group),),
    )


def _write_size(row: Any, lacks: Sequence[Shortfall]) -> str:
    """Say how much is missing of the group, and which audit would probably bring it."""
    words = {"records": "record", "events": "event", "non_events": "non-event"}
    missing = join_words(
        plural(math.ceil(each.needed - each.held), words[each.what]) for each in lacks if each.what in words
    )
    if math.isnan(row.needed):
        return (
            f"At least {missing} more of them are needed; none has been seen, so that no size can be named: "
            "ask first whether these people reach the data at all."
        )
    return (
        f"At least {missing} more of them would be needed; if shares stay as they are, an audit of about "
        f"{plural(round_up(row.needed), 'record')} in all."
    )


def round_up(size: float) -> int:
    """Round a size up to two digits, so that it never reads as enough before it is.

    >>> round_up(1234), round_up(1200), round_up(7)
    (1300, 1200, 7)
    """
    step = 10 ** max(len(str(math.ceil(size))) - 2, 0)
    return math.ceil(math.ceil(size) / step) * step


def _write_withheld(source: Source, model: str, row: Any) -> Statement:
    """Say of a group whose numbers are withheld that it is small."""
    text = (
        f"{row.group} ({row.attribute}): some numbers rest on fewer than {source.smallest_cell} "
        "people and are "
        "withheld."
    )
    return Statement(text, (rest_on("groups.csv", model=model, attribute=row.attribute, group=row.group),))
