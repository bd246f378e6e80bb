"""How is a table put into a workbook: text that nothing runs, numbers in their format, blanks left blank?"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from auditbook.columns import Column, Kind
from auditbook.results import FORMULA_STARTS

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.cell import Cell
    from openpyxl.worksheet._write_only import WriteOnlyWorksheet

Value = str | float | int | bool | None
MOST_ROWS = 1_048_576 - 2
"""Rows that a sheet has room for, beside its header."""
DIGITS: Mapping[Kind, int] = MappingProxyType({"share": 1, "number": 3, "count": 0})
NARROW, WIDE = 9, 48
LOOKED_AT = 200
"""Rows whose cells a column's width is taken from."""
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True)
class Field:
    """A column of a sheet."""

    name: str  # In the result file; blank where it stands in none
    title: str
    kind: Kind = "text"
    digits: int | None = None

    @property
    def format(self) -> str:
        """How a spreadsheet shows its numbers."""
        if self.kind in ("text", "truth"):
            return "General"
        digits = DIGITS[self.kind] if self.digits is None else self.digits
        part = f".{'0' * digits}" if digits else ""
        return f"0{part}%" if self.kind == "share" else f"#,##0{part}"


def find_field(name: str, column: Column | None) -> Field:
    """Say how a column of a result file is headed and shown; one of a family goes by its own name."""
    if column is None:
        return Field(name, name)
    title = name.replace("_", " ") if column.family else column.title
    return Field(name, title, column.kind, column.digits)


def plain(markdown: str) -> str:
    """Take the marks of Markdown off a text of the catalogue."""
    return " ".join(LINK.sub(r"\1", markdown).replace("`", "").replace("\\", "").split())


def add_table(book: "Workbook", name: str, fields: Sequence[Field], table: pd.DataFrame) -> None:
    """Add a sheet with a table, or with as many of its rows as there is room for; the header is frozen."""
    named = any(field.name for field in fields)
    header = 1 + named
    sheet = book.create_sheet(name)
    shown = table.iloc[:MOST_ROWS]
    sheet.freeze_panes = f"A{header + 1}"
    columns = [_read_values(shown[column], field) for column, field in zip(shown, fields, strict=True)]
    _set_widths(sheet, [_measure(field, values) for field, values in zip(fields, columns, strict=True)])
    sheet.append([head_cell(sheet, field.title) for field in fields])
    if named:
        sheet.append([name_cell(sheet, field.name) for field in fields])
    sheet.auto_filter.ref = f"A{header}:{_letter(len(fields))}{header + len(shown)}"
    formats = [field.format for field in fields]
    for row in zip(*columns, strict=True):
        sheet.append([value_cell(sheet, value, how) for value, how in zip(row, formats, strict=True)])


def add_text(book: "Workbook", name: str, widths: Sequence[int]) -> "WriteOnlyWorksheet":
    """Add a sheet of sentences and short lists."""
    sheet = book.create_sheet(name)
    _set_widths(sheet, widths)
    return sheet


def _read_values(cells: pd.Series, field: Field) -> list[Value]:
    """Read the cells of a column: truth as truth, counts whole, blanks None, the infinite as a word."""
    return [_read_value(cell, field.kind) for cell in cells.tolist()]


def _read_value(cell: Value, kind: Kind) -> Value:
    if isinstance(cell, str) or cell is None:
        return cell or None
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    if math.isnan(cell):
        return None
    if math.isinf(cell):
        return "inf" if cell > 0 else "-inf"
    if kind == "truth":
        return bool(cell)
    return int(cell) if kind == "count" and float(cell).is_integer() else cell


def value_cell(sheet: "WriteOnlyWorksheet", value: Value, how: str = "General") -> "Cell | None":
    """Make a cell of a value; None leaves it blank."""
    from openpyxl.cell import WriteOnlyCell

    if value is None:
        return None
    if isinstance(value, str):
        return text_cell(sheet, value)
    cell = WriteOnlyCell(sheet, value)
    if how != "General":
        cell.number_format = how
    return cell


def text_cell(sheet: "WriteOnlyWorksheet", text: str) -> "Cell":
    """Make a cell of text: it stays text whatever it looks like, also when somebody edits it."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    cell = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("\ufffd", text))
    cell.data_type = "s"
    if text.startswith(FORMULA_STARTS):
        cell.quotePrefix = True
    return cell


def head_cell(sheet: "WriteOnlyWorksheet", text: str) -> "Cell":
    """Make a cell that heads a column or a part of a sheet."""
    from openpyxl.styles import Alignment, Font

    cell = text_cell(sheet, text)
    cell.font = Font(bold=True)
    cell.alignment = Alignment(wrap_text=True, vertical="bottom")
    return cell


def name_cell(sheet: "WriteOnlyWorksheet", text: str) -> "Cell":
    """Make a cell with the name of a column in the result file."""
    from openpyxl.styles import Font

    cell = text_cell(sheet, text)
    cell.font = Font(italic=True, color="595959", size=9)
    return cell


def long_cell(sheet: "WriteOnlyWorksheet", text: str) -> "Cell":
    """Make a cell with a sentence or more, broken into lines."""
    from openpyxl.styles import Alignment

    cell = text_cell(sheet, text)
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    return cell


def _measure(field: Field, values: Sequence[Value]) -> int:
    """Choose the width of a column from its name and its first cells; a title breaks into lines."""
    words = [field.name, *field.title.split(), *(_write(value, field) for value in values[:LOOKED_AT])]
    return min(max(NARROW, *(len(word) for word in words)) + 2, WIDE)


def _write(value: Value, field: Field) -> str:
    """Write a value about as long as a spreadsheet shows it."""
    if value is None or isinstance(value, str):
        return value or ""
    digits = DIGITS.get(field.kind, 0) if field.digits is None else field.digits
    return f"{value:,.{digits}f}"


def _set_widths(sheet: "WriteOnlyWorksheet", widths: Iterable[int]) -> None:
    for place, width in enumerate(widths, start=1):
        sheet.column_dimensions[_letter(place)].width = width


def _letter(place: int) -> str:
    from openpyxl.utils import get_column_letter

    return get_column_letter(max(place, 1))
