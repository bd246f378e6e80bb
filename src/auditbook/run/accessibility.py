"""What does the theme leave that a keyboard or a screen reader cannot use, and how is it mended?"""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from auditbook.run.glossary_links import GLOSSARY, Term, link_terms, read_glossary

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MENDED = "data-mended"
"""Attribute of a page that has been mended: a page that was not built anew is left as it is."""
SHARPNESS = 2
"""Pixels of a figure's file for each that it takes on the page."""
PNG_SIZE = struct.Struct(">16xII")


def mend_pages(folder: Path) -> int:
    """Mend the faults of the theme in every page that was built anew, and link words of the glossary.

    Parameters
    ----------
    folder : Path
        A build: HTML files and what they show, as Sphinx leaves it.

    Returns
    -------
    int
        Number of pages mended.
    """
    pages = [page for page in folder.rglob("*.html") if "_static" not in page.parts]
    terms = read_glossary(folder)
    return sum(_mend_page(page, terms, folder) for page in pages)


def _mend_page(path: Path, terms: tuple[Term, ...], folder: Path) -> bool:
    """Mend one page in its file and link the words of the glossary, unless that has been done."""
    from lxml import html

    page = html.document_fromstring(path.read_bytes(), parser=html.HTMLParser(encoding="utf-8"))
    if MENDED in page.attrib:
        return False
    for mend in MENDS:
        mend(page)
    if path != folder / GLOSSARY:
        link_terms(page, terms, "../" * len(path.relative_to(folder).parents[:-1]) + GLOSSARY.as_posix())
    for picture in page.iter("img"):
        _size_picture(picture, path.parent)
    page.set(MENDED, "")
    path.write_bytes(html.tostring(page, doctype="<!DOCTYPE html>", encoding="utf-8"))
    return True


def _of(name: str) -> str:
    """Write the condition that an element is of a class."""
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"


def _lay_out_sidebar(page: "HtmlElement") -> None:
    """Show the chapters of every part below its name, and the name once: it leads to the part's opening."""
    for caption in page.xpath(f"//nav[{_of('bd-docs-nav')}]//p[{_of('caption')}]"):
        for entry in caption.xpath(f"following-sibling::*[1]/li[{_of('has-children')}]"):
            _open_part(caption, entry)


def _open_part(caption: "HtmlElement", entry: "HtmlElement") -> None:
    """Put a part's chapters in place of its opening page, which its caption leads to."""
    opening, hidden = entry.find("a"), entry.find("details")
    name = caption.find("span")
    if opening is None or hidden is None or name is None or name.find("a") is not None:
        return
    link = name.makeelement("a", {"href": opening.get("href")})
    link.text, name.text = name.text, None
    if "current" in opening.get("class", "").split():
        link.set("aria-current", "page")
    name.append(link)
    place = entry.getparent().index(entry)
    for chapter in reversed(hidden.findall("ul/li")):
        chapter.set("class", chapter.get("class", "").replace("toctree-l2", "toctree-l1"))
        entry.getparent().insert(place, chapter)
    entry.drop_tree()


def _name_summaries(page: "HtmlElement") -> None:
    """Let every summary be called by the words that it shows, or by what it opens."""
    for summary in page.iter("summary"):
        if summary.text_content().strip():
            summary.attrib.pop("aria-label", None)
        elif "aria-label" not in summary.attrib:
            before = summary.getparent().getprevious()
            name = "" if before is None else before.text_content().strip()
            summary.set("aria-label", f"Pages below: {name}" if name else "More")


def _name_buttons(page: "HtmlElement") -> None:
    """Name buttons that show a picture only by their title."""
    for button in page.iter("button"):
        named = button.text_content().strip() or button.get("aria-label")
        title = button.get("title") or button.get("data-bs-title")
        if not named and title:
            button.set("aria-label", title)


def _list_citations(page: "HtmlElement") -> None:
    """Make a list of references a list, by roles that are still in use."""
    for entry in page.xpath("//*[@role='doc-biblioentry']"):
        entry.set("role", "listitem")
    for link in page.xpath("//*[@role='doc-backlink']"):
        link.attrib.pop("role")
        link.set("aria-label", f"Back to where it is cited: {link.text_content().strip()}")


def _reach_what_scrolls(page: "HtmlElement") -> None:
    """Let the keyboard reach what may be wider than the page."""
    wide = f"//div[{_of('pst-scrollable-table-container')}] | //article//pre | //article//div[{_of('math')}]"
    for region in page.xpath(wide):
        region.set("tabindex", "0")


def _drop_advertisement(page: "HtmlElement") -> None:
    """Drop the place that the theme keeps for somebody else's advertisement."""
    for place in page.xpath("//*[@id='ethical-ad-placement']"):
        place.drop_tree()


MENDS: tuple[Callable[["HtmlElement"], None], ...] = (
    _lay_out_sidebar,
    _name_summaries,
    _name_buttons,
    _list_citations,
    _reach_what_scrolls,
    _drop_advertisement,
)


def _size_picture(picture: "HtmlElement", folder: Path) -> None:
    """Say how large a figure is shown, so that it is sharp and nothing moves when it arrives."""
    path = folder / picture.get("src", "")
    if path.suffix == ".png" and path.is_file() and "width" not in picture.attrib:
        with path.open("rb") as file:
            width, height = PNG_SIZE.unpack(file.read(PNG_SIZE.size))
        picture.set("width", str(width // SHARPNESS))
        picture.set("height", str(height // SHARPNESS))
