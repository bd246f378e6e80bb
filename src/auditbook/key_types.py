"""Of which kinds are the values of a cohort file's keys? Types that pydantic reads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any

Value = str | int | float | bool
"""A cell of a table, as a cohort file writes it."""

NO_KEY: Mapping[str, bool] = MappingProxyType({"key": False})
"""Metadata of a field that is no key: the program fills it in."""


class Exactly:
    """Take only a value of the type itself, no text for a number and no 1 for true, within `limits`."""

    def __init__(self, **limits: float | str) -> None:
        self.limits = limits

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Tighten what pydantic would accept."""
        schema = dict(handler(source)) | {"strict": True} | self.limits
        return schema | {"allow_inf_nan": False} if schema["type"] == "float" else schema


@dataclass(frozen=True)
class WrittenAs:
    """Say as which type a cohort file writes what the program holds as another."""

    written: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Judge the type that is written."""
        return handler(self.written)


@dataclass(frozen=True)
class LeftOut:
    """Say in words what holds when a key is left out, where its default does not."""

    words: str

    def __get_pydantic_json_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Hand the words on to the JSON schema, in place of the default."""
        schema = handler(source)
        schema["x-left-out"] = self.words
        return schema


Text = Annotated[str, Exactly(pattern=r"\S")]
Whole = Annotated[int, Exactly()]
Number = Annotated[float, Exactly()]
Flag = Annotated[bool, Exactly()]
Cell = Annotated[Value, WrittenAs(str | Number | Flag)]
