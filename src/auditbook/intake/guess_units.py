"""Which column names the hospital, which what must not be split, and which tells when?"""

import numpy as np
import pandas as pd

from auditbook.intake.column_facts import ColumnFacts
from auditbook.intake.guesses import Answers, Guess, TableFacts, UnitGuess
from auditbook.intake.known_ids import hold_ccns, hold_npis
from auditbook.intake.lexicon import fit_name, split_name
from auditbook.tables import as_text

_MANY = 30
_ONE_SITE = 0.5
_DISAGREE = 0.2
"""Share of the numbers found at several sites that must belong to several people for them to restart."""


def guess_site(table: TableFacts, answers: Answers, taken: set[str]) -> Guess | None:
    """Guess the hospital: named like one, with several values that each stand often."""
    if answers.site is not None:
        return Guess(answers.site) if answers.site else None
    named = [name for name in table.rank("site", "site", taken=taken) if _places(table.columns[name])]
    if not named:
        return None
    facts = table.columns[named[0]]
    speaks_for = [table.tell_name(named[0], "site"), f"{facts.distinct:,} sites"]
    if hold_ccns(facts.values) and {"ccn", "provider", "prvdr", "medicare"} & set(split_name(named[0])):
        speaks_for.append("six digits, as CMS certification numbers (CCN) have")
    if hold_npis(facts.values):
        speaks_for.append("ten digits with the check digit of National Provider Identifiers (NPI)")
    largest = next(iter(facts.values.values())) / max(facts.present, 1)
    against = [f"one holds {largest:.0%} of the records"] if largest > _ONE_SITE else []
    if facts.missing:
        against.append(f"blank in {facts.missing:,} records")
    return Guess(named[0], tuple(speaks_for), tuple(against), tuple(named[1:4]))


def _places(facts: ColumnFacts) -> bool:
    """Tell whether values may be places: more than one, and fewer than half the records."""
    numbers = facts.kind == "number" and not facts.whole
    return 1 < facts.distinct < facts.rows / 2 and facts.kind in ("text", "number") and not numbers


def guess_unit(table: TableFacts, answers: Answers, site: Guess | None, taken: set[str]) -> UnitGuess | None:
    """Guess the patient: named like one, with many values."""
    if answers.unit is not None:
        return UnitGuess(answers.unit, Guess(answers.unit[0]), True) if answers.unit else None
    used = taken | ({site.column} if site else set())
    named = [
        name for name in table.rank("person", "person", taken=used) if _names_people(table.columns[name])
    ]
    if not named:
        return None
    facts = table.columns[named[0]]
    often = facts.present - facts.distinct
    speaks_for = [
        table.tell_name(named[0], "person")
        if named[0] not in table.published("unit")
        else table.tell_name(named[0], "unit")
    ]
    speaks_for.append(f"{facts.distinct:,} values in {facts.present:,} records")
    against = () if often else ("each value stands once, so that this is the same as no unit",)
    columns: tuple[str, ...] = (named[0],)
    if site and often and _restarts(table, named[0], site.column):
        columns = (site.column, named[0])
        speaks_for.append(
            "the same number belongs to several people at several sites, so that the site is named too"
        )
    return UnitGuess(columns, Guess(named[0], tuple(speaks_for), against, tuple(named[1:4])), bool(often))


def _names_people(facts: ColumnFacts) -> bool:
    numbers = facts.kind == "number" and not facts.whole
    return facts.distinct > _MANY and facts.kind in ("text", "number") and not numbers


def _restarts(table: TableFacts, unit: str, site: str) -> bool:
    """Tell whether numbers of people start anew at each site: sex or year of birth disagree across sites."""
    stable = [*table.rank("sex"), *table.rank("gender"), *table.rank("birth_year")]
    traits = [name for name in stable if table.columns[name].few and name not in (unit, site)]
    if not traits:
        return False
    cells = pd.DataFrame({name: as_text(table.frame[name]) for name in (unit, site, traits[0])}).dropna()
    grouped = cells.groupby(unit).nunique()
    shared = grouped[site] > 1
    within = cells.groupby([unit, site])[traits[0]].agg(["size", "nunique"])
    within = within[within["size"] > 1]
    torn, inside = (grouped.loc[shared, traits[0]] > 1).mean(), (within["nunique"] > 1).mean()
    return bool(shared.sum() > _MANY and torn > _DISAGREE and torn > 3 * (inside if len(within) else 0))


def guess_time(table: TableFacts, taken: set[str]) -> Guess | None:
    """Guess when a record was made: a date named like the start of a stay."""
    published = [name for name in table.published("time") if name not in taken]
    named = [name for name in table.rank("start", "start", taken=taken) if table.columns[name].kind == "date"]
    found = [*published, *(name for name in named if name not in published)]
    if not found:
        return None
    role = "time" if found[0] in published else "start"
    return Guess(found[0], (table.tell_name(found[0], role),), (), tuple(found[1:3]))


def is_record_number(table: TableFacts, name: str) -> bool:
    """Tell whether a column names stays, visits or other records by number."""
    facts = table.columns[name]
    numbered = fit_name(name, "record") or fit_name(name, "person")
    words = set(split_name(name))
    marked = any(fit_name(word, "identifier") for word in words) or numbered == 2
    return bool(numbered and marked and facts.distinct > max(_MANY, 0.2 * facts.present) and _is_whole(facts))


def _is_whole(facts: ColumnFacts) -> bool:
    return facts.kind == "text" or (facts.kind == "number" and facts.whole)


def names_same(table: TableFacts, one: str, other: str) -> bool:
    """Tell whether two columns part the records alike, as a hospital's number and its name do."""
    first, second = table.columns[one], table.columns[other]
    if first.distinct != second.distinct or first.distinct < 2 or second.kind == "date":
        return False
    pairs = pd.DataFrame({"one": as_text(table.frame[one]), "other": as_text(table.frame[other])}).dropna()
    return len(pairs) > 0 and int(np.max(len(pairs.drop_duplicates()))) == first.distinct
