"""Which keys may a cohort file have, of which kind, and does a table keep to them?

The fields of `schema`, `settings.Protocol` and `pocket_settings.PocketSettings` declare the keys; pydantic
reads them here, to judge values and to make the JSON schema that editors complete from. It is imported when a
cohort file is read, and not by who opens a finished run.
"""

import re
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, get_type_hints

from auditbook.cohort.schema import CohortFile
from auditbook.errors import nearest
from auditbook.tables import Faults, show

Schema = dict[str, Any]

_KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
_CELL = "text, number or true/false"
_CELLS = "texts, numbers or true/false"
_PLURALS = {
    _CELL: _CELLS,
    "table of texts": "tables of texts",
    "table of numbers": "tables of numbers",
    f"list of {_CELLS}": f"lists of {_CELLS}",
}
_OUT_OF_RANGE = ("greater_than_equal", "less_than_equal", "greater_than", "less_than")

_WRONG_LENGTH = ("string_too_long", "string_too_short")


@dataclass(frozen=True)
class Key:
    """One key of a cohort file."""

    name: str
    kind: str  # what the value must be
    default: str  # what holds when the key is left out, in words; "required" when it may not be
    meaning: str
    choices: tuple[str, ...] = ()  # the only values allowed; empty when any value of the kind is
    limits: str = ""  # the numbers allowed, in words; blank when any is


def name_keys(table: type) -> dict[str, bool]:
    """Name the keys of one table, each with whether it may not be left out."""
    return {
        item.name: item.default is MISSING and item.default_factory is MISSING
        for item in fields(table)
        if item.metadata.get("key", True)
    }


