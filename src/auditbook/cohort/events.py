"""What counts as an event: a value, or a comparison?"""

import re
from dataclasses import dataclass

from auditbook.key_types import Value

_COMPARISON = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True)
class Event:
    """What counts as an event: ``column <comparison> value``."""

    comparison: str
    value: Value

    @property
    def compares_numbers(self) -> bool:
        """True where cells must be numbers to be compared with the value."""
        return self.comparison in (">", ">=", "<", "<=")


def parse_event(event: Value) -> Event:
    """Read an event: a comparison such as ``"> 3"``, or a value."""
    match = _COMPARISON.fullmatch(event) if isinstance(event, str) else None
    if match is None:
        return Event("==", event)
    sign, text = match.groups()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return Event(sign, text[1:-1])
    for kind in (int, float):
        try:
            return Event(sign, kind(text))
        except ValueError:
            continue
    return Event(sign, text)
