"""Which role does each column of a table seem to have?"""

from collections.abc import Mapping

import pandas as pd

from auditbook.intake.column_facts import describe_columns
from auditbook.intake.events import find_events
from auditbook.intake.guess_design import guess_design
from auditbook.intake.guess_features import Settled, guess_features
from auditbook.intake.guess_groups import guess_attributes
from auditbook.intake.guess_outcome import guess_outcome
from auditbook.intake.guess_scores import guess_scores
from auditbook.intake.guess_units import guess_site, guess_time, guess_unit
from auditbook.intake.guesses import NO_ANSWERS, Answers, OutcomeGuess, Roles, TableFacts
from auditbook.intake.lexicon import find_layout
from auditbook.intake.unknown_values import list_published, list_questionable, list_unknown

_MODELS = ("xgboost", "logistic")


def describe_table(frame: pd.DataFrame) -> TableFacts:
    """Look at every column of a plain table, and find the public layout that it may have."""
    return TableFacts(frame, describe_columns(frame), find_layout(list(frame.columns)))


def guess_roles(table: TableFacts, answers: Answers = NO_ANSWERS) -> Roles:
    """Guess every role from names and values; what a person answered stands, and no column has two roles."""
    design = guess_design(table)
    named = {
        *(answers.attributes or ()),
        *(answers.scores or ()),
        *(answers.unit or ()),
        answers.outcome,
        answers.site,
    }
    said = {name for name in named if name}
    weighing = {name for name in (design.weight.column if design.weight else None,) if name}
    attributes = guess_attributes(table, answers, design.columns | (said - set(answers.attributes or ())))
    taken = design.columns | {item.guess.column for item in attributes}
    outcome = guess_outcome(table, answers, taken | (said - {answers.outcome}))
    taken |= {outcome.guess.column} if outcome else set()
    site = guess_site(table, answers, (taken | (said - {answers.site})) - (design.columns - weighing))
    unit = guess_unit(table, answers, site, taken | (said - set(answers.unit or ())))
    taken |= {site.column} if site else set()
    taken |= set(unit.columns) if unit and unit.repeats else set()
    events = find_events(table, outcome)
    scores, doubtful = guess_scores(table, answers, events, taken)
    taken |= {item.guess.column for item in scores}
    time = guess_time(table, taken)
    taken |= {time.column} if time else set()
    doubted = tuple(item.guess.column for item in doubtful if item.kind != "rank")
    settled = Settled(frozenset(taken), outcome, site, unit, design, events, doubted)
    features = guess_features(table, settled)
    models = answers.models if answers.models is not None else (() if scores else _MODELS)
    return Roles(
        outcome,
        site,
        unit,
        time,
        design,
        attributes,
        scores,
        doubtful,
        models,
        features,
        *_list_missing(table, {item.guess.column for item in attributes}, outcome),
    )


def _list_missing(
    table: TableFacts, groups: set[str], outcome: OutcomeGuess | None
) -> tuple[Mapping[str, tuple[str | float, ...]], Mapping[str, tuple[str, ...]]]:
    """List by column the values that mean missing, and those that only may; attributes have their own."""
    known: dict[str, tuple[str | float, ...]] = {}
    open_: dict[str, tuple[str, ...]] = {}
    for name in (name for name in table.columns if name not in groups):
        facts = table.columns[name]
        compared = outcome is not None and outcome.compares and outcome.guess.column == name
        odd = [value for value in facts.odd if value not in facts.held_numbers] if compared else []
        found = (*list_published(table, name), *list_unknown(facts), *odd)
        if found:
            known[name] = tuple(dict.fromkeys(found))
        if doubtful := list_questionable(facts):
            open_[name] = doubtful
    return known, open_
