"""Which groups, sites, units, and codes in rules stand under more than one way of writing?"""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from auditbook.cohort import Cohort
from auditbook.intake.caution import Caution
from auditbook.intake.cure_lines import write_list, write_words
from auditbook.intake.lookalikes import AlikeNames, find_alike, name_difference, simplify
from auditbook.records import Attribute
from auditbook.tables import as_text

SHOWN = 3
"""Names, or sets of names, that are told of many."""


def warn_alike_groups(cohort: Cohort) -> Iterator[Caution]:
    """Point out groups whose names look alike, and those with blanks at an end."""
    for attribute in (item for item in cohort.attributes if not item.parts):
        where = f"[attributes.{attribute.name}]"
        for name in (name for name in attribute.groups if name != name.strip()):
            yield Caution(where, f"the group {name!r} has blanks at an end; recode it if they are not meant")
        alike = find_alike(_count_groups(attribute))
        if alike:
            yield Caution(
                where,
                _tell_alike("group", alike),
                f"to join them: {_join_groups(cohort, attribute.name, alike)}",
            )


def _count_groups(attribute: Attribute) -> dict[str, int]:
    """Count the records of each group that has any."""
    counts = np.bincount(attribute.codes, minlength=len(attribute.groups))
    return {name: int(count) for name, count in zip(attribute.groups, counts, strict=True) if count}


def _join_groups(cohort: Cohort, name: str, alike: Iterable[AlikeNames]) -> str:
    """Write the recoding of an attribute that joins groups, beside the one that it has."""
    table = next(item for item in cohort.file.attributes if item.name == name)
    joined = {other: one for each in alike for other, one in each.joined.items()}
    words = {value: joined.get(group, group) for value, group in table.groups.items()}
    return write_words("groups", words | joined)


def warn_alike_sites(cohort: Cohort) -> Iterator[Caution]:
    """Point out sites whose names look alike."""
    if cohort.site is None:
        return
    alike = find_alike(_count_names(cohort.site))
    if alike:
        sites = len(set(cohort.site))
        fewer = sites - sum(len(each.names) - 1 for each in alike)
        joined = {other: one for each in alike for other, one in each.joined.items()}
        yield Caution(
            "[site] column",
            f"{_tell_alike('site', alike)}: {sites:,} sites may be {fewer:,}",
            f"to join them: {write_words('groups', dict(cohort.file.site.groups) | joined)}",
        )


def warn_alike_units(cohort: Cohort) -> Iterator[Caution]:
    """Point out units whose names look alike."""
    name = cohort.file.unit.column
    if name is None or name == cohort.file.site.column:
        return
    alike = find_alike(_count_names(cohort.unit))
    if alike:
        yield Caution(
            "[unit] column",
            f"{_tell_alike('unit', alike)}, and would be taken for different units",
            f"if they are the same, write '{name}' in one way in the table",
        )


def _count_names(names: Iterable[str]) -> dict[str, int]:
    """Count the records of each name."""
    return {str(name): int(count) for name, count in pd.Series(list(names)).value_counts().items()}


def _tell_alike(what: str, alike: list[AlikeNames]) -> str:
    """Say which names look alike, with their records, and in what they differ."""
    differ = name_difference(alike[0].names)
    told = "; ".join(_tell_names(each) for each in alike[:SHOWN])
    if len(alike) == 1:
        return f"the {what}s {told} differ in {differ} only"
    more = f"; and {len(alike) - SHOWN:,} more" if len(alike) > SHOWN else ""
    return f"{len(alike):,} sets of {what}s differ in ways of writing only, such as {differ} ({told}{more})"


def _tell_names(alike: AlikeNames) -> str:
    """List names with their records."""
    listed = [f"{name!r} ({count:,})" for name, count in zip(alike.names, alike.counts, strict=True)][
        : SHOWN + 1
    ]
    more = len(alike.names) - len(listed)
    if more:
        return f"{', '.join(listed)} and {more:,} more"
    return f"{', '.join(listed[:-1])} and {listed[-1]}"


