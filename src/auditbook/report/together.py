"""What do groups whose numbers are withheld come to together: all records, less those that are told?"""

from typing import Any

import pandas as pd

from auditbook.book.say.text import plural, share
from auditbook.report.content import Statement
from auditbook.report.source import Source, list_names, rest_on
from auditbook.results import rows

COUNTS = ("n", "tp", "fp", "fn")


def describe_together(source: Source) -> tuple[Statement, ...]:
    """Say of every attribute with withheld groups what they come to together.

    It is made of nothing but what is shown, so that nothing more follows from it.
    """
    groups = source.table("groups")
    if groups.empty or groups["n_effective"].notna().any():  # weighted rates are no counts
        return ()
    return tuple(
        statement
        for total in rows(source.table("models"))
        for attribute, mine in source.of("groups", model=total.model).groupby("attribute", sort=False)
        for statement in _describe(total, str(attribute), mine, source.smallest_cell)
    )


def _describe(total: Any, attribute: str, groups: pd.DataFrame, smallest: int) -> tuple[Statement, ...]:
    told = groups[groups["n"].notna()]
    if len(told) in (0, len(groups)):
        return ()
    left = _count(total) - told[list(COUNTS)].sum(skipna=False)
    parts = [
        words
        for words in (
            _write_share(left["tp"] + left["fn"], left["n"], "with the event", smallest),
            _write_share(left["tp"] + left["fp"], left["n"], "selected", smallest),
            _write_share(left["tp"], left["tp"] + left["fn"], "of those with the event found", smallest),
        )
        if words
    ]
    if not left["n"] >= smallest or not parts:
        return ()
    names = list_names(groups.loc[groups["n"].isna(), "group"])
    text = f"{total.model}, all others by {attribute} ({names}) together: {plural(left['n'], 'record')}, "
    return (Statement(text + ", ".join(parts) + ".", (rest_on("groups.csv"), rest_on("models.csv"))),)


def _count(total: Any) -> pd.Series:
    """Count all records of a model from its shares."""
    n, events = total.n_audit, total.events_audit
    selected, right = _round(total.selection_rate * n), _round(total.accuracy * n)
    tp = (selected + right + events - n) / 2
    return pd.Series({"n": n, "tp": tp, "fp": selected - tp, "fn": events - tp}, dtype=float)


def _round(value: float) -> float:
    """Round to a whole number; nan stays."""
    return value if value != value else float(round(value))


def _write_share(part: float, whole: float, words: str, smallest: int) -> str:
    """Write a share of enough people, with enough others; blank of fewer and where it is withheld."""
    return f"{share(part / whole)} {words}" if min(part, whole - part) >= smallest else ""
