"""How are counts, shares, lists and names from a cohort written, so that every page says them alike?"""

import math
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal
from unicodedata import category

import pandas as pd
from IPython.display import HTML, Markdown

from auditbook.columns import COLUMNS
from auditbook.errors import InputError, nearest

MISSING = "\u2013"  # an en dash
MANY_COLUMNS = 9
"""From this many columns on, a table is set smaller so that its last column is not cut off."""
FOLDED_BEYOND = 15
"""A table of more rows is folded: its page stays short, and a click or a print opens it."""
Kind = Literal["text", "count", "share", "number", "p"]


def escape(text: object) -> str:
    """Make text from a cohort safe to put into Markdown or HTML: it shows as it stands and does nothing."""
    plain = " ".join(str(text).split())
    seen = (sign for sign in plain if not category(sign).startswith("C"))
    return "".join(sign if _is_harmless(sign) else f"&#{ord(sign)};" for sign in seen)


def _is_harmless(sign: str) -> bool:
    """Whether neither Markdown nor HTML gives the sign a meaning inside a line."""
    return sign.isalnum() or not sign.isascii() or sign in " ,;?%'"


def pick(table: pd.DataFrame, column: str, wanted: str = "") -> str:
    """Choose what a chapter shows: the one asked for, or the first in the table."""
    names = list(dict.fromkeys(table[column]))
    if wanted and wanted not in names:
        raise InputError(
            f"this run has no {column} '{wanted}'{nearest(wanted, names)}; it has: {', '.join(names)}"
        )
    return wanted or (names[0] if names else "")


def join_words(words: Iterable[str], *, last: str = "and") -> str:
    """List words in a sentence."""
    items = list(words)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def name_list(names: Iterable[object], *, limit: int = 6, last: str = "and") -> str:
    """List names from a cohort in a sentence, escaped, the tail of a long list counted instead of named."""
    items = [escape(name) for name in names]
    tail = [f"{len(items) - limit} more"] if len(items) > limit else []
    return join_words(items[:limit] + tail, last="and" if tail else last)


def count(n: float) -> str:
    """Write a count with separators of thousands; nan is a dash."""
    return MISSING if math.isnan(n) else f"{round(n):,}"


def plural(n: float, word: str, words: str = "") -> str:
    """Write a count with its noun; of one that is withheld, that it is."""
    noun = word if n == 1 else words or word + "s"
    if math.isnan(n):
        return f"a withheld number of {noun}"
    return f"{'no' if n == 0 else count(n)} {noun}"


def count_of(k: float, n: float, word: str, words: str = "") -> str:
    """Write a part of a whole; of one that is withheld, that it is."""
    noun = word if n == 1 else words or word + "s"
    if math.isnan(k) and not math.isnan(n):
        return f"a withheld number of {count(n)} {noun}"
    return f"{count(k)} of {count(n)} {noun}"


def agree(n: float, one: str, many: str) -> str:
    """Choose the word that agrees with a count, as a verb or a pronoun: one for one, else many."""
    return one if n == 1 else many


def share(value: float, *, digits: int = 1) -> str:
    """Write a share in per cent; nan is a dash, and what is not 0 or 1 is not rounded to it."""
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
    """Write a number rounded to `digits` after the point; nan is a dash, and no zero carries a minus."""
    if math.isnan(value):
        return MISSING
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


def p_value(value: float) -> str:
    """Write a p-value with three digits; what is not 0 or 1 is not rounded to it."""
    if value < 0.001:
        return "&lt; 0.001"
    return "&gt; 0.999" if 0.9995 <= value < 1 else number(value)


def interval(low: float, high: float, *, kind: Kind = "number", digits: int | None = None) -> str:
    """Write the two ends of an interval; a dash when either is not known."""
    if math.isnan(low) or math.isnan(high):
        return MISSING
    return f"{write(low, kind=kind, digits=digits)} to {write(high, kind=kind, digits=digits)}"


