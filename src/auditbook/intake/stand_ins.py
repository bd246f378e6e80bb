"""Which numbers, days and names stand in for "not known": age 999, codes 98 and 99, patient 0000000?"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.intake.caution import Caution
from auditbook.intake.outcome_values import find_table, list_odd, split_values
from auditbook.intake.used_columns import UsedColumn, write_counts
from auditbook.intake.value_lines import drop_line, missing_line
from auditbook.tables import is_mark, name_value, names_missing

_STAND_IN = re.compile(r"-?([789])\1*[789]?(\.\1+)?|-[12]|-?(66|555|666)6*")
"""Codes that surveys, registries and statistics packages give to "not known", "refused" or "not asked"."""

_FEW_VALUES = 10

_LEAST = 3
"""Records that must hold such codes."""

_SPIKE_SHARE = 0.01
"""Share of the records from which one far value that repeats is pointed out."""

_GIANT_SHARE = 0.05
_TIMES_NEXT = 5
_FEW_UNITS = 5
_MANY_UNITS = 0.2
"""Units a record from which they are people, not wards."""
_SPREAD_IDS = re.compile(r"0+|9{3,}|1{4,}|(\w)\1{4,}|-?1|0?123456789?0?", re.IGNORECASE)
"""Numbers that are given to people without one."""

_DAYS = ("1900-01-01", "1899-12-30", "1901-01-01", "1970-01-01", "2099-12-31", "2999-12-31", "9999-12-31")


@dataclass(frozen=True)
class FarValues:
    """Values of a column that lie far from all others."""

    values: NDArray[np.float64]
    counts: NDArray[np.intp]
    low: float  # The smallest of the others
    high: float  # The largest of the others


def warn_stand_ins(used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out numbers far from all others: codes for "not known", and far values that repeat."""
    for column in (item for item in used if item.role in ("outcome", "bins", "score", "feature")):
        numbers = column.numbers.cells
        found = find_far_values(numbers[~np.isnan(numbers)])
        if found is not None and not _is_told(column, found):
            yield _warn_far(column, found)


def _is_told(column: UsedColumn, found: FarValues) -> bool:
    """Tell whether the values are pointed out already, as codes of an outcome that count as no event."""
    if column.role != "outcome":
        return False
    odd = list_odd(split_values(find_table(column.file, column), column.cells))
    return {name_value(value) for value in found.values} <= set(odd)


def find_far_values(numbers: NDArray[np.float64]) -> FarValues | None:
    """Find the values beyond a wide gap above or below the others; None where there is none.

    Of codes that usually stand for "not known" a few records are enough, of other values one in a hundred:
    the tail of a skewed column is no spike.
    """
    values, counts = np.unique(numbers, return_counts=True)
    if len(values) < 3:
        return None
    codes = np.array([bool(_STAND_IN.fullmatch(name_value(value))) for value in values])
    below = _find_above(-values[::-1], codes[::-1])[::-1]
    for far in (_find_above(values, codes), below, _find_negative(values, codes)):
        if not far.any():
            continue
        least = _LEAST if codes[far].all() else max(2 * _LEAST, _SPIKE_SHARE * len(numbers))
        if counts[far].sum() >= least and (
            codes[far].all() or (far.sum() == 1 and len(values) > _FEW_VALUES)
        ):
            others = values[~far]
            return FarValues(values[far], counts[far], float(others[0]), float(others[-1]))
    return None


def _find_above(values: NDArray[np.float64], codes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the rising values above the first gap that is wider than all values below it spread.

    At least half of the distinct values, and two, must lie below.
    """
    far = np.zeros(len(values), bool)
    for first in range(max(2, len(values) // 2), len(values)):
        below = values[:first]
        room = max(below[-1] - below[0], 2.0 if codes[first:].all() else 0.0)
        if values[first] - below[-1] > room:
            far[first:] = True
            return far
    return far


def _find_negative(values: NDArray[np.float64], codes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark codes such as -9 and -99 below values that are never negative otherwise."""
    negative = values < 0
    return negative & (codes & (values <= -7))[negative].all()


def _warn_far(column: UsedColumn, found: FarValues) -> Caution:
    """Say which values lie far off, and what they are counted as."""
    names = [name_value(value) for value in found.values]
    counts = ", ".join(f"{name} ({count:,})" for name, count in zip(names[:5], found.counts, strict=False))
    one = len(names) == 1
    what = (
        f"'{column.name}' holds {counts}, far from all other values ({found.low:g} to {found.high:g}); "
        f'{"it looks" if one else "they look"} like {"a code" if one else "codes"} for "not known"'
    )
    if column.attribute is not None and found.values[-1] > found.high:
        what += f", and {'is' if one else 'are'} counted in '{_top_bin(column, found)}'"
    elif column.role == "outcome":
        what += f", and {'is' if one else 'are'} compared like any number"
    return Caution(column.where, what, missing_line(column, names))


def _top_bin(column: UsedColumn, found: FarValues) -> str:
    """Name the bin that holds the far values."""
    item = column.attribute
    if item is None:
        return ""
    position = int(np.searchsorted(np.asarray(item.bins, float), found.values[-1], side="right")) - 1
    return item.labels[min(position, len(item.labels) - 1)]


def warn_stand_in_units(used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out one number that many patients have, so that they are taken for one person."""
    for column in (item for item in used if item.role == "unit"):
        counts = list(column.counts.values())
        if len(counts) < _FEW_UNITS:
            continue
        for value, count in list(column.counts.items())[:_FEW_UNITS]:
            if _stands_in(value, count, counts):
                yield _warn_unit(column, value, count, sum(counts))


def _stands_in(value: str, count: int, counts: Sequence[int]) -> bool:
    """Tell whether an id looks like a stand-in, or holds far more records than any other; largest first."""
    typical = float(np.median(counts))
    looks = bool(_SPREAD_IDS.fullmatch(value.strip())) or is_mark(value) or names_missing(value)
    if looks:
        return count >= max(_LEAST, 2 * typical)
    many = len(counts) > _MANY_UNITS * sum(counts)
    giant = count >= _GIANT_SHARE * sum(counts) and count == counts[0]
    return many and giant and count >= _TIMES_NEXT * max(counts[1], 2)


def _warn_unit(column: UsedColumn, value: str, count: int, total: int) -> Caution:
    return Caution(
        "[unit] column",
        f"{value!r} holds {count:,} of {total:,} records ({count / total:.0%}), which are taken for one "
        "unit; it looks like a stand-in for an unknown one",
        "give each of these records a number of its own, or leave them out: "
        + drop_line(column.file, column.name, [value], f"no {column.name}"),
    )


def warn_stand_in_days(file_time: str | None, frame: pd.DataFrame) -> Iterator[Caution]:
    """Point out days such as 1900-01-01 that stand in for an unknown one."""
    if file_time is None or file_time not in frame or frame[file_time].dtype.kind != "M":
        return
    days = frame[file_time].dropna().dt.strftime("%Y-%m-%d")
    counts = days.value_counts()
    found = [(day, int(counts[day])) for day in _DAYS if counts.get(day, 0) >= _LEAST]
    if found:
        yield Caution(
            "[time] column",
            f"'{file_time}' holds {write_counts(found)}: days that stand for an unknown one",
            "blank them in the table, or leave these records out under [data] drop",
        )
