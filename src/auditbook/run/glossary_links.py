"""Where on a page is each word of the glossary used first, so that it can be looked up there?"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

GLOSSARY = Path("book", "glossary.html")
"""The page of the glossary, within a build."""
READ = ("p", "li", "dd", "figcaption")
"""Elements whose words are read for terms."""
SHUT = {
    "a",
    "abbr",
    "button",
    "code",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "label",
    "option",
    "pre",
    "script",
    "style",
}
SHUT |= {"caption", "output", "svg", "table", "textarea"}
"""Elements within which nothing is linked."""
SHUT_CLASSES = {"math", "admonition-title", "toctree-wrapper", "citation", "cell_input", "quiz"}


@dataclass(frozen=True)
class Term:
    """A word of the glossary."""

    word: str
    anchor: str  # Its place on the page of the glossary
    meaning: str  # The first sentence of its entry


def read_glossary(folder: Path) -> tuple[Term, ...]:
    """Read the terms of a built glossary, the longest first; none where there is no glossary."""
    path = folder / GLOSSARY
    if not path.is_file():
        return ()
    from lxml import html

    page = html.parse(str(path), parser=html.HTMLParser(encoding="utf-8"))
    terms = []
    for entry in page.xpath("//dl[contains(@class, 'glossary')]/dt"):
        told = " ".join(entry.xpath("string(following-sibling::dd[1]/p[1])").split())
        word = " ".join("".join(entry.xpath("text()")).split())
        terms.append(Term(word, entry.get("id", ""), re.split(r"(?<=[.:?])\s+(?=[A-Z])", told)[0]))
    return tuple(sorted(terms, key=lambda term: -len(term.word)))


def link_terms(page: "HtmlElement", terms: tuple[Term, ...], glossary: str) -> int:
    """Link the first use of each term on a page to its entry, and return how many were linked.

    Parameters
    ----------
    page : HtmlElement
        A page, changed in place. Titles, tables, code, formulas and what is linked already are left alone.
    terms : tuple of Term
        From `read_glossary`.
    glossary : str
        Address of the glossary as seen from the page.

    Returns
    -------
    int
        Number of links made. Every term has at most one; a word within a longer term is that term.
    """
    left = {_fold(term.word): term for term in terms}
    if not left:
        return 0
    pattern = _find_any(terms)
    count = len(left)
    for element in page.xpath("//article//*[self::p or self::li or self::dd or self::figcaption]"):
        if left and not _is_shut(element):
            _link_words(element, left, pattern, glossary)
    return count - len(left)


def _find_any(terms: tuple[Term, ...]) -> re.Pattern[str]:
    """Write the pattern that finds any of the terms, the longest first."""
    words = "|".join(re.escape(term.word) for term in terms)
    return re.compile(rf"(?<![\w-])(?:{words})(?:s|es)?(?![\w-])", re.IGNORECASE)


def _fold(word: str) -> str:
    """Write a term as it is compared: names in capitals stay, other words are taken small."""
    return word if word.isupper() or not word.islower() else word.lower()


def _is_shut(element: "HtmlElement") -> bool:
    """Tell whether nothing is linked within an element, for what it is or stands in."""
    lineage = [element, *element.iterancestors()]
    return any(one.tag in SHUT or SHUT_CLASSES & set(one.get("class", "").split()) for one in lineage)


def _link_words(
    element: "HtmlElement", left: dict[str, Term], pattern: re.Pattern[str], glossary: str
) -> None:
    """Link terms in an element's own words and in those after its children."""
    _link_text(element, None, left, pattern, glossary)
    for child in list(element):
        if isinstance(child.tag, str) and child.tag not in (*SHUT, *READ) and not _is_shut(child):
            _link_words(child, left, pattern, glossary)
        _link_text(element, child, left, pattern, glossary)


def _link_text(
    element: "HtmlElement",
    after: "HtmlElement | None",
    left: dict[str, Term],
    pattern: re.Pattern[str],
    glossary: str,
) -> None:
    """Link terms in the words at an element's head, or after one of its children."""
    words = element.text if after is None else after.tail
    if not words:
        return
    place = 0 if after is None else element.index(after) + 1
    for kept, term, found in _split(words, left, pattern):
        if term is None:
            _put_words(element, place, kept)
            continue
        link = element.makeelement(
            "a", {"class": "term", "href": f"{glossary}#{term.anchor}", "title": term.meaning}
        )
        _put_words(element, place, kept)
        link.text = found
        element.insert(place, link)
        place += 1


def _split(
    words: str, left: dict[str, Term], pattern: re.Pattern[str]
) -> Iterator[tuple[str, Term | None, str]]:
    """Split words at the first uses of terms: what stands before each, the term, and how it is written."""
    begin = 0
    for found in pattern.finditer(words):
        term = _look_up(found[0], left)
        if term is not None:
            yield words[begin : found.start()], left.pop(_fold(term.word)), found[0]
            begin = found.end()
    yield words[begin:], None, ""


def _look_up(found: str, left: Mapping[str, Term]) -> Term | None:
    """Find the term that is written here, in the singular or the plural, at the head of a sentence or not."""
    for word in (found, found.removesuffix("s"), found.removesuffix("es")):
        for form in (word, word[:1].lower() + word[1:]):
            if form in left:
                return left[form]
    return None


def _put_words(element: "HtmlElement", place: int, words: str) -> None:
    """Make words the text that stands before an element's child at a place."""
    if place == 0:
        element.text = words
    else:
        element[place - 1].tail = words
