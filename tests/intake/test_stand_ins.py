"""Numbers, days and ids that stand in for "not known", and long tails that do not."""

import numpy as np
import pandas as pd
import pytest

from auditbook.intake.stand_ins import find_far_values
from warned_tables import BASIC, TOP, make_table, warn, warn_once

AGES = BASIC + '[attributes.age]\ncolumn = "years"\nbins = [18, 40, 65]\n'


def far(numbers):
    found = find_far_values(np.asarray(numbers, float))
    return None if found is None else dict(zip(found.values.tolist(), found.counts.tolist(), strict=True))


@pytest.mark.parametrize(
    ("usual", "odd"),
    [
        (range(18, 96), {999: 4}),
        (range(1, 11), {98: 2, 99: 2}),
        ((0, 1), {9: 3}),
        ((1, 2, 3, 4), {77: 2, 99: 5}),
        (range(0, 60), {-99: 3}),
        (np.linspace(0.1, 14, 60), {-9: 5}),
        (range(20, 120), {9999: 3}),
        (range(30, 45), {500: 30}),
    ],
)
def test_codes_and_spikes_far_from_the_others_are_found(usual, odd):
    numbers = [*np.tile(list(usual), 10), *(value for value, count in odd.items() for _ in range(count))]
    assert far(numbers) == {float(value): count for value, count in odd.items()}


@pytest.mark.parametrize(
    "numbers",
    [
        np.random.default_rng(1).lognormal(8, 1.5, 3_000).round(),
        np.random.default_rng(2).poisson(2, 3_000),
        np.random.default_rng(3).normal(0, 5, 3_000),
        np.random.default_rng(4).integers(18, 100, 3_000),
        [0, 1] * 20,
        [1, 2, 3, 4, 5, 9] * 20,
        [21, 40, 100] * 20,
        [0] * 50 + [1, 2, 9],
        [],
        [5.0],
    ],
)
def test_tails_codes_in_a_row_and_single_values_are_none(numbers):
    assert far(numbers) is None


def test_a_stand_in_among_ages_is_told_with_its_bin_and_its_line(tmp_path):
    table = make_table(years=lambda i: 888 if i % 20 == 0 else 18 + i % 75)
    assert warn_once(tmp_path, table, AGES) == (
        "[attributes.age]: 'years' holds 888 (10), far from all other values (18 to 92); it looks like a "
        "code for "
        "\"not known\", and is counted in '65+'; missing_values = [888], "
        'with missing = "drop" (left out and counted) or "group" (one group, called missing)'
    )
    assert warn(tmp_path, table, AGES + 'missing_values = [888]\nmissing = "drop"\n') == []


def test_stand_ins_among_features_outcomes_and_ranks_are_told(tmp_path):
    odd = make_table(alcohol=lambda i: [77, 99][i % 2] if i % 10 < 2 else i % 7)["alcohol"]
    told = warn_once(tmp_path, make_table(alcohol=odd))
    assert told.startswith(
        "[features]: 'alcohol' holds 77 (20), 99 (20), far from all other values (0 to 6); they"
    )
    assert told.endswith("; [missing] columns = { alcohol = [77, 99] }")
    text = BASIC.replace('"died"\nevent = 1', '"alcohol"\nevent = "> 3"')
    assert (
        'they look like codes for "not known", and are compared like any number; [missing] columns'
        in warn_once(tmp_path, make_table(alcohol=odd).drop(columns="died"), text)
    )
    text = BASIC + '[scores.m]\ncolumn = "alcohol"\nkind = "rank"\npercentile = 90\n'
    assert warn_once(tmp_path, make_table(alcohol=odd), text).startswith(
        "[scores.m]: 'alcohol' holds 77 (20)"
    )


def test_numbers_in_text_columns_keep_their_quotes_in_the_line(tmp_path):
    table = make_table(stay=lambda i: "999" if i % 20 == 0 else "2 +" if i == 1 else str(i % 9))
    told = [text for text in warn(tmp_path, table) if "999" in text]
    assert told[0].endswith('[missing] columns = { stay = ["999"] }')


UNITS = BASIC + '[unit]\ncolumn = "person"\n'


@pytest.mark.parametrize("name", ["0000000", "999999999", "UNKNOWN", "-1", "XXXXXX", "n/a", "inconnu", "0"])
def test_one_stand_in_id_of_many_people_is_pointed_out(tmp_path, name):
    table = make_table(person=lambda i: name if i % 5 == 0 else f"p{i}")
    assert warn_once(tmp_path, table, UNITS) == (
        f"[unit] column: {name!r} holds 40 of 200 records (20%), which are taken for one unit; it looks "
        f"like a "
        "stand-in for an unknown one; give each of these records a number of its own, or leave them out: "
        "[data] "
        f'drop = [{{ column = "person", values = ["{name}"], reason = "no person" }}]'
    )
    top = TOP + f'drop = [{{ column = "person", values = ["{name}"], reason = "no person" }}]\n'
    assert warn(tmp_path, table, UNITS, top) == []


def test_a_giant_among_people_needs_no_telling_name(tmp_path):
    assert "'p77' holds" in warn_once(
        tmp_path, make_table(person=lambda i: "p77" if i % 5 == 0 else f"p{i}"), UNITS
    )


def test_frequent_visitors_and_large_hospitals_are_left_alone(tmp_path):
    rng = np.random.default_rng(5)
    visits = [f"p{k}" for k in rng.geometric(0.02, 200)]
    assert warn(tmp_path, make_table(person=visits), UNITS) == []
    wards = ["big" if i % 2 else f"w{i % 9}" for i in range(200)]
    assert warn(tmp_path, make_table(person=wards), UNITS) == []


def test_days_that_stand_for_an_unknown_one_are_pointed_out(tmp_path):
    days = pd.date_range("2024-01-01", periods=200).to_series().reset_index(drop=True)
    days[:4] = pd.Timestamp("1900-01-01")
    told = warn_once(tmp_path, make_table(admitted=days), BASIC + '[time]\ncolumn = "admitted"\n')
    assert told.startswith(
        "[time] column: 'admitted' holds '1900-01-01' (4): days that stand for an unknown one;"
    )
    assert (
        warn(
            tmp_path,
            make_table(admitted=days[4:].to_list() + [days[9]] * 4),
            BASIC + '[time]\ncolumn = "admitted"\n',
        )
        == []
    )
