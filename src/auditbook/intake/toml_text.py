"""How is text from a table written into TOML, whatever it holds?"""

import json
import re
from collections.abc import Iterable, Mapping

from auditbook.errors import printable


def quote(text: str) -> str:
    """Write text as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def write_number(value: float) -> str:
    """Write a number, in full where six digits would change it."""
    short = f"{value:g}"
    return short if isinstance(value, float) and float(short) == value else str(value).removesuffix(".0")


def write_value(value: str | float) -> str:
    """Write a text or number."""
    return quote(value) if isinstance(value, str) else write_number(value)


def write_list(values: Iterable[str | float]) -> str:
    """Write a list of texts and numbers."""
    return f"[{', '.join(map(write_value, values))}]"


def write_key(name: str) -> str:
    """Write a key, in quotes where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quote(name)


def write_pairs(pairs: Mapping[str, str | float]) -> str:
    """Write a table in one line."""
    return "{ " + ", ".join(f"{write_key(key)} = {write_value(value)}" for key, value in pairs.items()) + " }"


def comment(text: str) -> str:
    """Write a line of comment; what cannot be printed is escaped."""
    return f"# {printable(text)}"


def write_literal(event: str | int) -> str:
    """Write an event so that a value is never read as a comparison."""
    if isinstance(event, int):
        return str(event)
    compared = re.fullmatch(r"(>=|<=|>|<|==|!=) (-?[\d.e+]+|\".*\")", event)
    if re.match(r"\s*[<>=!]", event) and not compared:
        return quote(f'== "{event}"')
    return quote(event)
