"""Which values does each bin of an attribute hold, and is there a second series of codes among them?"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort import AttributeTable
from auditbook.intake.caution import Caution
from auditbook.intake.used_columns import UsedColumn

WIDE_TOP = 2.0
"""Codes in the last bin, times those of the widest other, from which it is pointed out."""


@dataclass(frozen=True)
class HeldBin:
    """The values that one bin holds."""

    label: str
    records: int
    low: float  # nan where no record is in the bin
    high: float

    @property
    def text(self) -> str:
        """Say which values the bin holds."""
        if not self.records:
            return f"{self.label}: none"
        return f"{self.label}: {self.low:g}" + (f" to {self.high:g}" if self.high > self.low else "")


def hold_bins(item: AttributeTable, numbers: NDArray[np.float64]) -> tuple[HeldBin, ...]:
    """Give the smallest and the largest value of each bin of an attribute."""
    bounds = np.asarray(item.bins, float)
    ends = [*bounds[1 : len(item.labels)], item.top]
    held = []
    for label, start, end in zip(item.labels, bounds, ends, strict=False):
        inside = numbers[(numbers >= start) & (numbers < end)]
        low, high = (float(inside.min()), float(inside.max())) if len(inside) else (np.nan, np.nan)
        held.append(HeldBin(label, len(inside), low, high))
    return tuple(held)


def warn_bins(used: Sequence[UsedColumn]) -> Iterator[Caution]:
    """Point out bins of codes whose last one has a gap, or more codes than the others."""
    for column in (item for item in used if item.role == "bins"):
        item, numbers = column.attribute, column.numbers.cells
        if item is None or len(item.bins) != len(item.labels) or len(item.bins) < 2:
            continue  # the last bin is closed
        codes = np.unique(numbers[numbers >= item.bins[0]])
        if len(codes) > 2 and (codes % 1 == 0).all() and _are_codes(item):
            yield from _warn_last(column, item, codes)


def _are_codes(item: AttributeTable) -> bool:
    """Tell whether the bins are bounds of codes: their names do not speak of the bounds themselves."""
    spoken = {float(number) for label in item.labels for number in re.findall(r"\d+(?:\.\d+)?", label)}
    return not set(item.bins[1:]) <= spoken


def _warn_last(column: UsedColumn, item: AttributeTable, codes: NDArray[np.float64]) -> Iterator[Caution]:
    """Look at the codes of the last bin."""
    last = codes[codes >= item.bins[-1]]
    if len(last) < 2:
        return
    steps = np.diff(last)
    usual = float(np.median(np.diff(codes)))
    gap = int(np.argmax(steps))
    if steps[gap] > max(2 * usual, 2):
        what = f"{last[gap]:g} is followed by {last[gap + 1]:g}"
        yield _warn_series(column, item, last, what, last[gap + 1])
        return
    widest = max(end - start for start, end in zip(item.bins[:-1], item.bins[1:], strict=True))
    if last[-1] - last[0] + 1 >= WIDE_TOP * widest:
        what = f"{last[-1] - last[0] + 1:g} codes, where each other bin has {widest:g} at the most"
        yield _warn_series(column, item, last, what, last[0] + widest)


def _warn_series(
    column: UsedColumn, item: AttributeTable, last: NDArray[np.float64], what: str, start: float
) -> Caution:
    """Say that the last bin may hold a second series of codes, and how to close it."""
    bins = ", ".join(f"{bound:g}" for bound in (*item.bins, start))
    return Caution(
        f"{column.where} bins",
        f"the last bin, '{item.labels[-1]}', is open-ended and holds the codes {last[0]:g} to {last[-1]:g} "
        f"of '{column.name}': {what}; a second series of codes would be counted there",
        f"if there is one, close the bin: bins = [{bins}], and name its codes in missing_values, or recode "
        "them in the table",
    )
