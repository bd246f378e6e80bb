"""Which words of a table say that nothing is known, and which are taken for a group, or for nothing?"""

import re
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from auditbook.cohort import AttributeTable, CohortFile, missing_words
from auditbook.intake.caution import Caution
from auditbook.intake.used_columns import UsedColumn, count_values, write_counts
from auditbook.intake.value_lines import columns_line, drop_line, groups_line, missing_line
from auditbook.tables import is_mark, matches, names_missing

_AMBIGUOUS = re.compile(r"[^\W\d_]{1,3}|-?\d{1,4}")
"""Words that mean missing here and are a code there, such as NA (Native American, Namibia) or 9."""

_SHORT = 3
"""Letters of a code."""

_SHOWN = 6


def warn_missing_words(file: CohortFile, frame: pd.DataFrame) -> Iterator[Caution]:
    """Point out words that mean missing in every column and are, or look like, a group in one of them."""
    items = [item for item in file.attributes if item.column and not item.bins]
    for word in (word for word in file.missing.values if isinstance(word, str)):
        declared = any(word in _list_declared(item) for item in items)
        if not declared and not _AMBIGUOUS.fullmatch(word):
            continue
        standing = _find_word(file, frame, word)
        for item in (item for item in items if item.column in standing):
            if word in _list_declared(item):
                yield _warn_declared(file, item, word, standing)
            elif _AMBIGUOUS.fullmatch(word) and _has_codes(frame[item.column], word):
                yield _warn_code(file, item, word, standing)


def _find_word(file: CohortFile, frame: pd.DataFrame, word: str) -> dict[str, int]:
    """Count a word in the columns where it means missing."""
    columns = [str(name) for name in frame if word in missing_words(file, str(name))]
    counts = {name: int(matches(frame[name], word).sum()) for name in columns if frame[name].dtype == object}
    return {name: count for name, count in counts.items() if count}


def _list_declared(item: AttributeTable) -> set[str]:
    """List the values that an attribute's table names as groups."""
    return {*item.groups, *item.categories, *([item.reference] if item.reference else [])}


def _has_codes(cells: pd.Series, word: str) -> bool:
    """Tell whether most other values of a column are as short as the word."""
    others = [value for value in count_values(cells) if value != word]
    return bool(others) and sum(len(value) <= max(_SHORT, len(word)) for value in others) > len(others) / 2


def _warn_declared(file: CohortFile, item: AttributeTable, word: str, standing: Mapping[str, int]) -> Caution:
    """Say that a group is blanked before it can be one."""
    name = item.groups.get(word, word)
    return Caution(
        "[missing] values",
        f"{word!r} means missing in every column, and {_tell_standing(standing)}; but "
        f"[attributes.{item.name}] takes it for a group ({name!r}), of which no record is left",
        _by_column(file, item.column, word, standing),
    )


def _warn_code(file: CohortFile, item: AttributeTable, word: str, standing: Mapping[str, int]) -> Caution:
    """Say that a word for missing looks like the codes of an attribute."""
    return Caution(
        "[missing] values",
        f"{word!r} means missing in every column, and {_tell_standing(standing)}; in '{item.column}' it "
        "looks like the other codes: if it is a group there (NA may be Native American), it is lost",
        _by_column(file, item.column, word, standing),
    )


def _tell_standing(standing: Mapping[str, int]) -> str:
    """Say where a word stands, and how often."""
    pairs = list(standing.items())
    told = [f"'{name}' ({count:,})" for name, count in pairs[:_SHOWN]]
    more = f" and {len(pairs) - _SHOWN:,} more columns" if len(pairs) > _SHOWN else ""
    return f"stands in {', '.join(told)}{more}"


def _by_column(file: CohortFile, column: str, word: str, standing: Mapping[str, int]) -> str:
    """Write the line that keeps a word's meaning in every column but one."""
    others = [name for name in standing if name != column]
    if not others:
        return f"delete {word!r} from values"
    known = {name: list(words) for name, words in file.missing.columns.items()}
    if len(others) > _SHOWN:
        rest = [other for other in file.missing.values if other != word]
        return f"say that it means nothing special there: {columns_line(known | {column: rest})}"
    for name in others:
        known[name] = list(dict.fromkeys((*known.get(name, file.missing.values), word)))
    return f"delete it from values and say where it does: {columns_line(known)}"


def warn_named_missing(used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out groups and sites whose names say that nothing is known: no people, and yet judged as such."""
    for column in used:
        if column.role == "site":
            yield from _warn_site(column)
        elif column.role == "groups" and column.attribute is not None:
            yield from _warn_groups(column, column.attribute, used)


def _warn_groups(column: UsedColumn, item: AttributeTable, used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out the values of one attribute."""
    counts = column.counts
    named = {value: count for value, count in counts.items() if _says_missing(value, item)}
    if named:
        yield _warn_named(column, named)
    for value in counts:
        if is_mark(value) and value not in named and value not in _list_declared(item):
            yield _warn_mark(column, item, value, counts[value], used)


def _says_missing(value: str, item: AttributeTable) -> bool:
    """Tell whether a value, and the group that it is recoded to, say that nothing is known."""
    group = item.groups.get(value, value)
    unmistakable = is_mark(value) and _AMBIGUOUS.fullmatch(value.strip()) is None
    return names_missing(group) or (group == value and unmistakable)


def _warn_named(column: UsedColumn, named: Mapping[str, int]) -> Caution:
    """Say which groups are missing values with a name."""
    says = "say that nothing is known, and are judged like groups of people"
    if len(named) == 1:
        says = "says that nothing is known, and is judged like a group of people"
    return Caution(
        f"{column.where} column", f"{write_counts(named.items())} {says}", missing_line(column, list(named))
    )


def _warn_mark(
    column: UsedColumn, item: AttributeTable, value: str, count: int, used: Sequence[UsedColumn]
) -> Caution:
    """Say that a group has the name of a mark for missing, and where else it stands."""
    beside = (each for each in used if each.name != column.name and each.is_text)
    others = [each.name for each in beside if value in each.counts]
    also = f", and stands in {', '.join(map(repr, others[:_SHOWN]))} too" if others else ""
    return Caution(
        f"{column.where} column",
        f"{value!r} ({count:,}) is a group, though it often means missing{also}",
        f"if it does here: {missing_line(column, [value])}; if it is a group, give its name: "
        f"{groups_line(item, [(value, '…')])}",
    )


def _warn_site(column: UsedColumn) -> Iterator[Caution]:
    """Point out a site that is a missing value with a name."""
    named = {
        value: count
        for value, count in column.counts.items()
        if names_missing(value) or (is_mark(value) and not value.strip().isalpha())
    }
    if named:
        says = "say that the site is not known, and count as sites"
        if len(named) == 1:
            says = "says that the site is not known, and counts as a site"
        yield Caution(
            "[site] column",
            f"{write_counts(named.items())} {says}",
            drop_line(column.file, column.name, named, "no site"),
        )
