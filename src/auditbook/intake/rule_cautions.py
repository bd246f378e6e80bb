"""Which lines of a cohort file do nothing, or say what is already taken?"""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from auditbook.cohort import Cohort, CohortFile, list_numbers, name_lean
from auditbook.errors import nearest
from auditbook.intake.caution import Caution
from auditbook.tables import as_text


def warn_rules(cohort: Cohort) -> Iterator[Caution]:
    """Point out rules of the cohort file that match nothing."""
    dropped = {part.reason: part.rows for part in cohort.left_out}
    for rule in cohort.file.data.drop:
        if dropped.get(rule.reason) == 0:
            yield Caution(
                "[data] drop", f"no record was left out for '{rule.reason}'; check column and values"
            )
    yield from _warn_recoding(cohort)


def _warn_recoding(cohort: Cohort) -> Iterator[Caution]:
    """Point out values that are to be recoded and that no record holds."""
    file = cohort.file
    recoded = [("[site]", file.site.column, file.site.groups)]
    recoded += [(f"[attributes.{item.name}]", item.column, item.groups) for item in file.attributes]
    for where, column, groups in recoded:
        found = _list_held(cohort, column) if column and groups else set()
        for name in (name for name in groups if found and name not in found):
            yield Caution(
                f"{where} groups",
                f"no record holds {name!r}{nearest(name, found - set(groups))}; the line does nothing",
            )


def warn_numbers(file: CohortFile, frame: pd.DataFrame) -> Iterator[Caution]:
    """Point out values that shall stand for a number and that no record holds."""
    for where, column, numbers in list_numbers(file):
        if column not in frame:
            continue
        found = {value for value in as_text(frame[column]) if value is not None}
        for name in (name for name in numbers if name not in found):
            yield Caution(
                where, f"no record holds {name!r}{nearest(name, found - set(numbers))}; it does nothing"
            )


def warn_labels(cohort: Cohort) -> Iterator[Caution]:
    """Point out words of the report for columns and values that are not there, or that are already taken."""
    file, groups = cohort.file, {item.name: item.groups for item in cohort.attributes}
    coded = [*cohort.table.columns, *groups]
    models = [item.name for item in file.scores] + [*file.panel.models, *map(name_lean, file.panel.lean)]
    for where, what, names, known in (
        ("columns", "column, attribute or model", file.labels.columns, [*coded, *models]),
        ("values", "column or attribute", file.labels.values, coded),
    ):
        for name in (name for name in names if name not in known):
            yield Caution(
                f"[labels] {where}", f"there is no {what} {name!r}{nearest(name, known)}; it does nothing"
            )
    held = {name: _list_held(cohort, name) for name in file.labels.values}
    for name, words in file.labels.values.items():
        named = [groups[table.name] for table in file.attributes if name in (table.name, table.column)]
        yield from _warn_unheld(name, words, held[name].union(*named))
    yield from dict.fromkeys(_list_taken(file, groups, held))


def _list_taken(
    file: CohortFile, groups: Mapping[str, Sequence[str]], held: Mapping[str, set[str]]
) -> Iterator[Caution]:
    """Look for taken words among the values of each column, and among the groups of each attribute."""
    values = file.labels.values
    for name, words in values.items():
        yield from _warn_taken(name, words, words, held[name])
    for table in file.attributes:
        known = file.word_groups(table)
        for name in (table.column, table.name):
            shown = {value: text for value, text in values.get(name, {}).items() if known.get(value) == text}
            yield from _warn_taken(name, shown, known, set(groups[table.name]))


def _list_held(cohort: Cohort, name: str) -> set[str]:
    """List the values of a column; none where there is no such column."""
    cells = cohort.table[name] if name in cohort.table else pd.Series(dtype=object)
    return {value for value in as_text(cells) if value is not None}


def _warn_unheld(name: str, words: Mapping[str, str], found: set[str]) -> Iterator[Caution]:
    """Point out words for values that no record holds."""
    for value in (value for value in words if found and value not in found):
        yield Caution(
            f"[labels] values.{name}",
            f"no record holds {value!r}{nearest(value, found - set(words))}; it does nothing",
        )


def _warn_taken(
    name: str, words: Mapping[str, str], known: Mapping[str, str], found: set[str]
) -> Iterator[Caution]:
    """Point out words that another value has as its own name; those of `known` are shown by other words."""
    for value, text in words.items():
        if text != value and text in found and text not in known:
            yield Caution(
                f"[labels] values.{name}",
                f"{value!r} is shown as {text!r}, which is another value's own name",
            )
