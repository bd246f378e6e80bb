"""Which numbers does a column hold that people wrote for people: "12,345.60", "$9,870", "1,2", "37 %"?"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.tables.faults import show
from auditbook.tables.held_numbers import held_number
from auditbook.tables.text_columns import settle
from auditbook.tables.values import is_missing, name_value

Comma = Literal["decimal", "thousands", "unknown", "none"]

_CURRENCY = r"[$€£¥₹]|US\$|R\$|USD|EUR|GBP|CHF|BRL|Fr\."
_CELL = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[-+\u2212]?)\s*(?P<before>{_CURRENCY})?\s*(?P<inner>[-\u2212]?)"
    rf"(?P<digits>\d[\d.,'\u2019 \u00a0\u2009\u202f]*|[.,]\d+)(?P<power>[eE][-+]?\d+)?"
    rf"\s*(?P<after>{_CURRENCY})?\s*(?P<percent>%)?\s*(?P<close>\))?"
)
_BLANKS = r"[ \u00a0\u2009\u202f'\u2019]"
_SPACED = re.compile(rf"\d{{1,3}}({_BLANKS}\d{{3}})+([.,]\d+)?")
_LIST = re.compile(r"\s*\d+(,\s*\d+){2,}\s*")
_CODE = re.compile(r"0\d+|\d{16,}")
_PLAIN = frozenset("+-.0123456789")
SOME_PERCENT = "a sign of per cent in some cells"
_FIRST = 100
_LEAST = 0.5
"""Share of filled cells that are numbers below which a column holds words."""


@dataclass(frozen=True)
class PeopleNumbers:
    """A column of text in which most cells are numbers."""

    cells: NDArray[np.float64]  # shape (n,): The numbers; nan where a cell is missing or is no number
    held: NDArray[np.float64]  # shape (n,): Beside these the numbers that others hold: 90 for "> 89"
    filled: int  # Cells that are not missing
    numbers: int  # Filled cells that are numbers
    others: tuple[tuple[str, int], ...]  # Cells that are none, with their counts, most frequent first
    # How they are written, for a sentence: "thousands parted by commas", "a currency sign"; none: plainly
    ways: tuple[str, ...]
    comma: Comma  # What a comma parts; unknown where "1,234" may be either
    certain: bool  # False where the same cells can be read as other numbers, or as lists of codes

    @property
    def whole(self) -> bool:
        """True when every filled cell is a number that can be read in one way only."""
        return self.certain and self.numbers == self.filled


@dataclass(frozen=True)
class _Written:
    """One cell that is a number, in its parts."""

    negative: bool
    digits: str  # Without blanks between thousands
    power: str
    currency: bool
    percent: bool
    spaced: bool  # Blanks or apostrophes part the thousands


def read_people_numbers(column: pd.Series) -> PeopleNumbers | None:
    """Read a column of text in which at least half of the filled cells are numbers as people write them.

    Known are thousands parted by commas, points, blanks or apostrophes, decimal commas, signs of currency and
    per cent ("37 %" is 0.37), and negative numbers in brackets. A comma is what the cells prove: "12,345.60"
    that it parts thousands, "0,5" that it is decimal. Cells such as "<0.2", "120 +" and "NEG" are no numbers,
    but `others`; so are codes that begin with a zero and numbers too long for a float. Nothing is decided
    silently: `certain` is False where "1,234" may be two numbers, or "1,2" a list, and where some cells have
    a sign of per cent and others, that are not 0, have none.

    Parameters
    ----------
    column : pandas.Series, shape (n,)
        A column of a plain table.

    Returns
    -------
    PeopleNumbers or None
        None where the column is no text, has no filled cell, or holds words or lists.

    Examples
    --------
    >>> found = read_people_numbers(pd.Series(["12,345.60", "$9,870", None]))
    >>> (found.cells.tolist()[:2], found.certain, found.ways)
    ([12345.6, 9870.0], True, ('thousands parted by commas', 'a sign of currency'))
    """
    if column.dtype != object:
        return None
    codes, values = pd.factorize(column.where(~is_missing(column), other=np.nan), use_na_sentinel=True)
    texts = [str(value) for value in values]
    written = [_take_apart(text) for text in texts]
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    numbers = int(sum(count for count, one in zip(counts, written, strict=True) if one))
    if not numbers or numbers < _LEAST * counts.sum():
        return None
    found = _put_together(texts, written, codes, counts)
    listed = found.comma == "decimal" and not found.certain and any(_LIST.fullmatch(text) for text in texts)
    return None if listed else found


def settle_people_numbers(frame: pd.DataFrame, *, text_columns: Collection[str]) -> tuple[str, ...]:
    """Turn columns in which every cell is plainly a number written for people into numbers, and say so."""
    notes = []
    for name in frame.columns:
        if frame[name].dtype != object or name in text_columns or not may_be_numbers(frame[name]):
            continue
        found = read_people_numbers(frame[name])
        if found is not None and found.whole and found.ways:
            notes.append(_say_read(name, frame[name], found))
            frame[name] = settle(found.cells)
    return tuple(notes)


def may_be_numbers(column: pd.Series) -> bool:
    """Tell from the first filled cells of a column whether all may be numbers."""
    first = column.dropna().iloc[:_FIRST]
    return all(
        isinstance(cell, str) and (not cell.strip() or _CELL.fullmatch(cell.strip())) for cell in first
    )


def _say_read(name: str, column: pd.Series, found: PeopleNumbers) -> str:
    """Say how a column of text was read as numbers, with an example."""
    place = int(np.argmax([isinstance(cell, str) and bool(set(cell) - _PLAIN) for cell in column]))
    example = f"{show(column.iloc[place])} is {name_value(float(found.cells[place]))}"
    return f"column {name!r}: text read as numbers ({' and '.join(found.ways)}): {example}"


def _put_together(
    texts: list[str], written: list[_Written | None], codes: NDArray[np.intp], counts: NDArray[np.intp]
) -> PeopleNumbers:
    """Read the distinct cells by one rule for commas and points, and spread them over the rows."""
    good = [one for one in written if one is not None]
    comma, certain = _rule_comma(good)
    certain = certain and not _is_partly_percent(good)
    cells = np.array([np.nan if one is None else _value(one, comma) for one in written] + [np.nan])
    rest = [held_number(text) if one is None else None for text, one in zip(texts, written, strict=True)]
    held = np.array([*(np.nan if number is None else number for number in rest), np.nan])
    others = [
        (text, int(count)) for text, count, one in zip(texts, counts, written, strict=True) if one is None
    ]
    bad = sum(count for _, count in others)
    return PeopleNumbers(
        cells=cells[codes],
        held=np.where(np.isnan(cells), held, cells)[codes],
        filled=int(counts.sum()),
        numbers=int(counts.sum()) - bad,
        others=tuple(sorted(others, key=lambda pair: (-pair[1], pair[0]))),
        ways=_name_ways(good, comma),
        comma=comma,
        certain=certain,
    )


def _take_apart(text: str) -> _Written | None:
    """Take a cell apart; None where it is no number."""
    found = _CELL.fullmatch(text.strip())
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    digits = found["digits"].strip()
    spaced = _SPACED.fullmatch(digits) is not None
    digits = re.sub(_BLANKS, "", digits) if spaced else digits
    if not _is_number(digits) or (found["before"] and found["after"]):
        return None
    negative = found["sign"] in ("-", "\u2212") or bool(found["inner"]) or found["open"] is not None
    currency = bool(found["before"] or found["after"])
    return _Written(negative, digits, found["power"] or "", currency, found["percent"] is not None, spaced)


def _is_number(digits: str) -> bool:
    """Tell whether digits with marks are a number by some rule."""
    patterns = (r"\d*[.,]?\d+|\d+[.,]", r"\d{1,3}(,\d{3})+(\.\d*)?", r"\d{1,3}(\.\d{3})+(,\d*)?")
    return not _CODE.fullmatch(digits) and any(re.fullmatch(pattern, digits) for pattern in patterns)


def _rule_comma(cells: Sequence[_Written]) -> tuple[Comma, bool]:
    """Say what commas part in a column, and whether the cells prove it."""
    if not any("," in one.digits for one in cells):
        several = any(one.digits.count(".") > 1 or _is_round_money(one, ".") for one in cells)
        mixed = several and any(re.fullmatch(r"\d+\.(\d{1,2}|\d{4,})", one.digits) for one in cells)
        return ("decimal" if several else "none"), not mixed
    thousands = any(_proves_thousands(one.digits) or _is_round_money(one, ",") for one in cells)
    decimal = any(_proves_decimal(one.digits) for one in cells)
    if thousands != decimal:
        listed = decimal and not any(_is_no_list(one) for one in cells)
        return ("thousands" if thousands else "decimal"), not listed
    return "unknown", False


def _proves_thousands(digits: str) -> bool:
    """Tell whether commas part thousands: beside a decimal point, or where there are two."""
    return (
        re.fullmatch(r"\d{1,3}(,\d{3})+\.\d*|\d{1,3}(,\d{3}){2,}|\d+\.(\d{1,2}|\d{4,})", digits) is not None
    )


def _is_round_money(cell: _Written, mark: str) -> bool:
    """Tell whether a mark stands before three digits of an amount of money, which has no three decimals."""
    return (
        cell.currency and re.fullmatch(rf"[1-9]\d{{0,2}}({re.escape(mark)}\d{{3}})+", cell.digits) is not None
    )


def _proves_decimal(digits: str) -> bool:
    """Tell whether a comma is decimal: after points, after a zero, or before other than three digits."""
    return re.fullmatch(r"\d{1,3}(\.\d{3})+,\d*|0*,\d+|\d*,(\d{0,2}|\d{4,})|\d{4,},\d+", digits) is not None


def _is_no_list(cell: _Written) -> bool:
    """Tell whether a cell is no list of two codes, which would be in order and without zeros in front."""
    if cell.currency or cell.percent or cell.negative or "." in cell.digits:
        return True
    first, _, second = cell.digits.partition(",")
    if not first or not second:
        return bool(cell.digits.strip("0123456789"))
    return int(first) >= int(second) or (len(second) > 1 and second.startswith("0"))


def _is_partly_percent(cells: Sequence[_Written]) -> bool:
    """Tell whether some cells have a sign of per cent, and others, that are not 0, have none."""
    signs = {one.percent for one in cells if one.digits.strip("0.,")}
    return len(signs) > 1


def _value(cell: _Written, comma: Comma) -> float:
    """Compute the number of a cell by a rule for its commas; by the thousands where nothing is proved."""
    digits = cell.digits
    digits = digits.replace(".", "").replace(",", ".") if comma == "decimal" else digits.replace(",", "")
    power = int(cell.power[1:] or 0) - 2 * cell.percent  # shifted before it is rounded: 0.7 % is 0.007
    number = float(f"{digits}e{power}")
    return -number if cell.negative else number


def _name_ways(cells: Sequence[_Written], comma: Comma) -> tuple[str, ...]:
    """Name the ways of writing that a column uses."""
    points = comma == "decimal" and any("." in one.digits for one in cells)
    partly = _is_partly_percent(cells)
    ways = {
        "thousands parted by commas": comma == "thousands",
        "thousands parted by points": points,
        "decimal commas": comma == "decimal" and any("," in one.digits for one in cells),
        "thousands parted by blanks or apostrophes": any(one.spaced for one in cells),
        "a sign of currency": any(one.currency for one in cells),
        SOME_PERCENT: partly,
        "a sign of per cent": any(one.percent for one in cells) and not partly,
    }
    return tuple(way for way, used in ways.items() if used)
