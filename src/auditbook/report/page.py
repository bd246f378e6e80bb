"""How does a report look: one page a model that a board can act on, and an annex, as HTML?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from auditbook.report.content import QUESTIONS, Report, Section, Sheet
from auditbook.report.page_matrix import LEGEND, draw_calibrated, draw_shares
from auditbook.report.page_tables import BRIEF, WHOLE, Part, count_printed, lay_sheet, share_rows
from auditbook.report.page_view import LONG_ANSWER, FirstPage, Room, count_lines, fit_page, list_use

if TYPE_CHECKING:
    from jinja2 import Environment

Paper = Literal["A4", "Letter"]
ANNEX_PAGES, MORE_PAGES = 6.6, 1.5
"""Pages of annex that one model has, and those that each further model adds."""
HEAD_LINES = 4.2
"""Lines of caption and heads of a table."""
ANNEX_LINES = {"A4": 74.0, "Letter": 69.0}
"""Lines of a table on a page of the annex."""
WHOLE_PAPER = Room()
DECISIONS = (
    "Use it as it is",
    "Use it with these conditions:",
    "Do not use it",
    "Audit more records first",
    "Repair it, then audit again",
)


@dataclass(frozen=True)
class LaidSection:
    """A part of the annex as it is laid out."""

    key: str
    title: str
    texts: tuple[str, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class View:
    """What the templates lay out."""

    report: Report
    paper: Paper
    title: str
    pages: tuple[FirstPage, ...]
    comparison: LaidSection | None
    annex: tuple[LaidSection, ...]
    style: str
    level: int  # Of the highest heading


def make_page(report: Report, *, paper: Paper = "A4", room: Room = WHOLE_PAPER) -> str:
    """Make the report as one HTML document that needs nothing but itself.

    Parameters
    ----------
    report : Report
        From `build_report`.
    paper : {"A4", "Letter"}
        What it is printed on.
    room : Room
        Share of the paper that is filled: with less, more of a first page stands in the annex, and fewer rows
        of long tables are printed.

    Returns
    -------
    str
        HTML: styles and figures inside it, no script, no address, every text of the cohort escaped.
    """
    style = _read_style("report.css", "document.css") + _page_style(report, paper)
    return _render("report.html.j2", report, paper=paper, room=room, style=style, level=1)


def make_fragment(report: Report) -> str:
    """Make the report as a part of another page, such as the first chapter of the book.

    Parameters
    ----------
    report : Report
        From `build_report`.

    Returns
    -------
    str
        HTML of one element of the class ``ab-report``, with a style that touches nothing outside it; its
        highest heading is of the second level.
    """
    return _render(
        "fragment.html.j2", report, paper="A4", room=WHOLE_PAPER, style=_read_style("report.css"), level=2
    )


def _render(template: str, report: Report, *, paper: Paper, room: Room, style: str, level: int) -> str:
    view = lay_out(report, paper=paper, room=room, style=style, level=level)
    page = (
        _templates()
        .get_template(template)
        .render(
            view=view,
            report=report,
            legend=LEGEND,
            decisions=DECISIONS,
            whole=WHOLE,
            long_answer=LONG_ANSWER,
            list_use=list_use,
            draw_shares=draw_shares,
            draw_calibrated=draw_calibrated,
        )
    )
    return page if page.endswith("\n") else page + "\n"


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("auditbook.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def lay_out(report: Report, *, paper: Paper, room: Room, style: str, level: int) -> View:
    """Choose what stands where."""
    pages = tuple(
        fit_page(report.head, model, QUESTIONS, paper=paper, room=room.of(place))
        for place, model in enumerate(report.pages)
    )
    told = [list_put_off(page) for page in pages] + [list_marks(page) for page in pages]
    words = [section for section in told if section.texts]
    lines = room.annex * ANNEX_LINES[paper] * (ANNEX_PAGES + MORE_PAGES * max(len(pages) - 1, 0))
    most = share_paper(report, lines=lines - _text_lines(report, words))
    annex = (*words, *(_lay_section(section, most) for section in report.annex))
    title = f"Fairness audit: {report.head.title}"
    return View(report, paper, title, pages, _lay_comparison(report), annex, style, level)


def list_put_off(page: FirstPage) -> LaidSection:
    """List what the first page of a model had no room for."""
    findings = [f"{one.statement.text} {one.action}".strip() for one in page.findings_left]
    texts = [f"{block.title}: {' '.join(block.left)}" for block in page.blocks if block.left]
    title = f"From the first page of {page.model.model}"
    return LaidSection("put-off", title, (*findings, *texts), ())


def list_marks(page: FirstPage) -> LaidSection:
    """Say the marks of a model in words."""
    texts = tuple(mark.statement.text for mark in page.model.marks)
    return LaidSection("marks", f"The questions in words: {page.model.model}", texts, ())


def share_paper(report: Report, *, lines: float) -> dict[str, int]:
    """Share the paper of the annex out: rows by the name of a table that cannot be printed whole.

    Tables that only say more of what others say give way first.
    """
    sheets = [sheet for section in report.annex for sheet in section.sheets]
    sizes = {sheet.name: _measure(sheet) for sheet in sheets}
    lines -= sum(HEAD_LINES * parts for _, _, parts in sizes.values())
    brief = {name: size[:2] for name, size in sizes.items() if name in BRIEF}
    others = {name: size[:2] for name, size in sizes.items() if name not in BRIEF}
    found = _cap(brief, lines=lines - _fill(others))
    return found | _cap(others, lines=lines - _fill(brief, found))


def _cap(sizes: Mapping[str, tuple[int, float]], *, lines: float) -> dict[str, int]:
    """Cap the rows of tables so that they fit; empty where all fit whole."""
    most = share_rows(list(sizes.values()), lines=lines)
    return {} if most is None else dict.fromkeys(sizes, most)


def _fill(sizes: Mapping[str, tuple[int, float]], most: Mapping[str, int] | None = None) -> float:
    """Count the lines that the rows of tables take."""
    caps = most or {}
    return sum(min(rows, caps.get(name, rows)) * each for name, (rows, each) in sizes.items())


def _measure(sheet: Sheet) -> tuple[int, float, int]:
    """Count the printed rows of a sheet, the lines of a row over its printed parts, and those parts."""
    parts = [part for part in lay_sheet(sheet) if part.printed]
    return count_printed(sheet), sum(part.row_lines for part in parts), len(parts)


def _text_lines(report: Report, words: Sequence[LaidSection]) -> float:
    """Count the lines of the annex that are sentences."""
    told = [said.text for section in report.annex for said in section.statements]
    texts = told + [text for section in words for text in section.texts]
    return count_lines(texts) / 2 + 3 * (len(report.annex) + len(words))


def _lay_section(section: Section, most: Mapping[str, int]) -> LaidSection:
    laid = (lay_sheet(sheet, most_rows=most.get(sheet.name)) for sheet in section.sheets)
    texts = tuple(said.text for said in section.statements if said.text)
    return LaidSection(section.key, section.title, texts, tuple(part for parts in laid for part in parts))


def _lay_comparison(report: Report) -> LaidSection | None:
    sheet = report.comparison_sheet
    if not report.comparison and sheet is None:
        return None
    sheets = () if sheet is None else (sheet,)
    return _lay_section(Section("comparison", "The models side by side", report.comparison, sheets), {})


@cache
def _read_style(*names: str) -> str:
    return "".join(
        (files("auditbook.report") / "templates" / name).read_text(encoding="utf-8") for name in names
    )


def _page_style(report: Report, paper: Paper) -> str:
    """Set paper, page numbers and the line at the foot of each printed page."""
    title = " ".join(report.head.title.split())
    short = title if len(title) <= 80 else title[:78] + " \u2026"
    foot = f"Fairness audit: {short}" + (f" \u00b7 results {report.head.hash}" if report.head.hash else "")
    return (
        f"@page {{ size: {paper} portrait; @bottom-left {{ content: {_css_text(foot)} }} "
        "@bottom-right { content: counter(page) ' / ' counter(pages) } }\n"
    )


def _css_text(text: str) -> str:
    """Write any text as a string of CSS that ends neither itself nor the style it stands in."""
    return '"' + "".join(one if one.isalnum() and one.isascii() else f"\\{ord(one):x} " for one in text) + '"'
