"""Which tables and keys may a cohort file have, and of which kind is each?"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from auditbook.errors import InputError, nearest, printable
from auditbook.pocket_settings import PARTITIONS, STARTS, UNITS, PocketSettings
from auditbook.settings import EXTRA_METRIC_NAMES, METRIC_NAMES, Protocol


@dataclass(frozen=True)
class Key:
    """One key of a cohort file."""

    name: str  # The key as it is written
    kind: str  # One of the names in `KINDS`: what the value must be
    default: str  # What holds when the key is left out, in words; ``required`` when it may not be
    choices: tuple[str, ...] = ()  # The only values allowed; empty when any value of the kind is

    @property
    def required(self) -> bool:
        """True when the key may not be left out."""
        return self.default == "required"


class Faults:
    """Faults found so far, so that all are told at once."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[str] = []

    def add(self, where: str, what: str) -> None:
        """Note one fault: the table and key, and a sentence; what cannot be printed is escaped."""
        self.found.append(printable(f"{self.file}: {where}: {what}"))

    def raise_any(self) -> None:
        """Raise InputError with every fault, if there is one."""
        if self.found:
            raise InputError(*self.found)


def show(value: object, *, width: int = 60) -> str:
    """Write a value so that a reader sees its kind and its blanks."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = repr(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def is_number(value: Any) -> bool:
    """Tell whether a value of a cohort file is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)


