"""What cures cells that are no numbers where numbers are needed: a number for each, or a word for missing?"""

import json
from collections.abc import Mapping, Sequence

import pandas as pd

from auditbook.tables import as_text, held_number, show

_SHOWN = 5


def advise_numbers(cells: pd.Series, *, numbers: str, missing: str) -> str:
    """Advise on cells that are no numbers: those that hold one stand for it, others may mean missing.

    `numbers` and `missing` name the keys of the cohort file, such as "[outcome] numbers". Values that hold a
    number are never advised to mean missing: that would leave out the oldest and the longest.
    """
    counts = pd.Series(as_text(cells)).dropna().value_counts()
    held = {value: number for value in sorted(counts.index) if (number := held_number(value)) is not None}
    others = [value for value in sorted(counts.index) if value not in held]
    advice = []
    if held:
        each = "the number that it stands for" if len(held) == 1 else "the number that each stands for"
        advice.append(f"give {each}: {numbers} = {write_numbers(held)}")
    if others:
        those = "if these mean missing" if not held else f"if {_list(others)} means missing"
        them = "them" if not held else "it" if len(others) == 1 else "them"
        those = those.replace("means", "mean") if len(others) > 1 else those
        advice.append(f"{those}, name {them} in {missing}")
    return "; ".join(advice)


def write_numbers(held: Mapping[str, float]) -> str:
    """Write values and their numbers as the inline table of a cohort file; the first of many."""
    pairs = [f"{json.dumps(value, ensure_ascii=False)} = {_plain(number)}" for value, number in held.items()]
    more = ", …" if len(pairs) > _SHOWN else ""
    return f"{{ {', '.join(pairs[:_SHOWN])}{more} }}"


def _plain(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)


def _list(values: Sequence[str]) -> str:
    """Name the first of some values."""
    return (
        " and ".join(show(value) for value in values[:2])
        if len(values) < 3
        else (", ".join(show(value) for value in values[:3]) + (" and others" if len(values) > 3 else ""))
    )
