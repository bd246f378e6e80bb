"""How does a report look: one page a model that a board can act on, and an annex, as HTML?"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from auditbook.report.content import QUESTIONS, Report, Section, Sheet
from auditbook.report.page_matrix import LEGEND, draw_calibrated, draw_shares
from auditbook.report.page_tables import Part, lay_sheet, share_rows
from auditbook.report.page_view import FirstPage, count_lines, fit_page

if TYPE_CHECKING:
    from jinja2 import Environment

Paper = Literal["A4", "Letter"]
ANNEX_PAGES = 6.0
"""Pages of annex that one model has; each further model adds one."""
ANNEX_LINES = {"A4": 74.0, "Letter": 69.0}
"""Lines of a table on a page of the annex."""
ROOMS = (1.0, 0.88, 0.76, 0.64)
"""Shares of the paper that are filled: a smaller one where the page proves longer than foreseen."""
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


def make_page(report: Report, *, paper: Paper = "A4", room: float = 1.0) -> str:
    """Make the report as one HTML document that needs nothing but itself.

    Parameters
    ----------
    report : Report
        From `build_report`.
    paper : {"A4", "Letter"}
        What it is printed on.
    room : float
        Share of the paper that is filled. With less, more of a first page stands in the annex, and fewer rows
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
    return _render("fragment.html.j2", report, paper="A4", room=1.0, style=_read_style("report.css"), level=2)


def _render(template: str, report: Report, *, paper: Paper, room: float, style: str, level: int) -> str:
    view = lay_out(report, paper=paper, room=room, style=style, level=level)
    page = (
        _templates()
        .get_template(template)
        .render(
            view=view,
            report=report,
            legend=LEGEND,
            decisions=DECISIONS,
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


def lay_out(report: Report, *, paper: Paper, room: float, style: str, level: int) -> View:
    """Choose what stands where."""
    pages = tuple(fit_page(report.head, model, QUESTIONS, paper=paper, room=room) for model in report.pages)
    put_off = [section for page in pages if (section := list_put_off(page)).texts]
    sheets = _sheets(report)
    lines = room * ANNEX_LINES[paper] * (ANNEX_PAGES + len(report.pages) - 1)
    most = _most_rows(sheets, lines=lines - _text_lines(report, put_off))
    comparison = _lay_comparison(report, most)
    annex = (*put_off, *(_lay_section(section, most) for section in report.annex))
    title = f"Fairness audit: {report.head.title}"
    return View(report, paper, title, pages, comparison, annex, style, level)


def list_put_off(page: FirstPage) -> LaidSection:
    """List what the first page of a model had no room for."""
    findings = [f"{one.statement.text} {one.action}".strip() for one in page.findings_left]
    texts = [f"{block.title}: {text}" for block in page.blocks for text in block.left]
    title = f"From the first page of {page.model.model}"
    return LaidSection("put-off", title, (*findings, *texts), ())


def _sheets(report: Report) -> list[Sheet]:
    side = [report.comparison_sheet] if report.comparison_sheet is not None else []
    return side + [sheet for section in report.annex for sheet in section.sheets]


def _most_rows(sheets: Sequence[Sheet], *, lines: float) -> int | None:
    """Find how many rows of a table can be printed at most."""
    tables = {}
    for place, sheet in enumerate(sheets):
        parts = lay_sheet(sheet)
        each = sum(part.row_lines for part in parts)
        tables[str(place)] = (len(sheet.table), each)
        lines -= 4.0 * len(parts)  # Captions and heads
    return share_rows(tables, lines=lines)


def _text_lines(report: Report, put_off: Sequence[LaidSection]) -> float:
    """Count the lines of the annex that are sentences."""
    told = [*report.comparison, *(said for section in report.annex for said in section.statements)]
    texts = [said.text for said in told] + [text for section in put_off for text in section.texts]
    return count_lines(texts) / 2 + 3 * (len(report.annex) + len(put_off))


def _lay_section(section: Section, most: int | None) -> LaidSection:
    parts = tuple(part for sheet in section.sheets for part in lay_sheet(sheet, most_rows=most))
    texts = tuple(said.text for said in section.statements if said.text)
    return LaidSection(section.key, section.title, texts, parts)


def _lay_comparison(report: Report, most: int | None) -> LaidSection | None:
    if not report.comparison and report.comparison_sheet is None:
        return None
    sheets = () if report.comparison_sheet is None else (report.comparison_sheet,)
    return _lay_section(Section("comparison", "The models side by side", report.comparison, sheets), most)


@cache
def _read_style(*names: str) -> str:
    return "".join(
        (files("auditbook.report") / "templates" / name).read_text(encoding="utf-8") for name in names
    )


def _page_style(report: Report, paper: Paper) -> str:
    """Set paper, page numbers and the line at the foot of each printed page."""
    foot = _css_text(f"Fairness audit: {report.head.title} \u00b7 results {report.head.hash}")
    return (
        f"@page {{ size: {paper} portrait; @bottom-left {{ content: {foot} }} "
        "@bottom-right { content: counter(page) ' / ' counter(pages) } }\n"
    )


def _css_text(text: str) -> str:
    """Write any text as a string of CSS that ends neither itself nor the style it stands in."""
    plain = " ".join(text.split())
    short = plain if len(plain) <= 110 else plain[:108] + " \u2026"
    return (
        '"' + "".join(one if one.isalnum() and one.isascii() else f"\\{ord(one):x} " for one in short) + '"'
    )