def _is_finite(value: float) -> bool:
    """Tell whether a number is finite and small enough to be computed with."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_value(value: Any) -> bool:
    return isinstance(value, str | bool) or is_number(value)


def _is_list(value: Any, test: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(test(item) for item in value)


def _is_mapping(value: Any, test: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(test(item) for item in value.values())


KINDS: Mapping[str, Callable[[Any], bool]] = {
    "text": _is_text,
    "number": is_number,
    "whole number": _is_whole,
    "true or false": lambda value: isinstance(value, bool),
    "text, number or true/false": _is_value,
    "list of texts": lambda value: _is_list(value, _is_text),
    "list of numbers": lambda value: _is_list(value, is_number),
    "list of whole numbers": lambda value: _is_list(value, _is_whole),
    "list of texts, numbers or true/false": lambda value: _is_list(value, _is_value),
    "table of texts": lambda value: _is_mapping(value, _is_text),
    "table of numbers": lambda value: _is_mapping(value, is_number),
    "list of tables": lambda value: _is_list(value, lambda item: isinstance(item, dict)),
}

_PROTOCOL_KINDS = {
    "metrics": "list of texts",
    "thresholds": "table of numbers",
    "audit_sizes": "list of whole numbers",
}


def _protocol_keys() -> tuple[Key, ...]:
    """Derive the keys of ``[protocol]`` from the fields of Protocol."""
    keys = []
    for item in fields(Protocol):
        value = getattr(Protocol(), item.name)
        kind = _PROTOCOL_KINDS.get(item.name, "whole number" if isinstance(value, int) else "number")
        listed = ", ".join(map(str, value)) if isinstance(value, tuple) else f"{value}"
        default = "as published" if item.name == "thresholds" else listed
        choices = (*METRIC_NAMES, *EXTRA_METRIC_NAMES) if item.name == "metrics" else ()
        keys.append(Key(item.name, kind, default, choices))
    return tuple(keys)


SYNTHETIC = ("texas-twin", "care-twin", "icu-twin", "readmission-twin")
_POCKET_CHOICES = {"unit": UNITS, "partition": PARTITIONS, "start": STARTS}
_POCKET_DEFAULTS = {
    "candidates": "a third",
    "models": "the first two of the panel",
    "isotonic": "every score of kind rank",
    "attributes": "all attributes",
    "choice_attributes": "those that are compared",
    "level": "0.025; 0.0125 with sites; 0.05 for a continuous outcome",
    "error_level": "the level",
    "support_records": "100; 50 for a continuous outcome",
    "choice_records": "150; 75 for a continuous outcome",
    "tolerances": "0.05; a quarter and half of the outcome's standard deviation when it is continuous",
}
_POCKET_KINDS = {
    "level": "number",
    "error_level": "number",
    "support_records": "whole number",
    "choice_records": "whole number",
    "tolerances": "list of numbers",
}


def _pocket_keys() -> tuple[Key, ...]:
    """Derive the keys of ``[pockets]`` from the fields of PocketSettings."""
    kinds = {bool: "true or false", int: "whole number", float: "number", str: "text", tuple: "list of texts"}
    keys = []
    for item in fields(PocketSettings):
        value = item.default
        plain = "nothing" if value == () else show(value) if isinstance(value, bool | float) else f"{value}"
        kind = _POCKET_KINDS.get(item.name) or kinds[type(value)]
        default = _POCKET_DEFAULTS.get(item.name, plain)
        keys.append(Key(item.name, kind, default, _POCKET_CHOICES.get(item.name, ())))
    return tuple(keys)


_ANY = "text, number or true/false"
_ANY_LIST = "list of texts, numbers or true/false"
_RULES = ("error", "group", "drop")

SCHEMA: Mapping[str, tuple[Key, ...]] = {
    "": (Key("name", "text", "required"), Key("title", "text", "the name")),
    "data": (
        Key("path", "text", "required, unless synthetic is set"),
        Key("source", "text", "nothing"),
        Key("drop", "list of tables", "nothing is dropped"),
        Key("synthetic", "text", "a file is read", SYNTHETIC),
        Key("rows", "whole number", "100000"),
        Key("seed", "whole number", "42"),
    ),
    "data.drop": (
        Key("column", "text", "required"),
        Key("values", _ANY_LIST, "required"),
        Key("reason", "text", "required"),
    ),
    "outcome": (
        Key("column", "text", "required"),
        Key("event", _ANY, "required, unless the type is continuous"),
        Key("type", "text", "event", ("event", "continuous")),
        Key("harm", "text", "nothing"),
    ),
    "site": (Key("column", "text", "no site"), Key("required", "true or false", "false")),
    "unit": (Key("column", "text", "the site, else each record"),),
    "attributes.<name>": (
        Key("column", "text", "required"),
        Key("reference", "text", "none"),
        Key("groups", "table of texts", "as found"),
        Key("categories", "list of texts", "as found"),
        Key("bins", "list of numbers", "no bins"),
        Key("labels", "list of texts", "made from the bins"),
        Key("missing", "text", "the rule of [missing]", _RULES),
        Key("missing_values", _ANY_LIST, "none"),
    ),
    "missing": (
        Key("attributes", "text", "error", _RULES),
        Key("outcome", "text", "drop", ("drop", "error")),
        Key("values", _ANY_LIST, "none"),
    ),
    "features": (
        Key("include", "list of texts", "every column without another role"),
        Key("exclude", "list of texts", "nothing"),
        Key("late", "list of texts", "nothing"),
    ),
    "scores.<name>": (
        Key("column", "text", "required"),
        Key("kind", "text", "required", ("probability", "rank", "decision", "value")),
        Key("threshold", "number", "0.5; a rank needs this or percentile"),
        Key("percentile", "number", "none"),
    ),
    "panel": (
        Key("models", "list of texts", "xgboost and logistic; none when scores are given"),
        Key("lean", "list of texts", "nothing"),
        Key("threshold", "number", "0.5"),
        Key("percentile", "number", "none"),
    ),
    "protocol": _protocol_keys(),
    "mitigation": (
        Key("attributes", "list of texts", "the first three attributes"),
        Key("strength", "number", "2"),
        Key("strengths", "list of numbers", "0.5, 1, 1.5, 2, 3, 5"),
        Key("headroom", "number", "0"),
        Key("headrooms", "list of numbers", "0, 0.02, 0.04, 0.06, 0.08, 0.1"),
    ),
    "pockets": _pocket_keys(),
}

REQUIRED_TABLES = ("data", "outcome", "attributes")


def check_keys(table: Any, keys: tuple[Key, ...], where: str, faults: Faults) -> dict[str, Any]:
    """Check one table of a cohort file against its keys."""
    if not isinstance(table, dict):
        faults.add(where, f"must be a table, found {show(table)}; start it with a line {where}")
        return {}
    known = {key.name: key for key in keys}
    for name in table:
        if name not in known:
            allowed = ", ".join(known)
            faults.add(f"{where} {name}".strip(), f"unknown key{nearest(name, known)}; allowed: {allowed}")
    for key in keys:
        if key.required and key.name not in table:
            faults.add(where or "top of the file", f"the key '{key.name}' is missing; add {_line(key)}")
    return {
        name: table[name]
        for name, key in known.items()
        if name in table and _passes(table, key, where, faults)
    }


def _line(key: Key) -> str:
    """Show how a missing key would be written."""
    sample = f'"{key.choices[0]}"' if key.choices else {"text": '"…"'}.get(key.kind, "[…]")
    return f"{key.name} = {sample}"


def _passes(table: Mapping[str, Any], key: Key, where: str, faults: Faults) -> bool:
    """Tell whether a key's value is of the right kind and among the choices; note the fault if not."""
    value, place = table[key.name], f"{where} {key.name}".strip()
    if not KINDS[key.kind](value):
        found = "blank text" if isinstance(value, str) and not value.strip() else show(value)
        article = "" if key.kind.startswith(("text", "true")) else "a "
        faults.add(place, f"must be {article}{key.kind}, found {found}; correct it, or delete the line")
        return False
    wrong = [item for item in (value if isinstance(value, list) else [value]) if item not in key.choices]
    if key.choices and wrong:
        allowed = ", ".join(f"'{choice}'" for choice in key.choices)
        hint = nearest(wrong[0], key.choices) if isinstance(wrong[0], str) else ""
        faults.add(place, f"{show(wrong[0])} is not allowed{hint}; allowed: {allowed}")
        return False
    return True
