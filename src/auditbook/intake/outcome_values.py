"""What counts as no event: which values, is a code for "not known" among them, and are some below zero?"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from auditbook.cohort import CohortFile, Event, OutcomeTable, derive_outcome
from auditbook.intake.caution import Caution
from auditbook.intake.used_columns import UsedColumn, count_values, write_counts
from auditbook.intake.value_lines import missing_line
from auditbook.tables import Faults, is_mark, is_number, name_value, names_missing

_PAIRS = (
    {"0", "1"},
    {"1", "2"},
    {"y", "n"},
    {"yes", "no"},
    {"t", "f"},
    {"true", "false"},
    {"j", "n"},
    {"ja", "nein"},
    {"o", "n"},
    {"oui", "non"},
    {"s", "n"},
    {"si", "no"},
    {"sim", "nao"},
    {"alive", "dead"},
    {"alive", "died"},
    {"alive", "expired"},
    {"lebt", "tot"},
    {"lebend", "verstorben"},
    {"vivant", "decede"},
    {"vivo", "fallecido"},
    {"vivo", "muerto"},
    {"vivo", "morto"},
    {"vivo", "obito"},
    {"vivo", "deceduto"},
)
"""Values that are all of a two-valued outcome; a third one beside them is a code for something else."""

_UNKNOWN_CODE = re.compile(r"-\d+|[789]+")
"""Codes that usually stand for "not known" beside a series of others."""

_FEW_VALUES = 8
"""Values of an outcome that are listed one by one."""

_NEGATIVE_SHARE = 0.25
"""Share below zero from which a column is taken for one that may be negative."""

_AMOUNT = re.compile(
    r"(?<![a-z])(los|stay|length|days?|hours?|duration|age|charges?|costs?|paid|count|number|visits?"
    r"|duree|sejour|jours?|cout|dauer|tage|liegedauer|verweildauer|alter|kosten|dias?|estancia|duracion|edad"
    r"|coste|permanencia|duracao|idade|custo|durata|degenza|giorni|eta|costo)(?![a-z])"
)


def warn_outcomes(file: CohortFile, used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out third codes of an outcome, and amounts below zero in whatever is used."""
    for column in used:
        if column.role == "outcome":
            table = find_table(file, column)
            yield from _warn_third(column, table)
            yield from _warn_below_zero(column, table)
        elif column.role == "feature":
            yield from _warn_below_zero(column, None)


def find_table(file: CohortFile, column: UsedColumn) -> OutcomeTable:
    """Find the table of the cohort file that makes events of a column."""
    tables = {f"[outcomes.{one.name}]": one.as_outcome for one in file.outcomes}
    return tables.get(column.where, file.outcome)


@dataclass(frozen=True)
class OutcomeValues:
    """The values of an outcome, with how many records hold each."""

    events: Mapping[str, int]
    others: Mapping[str, int]  # Those that count as no event


def split_values(table: OutcomeTable, cells: pd.Series) -> OutcomeValues | None:
    """Tell which values of an outcome are events and which are not; None where it is continuous."""
    if table.continuous:
        return None
    outcome = derive_outcome(table, cells, keep=np.ones(len(cells), bool), faults=Faults(""))
    events, others = (count_values(cells[outcome.cells == side]) for side in (1, 0))
    return OutcomeValues(events, others)


def _warn_third(column: UsedColumn, table: OutcomeTable) -> Iterator[Caution]:
    """Point out values that count as no event and look like a code for "not known"."""
    values = split_values(table, column.cells)
    odd = list_odd(values)
    if values is None or not odd:
        return
    count, many = sum(values.others[value] for value in odd), len(odd) > 1
    like = "look like codes" if many else "looks like a code"
    yield Caution(
        f"{column.where} event",
        f"of '{column.name}', {write_counts(values.others.items(), most=_FEW_VALUES)} count as no event; "
        f"{' and '.join(map(repr, odd[:3]))} {like} for "
        f'"not known", in {count:,} record{"s" * (count != 1)}',
        missing_line(column, odd),
    )


def list_odd(values: OutcomeValues | None) -> list[str]:
    """List the values that count as no event, beside others that do, and look like codes for "not known"."""
    if values is None or len(values.others) < 2:
        return []
    return [value for value in values.others if _is_odd(value, values)]


def _is_odd(value: str, values: OutcomeValues) -> bool:
    """Tell whether a value is a mark, says that nothing is known, or stands beside a pair."""
    if is_mark(value) or names_missing(value):
        return True
    if _is_code(value):
        return _stands_apart(value, values)
    known = {_plain(name) for name in (*values.events, *values.others)} - {_plain(value)}
    return (
        len(values.events) == 1
        and any(known >= pair for pair in _PAIRS)
        and len(known) <= _FEW_VALUES
        and (not any(_plain(value) in pair for pair in _PAIRS if known & pair))
    )


def _stands_apart(value: str, values: OutcomeValues) -> bool:
    """Tell whether a code stands outside those that follow one another from 0 or 1, the event among them.

    Of 0, 1 and 9 the last does, of 0, 1 and -1 too, and of the grades 1 to 5 none; beside more than two,
    which may be counts, only a code that usually means "not known" does.
    """
    codes = {*values.events, *values.others}
    first = next((code for code in (0, 1) if str(code) in codes), None)
    if first is None or len(values.events) != 1:
        return False
    last = first
    while str(last + 1) in codes:
        last += 1
    series = {str(code) for code in range(first, last + 1)}
    if len(series) < 2 or value in series or not set(values.events) <= series:
        return False
    return len(series) == 2 or _UNKNOWN_CODE.fullmatch(value) is not None


def _is_code(value: str) -> bool:
    """Tell whether a value is a whole number."""
    return value.lstrip("-").isdecimal()


def _warn_below_zero(column: UsedColumn, table: OutcomeTable | None) -> Iterator[Caution]:
    """Point out stays, ages and amounts below zero."""
    numbers = column.numbers.cells
    there = numbers[~np.isnan(numbers)]
    below = there[there < 0]
    if not len(below) or len(below) > _NEGATIVE_SHARE * len(there):
        return
    odd = [] if table is None else list_odd(split_values(table, column.cells))
    if {name_value(each) for each in below} <= set(odd):
        return
    event = None if table is None else table.rule
    bounded = event is not None and is_number(event.value) and float(event.value) > 0
    if not (bounded or _AMOUNT.search(_plain(column.name))):
        return
    yield Caution(
        f"{column.where} column" if table is not None else column.where,
        f"'{column.name}' is below zero in {len(below):,} of {len(there):,} records (lowest: {below.min():g})"
        f"{_count_as(event)}",
        "correct them in the table, or leave the cells blank, so that they are counted as missing",
    )


def _count_as(event: Event | None) -> str:
    """Say what numbers below zero count as."""
    if event is None or event.comparison not in (">", ">=", "<", "<="):
        return ""
    return (
        ", and these count as no event" if event.comparison in (">", ">=") else ", and these count as events"
    )


def _plain(text: str) -> str:
    """Return text in lower case without accents, marks between words as blanks."""
    parts = unicodedata.normalize("NFKD", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).casefold())
    return re.sub(r"[\W_]+", " ", "".join(part for part in parts if not unicodedata.combining(part))).strip()
