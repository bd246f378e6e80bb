"""When was each record made, and how long before the event?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.schema import CohortFile
from auditbook.tables import Faults, Mask, as_numbers, count_of, is_missing, list_values

MICROSECONDS = 3_600_000_000
"""Of an hour."""


def read_moments(
    column: pd.Series, *, keep: Mask, faults: Faults, where: str = "[time] column"
) -> pd.Series | None:
    """Read the moments of a column as dates or as numbers, null where there is none; None with a fault."""
    if column.dtype != object:
        return column
    read = as_numbers(column)
    if not read.bad.any():
        return pd.Series(read.cells)
    missing = is_missing(column)
    values = pd.to_datetime(column.mask(missing), format="ISO8601", errors="coerce", utc=True)
    bad = values.isna().to_numpy() & ~missing & keep
    if bad.any():
        faults.add(
            where,
            f"'{column.name}' is neither a date such as 2024-01-31 nor a number in "
            f"{count_of(bad.sum(), 'row')} ({list_values(column[bad], limit=5)}); write dates as "
            "year-month-day",
        )
        return None
    return values.dt.tz_localize(None)


def rank_times(column: pd.Series, *, keep: Mask, faults: Faults) -> NDArray[np.intp] | None:
    """Rank the moments of a column from 0, -1 where there is none; None with a fault."""
    values = read_moments(column, keep=keep, faults=faults)
    if values is None:
        return None
    return np.asarray(pd.factorize(values, sort=True, use_na_sentinel=True)[0])


@dataclass(frozen=True)
class Moments:
    """When each row was made and when its event happened; nan where nothing is known of it."""

    made: NDArray[np.float64]  # shape (n,): Microseconds of dates, else the numbers of the column
    happened: NDArray[np.float64]  # shape (n,): The same of the event
    dated: bool  # Whether they are dates

    def measure(self, made: NDArray[np.float64], happened: NDArray[np.float64]) -> NDArray[np.float64]:
        """Measure the time from one moment to another: hours between dates, else in the columns' unit."""
        return (happened - made) / (MICROSECONDS if self.dated else 1)


def read_both_moments(file: CohortFile, frame: pd.DataFrame, *, keep: Mask, faults: Faults) -> Moments | None:
    """Read when rows were made and when events happened; None where no event's time is named, or a fault."""
    names = file.time.column, file.outcome.time
    if names[0] is None or names[1] is None or not set(names) <= set(frame):
        return None
    made = read_moments(frame[names[0]], keep=keep, faults=faults)
    happened = read_moments(frame[names[1]], keep=keep, faults=faults, where="[outcome] time")
    if made is None or happened is None:
        return None
    dated = [part.dtype.kind == "M" for part in (made, happened) if part.notna().any()]
    if len(set(dated)) > 1:
        date, number = names if dated[0] else names[::-1]
        faults.add(
            "[outcome] time",
            f"'{date}' holds dates and '{number}' numbers, so that no time lies between them; "
            "give both as dates, or both as numbers that count from one moment",
        )
        return None
    return Moments(_count(made), _count(happened), any(dated))


def _count(moments: pd.Series) -> NDArray[np.float64]:
    """Write moments as numbers, dates as microseconds; nan where there is none."""
    if moments.dtype.kind != "M":
        return moments.to_numpy(dtype=np.float64, na_value=np.nan)
    micro = moments.to_numpy(dtype="datetime64[us]")
    return np.where(np.isnat(micro), np.nan, micro.astype(np.int64))
