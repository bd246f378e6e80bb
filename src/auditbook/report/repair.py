"""What would a repair cost, and did it hold on patients whom nobody had seen?"""

import math
from typing import Any

import pandas as pd

from auditbook.book.say.mitigation import HELD, SHIFTED, protocol_with_parts, select_rows
from auditbook.book.say.text import count, count_of, join_words, number, plural, share
from auditbook.mitigation import AUDIT, VALIDATION
from auditbook.pockets import summarise_repairs
from auditbook.report.content import Statement
from auditbook.report.source import Source, list_names, rest_on
from auditbook.results import rows

KINDS = {
    "B3": "One threshold for each combination of groups",
    "B4": "Refined thresholds for each combination of groups",
}
"""Repairs by thresholds, in words."""


def list_repairs(source: Source, model: str) -> tuple[Statement, ...]:
    """Say what shifted thresholds and corrected pockets of this model cost and whether they held."""
    return (*_list_thresholds(source, model), *_list_pockets(source, model))


def _list_thresholds(source: Source, model: str) -> list[Statement]:
    """Say it of thresholds by group, chosen on one part and reported on another."""
    table = source.of("baselines", model=model)
    if table.empty:
        others = source.table("baselines")
        if source.of("verdicts", model=model).empty:
            return []
        known = [name for name in dict.fromkeys(others["model"]) if name]
        text = (
            f"A repair by thresholds was tried on {join_words(known)} only."
            if known
            else (_write_untried(others))
        )
        return [Statement(text, (rest_on("baselines.csv"),))]
    protocol = protocol_with_parts(table)
    chosen, unseen = (select_rows(table, protocol, part=part) for part in (VALIDATION, AUDIT))
    as_it_is = rows(unseen[unseen["baseline"] == "B1"])
    found = []
    for name in SHIFTED:
        after = [row for row in rows(unseen[unseen["baseline"] == name]) if row.status in HELD]
        before = [row for row in rows(chosen[chosen["baseline"] == name]) if row.status in HELD]
        if after and before:
            found.append(_write_thresholds(source, as_it_is, name, before[0], after[0]))
    if found:
        return found
    notes = join_words(dict.fromkeys(note for note in table["note"] if note))
    return [
        Statement(
            f"No repair by thresholds could be made{f': {notes}' if notes else ''}.",
            (rest_on("baselines.csv", model=model),),
        )
    ]


def _write_thresholds(source: Source, as_it_is: list[Any], name: str, before: Any, after: Any) -> Statement:
    """Say what passed where it was chosen, what held, and at which price."""
    if not before.di_passes:
        held = "there was nothing to hold"
    else:
        held = "it held" if after.di_passes >= before.di_passes else "it did not hold"
    today = f" (today {count(as_it_is[0].di_passes)})" if as_it_is else ""
    unseen = "unseen records" if math.isnan(after.n) else plural(after.n, "unseen record")
    text = (
        f"{KINDS[name]} ({name}) would make selection alike enough (DI) for "
        f"{count_of(before.di_passes, len(source.attributes), 'attribute')} where chosen, and for "
        f"{count(after.di_passes)} on {unseen}{today}: {held}. {_write_price(after)} "
        "It aims at who is selected, not at who is found."
    )
    keys = {"protocol": after.protocol, "baseline": name, "sweep": ""}
    return Statement(
        text,
        (rest_on("baselines.csv", part=VALIDATION, **keys), rest_on("baselines.csv", part=AUDIT, **keys)),
    )


def _write_price(after: Any) -> str:
    """Say what accuracy a repair would cost or gain, and how many decisions it would change."""
    cost = after.accuracy_cost
    if math.isnan(cost) or math.isnan(after.changed):
        return "Its price is withheld."
    verb = "cost" if cost > 0 else "gain"
    price = (
        "cost no accuracy"
        if abs(cost) < 0.005
        else f"{verb} {number(abs(cost), digits=2)} points of accuracy"
    )
    return f"It would {price} and change {share(after.changed)} of the decisions."


def _list_pockets(source: Source, model: str) -> list[Statement]:
    """Say it of corrections learned on one half of the units and looked at on the other."""
    table = source.exact.of("pocket_repairs", model=model)  # only halves are counted
    if source.of("pocket_errors", model=model).empty:
        return []
    made = table[table["correction"].notna()]
    basis = (rest_on("pocket_repairs.csv", model=model),)
    if made.empty:
        return [
            Statement(
                "No pocket was flagged in one half of the audit, so that no correction was tried.", basis
            )
        ]
    found = summarise_repairs(made)
    text = (
        "Corrected pockets: learned on one half of the units and looked at on the other, the "
        "correction brought "
        f"the mean error nearer to zero in {count_of(found.nearer, len(found.judged), 'half', 'halves')}"
    )
    if not len(found.judged):
        text = "Corrected pockets: learned on one half of the units; the other half is too small to judge any"
    if len(found.worse):
        text += f"; in {count(len(found.worse))} the squared error grew"
    return [Statement(f"{text}.", basis)]


def _write_untried(baselines: pd.DataFrame) -> str:
    """Say that nothing was tried, and why."""
    notes = list_names(note for note in dict.fromkeys(baselines["note"]) if note)
    return f"No repair by thresholds was tried{f': {notes}' if notes else ''}."
