"""Between which groups are verdicts wanted: race, sex, age, payer, language?"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from auditbook.intake.column_facts import KEPT, ColumnFacts
from auditbook.intake.guesses import Answers, AttributeGuess, Guess, TableFacts, tell_values
from auditbook.intake.lexicon import plain, says, split_name
from auditbook.intake.toml_text import write_number
from auditbook.intake.unknown_values import list_published, list_questionable, list_unknown
from auditbook.settings import Protocol
from auditbook.tables import as_numbers

_ROLES = ("race", "ethnicity", "sex", "gender", "age", "birth_year", "payer", "language", "disability")
_GROUPS = 40
"""Groups up to which a column of words is taken for an attribute."""

_OLDEST = 120
_AGES = (18, 40, 65)
_BANDS = 25
_NUMBERS = 0.8
_QUARTERED = 10
"""Range of numbers from which quarters are cut at whole ones."""

_SPIKE = 3
"""Stand-in values such as 999 and -9 that are looked for among ages."""


def guess_attributes(table: TableFacts, answers: Answers, taken: set[str]) -> tuple[AttributeGuess, ...]:
    """Guess the attributes; no column has two roles, and no role two columns."""
    if answers.attributes is not None:
        return tuple(_describe_named(table, name) for name in answers.attributes)
    found: dict[str, AttributeGuess] = {}
    used = set(taken)
    for role in _ROLES:
        if (role == "birth_year" and "age" in found) or (role == "gender" and "sex" in found):
            continue
        named = [
            name for name in table.rank(role, _barred(role), taken=used) if _suits(table.columns[name], role)
        ]
        if named:
            guess = _describe(table, named[0], role, tuple(named[1:4]))
            found[guess.name] = guess
            used |= {
                named[0],
                *(name for name in named[1:] if table.fit(name, role) > 1 and role in ("sex", "gender")),
            }
    return tuple(found.values())


def _barred(role: str) -> str:
    return "age" if role == "age" else "groups"


def _describe_named(table: TableFacts, name: str) -> AttributeGuess:
    """Describe a column that a person named as an attribute."""
    fits = [
        role for role in _ROLES if table.fit(name, role, _barred(role)) and _suits(table.columns[name], role)
    ]
    guess = _describe(table, name, fits[0] if fits else "", ())
    return guess if fits else replace(guess, name=make_key(name, "group"))


def make_key(name: str, otherwise: str) -> str:
    """Make a short name of a column's, of letters, digits and underscores."""
    return re.sub(r"[^a-z0-9]+", "_", plain(name)).strip("_") or otherwise


def _suits(facts: ColumnFacts, role: str) -> bool:
    """Tell whether the values may be those of the role."""
    if facts.distinct < 2 or facts.kind == "date":
        return False
    if role in ("age", "birth_year"):
        return (
            _is_age(facts)
            if role == "age"
            else facts.share >= _NUMBERS and 1850 <= facts.low <= facts.high <= 2100
        )
    return facts.distinct <= _GROUPS and (facts.kind != "number" or facts.whole)


def _is_age(facts: ColumnFacts) -> bool:
    """Tell whether values may be ages: numbers, or bands such as 18-29."""
    if facts.share >= _NUMBERS:
        return facts.kind != "truth" and len(facts.odd) < KEPT
    return facts.distinct <= _GROUPS and sum(any(map(str.isdigit, value)) for value in facts.values) >= 2


def _describe(table: TableFacts, name: str, role: str, others: tuple[str, ...]) -> AttributeGuess:
    """Say what a column's groups are, and what speaks for them and against."""
    facts = table.columns[name]
    unknown = list_published(table, name) or list_unknown(facts)
    lacking = facts.missing + table.count(name, unknown)
    reasons = (table.tell_name(name, role),) if role and table.fit(name, role) else ()
    guess = AttributeGuess(
        name="age" if role == "birth_year" else role,
        guess=Guess(name, reasons, _doubt(facts, lacking), others),
        unknown=unknown,
        lacking=lacking,
        values=tell_values(facts),
        hint=table.layout.notes.get(name.casefold(), "") if table.layout else "",
    )
    binned = facts.share >= _NUMBERS and (
        role in ("age", "birth_year") or facts.distinct > Protocol().max_groups
    )
    words = _name_codes(table, facts, role)
    if not words and binned and (facts.distinct > 5 or role == "birth_year"):
        return _bin(table, guess, role)
    return replace(guess, words=words or _fold(facts, unknown))


