"""How are given scores written, and which records are left out since they lack one?"""

from collections.abc import Iterator, Sequence, Set
from itertools import chain, count

import numpy as np

from auditbook.intake.guess_comments import inline, list_doubts
from auditbook.intake.guess_groups import make_key
from auditbook.intake.guesses import Roles, ScoreGuess, TableFacts
from auditbook.intake.toml_text import comment, quote, write_key, write_list
from auditbook.tables import matches


def write_drops(table: TableFacts, roles: Roles) -> list[str]:
    """Write which records are left out: those without a score, site, unit or place in a survey."""
    needed = [(guess.guess.column, list(guess.no_score), "score") for guess in roles.scores]
    named = [(roles.site.column, "site")] if roles.site else []
    if roles.unit is not None and roles.unit.repeats:
        named += [(name, "unit") for name in roles.unit.columns]
    named += [(name, "part of the sample") for name in (roles.design.strata, roles.design.cluster) if name]
    needed += [(name, list(roles.missing.get(name, ())), what) for name, what in dict(named).items()]
    rules, gone = [], np.zeros(len(table.frame), dtype=bool)
    for column, codes, what in needed:
        values = [*codes, ""]
        without = np.any([matches(table.frame[column], value) for value in values], axis=0)
        if (without & ~gone).any():
            rules += _write_drop(column, values, what, int(without.sum()))
        gone |= without
    if not rules:
        return ['# drop = [ { column = "…", values = ["…"], reason = "why these are not at issue" } ]']
    return ["drop = [    # guess: these records are left out, and counted", *rules, "]"]


def _write_drop(column: str, values: Sequence[str | float], what: str, count: int) -> list[str]:
    """Write one rule by which records are left out."""
    told = f"{count:,} records have no such {what} and cannot be judged: {column}"
    rule = (
        f"column = {quote(column)}, values = {write_list(values)}, reason = {quote(f'no {what}: {column}')}"
    )
    return [comment(told), f"    {{ {rule} }},"]


def write_scores(table: TableFacts, roles: Roles) -> list[str]:
    """Write the scores to audit, those that a person should look at first as comments, and the models."""
    lines: list[str] = []
    taken: set[str] = set()
    for guess in roles.scores:
        name = _name_score(guess, taken)
        taken.add(name)
        lines += [*_write_score(guess, name), ""]
    for guess in roles.doubtful_scores:
        lines += [*_doubt_score(table, guess), ""]
    lines += [
        "[panel]",
        f"models = {write_list(roles.models)}    # models to train here; [] when scores are given",
    ]
    if roles.features.late and roles.models:
        lines.append(
            comment(
                f"lean = {write_list(roles.models[:1])}    # to train once more without the late features"
            )
        )
    return lines


def _name_score(guess: ScoreGuess, taken: Set[str]) -> str:
    """Name a score after its column, with a number where columns such as 'score' and ' score' are alike."""
    name = make_key(guess.guess.column, "score")
    return next(one for one in chain([name], (f"{name}_{n}" for n in count(2))) if one not in taken)


def _write_score(guess: ScoreGuess, name: str) -> Iterator[str]:
    """Write one given score."""
    column = guess.guess.column
    yield f"[scores.{write_key(name)}]{inline('; '.join(guess.guess.speaks_for))}"
    yield f"column = {quote(column)}"
    yield f"kind = {quote(guess.kind)}    # probability, rank (order only) or decision (0 and 1)"
    if guess.low:
        yield 'event_is = "low"    # guess: a low score means that the event is probable'
    if guess.kind == "rank":
        yield "percentile = 90    # decide: who is selected? Those from this percentile on; or threshold = …"
    elif guess.kind == "probability":
        yield "threshold = 0.5    # decide: from which score on is a record selected? Or percentile = 90"
    yield from list_doubts(guess.guess)


def _doubt_score(table: TableFacts, guess: ScoreGuess) -> Iterator[str]:
    """Write a column that may be a score, as a comment."""
    rows = table.columns[guess.guess.column].rows
    why = "; ".join(guess.guess.speaks_against) or f"{guess.lacking:,} of {rows:,} records have none"
    if guess.kind == "rank" and not guess.guess.speaks_against:
        why = "it may be a score that only orders the records"
    yield comment(f"not drafted: {guess.guess.column}: {why}")
    yield from (
        comment(line)
        for line in _write_score(guess, make_key(guess.guess.column, "score"))
        if not line.startswith("#")
    )
