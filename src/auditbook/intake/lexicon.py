"""What is a column called: which words of six languages and which public layouts does its name hold?"""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_SIGNS = 3
_GLUED = 6
WHOLE, PART = 2, 1


@dataclass(frozen=True)
class Phrase:
    """Words that stand side by side in a name."""

    words: tuple[str, ...]
    whole: bool  # True where nothing else may stand in the name
    language: str

    def place(self, words: Sequence[str]) -> int:
        """Tell where in a name the phrase begins; -1 where it does not stand."""
        length = len(self.words)
        if self.whole and len(words) != length:
            return -1
        starts = range(len(words) - length + 1)
        return next((i for i in starts if all(map(_same, self.words, words[i : i + length]))), -1)


@dataclass(frozen=True)
class PublicLayout:
    """A public table whose columns have fixed names and codes."""

    title: str
    roles: Mapping[str, tuple[str, ...]]  # columns by role, in the letters of the publisher
    words: Mapping[str, Mapping[str, str]]  # what codes stand for, by column in lower case
    missing: Mapping[str, tuple[str | int, ...]]  # codes that mean missing, by column in lower case
    no_score: Mapping[str, tuple[str | int, ...]]  # values that mean that there is no score
    follows: Mapping[str, tuple[str, ...]]  # columns that follow from an outcome, by its name in lower case
    notes: Mapping[str, str]  # what the publisher says of a column

    def names(self, role: str) -> tuple[str, ...]:
        """Return the columns of a role, in lower case."""
        return tuple(name.casefold() for name in self.roles.get(role, ()))


def plain(text: str) -> str:
    """Return text without accents, outer blanks and capitals."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(part for part in parts if not unicodedata.combining(part)).strip().casefold()


def _same(known: str, word: str) -> bool:
    return word.startswith(known[:-1]) if known.endswith("*") else word == known


@cache
def _lexicon() -> dict[str, Any]:
    return tomllib.loads((_HERE / "lexicon.toml").read_text(encoding="utf-8"))


@cache
def list_phrases(role: str) -> tuple[Phrase, ...]:
    """List the phrases by which a role is named, the longest first."""
    found = [
        Phrase(tuple(text.rstrip("=").split()), text.endswith("="), language)
        for language, texts in _lexicon()["roles"][role].items()
        for text in texts
    ]
    return tuple(sorted(found, key=lambda phrase: -len(phrase.words)))


@cache
def list_words(*keys: str) -> tuple[str, ...]:
    """List the words of a table of the lexicon, such as ``values``, ``event``."""
    part = _lexicon()
    for key in keys:
        part = part[key]
    return tuple(part["words"])


@cache
def _known_words() -> frozenset[str]:
    """Collect every word of which a glued name may be made."""
    texts = [text for role in _lexicon()["roles"].values() for texts in role.values() for text in texts]
    words = {word for text in texts for word in text.split() if not word.endswith(("*", "="))}
    words |= {word for part in _lexicon()["not"].values() for word in part["words"]}
    return frozenset(word for word in words if len(word) > 2 and " " not in word) | set(list_words("glue"))


@cache
def split_name(name: str) -> tuple[str, ...]:
    """Split a column's name into plain words: at gaps, capitals, and where two known words are glued."""
    spaced = re.sub(r"(?<=[a-zà-öø-ÿ])(?=[A-ZÀ-Þ])", " ", unicodedata.normalize("NFC", name))
    found: list[str] = []
    for word in re.findall(r"[^\W_]+", plain(spaced)):
        found += _unglue(word)
    return tuple(found)


def _unglue(word: str) -> Sequence[str]:
    """Cut a word into known ones where these cover it; else return it as it is."""
    known = _known_words()
    if len(word) < _GLUED or word in known:
        return [word]
    best: list[list[str] | None] = [[], *[None] * len(word)]
    for end in range(1, len(word) + 1):
        for start in range(end):
            before = best[start]
            if before is not None and word[start:end] in known:
                cut = [*before, word[start:end]]
                held = best[end]
                best[end] = cut if held is None or len(cut) < len(held) else held
    return best[-1] or [word]


@cache
def fit_name(name: str, role: str, *, barred: str = "") -> int:
    """Tell how well a name fits a role: 2 as a whole, 1 in part, 0 not, or with `barred` words."""
    words = split_name(name)
    bare = tuple(word for word in words if word not in _bare_words()) or words
    phrases = list_phrases(role)
    if any(
        phrase.place(part) == 0 and len(phrase.words) == len(part)
        for phrase in phrases
        for part in (words, bare)
    ):
        return WHOLE
    if barred and any(_same(word, each) for word in list_words("not", barred) for each in words):
        return 0
    return PART if any(phrase.place(words) >= 0 for phrase in phrases) else 0


@cache
def _bare_words() -> frozenset[str]:
    return frozenset(word for phrase in list_phrases("identifier") for word in phrase.words)


def says(value: str, *keys: str) -> bool:
    """Tell whether a value is one of the words of a table of the lexicon."""
    return plain(value) in list_words(*keys)


@cache
def _layouts() -> tuple[tuple[frozenset[str], PublicLayout], ...]:
    raw = tomllib.loads((_HERE / "known_layouts.toml").read_text(encoding="utf-8"))
    return tuple(
        (frozenset(name.casefold() for name in part["signature"]), _read_layout(part))
        for part in raw.values()
    )


def _read_layout(part: dict[str, Any]) -> PublicLayout:
    def lower(key: str) -> dict[str, Any]:
        return {name.casefold(): value for name, value in part.get(key, {}).items()}

    return PublicLayout(
        title=part["title"],
        roles={key: tuple(value) for key, value in part.items() if isinstance(value, list)},
        words=lower("words"),
        missing={name: tuple(values) for name, values in lower("missing").items()},
        no_score={name: tuple(values) for name, values in lower("no_score").items()},
        follows={name: tuple(each.casefold() for each in names) for name, names in lower("follows").items()},
        notes=lower("notes"),
    )


def find_layout(columns: Collection[str]) -> PublicLayout | None:
    """Find the public layout that a table has; None where it has none."""
    names = {column.strip().casefold() for column in columns}
    held = [(len(signature & names), layout) for signature, layout in _layouts()]
    best, layout = max(held, key=lambda pair: pair[0])
    return layout if best >= _SIGNS else None