def warn_alike_codes(cohort: Cohort) -> Iterator[Caution]:
    """Point out values that a rule of the cohort file misses by their way of writing only."""
    yield from _warn_event(cohort)
    for place, rule in enumerate(cohort.file.data.drop, start=1):
        named = [value for value in rule.values if isinstance(value, str)]
        if missed := _find_missed(cohort, rule.column, named):
            yield Caution(
                f"[data] drop, entry {place}",
                f"'{rule.column}' also holds {_tell_missed(missed)}, which {_verb('stay', missed)} in",
                f"to leave out all: {write_list('values', (*rule.values, *missed))}",
            )
    for table in (item for item in cohort.file.attributes if item.groups):
        targets = {simplify(key): group for key, group in table.groups.items()}
        missed = _find_missed(cohort, table.column, table.groups)
        missed = {
            name: n for name, n in missed.items() if simplify(targets[simplify(name)]) != simplify(name)
        }
        if missed:
            words = dict(table.groups) | {name: targets[simplify(name)] for name in missed}
            yield Caution(
                f"[attributes.{table.name}] groups",
                f"'{table.column}' also holds {_tell_missed(missed)}, which {_verb('stay', missed)} as "
                f"{'it is' if len(missed) == 1 else 'they are'}",
                f"to recode all: {write_words('groups', words)}",
            )
    yield from _warn_missing_words(cohort)
    yield from _warn_words(cohort)


def _warn_event(cohort: Cohort) -> Iterator[Caution]:
    """Point out values of the outcome that look like the event and count as none, or the other way round."""
    rule, name = cohort.file.outcome.rule, cohort.file.outcome.column
    if rule is None or rule.comparison not in ("==", "!=") or not isinstance(rule.value, str):
        return
    if missed := _find_missed(cohort, name, [rule.value]):
        counts = "no event" if rule.comparison == "==" else "an event"
        yield Caution(
            "[outcome] event",
            f"'{name}' also holds {_tell_missed(missed)}, which {_verb('count', missed)} as {counts}",
            f"if {rule.value!r} is meant, write it in one way in the table",
        )


def _warn_missing_words(cohort: Cohort) -> Iterator[Caution]:
    """Point out values that look like one that means missing, and are taken for values."""
    named = [value for value in cohort.file.missing.values if isinstance(value, str) and value.strip()]
    texts = [name for name, column in cohort.table.items() if column.dtype == object] if named else []
    missed = {str(name): found for name in texts if (found := _find_missed(cohort, str(name), named))}
    if missed:
        values = dict.fromkeys(value for found in missed.values() for value in found)
        told = "; ".join(
            f"'{name}' holds {_tell_missed(found)}" for name, found in list(missed.items())[:SHOWN]
        )
        yield Caution(
            "[missing] values",
            f"{told}, taken for {'a value' if len(values) == 1 else 'values'} like any other",
            f"if missing is meant: {write_list('values', (*cohort.file.missing.values, *values))}",
        )


def _warn_words(cohort: Cohort) -> Iterator[Caution]:
    """Point out values that have no word in ``[labels]`` because of their way of writing."""
    groups = {item.name: item.groups for item in cohort.attributes}
    recoded = {item.column: item.groups for item in cohort.file.attributes}
    for name, words in cohort.file.labels.values.items():
        shown = set(words) | set(words.values()) | set(groups.get(name, ())) | set(recoded.get(name, ()))
        missed = {value: n for value, n in _find_missed(cohort, name, words).items() if value not in shown}
        if missed:
            known = {simplify(value): text for value, text in words.items()}
            more = {value: known[simplify(value)] for value in missed}
            yield Caution(
                f"[labels] values.{name}",
                f"'{name}' also holds {_tell_missed(missed)}, without {_count_words(missed)}",
                f"for one word: {write_words(f'values.{name}', dict(words) | more)}",
            )


def _find_missed(cohort: Cohort, column: str, named: Iterable[str]) -> dict[str, int]:
    """Find the values of a column that look like a named one and are none, with their records."""
    known = set(named)
    alike = {simplify(value) for value in known if value.strip()}
    if not alike or column not in cohort.table:
        return {}
    counts = pd.Series(as_text(cohort.table[column])).dropna().value_counts()
    found = [str(name) for name in counts.index if name not in known and simplify(str(name)) in alike]
    return {name: int(counts[name]) for name in sorted(found, key=lambda name: (-counts[name], name))}


def _tell_missed(missed: dict[str, int]) -> str:
    """List values with their records."""
    total = sum(missed.values())
    listed = ", ".join(map(repr, list(missed)[:SHOWN])) + (", …" if len(missed) > SHOWN else "")
    return f"{listed} ({total:,} record{'s' * (total != 1)})"


def _verb(word: str, missed: dict[str, int]) -> str:
    """Inflect a verb for one value or several."""
    return word + "s" * (len(missed) == 1)


def _same(one: str, other: str) -> bool:
    """Tell whether two names are one but for their way of writing."""
    return simplify(one) == simplify(other)


def _count_words(missed: dict[str, int]) -> str:
    """Write "a word" or "words", as many as there are values."""
    return "a word" if len(missed) == 1 else "words"
