"""What did a spreadsheet, an export or a wrong encoding do to text: dates, lists, 1E+05, Ã©, header lines?"""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from auditbook.intake.caution import Caution
from auditbook.intake.used_columns import UsedColumn, write_counts
from auditbook.intake.value_lines import groups_line

_MONTHS = {
    name: month
    for month, names in enumerate(
        (
            "jan january janv janvier januar jän ene enero gen gennaio janeiro",
            "feb february févr fév fevrier februar febrero febbraio fev fevereiro",
            "mar march mars mär märz mrz marzo março",
            "apr april avr avril abr abril aprile",
            "may mai mayo mag maggio maio",
            "jun june juin juni junio giu giugno junho",
            "jul july juil juillet juli julio lug luglio julho",
            "aug august aoû août ago agosto",
            "sep sept september septembre septiembre set settembre setembro",
            "oct october octobre okt oktober octubre ott ottobre out outubro",
            "nov november novembre noviembre novembro",
            "dec december déc décembre dez dezember dic diciembre dicembre dezembro",
        ),
        start=1,
    )
    for name in names.split()
}
_DAY_MONTH = re.compile(
    r"\s*(\d{1,2})[-. /]{1,2}([^\W\d_]{3,10})\.?\s*|\s*([^\W\d_]{3,10})\.?[-. /](\d{1,2})\s*"
)
_ISO_DAY = re.compile(r"\s*\d{4}-(\d{2})-(\d{2})([ T]00:00(:00)?)?\s*")
_BAND = re.compile(
    r"\s*(\d{1,3}\s*(-|\u2013|to|a|à|bis)\s*\d{1,3}|[<>≥≤]=?\s*\d{1,3}|\d{1,3}\s*\+|.*\b\d{1,3}\b.*)\s*"
)

_SEPARATORS = re.compile(r"\s*[;|,]\s*")
_INTERVAL = re.compile(r"\s*[\[(]\s*-?[\d.]+\s*[,;]\s*-?[\d.]+\s*[\])]\s*")
_LIST = re.compile(r"\s*([\[{(]\s*['\"].*['\"]\s*[\]})]|\[.*,.*\]|\{.*[:,].*\})\s*", re.DOTALL)
_LIST_SHARE = 0.05

_SCIENTIFIC = re.compile(r"\s*\d([.,]\d+)?[eE]\+?\d{1,3}\s*")

_HEADER_CELLS = 2
_MANY_GROUPS = 100


def warn_repeated_header(frame: pd.DataFrame) -> Iterator[Caution]:
    """Point out records that hold the names of the columns: a header line in the middle of the table."""
    texts = [str(name) for name in frame if frame[name].dtype == object]
    if len(texts) < _HEADER_CELLS:
        return
    held = np.sum([frame[name].astype(str).str.strip().eq(name.strip()) for name in texts], axis=0)
    rows = np.flatnonzero(held >= max(_HEADER_CELLS, len(texts) / 2))
    if len(rows):
        one = len(rows) == 1
        lines = ", ".join(f"{row + 2:,}" for row in rows[:5]) + (", …" if len(rows) > 5 else "")
        yield Caution(
            "[data] path",
            f"the header stands again among the records, {'once' if one else f'{len(rows):,} times'} (line"
            f"{'' if one else 's'} {lines} of the table, the first header being line 1): "
            f"{'it is' if one else 'they are'} read as {'a record' if one else 'records'}, and "
            f"columns of numbers as text ({', '.join(map(repr, texts[:3]))})",
            f"delete {'that line' if one else 'those lines'}",
        )


