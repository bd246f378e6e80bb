"""How are counts, shares, lists and names from a cohort written, so that every page says them alike?"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from unicodedata import category

import pandas as pd
from IPython.display import HTML, Markdown

from auditbook.errors import InputError, nearest

MISSING = "\u2013"  # an en dash
MANY_COLUMNS = 9
"""From this many columns on, a table is set smaller so that its last column is not cut off."""
Kind = Literal["text", "count", "share", "number"]


def escape(text: object) -> str:
    """Make text from a cohort safe to put into Markdown or HTML: it shows as it stands and does nothing.

    Parameters
    ----------
    text : object
        Any value; its text is taken.

    Returns
    -------
    str
        Every ASCII sign that Markdown or HTML could act on is a character reference; runs of blanks and
        line breaks are one blank; invisible control signs are gone.

    Examples
    --------
    >>> escape("<b>a*b</b>")
    '&#60;b&#62;a&#42;b&#60;&#47;b&#62;'
    """
    plain = " ".join(str(text).split())
    seen = (sign for sign in plain if not category(sign).startswith("C"))
    return "".join(sign if _is_harmless(sign) else f"&#{ord(sign)};" for sign in seen)


def _is_harmless(sign: str) -> bool:
    """Whether neither Markdown nor HTML gives the sign a meaning inside a line."""
    return sign.isalnum() or not sign.isascii() or sign in " ,;?%'"


def pick(table: pd.DataFrame, column: str, wanted: str = "") -> str:
    """Choose what a chapter shows: the one asked for, or the first in the table.

    Parameters
    ----------
    table : DataFrame
        A result table.
    column : str
        Its column of names, such as ``"model"`` or ``"attribute"``.
    wanted : str
        The chapter's parameter; blank takes the first.

    Returns
    -------
    str
        A name that the column holds; blank when the table has no rows and nothing was asked for.

    Raises
    ------
    InputError
        If the column does not hold the name; lists the names and the nearest one.

    Examples
    --------
    >>> pick(pd.DataFrame({"model": ["a", "b"]}), "model")
    'a'
    """
    names = list(dict.fromkeys(table[column]))
    if wanted and wanted not in names:
        raise InputError(
            f"this run has no {column} '{wanted}'{nearest(wanted, names)}; it has: {', '.join(names)}"
        )
    return wanted or (names[0] if names else "")


def join_words(words: Iterable[str], *, last: str = "and") -> str:
    """List words in a sentence.

    Parameters
    ----------
    words : iterable of str
        Finished words (escape names from a cohort first).
    last : str
        What joins the last two.

    Returns
    -------
    str
        The empty string when there are none.

    Examples
    --------
    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    items = list(words)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def name_list(names: Iterable[object], *, limit: int = 6, last: str = "and") -> str:
    """List names from a cohort in a sentence, escaped, the tail of a long list counted instead of named.

    Parameters
    ----------
    names : iterable
        Names as they stand in the cohort.
    limit : int
        Names that are written out.
    last : str
        What joins the last two.

    Returns
    -------
    str
        Such as ``A, B and 3 more``.

    Examples
    --------
    >>> name_list(["a", "b", "c"], limit=1)
    'a and 2 more'
    """
    items = [escape(name) for name in names]
    tail = [f"{len(items) - limit} more"] if len(items) > limit else []
    return join_words(items[:limit] + tail, last="and" if tail else last)


def count(n: float) -> str:
    """Write a count with separators of thousands; nan is a dash.

    Examples
    --------
    >>> count(185026)
    '185,026'
    """
    return MISSING if math.isnan(n) else f"{round(n):,}"


def plural(n: float, word: str, words: str = "") -> str:
    """Write a count with its noun.

    Parameters
    ----------
    n : float
        How many.
    word, words : str
        Singular and plural; the plural is the singular with an s unless given.

    Returns
    -------
    str
        Such as ``1 cell`` or ``no cells``.

    Examples
    --------
    >>> plural(28, "cell")
    '28 cells'
    """
    noun = word if n == 1 else words or word + "s"
    return f"{'no' if n == 0 else count(n)} {noun}"


def count_of(k: float, n: float, word: str, words: str = "") -> str:
    """Write a part of a whole.

    Parameters
    ----------
    k, n : float
        How many, and out of how many.
    word, words : str
        Singular and plural of what is counted.

    Returns
    -------
    str
        Such as ``1 of 28 cells``.

    Examples
    --------
    >>> count_of(1, 28, "cell")
    '1 of 28 cells'
    """
    noun = word if n == 1 else words or word + "s"
    return f"{count(k)} of {count(n)} {noun}"


def share(value: float, *, digits: int = 1) -> str:
    """Write a share in per cent; nan is a dash, and a share that is neither 0 nor 1 is never rounded to one.

    Parameters
    ----------
    value : float
        Between 0 and 1.
    digits : int
        Digits after the point.

    Returns
    -------
    str
        Such as ``12.3%`` or ``under 0.1%``.

    Examples
    --------
    >>> share(0.1234), share(0.00001), share(1.0)
    ('12.3%', 'under 0.1%', '100.0%')
    """
    if math.isnan(value):
        return MISSING
    step = 10.0**-digits
    text = number(100 * value, digits=digits)
    if value > 0 and float(text) == 0:
        return f"under {step:.{digits}f}%"
    if value < 1 and float(text) == 100:
        return f"over {100 - step:.{digits}f}%"
    return f"{text}%"


def number(value: float, *, digits: int = 3) -> str:
    """Write a number rounded to `digits` after the point; nan is a dash, and no zero carries a minus.

    Examples
    --------
    >>> number(0.12349), number(float("nan")) == MISSING
    ('0.123', True)
    """
    if math.isnan(value):
        return MISSING
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


