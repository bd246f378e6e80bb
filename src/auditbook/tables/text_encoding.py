"""Is a text file that is not UTF-8 certain to be of the Windows-1252 family, to which Latin-1 belongs?"""

import re
from dataclasses import dataclass
from pathlib import Path

from auditbook.tables.text_records import open_bytes

WESTERN = "windows-1252"
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
"""Letters in UTF-8, which make a file one of several encodings."""

_SIGNS = re.compile(r"(?<=\d)[ªº°]|[°µ§±€\u2013«»]|(?<=m)[²³](?![^\W\d_])|(?<=[^\W\d_])\u2019(?=[^\W\d_])")
"""Signs that stand in such tables beside letters: m², µg, 1º, an apostrophe."""

_MISPLACED = re.compile(r"[A-Z][à-öø-ÿ][A-Z]|[^\x00-\x7f]{3}")
"""A small letter between capitals, or three letters with accents: words of another encoding."""


_WORDS = frozenset("àÀéÉ")
"""Words of one letter; beside them, letters with accents stand among others."""


@dataclass(frozen=True)
class _Language:
    """How a language writes its letters beyond a to z, so that it is told from other encodings."""

    letters: str
    proof: str  # A pattern, one match of which says that it is this language
    refuted: str  # A pattern that the language does not have


_SHARED = frozenset("äöüßé")
"""Letters that have one place in the encodings of western, central, eastern and Turkish Europe."""

_LANGUAGES = (
    _Language("âçàéèêëîïôùûœ", "é", r"(?<![a-z])è(?![a-z])|(?<=[à-ÿ])è|è(?![bcdfglmnpqrstvz])"),
    _Language("áâãàçéêíóôõúü", "ção|ções|ão|ões", r"ã(?![oe])|õ(?!e)"),
    _Language("áéíñóúü", "[aeiou]ñ[aeiou]|ión|ía", "ñ(?![aeiou])"),
    _Language("åäöé", "å", "$^"),
    _Language("åæøé", "å", "$^"),
)
"""French, Portuguese, Spanish, Swedish, Danish and Norwegian; German has shared letters only."""


def find_western(path: Path) -> str | None:
    """Return the name of Windows-1252 where a file is in it or in Latin-1 for certain, else None.

    That is so where every sign beyond ASCII is a letter of one western language, stands in words as that
    language has it, and none would be another letter in the encodings of central Europe, the Baltic, Turkey,
    Mac OS or DOS unless a spelling such as "ção" proves the language. A file that is UTF-8 is not looked at.
    """
    words: set[bytes] = set()
    with open_bytes(path) as stream:
        for line in stream:
            if not line.isascii():
                words.update(
                    word for word in re.split(rb"[^\x80-\xffA-Za-z0-9]+", line) if not word.isascii()
                )
    if any(_UTF8.search(word) for word in words):
        return None
    try:
        return WESTERN if _is_western({word.decode(WESTERN) for word in words}) else None
    except UnicodeDecodeError:
        return None


def _is_western(words: set[str]) -> bool:
    """Tell whether words are of one language of western Europe, by its letters and where they stand."""
    bare = {_SIGNS.sub("", word) for word in words}
    bare = {word for word in bare if not word.isascii()}
    alone = any(not re.search("[A-Za-z]", word) for word in bare - _WORDS)
    if bare <= _WORDS or alone or any(_MISPLACED.search(word) for word in bare):
        return False
    text = " ".join(sorted(bare)).lower()
    letters = {letter for letter in text if not letter.isascii()}
    return letters <= _SHARED or any(
        letters <= set(language.letters)
        and re.search(language.proof, text) is not None
        and re.search(language.refuted, text) is None
        for language in _LANGUAGES
    )
