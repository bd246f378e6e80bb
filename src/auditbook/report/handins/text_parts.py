"""How are headings, lists and tables put into a document, so that a screen reader can follow too?"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table, _Cell, _Row

NOT_TEXT = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What an XML file cannot hold."""
SMALL, NORMAL = 9.0, 10.0
"""Sizes of letters in points."""
ROOM = 0.3
"""Height of a row that somebody writes into, in inches."""
LINE = "_" * 28


def clean(text: str) -> str:
    """Put a mark in the place of what a document cannot hold, and set white space to single blanks."""
    return " ".join(NOT_TEXT.sub("\ufffd", text).split())


def start_document(title: str, owner: str) -> "Document":
    """Start a document in English on a Letter page, with its title and owner in its properties."""
    import docx
    from docx.shared import Inches, Pt

    document = docx.Document()
    page = document.sections[0]
    page.page_width, page.page_height = Inches(8.5), Inches(11)
    page.left_margin = page.right_margin = Inches(0.8)
    page.top_margin = page.bottom_margin = Inches(0.7)
    style = document.styles["Normal"]
    style.font.name, style.font.size = "Calibri", Pt(NORMAL)
    style.paragraph_format.space_after = Pt(3)
    _set_language(document)
    _set_properties(document, title, owner)
    return document


def _set_language(document: "Document") -> None:
    """Say in which language the text is."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    properties = document.styles["Normal"].element.get_or_add_rPr()
    language = OxmlElement("w:lang")
    language.set(qn("w:val"), "en-US")
    properties.append(language)


def _set_properties(document: "Document", title: str, owner: str) -> None:
    """Name the document and its owner; no program, no user."""
    properties = document.core_properties
    properties.title, properties.author, properties.language = clean(title), clean(owner), "en-US"
    properties.comments = properties.last_modified_by = properties.keywords = ""
    properties.revision = 1


def add_heading(document: "Document", text: str, level: int = 1) -> None:
    """Add a heading that keeps with what follows it."""
    from docx.shared import Pt, RGBColor

    heading = document.add_heading(clean(text), level)
    heading.paragraph_format.space_before = Pt(7 if level else 0)
    heading.paragraph_format.space_after = Pt(2)
    for run in heading.runs:
        run.font.size = Pt(11 if level else 16)
        run.font.color.rgb = RGBColor(0x1F, 0x2A, 0x37)


def add_paragraph(document: "Document", text: str, *, small: bool = False, strong: bool = False) -> None:
    """Add a paragraph."""
    from docx.shared import Pt

    run = document.add_paragraph().add_run(clean(text))
    run.bold = strong
    if small:
        run.font.size = Pt(SMALL)


def add_list(document: "Document", texts: Sequence[str], *, most: int) -> None:
    """Add a list; of a long one the first items, and how many more there are."""
    from docx.shared import Pt

    more = len(texts) - most
    tail = [f"And {more} more, in the report."] if more > 0 else []
    for text in [*texts[:most], *tail]:
        item = document.add_paragraph(clean(text), style="List Bullet")
        item.paragraph_format.space_after = Pt(1)


def add_boxes(document: "Document", texts: Sequence[str]) -> None:
    """Add boxes to tick, in a line."""
    paragraph = document.add_paragraph()
    for text in texts:
        paragraph.add_run(f"\u2610\u00a0{clean(text)}\u2003")


def add_table(
    document: "Document",
    header: Sequence[str],
    lines: Sequence[Sequence[str]],
    *,
    title: str,
    widths: Sequence[float],
) -> None:
    """Add a table with a name; its header is repeated on every page, and no row is torn apart."""
    table = document.add_table(rows=1, cols=len(header))
    table.style, table.autofit = "Table Grid", False
    _name_table(table, title)
    for cell, text in zip(table.rows[0].cells, header, strict=True):
        _fill(cell, text, strong=True)
    _mark_row(table.rows[0], "w:tblHeader")
    for line in lines:
        row = table.add_row()
        for cell, text in zip(row.cells, line, strict=True):
            _fill(cell, text)
    for row in table.rows:
        _mark_row(row, "w:cantSplit")
        _leave_room(row)
        for cell, width in zip(row.cells, widths, strict=True):
            _set_width(cell, width)


def _fill(cell: "_Cell", text: str, *, strong: bool = False) -> None:
    """Write into a cell of a table."""
    from docx.shared import Pt

    paragraph = cell.paragraphs[0]
    paragraph.paragraph_format.space_after = Pt(0)
    run = paragraph.add_run(clean(text))
    run.bold, run.font.size = strong, Pt(SMALL)


def _set_width(cell: "_Cell", width: float) -> None:
    from docx.shared import Inches

    cell.width = Inches(width)


def _mark_row(row: "_Row", mark: str) -> None:
    """Mark a row as a header that repeats, or as one that is not torn apart."""
    from docx.oxml import OxmlElement

    row._tr.get_or_add_trPr().append(OxmlElement(mark))


def _leave_room(row: "_Row") -> None:
    """Make a row with an empty cell high enough to write into."""
    from docx.shared import Inches

    if not all(cell.text for cell in row.cells):
        row.height = Inches(ROOM)


def _name_table(table: "Table", title: str) -> None:
    """Give a table the name that a screen reader reads."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    caption = OxmlElement("w:tblCaption")
    caption.set(qn("w:val"), clean(title))
    table._tbl.tblPr.append(caption)


def add_page_numbers(document: "Document", text: str) -> None:
    """Write a foot line with the number of the page."""
    from docx.shared import Pt

    paragraph = document.sections[0].footer.paragraphs[0]
    for part in (f"{clean(text)}, page ", "PAGE", " of ", "NUMPAGES"):
        run = paragraph.add_run("" if part.isupper() else part)
        run.font.size = Pt(SMALL)
        if part.isupper():
            _add_field(run._r, part)


def _add_field(run: object, name: str) -> None:
    """Let a word processor fill in a number."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    for kind in ("begin", "", "end"):
        element = OxmlElement("w:fldChar" if kind else "w:instrText")
        if kind:
            element.set(qn("w:fldCharType"), kind)
        else:
            element.text = name
        run.append(element)  # type: ignore[attr-defined]