def interval(low: float, high: float, *, kind: Kind = "number", digits: int | None = None) -> str:
    """Write the two ends of an interval; a dash when either is not known.

    Parameters
    ----------
    low, high : float
        The ends.
    kind : {"number", "share", "count"}
        How each end is written.
    digits : int, optional
        Digits after the point; each kind has its own default.

    Returns
    -------
    str
        Such as ``11.0% to 13.5%``.

    Examples
    --------
    >>> interval(0.11, 0.135, kind="share")
    '11.0% to 13.5%'
    """
    if math.isnan(low) or math.isnan(high):
        return MISSING
    return f"{write(low, kind=kind, digits=digits)} to {write(high, kind=kind, digits=digits)}"


def write(value: object, *, kind: Kind = "text", digits: int | None = None) -> str:
    """Write one value the way its kind is written everywhere.

    Parameters
    ----------
    value : object
        The value of a table's cell.
    kind : {"text", "count", "share", "number"}
        What it is. Text is escaped; blank text is a dash.
    digits : int, optional
        Digits after the point for shares (default 1) and numbers (default 3).

    Returns
    -------
    str
        Safe in Markdown and in HTML.

    Examples
    --------
    >>> write(0.25, kind="share"), write("a|b")
    ('25.0%', 'a&#124;b')
    """
    if kind == "text":
        if isinstance(value, bool) or type(value).__name__ == "bool_":
            return "yes" if value else "no"
        return escape(value) if pd.notna(value) and str(value).strip() else MISSING  # type: ignore[call-overload]
    amount = float(value)  # type: ignore[arg-type]
    if kind == "count":
        return count(amount)
    if kind == "share":
        return share(amount, digits=1 if digits is None else digits)
    return number(amount, digits=3 if digits is None else digits)


@dataclass(frozen=True)
class Column:
    """A column of a table that is shown.

    Attributes
    ----------
    name : str
        Column of the frame.
    header : str
        What stands above it.
    kind : {"text", "count", "share", "number"}
        How its cells are written; all but text are right-aligned.
    digits : int or None
        Digits after the point.
    low, high : str
        Columns that hold an interval, written behind the value in brackets; blank for none.
    """

    name: str
    header: str
    kind: Kind = "text"
    digits: int | None = None
    low: str = ""
    high: str = ""


def table_html(frame: pd.DataFrame, columns: Sequence[Column], *, caption: str = "") -> str:
    """Write a table as HTML: cells escaped, numbers rounded and right-aligned.

    Parameters
    ----------
    frame : DataFrame
        One row a row.
    columns : sequence of Column
        What to show, in this order.
    caption : str
        One line above the table (escaped).

    Returns
    -------
    str
        A ``<table>`` in a box that scrolls sideways; "nothing to list" in place of rows when there are none.

    Raises
    ------
    KeyError
        If the frame lacks a column.

    Examples
    --------
    >>> "<td" in table_html(pd.DataFrame({"n": [1]}), [Column("n", "records", "count")])
    True
    """
    head = "".join(
        f'<th scope="col" style="text-align:{_align(column)}">{escape(column.header)}</th>'
        for column in columns
    )
    rows = [
        "<tr>" + "".join(_cell(row, column) for column in columns) + "</tr>"
        for row in frame.to_dict(orient="records")
    ]
    if frame.empty:
        missing = [column.name for column in columns if column.name not in frame.columns]
        if missing:
            raise KeyError(f"the table has no column {missing[0]!r}")
        rows = [f'<tr><td colspan="{len(columns)}">nothing to list</td></tr>']
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    size = 0.88 if len(columns) < MANY_COLUMNS else 0.8
    return (
        f'<div style="overflow-x:auto"><table class="dataframe table" style="font-size:{size}em">'
        f"{title}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _align(column: Column) -> str:
    return "left" if column.kind == "text" else "right"


def _cell(row: dict, column: Column) -> str:
    """Write one cell, with its interval where the column has one."""
    text = write(row[column.name], kind=column.kind, digits=column.digits)
    if column.low and not math.isnan(float(row[column.low])):
        ends = interval(row[column.low], row[column.high], kind=column.kind, digits=column.digits)
        text = f'{text} <span style="white-space:nowrap">({ends})</span>'
    return f'<td style="text-align:{_align(column)};white-space:{_wrapping(column)}">{text}</td>'


def _wrapping(column: Column) -> str:
    return "normal" if column.kind == "text" or column.low else "nowrap"


def show(markdown: str) -> Markdown | None:
    """Show a sentence or more of Markdown as the output of a cell; of blank text, nothing.

    Parameters
    ----------
    markdown : str
        Finished text; names from a cohort are escaped in it.

    Returns
    -------
    IPython.display.Markdown or None
        What the cell's last line returns.
    """
    return Markdown(markdown) if markdown.strip() else None


def show_table(frame: pd.DataFrame, columns: Sequence[Column], *, caption: str = "") -> HTML:
    """Show a table as the output of a cell (see `table_html`)."""
    return HTML(table_html(frame, columns, caption=caption))


def say_cost(points: float) -> str:
    """Say an accuracy cost in points.

    Examples
    --------
    >>> say_cost(0.25)
    '0.25 points of accuracy lost'
    """
    if math.isnan(points):
        return "cost not known"
    if abs(points) < 0.005:
        return "no accuracy lost"
    word = "lost" if points > 0 else "gained"
    return f"{number(abs(points), digits=2)} points of accuracy {word}"
