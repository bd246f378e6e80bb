"""Windows of time: their length, their days, and where records fall."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort.schema import TimeTable
from auditbook.cohort.windows import Window, check_windows, find_windows, read_window, refuse_days_to_come
from auditbook.errors import InputError
from auditbook.tables import Faults


@pytest.mark.parametrize(
    ("text", "window", "a_year"),
    [
        ("90 days", Window(90, False), 5),
        ("1 week", Window(7, False), 53),
        ("1 month", Window(1, True), 12),
        ("1 quarter", Window(3, True), 4),
        ("2 years", Window(24, True), 1),
    ],
)
def test_a_length_is_read_in_words(text, window, a_year):
    assert read_window(text) == window
    assert window.a_year == a_year


@pytest.mark.parametrize("text", ["0 days", "1 fortnight", "month", "-3 days", "1.5 months", ""])
def test_what_is_no_length_of_time_is_none(text):
    assert read_window(text) is None


def test_calendar_months_begin_on_the_first_and_end_with_the_month():
    window = Window(1, True)
    assert [window.end(date(2024, 1, 1), place) for place in (0, 1, 11)] == [
        date(2024, 1, 31),
        date(2024, 2, 29),
        date(2024, 12, 31),
    ]


def test_records_fall_into_windows_and_those_without_a_date_into_none():
    table = pd.DataFrame({"day": ["2024-01-31", "2024-02-01T23:59", None, "2023-12-31"]})
    found = find_windows(TimeTable("day", "1 month", "2024-01-01"), table, name="x.toml")
    assert found.place.tolist() == [0, 1, -1, -1]
    assert found.dated.tolist() == [True, True, False, True]
    assert found.count_complete() == 1
    assert found.count_complete(date(2024, 2, 29)) == 2


@pytest.mark.parametrize("window", ["9999 years", "9999 days", "1 year"])
def test_a_window_that_ends_after_all_years_is_never_over(window):
    table = pd.DataFrame({"day": np.array(["9990-01-10", "9999-12-31"], "datetime64[s]")})
    found = find_windows(TimeTable("day", window), table, name="x.toml")
    assert found.count_complete() == (9 if window == "1 year" else 0)


def test_days_that_are_shifted_far_ahead_are_watched_up_to_a_day_that_is_named():
    table = pd.DataFrame({"day": ["2150-01-10", "2150-03-09"]})
    found = find_windows(TimeTable("day", "1 month"), table, name="x.toml")
    refuse_days_to_come(found, date(2150, 2, 28), name="x.toml", today=date(2026, 1, 1))
    for through in (None, date(2150, 3, 10)):
        with pytest.raises(InputError, match="has not come"):
            refuse_days_to_come(found, through, name="x.toml", today=date(2026, 1, 1))


def test_days_are_counted_from_the_earliest_record():
    table = pd.DataFrame({"day": ["2024-01-10", "2024-02-08", "2024-02-09"]})
    found = find_windows(TimeTable("day", "30 days"), table, name="x.toml")
    assert (found.start, found.place.tolist(), found.count_complete()) == (date(2024, 1, 10), [0, 0, 1], 1)


@pytest.mark.parametrize(
    ("time", "table", "said"),
    [
        (TimeTable("day"), {"day": ["2024-01-01"]}, "names no windows"),
        (TimeTable("day", "1 month"), {"day": [3, 4]}, "holds numbers and no dates"),
        (TimeTable("day", "1 month"), {"day": ["soon"]}, "neither a date"),
        (TimeTable("day", "1 month"), {"day": [None, None]}, "no date in 2 records"),
    ],
)
def test_a_column_without_dates_is_told_with_its_name(time, table, said):
    with pytest.raises(InputError, match=said):
        find_windows(time, pd.DataFrame(table), name="x.toml")


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (TimeTable("day", "1 moon"), '"1 month"'),
        (TimeTable(None, "1 month"), "no column holds the time"),
        (TimeTable("day", "1 month", "2024-01-15"), "write 2024-01-01"),
        (TimeTable("day", "90 days", "January"), "is no day"),
    ],
)
def test_faults_of_the_keys_say_what_to_write(time, said):
    faults = Faults("x.toml")
    check_windows(time, faults)
    assert len(faults.found) == 1
    assert said in faults.found[0]
