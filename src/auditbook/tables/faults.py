"""How are the faults of a cohort file and its data gathered, and its values shown?"""

import math
from typing import Any, TypeGuard

from auditbook.errors import InputError, printable


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


def count_of(number: int, word: str) -> str:
    """Write a number of things, such as "1 row" or "1,200 rows"."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def show(value: object, *, width: int = 60) -> str:
    """Write a value so that a reader sees its kind and its blanks."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= width else text[: width - 1] + "…"


def is_number(value: Any) -> TypeGuard[float]:
    """Tell whether a value of a cohort file is a finite number, small enough to be computed with."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False
