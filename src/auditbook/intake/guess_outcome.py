"""Which column says what happened, and which of its values is an event?"""

import numpy as np

from auditbook.intake.column_facts import ColumnFacts
from auditbook.intake.guesses import LAYOUT, Answers, Guess, OutcomeGuess, TableFacts, tell_values
from auditbook.intake.lexicon import list_words, plain, says, split_name
from auditbook.intake.toml_text import write_number
from auditbook.intake.unknown_values import list_unknown
from auditbook.tables import as_numbers, as_text

_KINDS = {"label": 5, "readmission": 4, "death": 4, "long_stay": 4, "stay": -15}
"""Kinds of outcome, with how much each is worth beside another; days of stay only where nothing else is."""

_FEW_VALUES = 6
_RARE = 10
_NUMBERS = 0.8


def guess_outcome(table: TableFacts, answers: Answers, taken: set[str]) -> OutcomeGuess | None:
    """Guess the outcome and its event; None where no column looks like one."""
    found = [item for item in _list_candidates(table) if item[1] not in taken]
    if answers.outcome is not None:
        kind = next((kind for _, name, kind in found if name == answers.outcome), "label")
        chosen = _describe(table, answers.outcome, kind, answers, ())
        return chosen or _ask_event(table, answers.outcome)
    if not found:
        return None
    best, others = found[0], tuple(name for _, name, _ in found[1:5])
    return _describe(table, best[1], best[2], answers, others)


def list_outcomes(table: TableFacts) -> list[str]:
    """List the columns that may be an outcome, the best first, those that tell days of stay left out."""
    return [name for _, name, kind in _list_candidates(table) if kind != "stay"]


def _list_candidates(table: TableFacts) -> list[tuple[int, str, str]]:
    """List what may be an outcome: how well it fits, the column, the kind; the best first."""
    published = table.published("outcome")
    found = []
    for position, name in enumerate(table.columns):
        fits = {kind: table.fit(name, kind, "stay" if kind == "stay" else "outcome") for kind in _KINDS}
        if name not in published and not any(fits.values()):
            continue
        score, kind = max(
            (10 * fit + _KINDS[kind], kind) for kind, fit in fits.items() if fit or name in published
        )
        if name in published:
            score = 10 * LAYOUT + 10 - published.index(name)
        facts = table.columns[name]
        if guess_event(facts, kind) is not None:
            found.append((score + 4 * (facts.distinct <= _FEW_VALUES), -position, name, kind))
    return [(score, name, kind) for score, _, name, kind in sorted(found, reverse=True)]


def guess_event(facts: ColumnFacts, kind: str) -> str | int | None:
    """Guess what an event is; None when the column does not look like an outcome."""
    values = [value for value in facts.values if value not in list_unknown(facts)]
    if len(values) < 2 or facts.kind == "date":
        return None
    chosen = _choose_value(values, facts, kind)
    if chosen is not None:
        return 1 if chosen == "1" and facts.number else chosen
    numbers = facts.share >= _NUMBERS and facts.distinct > _FEW_VALUES and facts.low >= 0
    return "> " if numbers and kind in ("stay", "label") else None


def _choose_value(values: list[str], facts: ColumnFacts, kind: str) -> str | None:
    """Choose the value that is an event by its word, or as the only one that is not a denial."""
    words = list_words("values", "event")
    if len(values) > _FEW_VALUES and not (kind == "death" and facts.few and facts.share < _NUMBERS):
        return None
    reverse = set(split_name(facts.name)) & set(list_words("reversed"))
    if reverse and len(values) == 2:
        return next((value for value in values if says(value, "values", "no_event")), None)
    known = sorted(
        (value for value in values if plain(value) in words), key=lambda value: words.index(plain(value))
    )
    if known and not (len(values) > _FEW_VALUES and says(known[0], "values", "no_event")):
        return known[0]
    others = [value for value in values if not says(value, "values", "no_event")]
    return others[0] if len(values) == 2 and len(others) == 1 else None


def _describe(
    table: TableFacts, name: str, kind: str, answers: Answers, others: tuple[str, ...]
) -> OutcomeGuess | None:
    """Say what speaks for a column as outcome, and what against it."""
    facts = table.columns[name]
    event = answers.event if answers.event is not None else guess_event(facts, kind)
    if event is None:
        return None
    numbers = facts.held_numbers
    if event == "> ":
        event = f"> {write_number(_find_median(table, facts))}"
    events = _count_events(table, name, event, numbers)
    role = "outcome" if name in table.published("outcome") else kind
    speaks_for = [table.tell_name(name, role)] if role == "outcome" or table.fit(name, role) else []
    speaks_for.append(f"{events:,} events in {facts.present:,} records")
    guess = Guess(name, tuple(speaks_for), tuple(_doubt(facts, event, events)), others)
    return OutcomeGuess(guess, event, events, facts.present, numbers)


def _find_median(table: TableFacts, facts: ColumnFacts) -> float:
    """Find the median of a column, open ends among it."""
    ends = [np.full(facts.values[value], number) for value, number in facts.held_numbers.items()]
    return float(np.nanmedian(np.concatenate([as_numbers(table.frame[facts.name]).cells, *ends])))


def _ask_event(table: TableFacts, name: str) -> OutcomeGuess:
    """Leave the event blank where a person named a column that does not look like an outcome."""
    return OutcomeGuess(Guess(name), "", 0, table.columns[name].present)


def _count_events(table: TableFacts, name: str, event: str | int, numbers: dict[str, float]) -> int:
    column = table.frame[name]
    if isinstance(event, str) and event.startswith("> "):
        bound = float(event[2:])
        open_ended = sum(
            table.columns[name].values[value] for value, number in numbers.items() if number > bound
        )
        return int((as_numbers(column).cells > bound).sum()) + open_ended
    return int((as_text(column) == str(event)).sum())


def _doubt(facts: ColumnFacts, event: str | int, events: int) -> list[str]:
    """Say what speaks against an outcome and its event."""
    found = []
    if events < _RARE:
        found.append(f"only {events} events")
    if isinstance(event, str) and event.startswith("> "):
        found.append("the bound is only the median: half of the records are events, whatever they mean")
        return found
    others = [f"'{value}' ({count:,})" for value, count in facts.values.items() if value != str(event)]
    if len(others) > 1:
        shown = ", ".join(others[:4]) + (", …" if len(others) > 4 else "")
        found.append(f"more than two values: {shown} count as no event, unless they are missing or left out")
    if set(facts.values) == {"1", "2"}:
        found.append("codes 1 and 2: often 1 is yes and 2 no; look it up")
    return found


def tell_outcome(guess: OutcomeGuess, table: TableFacts) -> str:
    """List the values of the guessed outcome."""
    return tell_values(table.columns[guess.guess.column])
