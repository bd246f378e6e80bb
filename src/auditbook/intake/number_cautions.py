"""Which columns hold numbers in most cells and text in others, so that every number becomes a name?"""

import re
from collections.abc import Iterator, Sequence

import pandas as pd

from auditbook.cohort import CohortFile, write_numbers
from auditbook.intake.caution import Caution
from auditbook.intake.toml_text import write_key
from auditbook.intake.used_columns import UsedColumn, write_counts
from auditbook.intake.value_lines import missing_line, numbers_line
from auditbook.tables import SOME_PERCENT, PeopleNumbers, held_number, matches, read_people_numbers

_CODE = re.compile(r"[^\W\d_]{1,3}[-.]?\d.*|\d+[^\W\d_]\d.*", re.DOTALL)
"""A code that begins with letters, such as V57: beside numbers it says that these are codes too."""

_PLAIN = re.compile(r"[-+]?[\d.]+")
"""A number as it stands, such as 99: a code for missing, not a number with a sign."""

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
    if SOME_PERCENT in found.ways:
        return Caution(
            column.where,
            f"'{column.name}' has a sign of per cent in some cells and not in others: whether these are "
            "hundredths does not show, so that all are text",
            "write the sign in every cell of the table, or in none",
        )
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
        lines.append(numbers_line(column, held))
    if words:
        line = missing_line(column, words[:_SHOWN])
        more = " and so on" if len(words) > _SHOWN else ""
        lines.append(f"if {'these mean' if len(words) > 1 else 'this means'} missing: {line}{more}")
    return "; ".join(lines)


def warn_numbers_as_missing(file: CohortFile, frame: pd.DataFrame) -> Iterator[Caution]:
    """Point out words for missing that hold a number: called missing, the oldest and the longest are lost."""
    for where, word, columns in _list_words(file, frame):
        number = None if _PLAIN.fullmatch(word) else held_number(word)
        texts = [name for name in columns if frame[name].dtype == object] if number is not None else []
        standing = {name: int(matches(frame[name], word).sum()) for name in texts}
        standing = {name: count for name, count in standing.items() if count}
        if standing and number is not None:
            told = ", ".join(f"'{name}' ({count:,})" for name, count in list(standing.items())[:_SHOWN])
            more = f" and {len(standing) - _SHOWN:,} more columns" if len(standing) > _SHOWN else ""
            yield Caution(
                where,
                f"{word!r} means missing, and stands in {told}{more}; it holds a number, so that the "
                f"largest or "
                "smallest values are lost",
                f"delete it there and give the number: {_number_line(file, list(standing), word, number)}",
            )


def _list_words(file: CohortFile, frame: pd.DataFrame) -> Iterator[tuple[str, str, list[str]]]:
    """List the words that mean missing, with the key that says so and the columns where it holds."""
    columns = [str(name) for name in frame]
    found = [("[missing] values", file.missing.values, [c for c in columns if c not in file.missing.columns])]
    found += [("[missing] columns", words, [name]) for name, words in file.missing.columns.items()]
    found += [
        (f"[attributes.{item.name}] missing_values", item.missing_values, [item.column])
        for item in file.attributes
    ]
    for where, words, named in found:
        present = [name for name in named if name in frame]
        yield from ((where, word, present) for word in words if isinstance(word, str))


def _number_line(file: CohortFile, columns: Sequence[str], word: str, number: float) -> str:
    """Write the line that gives a value its number, in the table of the first role of its columns."""
    tables = {item.column: f"[attributes.{item.name}] numbers" for item in file.attributes}
    tables |= {score.column: f"[scores.{score.name}] numbers" for score in file.scores}
    tables |= {other.column: f"[outcomes.{other.name}] numbers" for other in file.outcomes}
    tables[file.outcome.column] = "[outcome] numbers"
    known = (tables[name] for name in columns if name in tables)
    key = next(known, f"[features] numbers.{write_key(columns[0])}")
    return f"{key} = {write_numbers({word: number})}"
