"""What does an instructor show of a chapter: its opening, its table by hand, and what fools the measure?"""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from auditbook.run.contents import chapter_names

if TYPE_CHECKING:
    from lxml.html import HtmlElement

BY_HAND = re.compile(r"by hand|on paper|patients", re.IGNORECASE)
"""How the headings of sections read that are worked out on paper."""
BLIND = re.compile(r"cannot see", re.IGNORECASE)
"""How the heading of a section reads that shows what a measure misses."""
FULL = 420
"""Letters on a slide, about; a table or a figure counts for as many as half of them."""
DROPPED = (
    ".//*[contains(@class, 'cell_input') or contains(@class, 'headerlink') or self::script or self::button]"
)
"""What is not shown on a slide: code, links to headings, buttons."""


@dataclass(frozen=True)
class Slide:
    """One slide: a heading, and what stands below it."""

    heading: str
    blocks: tuple["HtmlElement", ...]


def write_slides(html_folder: Path) -> Path:
    """Write the slides of every chapter of a built book into its folder ``slides``, with a list of them.

    Parameters
    ----------
    html_folder : Path
        A build, as `build_pages` leaves it; pictures and formulas are taken from there.

    Returns
    -------
    Path
        The page that lists them.
    """
    import jinja2
    from lxml import html

    folder = html_folder / "slides"
    folder.mkdir(exist_ok=True)
    text = files("auditbook.run").joinpath("slides.html").read_text(encoding="utf-8")
    template = jinja2.Environment(autoescape=True).from_string(text)
    listed = []
    for name in chapter_names():
        page = html.parse(str(html_folder / "notebooks" / f"{name}.html")).getroot()
        slides = list(_cut(page))
        if not slides:
            continue
        shown = [
            (one.heading, [html.tostring(block, encoding="unicode") for block in one.blocks])
            for one in slides
        ]
        (folder / f"{name}.html").write_text(
            template.render(title=slides[0].heading, slides=shown), encoding="utf-8"
        )
        listed.append((name, slides[0].heading, len(slides)))
    (folder / "index.html").write_text(
        template.render(title="Slides", listed=listed, slides=[]), encoding="utf-8"
    )
    return folder / "index.html"


def _cut(page: "HtmlElement") -> Iterator[Slide]:
    """Cut the sections of a chapter that are shown into slides."""
    for article in page.xpath("//article//section[h1]")[:1]:
        title = _read_heading(article.find("h1"))
        opening = [
            block for block in article if block.tag in ("p", "div") and not block.xpath(".//*[@class='cell']")
        ]
        yield from _fill(title, [block for block in opening if "cell" not in block.get("class", "").split()])
        sections = article.xpath("section")
        by_hand = [one for one in sections if BY_HAND.search(_read_heading(one.find("h2")))][:1] or sections[
            :1
        ]
        blind = [one for one in sections if BLIND.search(_read_heading(one.find("h2")))][:1]
        for section in [*by_hand, *blind]:
            yield from _fill(_read_heading(section.find("h2")), list(_list_blocks(section)))


def _read_heading(heading: "HtmlElement | None") -> str:
    """Read a heading without the mark of its link."""
    return "" if heading is None else " ".join(heading.text_content().replace("#", "").split())


def _list_blocks(section: "HtmlElement") -> Iterator["HtmlElement"]:
    """List what stands in a section, those below it included, in order; headings of these become lines."""
    for block in section:
        if block.tag == "section":
            yield from _list_blocks(block)
        elif isinstance(block.tag, str) and block.tag not in ("h2", "script"):
            yield block


def _fill(heading: str, blocks: list["HtmlElement"]) -> Iterator[Slide]:
    """Put blocks on as many slides as they need."""
    held: list[HtmlElement] = []
    letters = 0
    for block in (_clean(one) for one in blocks):
        size = _measure(block)
        if not size:
            continue
        if held and letters + size > FULL:
            yield Slide(heading, tuple(held))
            held, letters = [], 0
        held.append(block)
        letters += size
    if held:
        yield Slide(heading, tuple(held))


def _clean(block: "HtmlElement") -> "HtmlElement":
    """Copy a block without what is not shown; its pictures are found from the folder of the slides."""
    copied = deepcopy(block)
    copied.tail = None
    for dropped in copied.xpath(DROPPED):
        dropped.drop_tree()
    return copied


def _measure(block: "HtmlElement") -> int:
    """Count the letters of a block; a table or a picture takes half of a slide at least."""
    letters = len(" ".join(block.text_content().split()))
    return max(letters, FULL // 2) if block.xpath(".//img | .//table | self::table") else letters
