"""How does text from a cohort stand in a file: what cannot be seen is a code that can be read back.

Control signs tear tables apart and steer terminals, signs that turn the direction of writing let a name read
as another, and lone halves of pairs cannot be written at all. Each is written as a backslash, u and four
hexadecimal digits, or U and eight; a backslash that could be taken for the start of such a code is itself
written as one.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

JOINERS = "\u200c\u200d"
"""Signs that are not seen but shape the letters beside them in Persian, in Indian scripts and in emoji."""
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Kinds of signs (general categories of Unicode) that are not seen."""
_CODE = re.compile(r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8}))")
_START = re.compile(r"\\(?=u[0-9a-f]{4}|U[0-9a-f]{8})")


def show_hidden(text: str) -> str:
    r"""Write what cannot be seen in a text as its code.

    Examples
    --------
    >>> show_hidden("a\rb")
    'a\\u000db'
    """
    if text.isprintable() and "\\" not in text:
        return text
    shielded = _START.sub(lambda _: "\\u005c", text)
    return "".join(_write_code(sign) if _is_hidden(sign) else sign for sign in shielded)


def _is_hidden(sign: str) -> bool:
    is_no_letter = ord(sign) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(sign) <= 0xFDEF
    return is_no_letter or (unicodedata.category(sign) in HIDDEN and sign not in JOINERS)


def _write_code(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def restore_hidden(text: str) -> str:
    r"""Read a text that `show_hidden` has written.

    Examples
    --------
    >>> restore_hidden("a\\u000db")
    'a\rb'
    """
    return _CODE.sub(lambda code: chr(int(code[1] or code[2], 16)), text)


def show_all(content: Any) -> Any:
    """Write what cannot be seen as its code in every text of nested lists and tables of keys."""
    if isinstance(content, str):
        return show_hidden(content)
    if isinstance(content, Mapping):
        return {show_all(key): show_all(value) for key, value in content.items()}
    if isinstance(content, Sequence):
        return [show_all(each) for each in content]
    return content
