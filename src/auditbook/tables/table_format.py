"""How is a table's file written, where its bytes do not tell?"""

from dataclasses import dataclass
from typing import Annotated, Literal

from auditbook.key_types import Exactly, LeftOut, Text, WrittenAs

Mark = Annotated[str, Exactly(min_length=1, max_length=1)]
Decimal = Literal[".", ","]
Thousands = Literal[",", ".", " ", "'"]


@dataclass(frozen=True)
class TableFormat:
    """``[data] format``: how the file is written; only what it does not show by itself has to be said."""

    separator: Annotated[Mark | None, LeftOut("found in the file")] = None
    """Between the cells of a text file: one character, such as `";"` or `"\\t"` (a tab)."""
    decimal: Annotated[Decimal | None, LeftOut("found in the file")] = None
    """Before the fraction of a number in a text file: `.` or `,`."""
    thousands: Annotated[Thousands | None, LeftOut("none")] = None
    """Between the thousands of a number in a text file: `,`, `.`, `'` or ` ` (a blank)."""
    encoding: Annotated[Text | None, LeftOut("UTF-8, or what the file's first bytes say")] = None
    """Of a text file, such as `"windows-1252"` or `"latin-1"`."""
    sheet: Annotated[Text | None, WrittenAs(Text), LeftOut("the only sheet with cells")] = None
    """Of a workbook, by its name."""
    skip_rows: Annotated[int, Exactly(ge=0)] = 0
    """Lines of a text file, or rows of a sheet, that stand before the one that names the columns."""


AS_FOUND = TableFormat()
"""Everything is found in the file."""