def _doubt(facts: ColumnFacts, lacking: int) -> tuple[str, ...]:
    """Say what speaks against an attribute."""
    found = []
    if lacking > 0.1 * facts.rows:
        found.append(f"unknown in {lacking:,} of {facts.rows:,} records")
    odd = list_questionable(facts)
    if odd:
        named = " and ".join(f"'{value}' ({facts.values[value]:,})" for value in odd[:3])
        found.append(f"{named} may be a group, such as Native American, or mean missing (missing_values)")
    return tuple(found)


def _name_codes(table: TableFacts, facts: ColumnFacts, role: str) -> Mapping[str, str]:
    """Name what the codes in a column stand for, where the publisher or the column's own name says so."""
    published = table.layout.words.get(facts.name.strip().casefold(), {}) if table.layout else {}
    words = {value: published[value] for value in sorted(facts.values) if value in published}
    if words or role != "sex" or set(facts.values) != {"0", "1"}:
        return words
    named = set(split_name(facts.name))
    if "female" in named:
        return {"0": "Male", "1": "Female"}
    return {"0": "Female", "1": "Male"} if "male" in named else {}


def _fold(facts: ColumnFacts, unknown: Iterable[str | float]) -> dict[str, str]:
    """Join names such as 'ASIAN - CHINESE' to their first part where there are many."""
    if facts.distinct <= 10:
        return {}
    heads = {value: re.split(r"\s+-\s+", value)[0] for value in facts.values if value not in unknown}
    return {value: head for value, head in heads.items() if head != value and head.strip()}


def _bin(table: TableFacts, guess: AttributeGuess, role: str) -> AttributeGuess:
    """Bin numbers: ages in years, years of birth, or codes that are neither."""
    facts = table.columns[guess.guess.column]
    numbers = facts.held_numbers
    cells = as_numbers(table.frame[facts.name]).cells
    cells = cells[~np.isnan(cells)]
    cells = cells[~np.isin(cells, [float(code) for code in guess.unknown if _is_code(code)])]
    stray = _find_stray(cells, role)
    cells = cells[~np.isin(cells, stray)]
    odd = [value for value in facts.odd if value not in numbers and value not in guess.unknown]
    unknown = (*guess.unknown, *(int(code) if code.is_integer() else code for code in stray), *odd)
    low = min([float(cells.min()), *numbers.values()]) if len(cells) else 0.0
    high = max([float(cells.max()), *numbers.values()]) if len(cells) else 1.0
    bins = _choose_bins(cells, low, high, role)
    told = f"{write_number(low)} to {write_number(high)}"
    return replace(
        guess,
        bins=bins,
        labels=_label_births(bins) if role == "birth_year" else (),
        numbers=numbers,
        unknown=unknown,
        lacking=facts.missing + table.count(facts.name, unknown),
        values=told,
    )


def _is_code(code: str | float) -> bool:
    return not isinstance(code, str) or re.fullmatch(r"-?\d+(\.\d+)?", code) is not None


def _find_stray(cells: np.ndarray, role: str) -> list[float]:
    """Find stand-in values among ages: below zero, or far above any age, a few values only."""
    if role != "age" or not len(cells):
        return []
    odd = np.unique(cells[(cells < 0) | (cells > _OLDEST)])
    return [float(value) for value in odd] if len(odd) <= _SPIKE and len(odd) < len(np.unique(cells)) else []


def _choose_bins(cells: np.ndarray, low: float, high: float, role: str) -> tuple[float, ...]:
    """Bin ages in years at 18, 40 and 65; quarter everything else, codes of ages among it."""
    years = role == "age" and _BANDS < high <= _OLDEST
    quarters = np.quantile(cells, (0.25, 0.5, 0.75)) if len(cells) else np.array([low])
    quarters = np.floor(quarters) if high - low > _QUARTERED else quarters
    bounds = _AGES if years and high > _AGES[1] else np.unique(quarters)
    inner = [float(bound) for bound in bounds if low < bound <= high]
    if not inner:
        return (low, high if high > low else low + 1)
    floor = max([0.0, *(float(bound) for bound in bounds if bound <= low)]) if years and low >= 0 else low
    return (floor, *inner)


def _label_births(bins: tuple[float, ...]) -> tuple[str, ...]:
    """Name bins of years of birth."""
    spans = [f"born {low:.0f}-{high - 1:.0f}" for low, high in pairwise(bins)]
    return (*spans, f"born {bins[-1]:.0f} or later")


def looks_like_sex(facts: ColumnFacts) -> bool:
    """Tell whether the values are those of a column of sexes."""
    values = [value for value in facts.values if value not in list_unknown(facts)]
    found = [says(value, "values", "female") or says(value, "values", "male") for value in values]
    return (
        len(values) == 2
        and facts.kind == "text"
        and all(found)
        and not any(value.isdigit() for value in values)
    )
