"""How do all result tables of a run become one workbook, with impact ratios in front?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from auditbook.columns import TABLES
from auditbook.report.content import Head, Report
from auditbook.report.handins.impact_sheet import FIELDS, explain_impact, has_table, tabulate_impact
from auditbook.report.handins.office_files import settle_bytes
from auditbook.report.handins.sheets import (
    MOST_ROWS,
    Field,
    add_table,
    add_text,
    find_field,
    head_cell,
    long_cell,
    plain,
    text_cell,
    value_cell,
)
from auditbook.results import Run

if TYPE_CHECKING:
    from openpyxl import Workbook

READ_ME, COLUMNS, IMPACT, IMPACT_NOTES = "read me", "columns", "impact ratios", "impact notes"
COLUMN_FIELDS = (
    Field("", "sheet"),
    Field("", "name"),
    Field("", "title"),
    Field("", "kind"),
    Field("", "meaning"),
)
BLANKS = (
    "A blank cell is a value that is undefined, does not apply or is withheld; it is never a zero. The "
    "columns verdict and shown say inconclusive and open where nothing could be judged or shown."
)


@dataclass(frozen=True)
class Listed:
    """A sheet as the first one lists it."""

    name: str
    rows: int
    about: str


def write(run: Run, report: Report, path: Path) -> None:
    """Write the workbook: what it is, impact ratios, every result table, and what each column means."""
    from openpyxl import Workbook

    tables = {name: getattr(run, name) for name in TABLES if has_table(run, name)}
    impact = tabulate_impact(run, report.head.records) if "groups" in tables else None
    book = Workbook(write_only=True)
    _describe_book(book, report.head)
    _add_read_me(book, report, _list_sheets(tables, impact))
    if impact is not None:
        add_table(book, IMPACT, FIELDS, impact)
    _add_notes(book, _explain(run, report, impact))
    for name, table in tables.items():
        add_table(book, name, _find_fields(name, table), table)
    _add_columns(book, tables)
    book.save(path)
    settle_bytes(path)


def _describe_book(book: "Workbook", head: Head) -> None:
    """Name the workbook in its properties: title and owner, nobody else."""
    book.properties.title = f"Tables of the audit: {head.title}"
    book.properties.creator = head.use.owner
    book.properties.language = "en"


def _list_sheets(tables: dict[str, pd.DataFrame], impact: pd.DataFrame | None) -> list[Listed]:
    """List the sheets that follow the first one."""
    ratios = [] if impact is None else [Listed(IMPACT, len(impact), "One row a model, rate and category.")]
    notes = Listed(IMPACT_NOTES, 0, "What the impact ratios are, and whom they leave out.")
    results = [Listed(name, len(table), _say_what(name, len(table))) for name, table in tables.items()]
    return [*ratios, notes, *results, Listed(COLUMNS, 0, "What each column of the tables means.")]


def _say_what(name: str, length: int) -> str:
    """Say what a row of a table is, and whether the sheet has room for all of them."""
    about = plain(TABLES[name].about)
    if length <= MOST_ROWS:
        return about
    return f"{about} A sheet has room for the first {MOST_ROWS:,} rows; results/{name}.csv holds all."


def _add_read_me(book: "Workbook", report: Report, sheets: Sequence[Listed]) -> None:
    """Add the first sheet: what was audited, how it was made, and which sheets there are."""
    sheet = add_text(book, READ_ME, (26, 12, 100))
    sheet.append([head_cell(sheet, "Tables of an audit of fairness")])
    for name, text in _list_facts(report):
        sheet.append([head_cell(sheet, name), None, long_cell(sheet, text)])
    sheet.append([])
    sheet.append([head_cell(sheet, title) for title in ("sheet", "rows", "what it holds")])
    for one in sheets:
        link = text_cell(sheet, one.name)
        link.hyperlink = f"#'{one.name}'!A1"
        rows = value_cell(sheet, one.rows, "#,##0") if one.rows or one.name in TABLES else None
        sheet.append([link, rows, long_cell(sheet, one.about)])


def _list_facts(report: Report) -> list[tuple[str, str]]:
    """Say what was audited and how; a fact that nobody has given is not listed."""
    head = report.head
    read = "a withheld number" if head.rows_read is None else f"{head.rows_read:,}"
    records = f"{head.records:,} audited of {read} read"
    facts = [
        ("cohort", head.title),
        ("model", " ".join(part for part in (head.use.model, head.use.version) if part)),
        ("owner", head.use.owner),
        ("period", head.use.period),
        ("outcome", head.outcome),
        ("records", records),
        ("left out", head.left_out.text),
        ("population", head.population.text),
        ("made with", f"profile {head.profile}, seed {head.seed}"),
        ("hash of the results", head.hash),
        ("blanks", BLANKS),
        ("small numbers", _say_withheld(report.smallest_cell)),
        ("synthetic", "The records are made up; no person is among them." if head.synthetic else ""),
    ]
    return [(name, text) for name, text in facts if text]


def _say_withheld(smallest: int) -> str:
    """Say which numbers are withheld; nothing where all are told."""
    if smallest <= 1:
        return ""
    return f"Numbers of fewer than {smallest} people are withheld, and those from which they would follow."


def _explain(run: Run, report: Report, impact: pd.DataFrame | None) -> list[str]:
    """Say what is to be said of the impact ratios, or why there are none."""
    if impact is None:
        return ["Not provided by this audit: it counts no decisions, and an impact ratio compares those."]
    return explain_impact(run, report.head.records)


def _add_notes(book: "Workbook", texts: Sequence[str]) -> None:
    """Add the sheet that explains the impact ratios."""
    notes = add_text(book, IMPACT_NOTES, (110,))
    notes.append([head_cell(notes, "Impact ratios in the form of New York City's Local Law 144 of 2021")])
    for text in texts:
        notes.append([long_cell(notes, text)])


def _find_fields(name: str, table: pd.DataFrame) -> list[Field]:
    return [find_field(column, TABLES[name].find(column)) for column in table.columns]


def _add_columns(book: "Workbook", tables: dict[str, pd.DataFrame]) -> None:
    """Add the list of all columns with their meanings."""
    listed = [
        (name, column.name, find_field(column.name, column).title, column.kind, plain(column.meaning))
        for name in tables
        for column in TABLES[name].columns
    ]
    titles = [field.title for field in COLUMN_FIELDS]
    add_table(book, COLUMNS, COLUMN_FIELDS, pd.DataFrame(listed, columns=titles))
