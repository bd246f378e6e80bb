"""Which columns hold numbers in most cells and text in others, so that every number becomes a name?"""

import re
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from auditbook.cohort import write_numbers
from auditbook.intake.caution import Caution
from auditbook.intake.used_columns import UsedColumn, write_counts
from auditbook.tables import as_numbers, held_number

NUMBER_SHARE = 0.5
"""Share of the cells that are there from which a column of text is taken for one of numbers."""

_CODE = re.compile(r"[^\W\d_]{1,3}[-.]?\d.*|\d+[^\W\d_]\d.*", re.DOTALL)
"""A code that begins with letters, such as V57: beside numbers it says that these are codes too."""

_FEW_NUMBERS = 10
_SHOWN = 5


def warn_text_in_numbers(used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out features, and attributes without bins, that are numbers in most cells and text in the others.

    Where numbers are needed (outcomes that are compared, bins, scores) such cells are faults, not cautions.
    """
    for column in (item for item in used if item.role in ("feature", "groups")):
        if not column.is_text:
            continue
        others = dict(
            zip(column.counts, as_numbers(pd.Series(list(column.counts), dtype=object)).bad, strict=True)
        )
        others = {value: count for value, count in column.counts.items() if others[value]}
        present = sum(column.counts.values())
        good = present - sum(others.values())
        if not others or len(column.counts) - len(others) < _FEW_NUMBERS or good < NUMBER_SHARE * present:
            continue
        codes = sum(bool(_CODE.fullmatch(value)) for value in others)
        if codes <= len(others) / 2:
            yield _warn_mixed(column, others, good, present)


def _warn_mixed(column: UsedColumn, others: Mapping[str, int], good: int, present: int) -> Caution:
    """Say how many cells are numbers, which the others are, and what cures each."""
    becomes = "every number is a group" if column.role == "groups" else "a model takes it for names"
    what = (
        f"'{column.name}' is a number in {good:,} of {present:,} cells; the others: "
        f"{write_counts(others.items(), most=_SHOWN)}; as text, {becomes}"
    )
    return Caution(column.where, what, _cure_mixed(column, list(others)))


def _cure_mixed(column: UsedColumn, values: Sequence[str]) -> str:
    """Write the lines that make numbers of the cells, or missing ones where they hold none."""
    held = {value: number for value in sorted(values) if (number := held_number(value)) is not None}
    words = [value for value in values if value not in held]
    lines = []
    if column.attribute is not None:
        lines.append("bins = [ … ]")
    if held:
        lines.append(column.numbers_line(write_numbers(held)))
    if words:
        line = column.missing_line(words[:_SHOWN])
        more = " and so on" if len(words) > _SHOWN else ""
        lines.append(f"if {'these mean' if len(words) > 1 else 'this means'} missing: {line}{more}")
    return "; ".join(lines)
