"""Impact ratios by hand: the highest rate, the unknown, small categories, and what is withheld."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.verdicts import compare_with_highest, count_above_median
from small_audits import audit

NAN = float("nan")


def compare(n, chosen, unknown=None, total=None):
    return compare_with_highest(
        n, chosen, unknown=unknown or [False] * len(n), total=total or float(np.nansum(n))
    )


def test_each_rate_is_divided_by_the_highest():
    found = compare([1000, 500, 500], [400, 150, 100])
    assert found.rate.tolist() == [0.4, 0.3, 0.2]
    assert found.ratio.tolist() == [1.0, pytest.approx(0.75), 0.5]
    assert found.share.tolist() == [0.5, 0.25, 0.25]
    assert found.part == ("compared",) * 3


def test_people_of_unknown_category_have_a_rate_but_are_not_the_highest():
    found = compare([600, 300, 100], [300, 120, 90], [False, False, True])
    assert found.rate.tolist() == [0.5, 0.4, 0.9]
    assert found.ratio[:2].tolist() == [1.0, 0.8]
    assert np.isnan(found.ratio[2])
    assert found.part == ("compared", "compared", "unknown")


def test_a_category_under_two_per_cent_is_not_the_highest_and_one_of_two_per_cent_is_in():
    found = compare([9781, 200, 19], [4000, 150, 19])
    assert found.part == ("compared", "compared", "small")
    assert found.ratio[1] == 1.0
    assert np.isnan(found.ratio[2])
    assert found.rate[2] == 1.0


def test_a_withheld_count_leaves_blanks_and_the_share_of_others_as_it_is():
    found = compare([60, NAN, 40], [30, NAN, NAN], total=104)
    assert found.part == ("compared", "withheld", "withheld")
    assert np.isnan(found.ratio[1:]).all()
    assert np.isnan(found.rate[1:]).all()
    assert found.share[0] == pytest.approx(60 / 104)


def test_a_category_with_nobody_has_no_rate_and_no_ratio():
    found = compare([60, 0], [30, 0])
    assert found.part == ("compared", "empty")
    assert np.isnan([found.rate[1], found.ratio[1]]).all()


def test_where_nobody_is_chosen_there_is_no_ratio():
    assert np.isnan(compare([60, 40], [0, 0]).ratio).all()


def test_nobody_to_compare_gives_no_ratio():
    assert np.isnan(compare([60], [30], [True]).ratio).all()


@given(
    st.lists(st.tuples(st.integers(1, 500), st.integers(0, 500)), min_size=2, max_size=9), st.integers(2, 50)
)
def test_scaled_counts_have_the_same_ratios(groups, times):
    n, chosen = (np.array(part) for part in zip(*groups, strict=True))
    chosen = np.minimum(n, chosen)
    np.testing.assert_allclose(compare(n, chosen).ratio, compare(n * times, chosen * times).ratio)


def test_scores_above_the_median_of_all_are_counted_in_each_group():
    records = audit([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], list("aaabbb"), declared="abc")
    table = count_above_median(records)
    assert table["group"].tolist() == ["a", "b", "c"]
    assert table["n"].tolist() == [3, 3, 0]
    assert table["above"].tolist() == [0, 3, 0]
    assert set(table["median"]) == {0.35}


def test_scores_equal_to_the_median_are_not_above_it():
    records = audit([0, 1, 0, 1], [0.3, 0.3, 0.3, 0.9], list("aabb"))
    assert count_above_median(records)["above"].tolist() == [0, 1]


def test_decisions_have_no_scoring_rate():
    records = audit([0, 1], [0, 1], list("ab"), kind="decision")
    table = count_above_median(records)
    assert table.empty
    assert list(table.columns) == ["model", "attribute", "group", "n", "median", "above"]
