"""How is the line written that cures a caution, ready to be pasted over the one in the cohort file?"""

from collections.abc import Iterable, Mapping

from auditbook.cohort import CohortFile
from auditbook.intake.toml_text import quote
from auditbook.key_types import Value
from auditbook.tables import show


def write_list(key: str, values: Iterable[Value]) -> str:
    """Write a key that holds a list of texts, numbers or truth values.

    >>> write_list("late", ["los", "drg"])
    'late = ["los", "drg"]'
    """
    return f"{key} = [{', '.join(map(_write_value, values))}]"


def _write_value(value: Value) -> str:
    """Write one value; text in quotes."""
    return quote(value) if isinstance(value, str) else show(value)


def write_words(key: str, words: Mapping[str, str]) -> str:
    """Write a key that holds a table of words.

    >>> write_words("groups", {"010001": "10001"})
    'groups = { "010001" = "10001" }'
    """
    pairs = ", ".join(f"{quote(value)} = {quote(name)}" for value, name in words.items())
    return f"{key} = {{ {pairs} }}"


def exclude_line(file: CohortFile, names: Iterable[str]) -> str:
    """Write the lines of ``[features]`` with which these columns are no features; others stay as they are."""
    out, features = list(names), file.features
    if features.include is not None:
        if not set(out) <= set(features.include):
            return "take them out of include"
        lines = [write_list("include", [name for name in features.include if name not in out])]
    else:
        lines = [write_list("exclude", dict.fromkeys((*features.exclude, *out)))]
    if set(features.late) & set(out):
        lines.append(write_list("late", [name for name in features.late if name not in out]))
    return " and ".join(lines)


def late_line(file: CohortFile, names: Iterable[str]) -> str:
    """Write the line of ``[features]`` that names these columns as late, beside those named already."""
    return write_list("late", dict.fromkeys((*file.features.late, *names)))


def list_names(names: Iterable[str]) -> str:
    """Name columns in a sentence.

    >>> list_names(["los", "drg"])
    "'los', 'drg'"
    """
    return ", ".join(f"'{name}'" for name in names)
