"""Which number does a piece of text hold, such as "> 89" or "120 +", that is no number by itself?"""

import math
import re

_ONE_NUMBER = re.compile(r"[^\d]*?(?<![^\W\d_])(-?\d[\d.,' \u00a0\u202f]*)[^\d]*")
_ABOVE = re.compile(
    r"\s*(>|over|above|more than|older than|plus de|über|mehr als|más de|mais de|oltre)", re.I
)


def held_number(text: str) -> float | None:
    """Return the one number that a text holds; None where it holds none, several, or a code such as E11.

    The number beyond a bound is meant by a sign for "greater than": whole numbers go one up. After it, a sign
    of per cent means hundredths.

    Examples
    --------
    >>> [held_number(text) for text in ("> 89", "120 +", "<0.2", "< 5 %", "E11", "5-9", "declined")]
    [90.0, 120.0, 0.2, 0.05, None, None, None]
    """
    found = _ONE_NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    number = _read_digits(found[1].strip(" .,'\u00a0\u202f"))
    strictly = _ABOVE.match(text) and "=" not in text[: found.start(1)]
    number = number + 1 if number is not None and strictly and number.is_integer() else number
    percent = text[found.end(1) :].lstrip().startswith("%")
    return float(f"{number!r}e-2") if number is not None and percent else number


def _read_digits(digits: str) -> float | None:
    """Read digits with marks between groups of three, or with a decimal mark."""
    plain = re.sub(r"['\s]", "", digits)
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    elif re.fullmatch(r"-?\d{1,3}(\.\d{3})+,\d+|-?\d{1,3}(\.\d{3}){2,}", plain):
        plain = plain.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"-?\d+,\d+", plain):
        plain = plain.replace(",", ".")
    try:
        number = float(plain)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
