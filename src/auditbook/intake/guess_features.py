"""Which columns must no model see, which only at the end of the stay, and which numbers are codes?"""

from collections.abc import Iterator
from dataclasses import dataclass

from auditbook.intake.column_facts import ColumnFacts
from auditbook.intake.events import Events
from auditbook.intake.guess_outcome import list_outcomes
from auditbook.intake.guess_units import is_record_number, names_same
from auditbook.intake.guesses import DesignGuess, FeatureGuess, Guess, OutcomeGuess, TableFacts, UnitGuess
from auditbook.intake.known_ids import hold_npis
from auditbook.intake.leak_evidence import tell_leak
from auditbook.intake.lexicon import fit_name, split_name

_FEWEST_CODES = 3


@dataclass(frozen=True)
class Settled:
    """Roles that are settled before features are sorted."""

    taken: frozenset[str]
    outcome: OutcomeGuess | None
    site: Guess | None
    unit: UnitGuess | None
    design: DesignGuess
    events: Events | None
    doubtful: tuple[str, ...]  # columns that may be scores of other models


def guess_features(table: TableFacts, settled: Settled) -> FeatureGuess:
    """Sort the columns without another role: never a feature, a late one, or one at any time."""
    exclude: dict[str, str] = {}
    late: dict[str, str] = {}
    outcomes = list_outcomes(table)
    free = [name for name in table.columns if name not in settled.taken]
    for name in free:
        reasons = (*_follow_outcome(table, name, settled, outcomes), *_identify(table, name, settled))
        if reasons:
            exclude[name] = reasons[0]
        elif is_late(table, name):
            late[name] = table.tell_name(name, "late")
    codes = [name for name in free if name not in exclude and _is_code(table, name)]
    return FeatureGuess(exclude, late, tuple(codes))


def _follow_outcome(table: TableFacts, name: str, settled: Settled, outcomes: list[str]) -> Iterator[str]:
    """Give the reasons for which a column knows too much, the weightiest first."""
    if name in table.published("after") or name in _follow(table, settled.outcome):
        yield f"known only after the outcome ({table.layout.title if table.layout else ''})"
    if settled.events is not None and (leak := tell_leak(table.frame[name], settled.events)):
        yield f"gives the outcome away: {leak}"
    if name in outcomes:
        yield "another outcome"
    if name in settled.doubtful:
        yield "may be another model's score"


def _identify(table: TableFacts, name: str, settled: Settled) -> Iterator[str]:
    """Give the reasons for which a column names records, people or places, or is no feature by its kind."""
    facts, site, unit = table.columns[name], settled.site, settled.unit
    if name in settled.design.others:
        yield "another sampling weight"
    if name in table.published("identifiers"):
        yield "a number or name of records or places"
    if facts.kind == "date":
        yield "a date"
    if hold_npis(facts.values):
        yield "numbers of providers (NPI)"
    amount = is_late(table, name) and facts.share > 0  # charges hardly repeat either
    if (facts.identifies and not amount) or is_record_number(table, name):
        yield "hardly a value twice, like an identifier"
    if site is not None and (name in site.others or names_same(table, site.column, name)):
        yield "names the site once more"
    if unit is not None and name in unit.guess.others:
        yield "names the unit once more"


def _follow(table: TableFacts, outcome: OutcomeGuess | None) -> list[str]:
    """List the columns that are asked or known only because of the outcome."""
    if table.layout is None or outcome is None:
        return []
    listed = table.layout.follows.get(outcome.guess.column.strip().casefold(), ())
    return [table.names[name] for name in listed if name in table.names]


def is_late(table: TableFacts, name: str) -> bool:
    """Tell whether a column's name is that of something known only at the end of the stay."""
    if table.fit(name, "late", "late"):
        return True
    return bool(fit_name(name, "stay", barred="stay"))


def _is_code(table: TableFacts, name: str) -> bool:
    """Tell whether the numbers in a column are codes: the publisher says so, or its name does."""
    facts = table.columns[name]
    if name in table.published("categories"):
        return True
    if facts.kind == "text" and not facts.floats and facts.share == 1 and facts.few:
        return True  # digits that are kept as text, such as 01
    named = fit_name(name, "code") > 0 or split_name(name)[-1:] == ("id",)
    return (
        named and facts.number and facts.whole and facts.distinct >= _FEWEST_CODES and not _counts_up(facts)
    )


def _counts_up(facts: ColumnFacts) -> bool:
    """Tell whether a column under a code's name is more likely a grade: few whole numbers from 0 or 1 on."""
    return (
        facts.low in (0, 1)
        and facts.high == facts.low + facts.distinct - 1
        and facts.distinct <= _FEWEST_CODES
    )