def warn_dates(used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out groups such as 09-May that were 5-9 before a spreadsheet took them for dates."""
    for column in (item for item in used if item.role in ("groups", "feature")):
        if not column.is_text or len(column.counts) > _MANY_GROUPS:
            continue
        turned = {value: band for value in column.counts if (band := undo_date(value))}
        others = [value for value in column.counts if value not in turned]
        if turned and any(_BAND.fullmatch(value) for value in others):
            pairs = [(value, column.counts[value]) for value in turned]
            one = len(turned) == 1
            yield Caution(
                column.key,
                f"'{column.name}' holds {write_counts(pairs)}, which look{'s' * one} like "
                f"{'a range' if one else 'ranges'} ({', '.join(list(turned.values())[:5])}) that a "
                "spreadsheet turned into dates",
                _recode_line(column, turned),
            )


def _recode_line(column: UsedColumn, names: Mapping[str, str]) -> str:
    """Write the line that gives values their names back."""
    if column.attribute is not None:
        return groups_line(column.attribute, names.items())
    return "write them in the table as they were"


def undo_date(text: str) -> str:
    """Return the range that a spreadsheet took for a date; blank where there is none.

    Examples
    --------
    >>> undo_date("09-May"), undo_date("Oct-14"), undo_date("2024-05-09"), undo_date("15-19")
    ('5-9', '10-14', '5-9', '')
    """
    match = _DAY_MONTH.fullmatch(text)
    if match is not None:
        month = _MONTHS.get((match[2] or match[3]).casefold())
        other = int(match[1] or match[4])
    elif (match := _ISO_DAY.fullmatch(text)) is not None:
        month, other = int(match[1]), int(match[2])
    else:
        return ""
    if month is None:
        return ""
    low, high = sorted((month, other))
    return f"{low}-{high}"


def warn_lists(used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out cells that hold several values, such as "White;Black" or "['I10', 'E11']"."""
    for column in (item for item in used if item.role in ("groups", "feature", "outcome", "site")):
        if not column.is_text:
            continue
        found = {value: count for value, count in column.counts.items() if _is_list(value, column.counts)}
        total, cells = sum(found.values()), sum(column.counts.values())
        if found and (column.role == "groups" or total >= _LIST_SHARE * cells):
            yield _warn_list(column, found, total, cells)


def _is_list(value: str, counts: Mapping[str, int]) -> bool:
    """Tell whether a cell is written as a list, or joins values that stand alone in other cells."""
    if _LIST.fullmatch(value):
        return _INTERVAL.fullmatch(value) is None
    parts = _SEPARATORS.split(value)
    return len(parts) > 1 and len(set(parts)) > 1 and all(part in counts for part in parts)


def _warn_list(column: UsedColumn, found: Mapping[str, int], total: int, cells: int) -> Caution:
    one, first = total == 1, next(iter(found))
    cure = "give each part a column of its own, or exclude it"
    if column.attribute is not None:
        pairs = [(value, "More than one") for value in found]
        cure = f"to join them: {groups_line(column.attribute, pairs)}"
    return Caution(
        column.key,
        f"{total:,} of {cells:,} cells of '{column.name}' hold{'s' * one} several values, such as "
        f"{first!r} ({found[first]:,}); each combination is a value of its own",
        cure,
    )


def warn_scientific(used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out numbers and codes that a spreadsheet wrote as 1E+05 or 1.23457E+11."""
    for column in (item for item in used if item.role in ("unit", "site", "groups", "weight")):
        counts = column.counts if column.is_text else {}
        found = [(value, count) for value, count in counts.items() if _SCIENTIFIC.fullmatch(value)]
        if found:
            what = "numbers" if len(found) > 1 else "a number"
            yield Caution(
                column.key,
                f"'{column.name}' holds {write_counts(found, most=3)}: {what} in "
                "scientific notation, as a spreadsheet writes long numbers and codes such as 1E10; different "
                "ones may have become the same",
                "export the table again with this column as text",
            )


def warn_mojibake(used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out text that was read in another encoding than it was written in."""
    for column in used:
        counts = column.counts if column.is_text else {}
        found = {value: count for value, count in counts.items() if mend_text(value) is not None}
        if found or mend_text(column.name) is not None:
            yield _warn_broken(column, found)


def mend_text(text: str) -> str | None:
    r"""Return what a text says in its own encoding; blank where that is lost, None where nothing is wrong.

    Examples
    --------
    >>> mend_text("MÃ©xico"), mend_text("M\ufffdxico"), mend_text("México")
    ('México', '', None)
    """
    if "\ufffd" in text:
        return ""
    if text.isascii():
        return None
    for encoding in ("cp1252", "latin-1"):
        try:
            return text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return None


def _warn_broken(column: UsedColumn, found: Mapping[str, int]) -> Caution:
    """Say which text is broken, and what it was where that can be told."""
    mended = {value: text for value in found if (text := mend_text(value))}
    what = f"the name of column '{column.name}' was read in another encoding than it was written in"
    if found:
        value = next(iter(mended), next(iter(found)))
        was = f" ({mended[value]!r} before)" if value in mended else ""
        what = (
            f"'{column.name}' holds text that was read in another encoding than it was written in: {value!r}"
            f"{was}, in {sum(found.values()):,} cells"
        )
    cure = "export the table again as UTF-8"
    if column.attribute is not None and mended and len(mended) == len(found):
        cure += f", or: {groups_line(column.attribute, mended.items())}"
    return Caution(column.key, what, cure)
