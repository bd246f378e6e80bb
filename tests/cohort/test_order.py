"""Whatever the order of rows and columns, and whatever stores a number, a cohort is the same."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.cohort import load_cohort
from auditbook.cohort.file import read_cohort_file
from auditbook.cohort.order import order_cohort, take_cohort
from auditbook.tables import hash_cells, hash_numbers, hash_text
from cohorts import make_table, write_pair

TEXT = """
[outcome]
column = "outcome"
event = "Yes"
[attributes.race]
column = "race"
[attributes.age]
column = "age"
bins = [0, 40, 65]
"""
SITE = '[site]\ncolumn = "hospital"\n'
UNIT = '[unit]\ncolumn = "patient"\n'


def load(folder, table, text, **options):
    path = write_pair(folder, table, text, suffix=".parquet")
    return load_cohort(read_cohort_file(path), cache_dir=folder, **options)


def shuffle(table, seed):
    rng = np.random.default_rng(seed)
    moved = table.iloc[rng.permutation(len(table))].reset_index(drop=True)
    return moved[rng.permutation(table.columns)]


def assert_same(one, two):
    pd.testing.assert_frame_equal(one.table, two.table)
    np.testing.assert_array_equal(one.outcome, two.outcome)
    np.testing.assert_array_equal(one.unit, two.unit)
    assert one.feature_columns == two.feature_columns
    assert one.left_out == two.left_out
    for first, second in zip(one.attributes, two.attributes, strict=True):
        assert first.groups == second.groups
        np.testing.assert_array_equal(first.codes, second.codes)


@pytest.mark.parametrize("text", [TEXT, TEXT + SITE, TEXT + UNIT, TEXT + SITE + UNIT])
@pytest.mark.parametrize("rows", [None, 120])
def test_shuffled_rows_and_columns_make_the_same_cohort(tmp_path, text, rows):
    table = make_table(rows=400, groups=3, sites=9, seed=1)
    plain = load(tmp_path, table, text, max_rows=rows)
    for seed in range(3):
        assert_same(plain, load(tmp_path, shuffle(table, seed), text, max_rows=rows))


def test_columns_and_features_stand_in_the_order_of_their_names(tmp_path):
    cohort = load(tmp_path, make_table(rows=50), TEXT)
    assert list(cohort.table.columns) == sorted(cohort.table.columns)
    assert list(cohort.feature_columns) == sorted(cohort.feature_columns)


def test_a_column_that_nothing_uses_changes_no_order(tmp_path):
    table = make_table(rows=200)
    text = TEXT + '[features]\nexclude = ["visit"]\n'
    plain = load(tmp_path, table, text)
    other = load(tmp_path, table.assign(visit=np.random.default_rng(1).permutation(200)), text)
    pd.testing.assert_frame_equal(plain.table.drop(columns="visit"), other.table.drop(columns="visit"))


def test_what_is_known_late_and_what_is_asked_change_no_order_of_records_that_differ_before(tmp_path):
    table = make_table(rows=200).assign(early=np.arange(200), late=np.arange(200) % 7)
    text = '[features]\ninclude = ["early", "late"]\nlate = ["late"]\n'
    plain = load(tmp_path, table, TEXT + text)
    assert plain.table["early"].tolist() != sorted(plain.table["early"])
    other = load(tmp_path, table.assign(late=table["late"].to_numpy()[::-1]), TEXT + SITE + text)
    assert plain.table["early"].tolist() == other.table["early"].tolist()


def test_records_alike_in_all_columns_are_as_good_as_each_other(tmp_path):
    table = pd.concat([make_table(rows=40)] * 3, ignore_index=True)
    assert_same(load(tmp_path, table, TEXT), load(tmp_path, shuffle(table, 1), TEXT))


def test_an_ordered_cohort_stays_as_it_is_and_a_part_keeps_its_order(tmp_path):
    cohort = load(tmp_path, make_table(rows=60), TEXT + SITE)
    assert_same(cohort, order_cohort(cohort))
    part = take_cohort(cohort, np.array([5, 2]))
    assert part.table["visit"].tolist() == cohort.table["visit"].iloc[[5, 2]].tolist()
    assert part.unit is part.site


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ([1, 2, 2**53], [1.0, 2.0, 2.0**53]),
        ([1, 0, 1], [True, False, True]),
        ([1.0, 0.0, None], pd.Series([True, False, None], dtype=object)),
        ([0.0, np.nan, 1.0], [-0.0, None, 1.0]),
        (["a", None, "é"], pd.Series(["a", np.nan, "é"], dtype=object)),
    ],
)
def test_cells_that_say_the_same_have_one_hash(one, two):
    np.testing.assert_array_equal(hash_cells(pd.Series(one)), hash_cells(pd.Series(two)))


def test_dates_count_by_their_moment_whatever_their_unit():
    days = pd.Series(pd.to_datetime(["2024-01-01 12:00", None, "1969-12-31 23:59"]))
    assert len(set(hash_cells(days))) == 3
    np.testing.assert_array_equal(hash_cells(days), hash_cells(days.astype("datetime64[s]")))


def test_text_is_no_number_and_missing_is_no_word():
    words = hash_text(np.array(["1", None, "None", "nan", ""], dtype=object))
    assert len(set(words)) == 5
    assert words[0] != hash_numbers(np.array([1]))[0]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(allow_infinity=False) | st.none(), min_size=1, max_size=30))
def test_hashes_differ_exactly_where_numbers_do(values):
    column = pd.Series(values, dtype=float)
    hashes = hash_cells(column)
    assert len(set(hashes)) == column.nunique(dropna=False)
