"""How does a report look: one page a model that a board can act on, and an annex, as HTML?"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from auditbook.report.content import QUESTIONS, Report
from auditbook.report.page_annex import LaidSection, lay_annex, lay_comparison
from auditbook.report.page_matrix import LEGEND, draw_calibrated, draw_shares
from auditbook.report.page_tables import WHOLE
from auditbook.report.page_view import LONG_ANSWER, FirstPage, Room, fit_page, list_use

if TYPE_CHECKING:
    from jinja2 import Environment

Paper = Literal["A4", "Letter"]
WHOLE_PAPER = Room()
DECISIONS = (
    "Use it as it is",
    "Use it with these conditions:",
    "Do not use it",
    "Audit more records first",
    "Repair it, then audit again",
)


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
    title = f"Fairness audit: {report.head.title}"
    annex = lay_annex(report, pages, paper=paper, room=room.annex)
    return View(report, paper, title, pages, lay_comparison(report), annex, style, level)


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
