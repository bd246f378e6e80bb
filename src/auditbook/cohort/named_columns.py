"""Which columns does a cohort file name, and does the table have them?"""

from collections.abc import Iterator, Sequence

from auditbook.cohort.feature_columns import LISTS, is_pattern, match_columns
from auditbook.cohort.schema import CohortFile
from auditbook.errors import nearest
from auditbook.tables import Faults

_SHOWN = 12


def check_columns(file: CohortFile, table: str, columns: Sequence[str], faults: Faults) -> None:
    """Note every column that the cohort file names and the table, called `table`, does not have."""
    some = ", ".join(map(repr, columns[:_SHOWN])) + (", …" if len(columns) > _SHOWN else "")
    for where, name in list_named(file):
        if name not in columns:
            faults.add(where, f"{table} has no column {name!r}{nearest(name, columns)}; it has {some}")
    for key in LISTS:
        for name in getattr(file.features, key) or ():
            if match_columns(name, columns):
                continue
            told = f"{table} has no column {name!r}{nearest(name, columns)}"
            if is_pattern(name):
                told = f"the pattern {name!r} matches no column of {table}"
            faults.add(f"[features] {key}", f"{told}; it has {some}")


def list_named(file: CohortFile) -> Iterator[tuple[str, str]]:
    """List the columns that the file names one by one, each with the key that does."""
    named = [("[outcome] column", file.outcome.column)]
    named += [(f"[outcomes.{item.name}] column", item.column) for item in file.outcomes]
    named += [(f"[data] drop, entry {i}", rule.column) for i, rule in enumerate(file.data.drop, start=1)]
    named += [("[site] column", file.site.column or "")]
    named += [(f"[unit] {file.unit.key}", name) for name in file.unit.names]
    named += [(f"[weight] {key}", name) for key, name in file.weight.columns.items()]
    named += [("[time] column", file.time.column or ""), ("[outcome] time", file.outcome.time or "")]
    named += [(f"[attributes.{item.name}] column", item.column) for item in file.attributes]
    named += [(f"[scores.{item.name}] column", item.column) for item in file.scores]
    named += [("[missing] columns", name) for name in file.missing.columns]
    named += [("[features] numbers", name) for name in file.features.numbers]
    named += [("[pockets] exclude", name) for name in file.pockets.exclude]
    named += [("[pockets] describe", name) for name in file.pockets.describe]
    yield from ((where, name) for where, name in named if name)
