"""Into which windows of time do records fall: so many days, or calendar months?"""

import re
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort.schema import TimeTable
from auditbook.cohort.times import read_moments
from auditbook.errors import InputError
from auditbook.tables import Faults, count_of

DAYS, MONTHS = {"day": 1, "week": 7}, {"month": 1, "quarter": 3, "year": 12}
ALLOWED = '"90 days", "2 weeks", "1 month", "1 quarter" or "1 year"'
YEAR = 365


@dataclass(frozen=True)
class Window:
    """The length of a window: so many days, or so many calendar months."""

    count: int
    months: bool

    @property
    def a_year(self) -> int:
        """How many windows begin in a year, at least 1."""
        return max(1, -(-(12 if self.months else YEAR) // self.count))

    def begin(self, start: date, place: int) -> date:
        """Find the first day of a window, counted from 0."""
        if not self.months:
            return start + timedelta(days=self.count * place)
        month = 12 * start.year + start.month - 1 + self.count * place
        return date(month // 12, month % 12 + 1, 1)

    def end(self, start: date, place: int) -> date:
        """Find the last day of a window."""
        return self.begin(start, place + 1) - timedelta(days=1)

    def is_over(self, start: date, place: int, known: date) -> bool:
        """Tell whether the last day of a window is known; one that ends after the year 9999 never is."""
        try:
            return self.end(start, place) <= known
        except (OverflowError, ValueError):
            return False


@dataclass(frozen=True)
class Windowed:
    """The records of a cohort by window."""

    window: Window
    start: date  # First day of the first window
    place: NDArray[np.intp]  # shape (n,): Window of each record, from 0; -1 before the first
    dated: NDArray[np.bool_]  # shape (n,): Whether it has a date
    newest: date  # Of the records that have a date

    def count_complete(self, through: date | None = None) -> int:
        """Count the windows that are over: data reach their last day, which `through` can say."""
        known = self.newest if through is None else through
        complete = 0
        while self.window.is_over(self.start, complete, known):
            complete += 1
        return complete


def read_window(text: str) -> Window | None:
    """Read the length of a window; None where it is none.

    >>> read_window("2 weeks")
    Window(count=14, months=False)
    """
    found = re.fullmatch(r"\s*([1-9]\d{0,3})\s+([a-z]+?)s?\s*", text.lower())
    if found is None or found[2] not in DAYS | MONTHS:
        return None
    months = found[2] in MONTHS
    return Window(int(found[1]) * (MONTHS if months else DAYS)[found[2]], months)


def refuse_days_to_come(windowed: Windowed, through: date | None, *, name: str, today: date) -> None:
    """Refuse to take windows as over that are not: a look at them would never be taken again.

    Parameters
    ----------
    windowed : Windowed
        The records by window.
    through : date or None
        Last day up to which the data are said to be whole; None: that of the newest record.
    name : str
        The cohort file's name, for messages.
    today : date
        The day on which is looked.

    Raises
    ------
    InputError
        If records are of days to come and nobody says up to which day they are whole, or somebody says a day
        to come that no record reaches.
    """
    tomorrow = today + timedelta(days=1)  # It has come elsewhere
    if through is None and windowed.newest > tomorrow:
        raise InputError(
            f"{name}: [time] column: the newest record is of {windowed.newest}, which has not come: every "
            "window up to then would be looked at as if it were over, and never again; correct that date, "
            f"or say up to which day the data are whole, such as --through {today}"
        )
    if through is not None and through > max(windowed.newest, tomorrow):
        raise InputError(
            f"--through {through}: that day has not come, and no record is of it; name the last day up to "
            f"which the data are whole, at the latest {max(windowed.newest, today)}"
        )


def check_windows(time: TimeTable, faults: Faults) -> None:
    """Find windows that are no length of time, and a start that is no day."""
    window = None if time.window is None else read_window(time.window)
    if time.window is not None and window is None:
        faults.add("[time] window", f"'{time.window}' is no length of time; write {ALLOWED}")
    if time.window is not None and time.column is None:
        faults.add("[time] window", 'no column holds the time of a record; name it: [time] column = "…"')
    if time.start is None:
        return
    start = read_day(time.start)
    if start is None:
        faults.add(
            "[time] start", f"'{time.start}' is no day; write it as year-month-day, such as 2024-01-31"
        )
    elif window is not None and window.months and start.day != 1:
        told = "windows of calendar months begin on the first of one"
        faults.add("[time] start", f"'{time.start}': {told}; write {start.replace(day=1)}")


def read_day(text: str) -> date | None:
    """Read a day as year-month-day; None where it is none."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def find_windows(time: TimeTable, table: pd.DataFrame, *, name: str, start: date | None = None) -> Windowed:
    """Find the window of each record.

    Parameters
    ----------
    time : TimeTable
        The cohort file's ``[time]``.
    table : DataFrame
        The kept records.
    name : str
        The cohort file's name, for messages.
    start : date, optional
        First day of the first window; by default what ``[time]`` says, else the day of the earliest record
        (of months, the first day of its month).

    Raises
    ------
    InputError
        If no window is named, the column holds no dates, or no record has one.
    """
    window = None if time.window is None else read_window(time.window)
    if window is None or time.column is None:
        raise InputError(
            f"{name}: [time] names no windows; say which column holds the date of a record and how long a "
            f'window is: column = "…" and window = {ALLOWED}'
        )
    faults = Faults(name)
    read = read_moments(table[time.column], keep=np.ones(len(table), bool), faults=faults)
    faults.raise_any()
    if read is not None and read.isna().all():
        held = count_of(len(read), "record")
        raise InputError(f"{name}: [time] column: '{time.column}' holds no date in {held}")
    if read is None or read.dtype.kind != "M":
        raise InputError(
            f"{name}: [time] column: '{time.column}' holds numbers and no dates; windows need dates such as "
            "2024-01-31"
        )
    return _place(window, read.dt.tz_localize(None), start or read_day(time.start or ""))


def _place(window: Window, moments: pd.Series, start: date | None) -> Windowed:
    """Count windows from the first day of the first."""
    dated = moments.notna().to_numpy()
    days = moments[dated].dt.normalize()
    if start is None:
        earliest = days.min().date()
        start = earliest.replace(day=1) if window.months else earliest
    if window.months:
        away = 12 * (days.dt.year - start.year) + days.dt.month - start.month
    else:
        away = (days - pd.Timestamp(start)).dt.days
    place = np.full(len(dated), -1, np.intp)
    place[dated] = np.maximum(away.to_numpy() // window.count, -1)
    return Windowed(window, start, place, dated, days.max().date())
