"""Which values of a column mean that nothing is known, and which only may?"""

from auditbook.intake.column_facts import ColumnFacts
from auditbook.intake.guesses import TableFacts
from auditbook.intake.lexicon import fit_name
from auditbook.tables import is_mark, names_missing

_ANSWERS = ("none", "-", "--", "---", ".", "..", "*", "**", "ns", "nr", "nd", "nil")
"""Marks that may be answers beside words: none, no, or an abbreviation."""

_NUMBERS = 0.5


def list_unknown(facts: ColumnFacts) -> tuple[str, ...]:
    """List the values of a column that say that nothing is known, those that may be values left out."""
    if facts.number:
        return ()
    return tuple(
        value
        for value in facts.values
        if (is_mark(value) or (names_missing(value) and "," not in value)) and not _may_be_value(facts, value)
    )


def list_questionable(facts: ColumnFacts) -> tuple[str, ...]:
    """List the values of a column of words that may mean missing, and may be values."""
    return () if facts.number else tuple(value for value in facts.values if _may_be_value(facts, value))


def _may_be_value(facts: ColumnFacts, value: str) -> bool:
    """Tell whether a mark may be a value: NA is also Native American, and a dash among words may mean no."""
    mark = value.strip().casefold()
    if facts.share >= _NUMBERS:
        return False
    if mark == "na":
        return bool(fit_name(facts.name, "race") or fit_name(facts.name, "ethnicity"))
    return mark in _ANSWERS


def list_published(table: TableFacts, name: str) -> tuple[str | float, ...]:
    """List the codes in a column that mean missing in the public layout of the table."""
    if table.layout is None:
        return ()
    listed = table.layout.missing.get(name.strip().casefold(), ())
    return tuple(code for code in listed if table.count(name, [code]))
