"""What stands behind the first pages, and how much of each table is printed so that it stays short?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auditbook.report.content import Calibrated, Report, Section, Sheet
from auditbook.report.page_forest import Forest, lay_forests
from auditbook.report.page_matrix import draw_calibrated
from auditbook.report.page_tables import BRIEF, Part, count_printed, lay_sheet, share_rows
from auditbook.report.page_view import FirstPage, count_lines

ANNEX_PAGES, MORE_PAGES = 6.6, 1.5
"""Pages of annex that one model has, and those that each further model adds."""
FOREST_LINES = 0.8
"""Lines of a row of a forest plot, two of which stand side by side."""
HEAD_LINES = 4.2
"""Lines of caption and heads of a table."""
ANNEX_LINES = {"A4": 74.0, "Letter": 69.0}
"""Lines of a table on a page of the annex."""


@dataclass(frozen=True)
class LaidSection:
    """A part of the annex as it is laid out."""

    key: str
    title: str
    texts: tuple[str, ...]
    parts: tuple[Part, ...]
    forests: tuple[Forest, ...] = ()


@dataclass(frozen=True)
class Extent:
    """What a table takes on paper: its rows, the lines of a row over all its parts, and those parts."""

    name: str
    rows: int
    each: float
    parts: int


def lay_annex(
    report: Report, pages: Sequence[FirstPage], *, paper: str, room: float
) -> tuple[LaidSection, ...]:
    """Lay out what the first pages leave, their marks in words, and the tables."""
    told = [list_put_off(page) for page in pages] + [list_marks(page) for page in pages]
    words = [section for section in told if section.texts]
    lines = room * ANNEX_LINES[paper] * (ANNEX_PAGES + MORE_PAGES * max(len(pages) - 1, 0))
    most = share_paper(report, lines=lines - _text_lines(report, words))
    return (*words, *(_lay_section(section, most) for section in report.annex))


def list_put_off(page: FirstPage) -> LaidSection:
    """List what the first page of a model had no room for."""
    findings = [f"{one.statement.text} {one.action}".strip() for one in page.findings_left]
    texts = [f"{block.title}: {' '.join(block.left)}" for block in page.blocks if block.left]
    groups = "; ".join(_say_calibrated(row) for row in page.calibration_left)
    texts += [f"Of 100 patients: {groups}."] if groups else []
    title = f"From the first page of {page.model.model}"
    return LaidSection("put-off", title, (*findings, *texts), ())


def _say_calibrated(row: Calibrated) -> str:
    where = ", ".join(filter(None, (row.attribute, row.where)))
    return f"{row.group} ({where}) {draw_calibrated(row).told}"


def list_marks(page: FirstPage) -> LaidSection:
    """Say the marks of a model in words."""
    texts = tuple(mark.statement.text for mark in page.model.marks)
    return LaidSection("marks", f"The questions in words: {page.model.model}", texts, ())


def share_paper(report: Report, *, lines: float) -> dict[str, int]:
    """Share the paper of the annex out: rows by the name of a table that cannot be printed whole.

    Tables that only say more of what others say give way first.
    """
    extents = [_measure(sheet) for section in report.annex for sheet in section.sheets]
    lines -= HEAD_LINES * sum(extent.parts for extent in extents)
    brief = [extent for extent in extents if extent.name in BRIEF]
    others = [extent for extent in extents if extent.name not in BRIEF]
    found = _cap(brief, lines=lines - _fill(others, {}))
    return found | _cap(others, lines=lines - _fill(brief, found))


def _measure(sheet: Sheet) -> Extent:
    parts = [part for part in lay_sheet(sheet) if part.printed]
    return Extent(sheet.name, count_printed(sheet), sum(part.row_lines for part in parts), len(parts))


def _cap(extents: Sequence[Extent], *, lines: float) -> dict[str, int]:
    """Cap the rows of tables so that they fit; empty where all fit whole."""
    most = share_rows([(extent.rows, extent.each) for extent in extents], lines=lines)
    return {} if most is None else {extent.name: most for extent in extents}


def _fill(extents: Iterable[Extent], most: dict[str, int]) -> float:
    """Count the lines that the rows of tables take."""
    return sum(min(one.rows, most.get(one.name, one.rows)) * one.each for one in extents)


def _text_lines(report: Report, words: Sequence[LaidSection]) -> float:
    """Count the lines of the annex that are sentences."""
    told = [said.text for section in report.annex for said in section.statements]
    texts = told + [text for section in words for text in section.texts]
    drawn = sum(len(one.rows) + 3 for section in report.annex for one in lay_forests(section))
    return count_lines(texts) / 2 + 3 * (len(report.annex) + len(words)) + FOREST_LINES * drawn


def _lay_section(section: Section, most: dict[str, int]) -> LaidSection:
    laid = (lay_sheet(sheet, most_rows=most.get(sheet.name)) for sheet in section.sheets)
    texts = tuple(said.text for said in section.statements if said.text)
    parts = tuple(part for parts in laid for part in parts)
    return LaidSection(section.key, section.title, texts, parts, lay_forests(section))


def lay_comparison(report: Report) -> LaidSection | None:
    """Lay out the page that sets the models side by side; None with one model."""
    sheet = report.comparison_sheet
    if not report.comparison and sheet is None:
        return None
    sheets = () if sheet is None else (sheet,)
    return _lay_section(Section("comparison", "The models side by side", report.comparison, sheets), {})