@cache
def make_schema() -> Schema:
    """Make the JSON schema of a cohort file."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(CohortFile).json_schema()
    for table in (schema, *schema["$defs"].values()):
        table["properties"] = {name: _tidy(part) for name, part in table["properties"].items()}
    for table, name in (
        ("AttributeTable", "name"),
        ("ScoreTable", "name"),
        ("OtherOutcomeTable", "name"),
        ("DataTable", "paths"),
        (None, "path"),
    ):
        part = schema["$defs"][table] if table else schema
        del part["properties"][name]
        part["required"] = [other for other in part.get("required", ()) if other != name]
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema}


def _tidy(key: Schema) -> Schema:
    """Leave out what no cohort file can say: nothing, as a value and as a default."""
    if "description" in key:
        key["description"] = " ".join(key["description"].split())
    given = [part for part in key.pop("anyOf", ()) if part.get("type") != "null"]
    key |= given[0] if len(given) == 1 else {"anyOf": given} if given else {}
    return {name: part for name, part in key.items() if name != "title" and (name, part) != ("default", None)}


def list_keys() -> dict[str, tuple[Key, ...]]:
    """List the keys of every table, by its name; the blank name holds those that stand outside of tables."""
    schema = make_schema()
    found: dict[str, tuple[Key, ...]] = {"": ()}
    for name, part in schema["properties"].items():
        if "$ref" in part:
            found |= _list_table(name, part, schema)
        elif "additionalProperties" in part:
            found |= _list_table(f"{name}.<name>", part["additionalProperties"], schema)
        else:
            found[""] += (_describe(name, schema),)
    return found


def _list_table(name: str, reference: Schema, schema: Schema) -> dict[str, tuple[Key, ...]]:
    """List the keys of one table, and those of the entries of a key that holds tables."""
    table = schema["$defs"][_target(reference)]
    found = {name: tuple(_describe(key, table) for key in table["properties"])}
    for key, part in table["properties"].items():
        inner = part if "$ref" in part else part.get("items", {})
        if "$ref" in inner:
            found |= _list_table(f"{name}.{key}", inner, schema)
    return found


def _target(reference: Schema) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


def _describe(name: str, table: Schema) -> Key:
    """Describe one key from the JSON schema of its table."""
    part = table["properties"][name]
    value = part.get("items", part)
    words = part.get("x-left-out") or _show_default(part.get("default", ()))
    return Key(
        name,
        _kind_of(part),
        "required" if name in table.get("required", ()) else words,
        part["description"],
        tuple(value.get("enum", ())),
        _limits_of(value),
    )


def _kind_of(part: Schema) -> str:
    """Say what a value must be."""
    if "anyOf" in part:
        kinds = list(dict.fromkeys(_kind_of(one) for one in part["anyOf"]))
        return _CELL if kinds == ["text", "number", "true or false"] else " or ".join(kinds)
    if "$ref" in part:
        return "table"
    if part["type"] in _KINDS:
        return _KINDS[part["type"]]
    name, inner = ("list", "items") if part["type"] == "array" else ("table", "additionalProperties")
    kind = _kind_of(part[inner])
    return f"{name} of {_PLURALS.get(kind, f'{kind}s')}"


def _limits_of(part: Schema) -> str:
    """Say which numbers are allowed."""
    if "exclusiveMaximum" in part:
        return f"above {show(part['exclusiveMinimum'])} and below {show(part['exclusiveMaximum'])}"
    if "exclusiveMinimum" in part:
        return f"above {show(part['exclusiveMinimum'])}"
    if "maximum" in part:
        return f"{show(part['minimum'])} to {show(part['maximum'])}"
    return f"{show(part['minimum'])} or more" if "minimum" in part else ""


def _show_default(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_show_default, value)) or "nothing"
    return value or "nothing" if isinstance(value, str) else show(value)


def check_keys(raw: Any, table: type, where: str, faults: Faults) -> dict[str, Any]:
    """Check one table of a cohort file against its keys; return the values that pass, lists as tuples."""
    if not isinstance(raw, dict):
        faults.add(where, f"must be a table, found {show(raw)}; start it with a line {where}")
        return {}
    known = name_keys(table)
    for name in raw:
        if name not in known:
            allowed = ", ".join(known)
            faults.add(f"{where} {name}".strip(), f"unknown key{nearest(name, known)}; allowed: {allowed}")
    for name, required in known.items():
        if required and name not in raw:
            line = _write_line(_find_key(table, name))
            faults.add(where or "top of the file", f"the key '{name}' is missing; add {line}")
    return {
        name: tuple(raw[name]) if isinstance(raw[name], list) else raw[name]
        for name in known
        if name in raw and check_value(raw[name], table, name, where, faults)
    }


def read_subtables(
    raw: dict[str, Any], name: str, kind: type, faults: Faults
) -> list[tuple[str, dict[str, Any]]]:
    """Return name and values of each sub-table, such as ``[attributes.race]``."""
    outer = raw.get(name, {})
    if not isinstance(outer, dict):
        faults.add(f"[{name}]", f"must be tables, found {show(outer)}; write one table each: [{name}.NAME]")
        return []
    found = []
    for inner, table in outer.items():
        if not inner.strip():
            faults.add(f"[{name}]", f"the name {show(inner)} is blank; give it one")
        found.append((inner, check_keys(table, kind, f"[{name}.{inner}]", faults)))
    return found


def _find_key(table: type, name: str) -> Key:
    schema = make_schema()
    return _describe(name, schema if table is CohortFile else schema["$defs"][table.__name__])


def _write_line(key: Key) -> str:
    """Show how a missing key would be written."""
    sample = f'"{key.choices[0]}"' if key.choices else {"text": '"…"', _CELL: '"…"'}.get(key.kind, "[…]")
    return f"{key.name} = {sample}"


@cache
def _judge_of(table: type, name: str) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(get_type_hints(table, include_extras=True)[name])


def check_value(value: Any, table: type, name: str, where: str, faults: Faults) -> bool:
    """Tell whether a key's value is what its declaration allows; note the fault if not."""
    from pydantic import ValidationError

    try:
        _judge_of(table, name).validate_python(value)
    except ValidationError as error:
        key, wrong = _find_key(table, name), error.errors(include_url=False)
        told = next(_tell(value, key, wrong), "")
        if told:
            faults.add(f"{where} {name}".strip(), told)
        return not told
    return True


def _tell(value: Any, key: Key, wrong: list[Any]) -> Iterator[str]:
    """Say what is wrong with a value: its kind, or what it chooses, or how large it is."""
    depth = {"list of tables": 2, "table": 1}.get(key.kind)
    if depth:  # what is wrong within an entry is told with the entry
        wrong = [one for one in wrong if len(one["loc"]) < depth]
    chosen = [one["input"] for one in wrong if one["type"] == "literal_error" and _is_text(one["input"])]
    outside = [one["input"] for one in wrong if one["type"] in _OUT_OF_RANGE]
    long = [one["input"] for one in wrong if one["type"] in _WRONG_LENGTH]
    if len(chosen) + len(outside) + len(long) < len(wrong):
        found = "blank text" if isinstance(value, str) and not value.strip() else show(value)
        article = "" if key.kind.startswith(("text", "true")) else "a "
        yield f"must be {article}{key.kind}, found {found}; correct it, or delete the line"
    for one in long:
        yield f'{show(one)} is not one character; write one, such as ";"'
    for one in chosen:
        allowed = ", ".join(f"'{choice}'" for choice in key.choices)
        yield f"{show(one)} is not allowed{nearest(one, key.choices)}; allowed: {allowed}"
    for one in outside:
        fault = "out of range" if re.search(" to | and ", key.limits) else "too small"
        yield f"{show(one)} is {fault}; allowed: {key.limits}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""
