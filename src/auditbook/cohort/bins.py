"""In which bin of an attribute does a number lie, and what is wrong with those that lie in none?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.number_advice import advise_numbers
from auditbook.cohort.schema import AttributeTable
from auditbook.tables import Faults, Mask, as_numbers, count_of, list_values


def name_bins(table: AttributeTable, column: pd.Series, *, keep: Mask, faults: Faults) -> NDArray[np.object_]:
    """Name the bin of each row, None where it has none; kept rows that no bin holds are faults."""
    numbers = as_numbers(column)
    _fault_words(table, column, numbers.bad & keep, faults)
    for told in _find_outside(table, numbers.cells[keep]):
        faults.add(f"[attributes.{table.name}] bins", told)
    bounds = np.asarray(table.bins[: len(table.labels)], float)
    position = np.searchsorted(bounds, numbers.cells, side="right") - 1
    inside = ~np.isnan(numbers.cells) & (position >= 0)
    labels = np.array([*table.labels, None], dtype=object)
    return np.asarray(labels[np.where(inside, np.minimum(position, len(labels) - 2), -1)])


def _fault_words(table: AttributeTable, column: pd.Series, bad: Mask, faults: Faults) -> None:
    """Note cells that are no numbers."""
    if bad.any():
        faults.add(
            f"[attributes.{table.name}] bins",
            f"'{table.column}' is not a number in {count_of(bad.sum(), 'row')} "
            f"({list_values(column[bad], limit=5)}); "
            + advise_numbers(column[bad], numbers="numbers", missing="missing_values"),
        )


def _find_outside(table: AttributeTable, cells: NDArray[np.float64]) -> Iterator[str]:
    """Tell of numbers below the first bin, and of those beyond a last bin that has an end."""
    low, high = cells[cells < table.bins[0]], cells[cells >= table.top]
    if len(high):
        yield (
            f"{_count(high, table)} at or above the end of the last bin, {table.top:g} (highest: "
            f"{high.max():g}); raise it, or write in numbers what they stand for; "
            "values that stand for nothing known belong into missing_values"
        )
    if len(low):
        yield (
            f"{_count(low, table)} below the first bin, {table.bins[0]:g} (lowest: {low.min():g}); lower the "
            "first bin; values that stand for nothing known belong into missing_values"
        )


def _count(outside: NDArray[np.float64], table: AttributeTable) -> str:
    return f"{count_of(len(outside), 'row')} of '{table.column}' {'lies' if len(outside) == 1 else 'lie'}"
