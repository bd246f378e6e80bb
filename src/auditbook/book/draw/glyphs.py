"""How is a name drawn whose letters the figures' font does not have: by which font, or by which number?"""

import re
from functools import cache

from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.text import Text

FONT = "DejaVu Sans"
PLAIN = ("normal", 400)
"""Style and weight of the fonts that are looked at."""
NO_FONT = "Last Resort"
"""Name of fonts that draw a box for every letter."""
INVISIBLE = "\N{ZERO WIDTH SPACE}"
_ENDS = r"\s,;:()|=/"
_families: list[str] = [FONT]
_numbers: dict[str, int] = {}


@cache
def find_font(sign: str) -> str:
    """Find an installed font that has a letter: the figures' own, else the first; blank if none has."""
    if ord(sign) in _list_letters(font_manager.findfont(FONT)):
        return FONT
    fonts = {(one.name, one.fname) for one in font_manager.fontManager.ttflist if _is_plain(one)}
    ranked = sorted(fonts, key=lambda font: ("Sans" not in font[0], font))
    return next((name for name, path in ranked if ord(sign) in _list_letters(path)), "")


def _is_plain(font: font_manager.FontEntry) -> bool:
    return (font.style, font.weight) == PLAIN and NO_FONT not in font.name


@cache
def _list_letters(path: str) -> frozenset[int]:
    """List the code points that a font can draw at any size; none of a font that cannot be read."""
    try:
        font = font_manager.get_font(path)
    except (OSError, RuntimeError):
        return frozenset()
    return frozenset(font.get_charmap()) if font.scalable else frozenset()


def put_drawable(text: str) -> str:
    """Put a number in place of each name, or part of one, that no installed font can draw.

    Letters of other fonts are lent to the figures; `lend_fonts` gives them to one that is about to be drawn.
    """
    found = {sign: find_font(sign) for sign in set(text) if not sign.isspace()}
    _families.extend(sorted(set(found.values()).difference(_families, [""])))
    lacking = "".join(sign for sign, font in found.items() if not font)
    if not lacking:
        return text
    word = rf"[^{_ENDS}]*[{re.escape(lacking)}][^{_ENDS}]*"
    return re.sub(rf"{word}(?:\s+{word})*", lambda name: f"[{_number(name[0])}]", text)


def _number(name: str) -> int:
    """Give a name its number: they are counted in the order in which they are first drawn."""
    return _numbers.setdefault(" ".join(name.split()), len(_numbers) + 1)


def lend_fonts(figure: Figure) -> None:
    """Let the texts of a figure take letters from the fonts that were found for them."""
    if len(_families) > 1:
        for text in figure.findobj(Text):
            text.set_fontfamily(_families)


def name_numbers(text: str) -> dict[str, str]:
    """List the numbers that stand for names in a text, each with its name, in order."""
    names = {f"[{number}]": name for name, number in _numbers.items()}
    return {sign: name for sign, name in names.items() if sign in text}


def write_key(text: str) -> str:
    """Write which names the numbers in a text stand for; blank where there are none."""
    told = "; ".join(f"{sign} is {name}" for sign, name in name_numbers(text).items())
    return f"Numbers for names that no font here can draw: {told}." if told else ""