def write(value: object, *, kind: Kind = "text", digits: int | None = None) -> str:
    """Write one value the way its kind is written everywhere."""
    if kind == "text":
        if isinstance(value, bool) or type(value).__name__ == "bool_":
            return "yes" if value else "no"
        return escape(value) if pd.notna(value) and str(value).strip() else MISSING  # type: ignore[call-overload]
    amount = float(value)  # type: ignore[arg-type]
    if kind == "count":
        return count(amount)
    if kind == "share":
        return share(amount, digits=1 if digits is None else digits)
    if kind == "p":
        return p_value(amount)
    return number(amount, digits=3 if digits is None else digits)


@dataclass(frozen=True)
class Column:
    """A column of a table that is shown."""

    name: str  # Column of the frame
    header: str  # What stands above it
    kind: Kind = "text"  # How its cells are written; all but text are right-aligned
    digits: int | None = None  # Digits after the point
    low: str = ""  # Column of an interval's lower end, written behind the value in brackets; blank for none
    high: str = ""  # Column of its upper end


def shown(*names: str) -> tuple[Column, ...]:
    """Show columns of result tables as the catalogue has them: title, kind and digits."""
    declared = [COLUMNS[name] for name in names]
    return tuple(
        Column(one.name, one.title, "text" if one.kind == "truth" else one.kind, one.digits)
        for one in declared
    )


@cache
def _read_layouts(room: str) -> dict[str, dict[str, dict[str, Any]]]:
    return tomllib.loads((files("auditbook") / room / "shown.toml").read_text(encoding="utf-8"))


def read_layout(room: str, layout: str) -> tuple[Column, ...]:
    """Look up how a table is shown: its columns as ``shown.toml`` of a room has them."""
    module, name = layout.split(".")
    return tuple(_as_laid(column, says) for column, says in _read_layouts(room)[module][name].items())


def _as_laid(name: str, says: str | dict[str, Any]) -> Column:
    """Make a column of its title, of its title and kind, or with a blank title as the catalogue has it."""
    if isinstance(says, str):
        return Column(name, says) if says else shown(name)[0]
    return Column(name, **says)


def table_html(frame: pd.DataFrame, columns: Sequence[Column], *, caption: str = "") -> str:
    """Write a table as HTML in a region that scrolls: cells escaped, numbers rounded, a long one folded."""
    head = "".join(
        f'<th scope="col" style="text-align:{_align(column)}">{escape(column.header)}</th>'
        for column in columns
    )
    size = 0.88 if len(columns) < MANY_COLUMNS else 0.8
    style = f'class="dataframe table" style="font-size:{size}em"'
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(_list_rows(frame, columns))}</tbody></table></div>"
    title = escape(caption)
    name = title or "Table"
    region = (
        f'<div class="table-region" style="overflow-x:auto" role="region" tabindex="0" aria-label="{name}">'
    )
    if len(frame) <= FOLDED_BEYOND:
        return f"{region}<table {style}>{title and f'<caption>{title}</caption>'}{body}"
    summary = f"<summary>Table of {count(len(frame))} rows. {title}</summary>"
    return f'<details class="folded">{summary}{region}<table {style} aria-label="{name}">{body}</details>'


def _list_rows(frame: pd.DataFrame, columns: Sequence[Column]) -> list[str]:
    """Write the rows of a table, or one that says that there are none."""
    if not frame.empty:
        rows = frame.to_dict(orient="records")
        return ["<tr>" + "".join(_cell(row, column) for column in columns) + "</tr>" for row in rows]
    missing = [column.name for column in columns if column.name not in frame.columns]
    if missing:
        raise KeyError(f"the table has no column {missing[0]!r}")
    return [f'<tr><td colspan="{len(columns)}">nothing to list</td></tr>']


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
    """Show a sentence or more of Markdown as the output of a cell; of blank text, nothing."""
    return Markdown(markdown) if markdown.strip() else None


def show_table(frame: pd.DataFrame, columns: Sequence[Column], *, caption: str = "") -> HTML:
    """Show a table as the output of a cell (see `table_html`)."""
    return HTML(table_html(frame, columns, caption=caption))


def say_cost(points: float) -> str:
    """Say an accuracy cost in points."""
    if math.isnan(points):
        return "cost not known"
    if abs(points) < 0.005:
        return "no accuracy lost"
    word = "lost" if points > 0 else "gained"
    return f"{number(abs(points), digits=2)} points of accuracy {word}"
