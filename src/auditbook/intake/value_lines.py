"""Which line of the cohort file cures a value, with what the file says there already?"""

from collections.abc import Iterable, Mapping, Sequence

from auditbook.cohort import AttributeTable, CohortFile, missing_words, write_numbers
from auditbook.intake.toml_text import quote, write_key
from auditbook.intake.used_columns import UsedColumn
from auditbook.key_types import Value
from auditbook.tables import show

_KEPT = ', with missing = "drop" (left out and counted) or "group" (one group, called missing)'


def missing_line(column: UsedColumn, values: Sequence[str]) -> str:
    """Write the line that makes values mean missing in a column, beside those that do already."""
    found: list[Value] = [value if column.is_text else _number(value) for value in values]
    item = column.attribute
    if item is not None:
        listed = dict.fromkeys((*item.missing_values, *found))
        return f"missing_values = {write_values(listed)}{_KEPT if item.missing == 'error' else ''}"
    known = [
        word
        for word in missing_words(column.file, column.name)
        if column.is_text or not isinstance(word, str)
    ]
    columns = dict(column.file.missing.columns) | {column.name: tuple(dict.fromkeys((*known, *found)))}
    return f"[missing] {columns_line(columns)}"


def columns_line(columns: Mapping[str, Iterable[Value]]) -> str:
    """Write the line of words that mean missing, by column."""
    listed = (f"{write_key(name)} = {write_values(words)}" for name, words in columns.items())
    return f"columns = {{ {', '.join(listed)} }}"


def numbers_line(column: UsedColumn, held: Mapping[str, float]) -> str:
    """Write the line that gives values their numbers in a column, beside those that have one already."""
    if column.role == "feature":
        known = column.file.features.numbers.get(column.name, {})
        return f"[features] numbers.{write_key(column.name)} = {write_numbers({**known, **held})}"
    known = column.attribute.numbers if column.attribute is not None else {}
    return f"numbers = {write_numbers({**known, **held})}"


def groups_line(item: AttributeTable, names: Iterable[tuple[str, str]]) -> str:
    """Write the line that recodes values of an attribute, beside those that it recodes already."""
    pairs = dict(item.groups) | dict(names)
    return f"groups = {{ {', '.join(f'{quote(value)} = {quote(name)}' for value, name in pairs.items())} }}"


def drop_line(file: CohortFile, column: str, values: Iterable[str], reason: str) -> str:
    """Write the entry that leaves records out, as the only one or as one more."""
    entry = f"{{ column = {quote(column)}, values = {write_values(values)}, reason = {quote(reason)} }}"
    return f"one more entry of [data] drop: {entry}" if file.data.drop else f"[data] drop = [{entry}]"


def write_values(values: Iterable[Value]) -> str:
    """Write values as a list of the cohort file."""
    return f"[{', '.join(quote(value) if isinstance(value, str) else show(value) for value in values)}]"


def _number(value: str) -> Value:
    """Read a number that stands for "not known"; whole ones without a point."""
    number = float(value)
    return int(number) if number.is_integer() else number
