"""Which numbers of providers are known by their digits: NPI and CCN?"""

import re
from collections.abc import Iterable

_SHARE = 0.95
_PREFIX = "80840"
"""What stands before an NPI when its check digit is computed (ISO/IEC 7812: health applications, USA)."""
_CCN = re.compile(r"\d{2}[0-9A-Z]\d{3}")


def is_npi(text: str) -> bool:
    """Tell whether text is a National Provider Identifier: ten digits with Luhn's check digit.

    Examples
    --------
    >>> is_npi("1234567893"), is_npi("1234567890")
    (True, False)
    """
    return re.fullmatch(r"[12]\d{9}", text) is not None and _luhn(_PREFIX + text) % 10 == 0


def _luhn(digits: str) -> int:
    """Add the digits from the right, every second one doubled and its own digits added."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + position % 2)
        total += value - 9 if value > 9 else value
    return total


def hold_npis(values: Iterable[str]) -> bool:
    """Tell whether nearly all values are National Provider Identifiers; one in ten numbers is by chance."""
    found = [is_npi(value) for value in values]
    return len(found) > 1 and sum(found) >= _SHARE * len(found)


def hold_ccns(values: Iterable[str]) -> bool:
    """Tell whether all values may be CMS certification numbers: six places, the first two a state's."""
    found = list(values)
    return len(found) > 1 and all(_CCN.fullmatch(value) for value in found)
