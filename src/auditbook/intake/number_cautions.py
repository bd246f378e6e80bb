"""Which columns hold numbers in most cells and text in others, so that every number becomes a name?"""

import re
from collections.abc import Iterator, Sequence

from auditbook.cohort import write_numbers
from auditbook.intake.caution import Caution
from auditbook.intake.used_columns import UsedColumn, write_counts
from auditbook.tables import PeopleNumbers, held_number, read_people_numbers

_CODE = re.compile(r"[^\W\d_]{1,3}[-.]?\d.*|\d+[^\W\d_]\d.*", re.DOTALL)
"""A code that begins with letters, such as V57: beside numbers it says that these are codes too."""

_FEW_NUMBERS = 10
_SHOWN = 5


def warn_text_in_numbers(used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out features, and attributes without bins, that are numbers in most cells and text in the others.

    Where numbers are needed (outcomes that are compared, bins, scores) such cells are faults, not cautions.
    """
    for column in (item for item in used if item.role in ("feature", "groups")):
        found = read_people_numbers(column.cells)
        if found is None or len(column.counts) - len(found.others) < _FEW_NUMBERS:
            continue
        if found.others and not _are_codes([value for value, _ in found.others]):
            yield _warn_mixed(column, found)
        elif not found.others and not found.certain:
            yield _warn_uncertain(column, found)


def _are_codes(values: Sequence[str]) -> bool:
    """Tell whether most values beside numbers are codes, so that the numbers are codes too."""
    return sum(bool(_CODE.fullmatch(value)) for value in values) > len(values) / 2


def _warn_mixed(column: UsedColumn, found: PeopleNumbers) -> Caution:
    """Say how many cells are numbers, which the others are, and what cures each."""
    becomes = "every number is a group" if column.role == "groups" else "a model takes it for names"
    ways = f" ({' and '.join(found.ways)})" if found.ways else ""
    what = (
        f"'{column.name}' is a number in {found.numbers:,} of {found.filled:,} cells{ways}; the others: "
        f"{write_counts(found.others, most=_SHOWN)}; as text, {becomes}"
    )
    return Caution(column.where, what, _cure_mixed(column, [value for value, _ in found.others]))


def _warn_uncertain(column: UsedColumn, found: PeopleNumbers) -> Caution:
    """Say that numbers can be read in two ways, and are not read at all."""
    example = next((value for value in column.counts if "," in value or "." in value), "")
    return Caution(
        column.where,
        f"'{column.name}' may be numbers written for people, such as {example!r}: whether a comma or point "
        f"parts "
        "thousands or decimals does not show, so that all are text",
        'say which: [data] format = { thousands = "," } or { decimal = "," }',
    )


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
