"""What does the cohort file change in the cells of a table before they get a role?

Words that mean missing are blanked, values that stand for a number become it, names and codes become text.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from auditbook.cohort.feature_columns import expand_key
from auditbook.cohort.schema import CohortFile
from auditbook.key_types import Value
from auditbook.tables import Faults, PlainTable, as_text, is_missing, name_value, read_people_numbers, show


def recode_table(file: CohortFile, table: PlainTable, faults: Faults) -> PlainTable:
    """Change the cells of a table as its cohort file asks."""
    frame, numbers = table.frame, collect_numbers(file, faults)
    words = {name: missing_words(file, name) for name in frame.columns}
    changed = {name: _blank(frame[name], listed) for name, listed in words.items() if listed}
    for name in numbers.keys() & set(frame.columns):
        changed[name] = put_numbers(changed.get(name, frame[name]), numbers[name])
    texts = _text_names(file, list(frame.columns))
    for name in changed.keys() - texts - _list_compared(file):
        changed[name] = _read_numbers(changed[name])
    for name in texts:
        changed[name] = pd.Series(as_text(changed.get(name, frame[name])))
    categories = {
        name: tuple(value for value in listed if not _means_missing(value, words[name]))
        for name, listed in table.categories.items()
        if name not in numbers
    }
    return replace(table, frame=frame.assign(**changed), categories=categories)


def describe_cells(file: CohortFile) -> dict[str, Any]:
    """Say in plain values what becomes of cells, so that new records are read as the cohort's were."""
    numbers: dict[str, dict[str, float]] = {}
    for _, column, listed in list_numbers(file):
        numbers.setdefault(column, {}).update(listed)
    words = {name: list(listed) for name, listed in file.missing.columns.items()}
    return {"numbers": numbers, "missing": {"values": list(file.missing.values), "columns": words}}


def recode_new(cells: Mapping[str, Any], frame: pd.DataFrame, *, texts: Collection[str]) -> pd.DataFrame:
    """Change the cells of new records as `describe_cells` says; `texts` are the columns that hold names."""
    numbers, missing = cells.get("numbers", {}), cells.get("missing", {"values": [], "columns": {}})
    changed: dict[str, pd.Series] = {}
    for name in map(str, frame.columns):
        before = frame[name]
        column = _blank(before, missing["columns"].get(name, missing["values"]))
        if name in numbers:
            column = put_numbers(column, numbers[name])
        if column is not before:
            changed[name] = column if name in texts else _read_numbers(column)
    return frame.assign(**changed)


def missing_words(file: CohortFile, column: str) -> tuple[Value, ...]:
    """List the values that mean missing in one column."""
    return file.missing.columns.get(column, file.missing.values)


def collect_numbers(file: CohortFile, faults: Faults) -> dict[str, dict[str, float]]:
    """Gather by column which values stand for which number; note a value that stands for two."""
    found: dict[str, dict[str, float]] = {}
    for where, column, numbers in list_numbers(file):
        known = found.setdefault(column, {})
        for value, number in numbers.items():
            if known.setdefault(value, number) != number:
                told = (
                    f"{show(value)} of '{column}' is {show(number)} here and {show(known[value])} elsewhere"
                )
                faults.add(where, f"{told}; a column has one reading: write one number")
    return found


def list_numbers(file: CohortFile) -> Iterator[tuple[str, str, Mapping[str, float]]]:
    """List every key ``numbers``, with where it stands and the column that it reads."""
    tables: list[tuple[str, str, Mapping[str, float]]] = [
        ("[outcome] numbers", file.outcome.column, file.outcome.numbers)
    ]
    tables += [(f"[outcomes.{item.name}] numbers", item.column, item.numbers) for item in file.outcomes]
    tables += [(f"[attributes.{item.name}] numbers", item.column, item.numbers) for item in file.attributes]
    tables += [(f"[scores.{item.name}] numbers", item.column, item.numbers) for item in file.scores]
    tables += [(f"[features] numbers.{name}", name, listed) for name, listed in file.features.numbers.items()]
    yield from (entry for entry in tables if entry[2])


def _text_names(file: CohortFile, columns: Sequence[str]) -> set[str]:
    """Name the columns that hold names or codes, and are text whatever they look like."""
    named = {file.site.column, *file.unit.names, file.weight.strata, file.weight.cluster}
    named |= {item.column for item in file.attributes if item.column and not item.bins}
    named |= expand_key(file, "categories", columns)
    return {name for name in named & set(columns) if name} - {item.column for item in file.scores}


def _list_compared(file: CohortFile) -> set[str]:
    """List the columns whose cells are compared with values of the file, and stay as written."""
    compared = {rule.column for rule in file.data.drop}
    for table in (file.outcome, *(other.as_outcome for other in file.outcomes)):
        if table.rule is not None and table.rule.comparison in ("==", "!="):
            compared.add(table.column)
    return compared


def put_numbers(column: pd.Series, numbers: Mapping[str, float]) -> pd.Series:
    """Put numbers in place of the values that stand for them."""
    codes, values = pd.factorize(as_text(column), use_na_sentinel=True)
    read = [name_value(numbers[value]) if value in numbers else value for value in values]
    return pd.Series(np.array([*read, None], dtype=object)[codes])


def _read_numbers(column: pd.Series) -> pd.Series:
    """Read a column of text as numbers where nothing but numbers is left in it."""
    found = read_people_numbers(column)
    return pd.Series(found.cells) if found is not None and found.whole else column


def _blank(column: pd.Series, values: Sequence[Value]) -> pd.Series:
    """Replace the values that mean "missing" by a missing cell."""
    missing = is_missing(column, values) & ~column.isna().to_numpy()
    if not missing.any():
        return column
    blank: Any = None if column.dtype == object else np.nan
    return column.where(pd.Series(~missing), blank)


def _means_missing(value: object, values: Sequence[Value]) -> bool:
    return bool(is_missing(pd.Series([value], dtype=object), values)[0])
