"""Ratios of skewed errors and of few units, and the way back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from auditbook.pockets.skewness import bend_back, read_as_normal, read_as_student, straighten_ratios

CLOSE = 1e-7  # cube roots near zero lose digits

skews = st.floats(-1, 1)
"""The skewness of a sum of contributions lies between -1 and 1: no cube outweighs the squares."""


def test_a_value_by_hand():
    # t = 3, s = 0.6: 3 + 0.6 * 9 / 3 + 0.36 * 27 / 27 + 0.1
    assert straighten_ratios(3.0, 0.6) == pytest.approx(3 + 1.8 + 0.36 + 0.1)
    assert straighten_ratios(-3.0, -0.6) == pytest.approx(-5.26)


@given(st.floats(-50, 50), skews)
def test_bending_back_undoes_the_transformation(value, skew):
    assert straighten_ratios(bend_back(value, skew), skew) == pytest.approx(value, rel=CLOSE, abs=CLOSE)


@given(st.floats(-30, 30), st.floats(0, 5), skews)
def test_a_larger_ratio_is_never_a_smaller_value(ratio, more, skew):
    low, high = straighten_ratios([ratio, ratio + more], skew)
    assert low <= high + CLOSE


@given(st.floats(-30, 30))
def test_without_skewness_nothing_changes(ratio):
    assert straighten_ratios(ratio, 0.0) == ratio
    assert bend_back(ratio, 0.0) == ratio


@given(st.floats(-20, 20), skews)
def test_errors_turned_round_give_the_value_turned_round(ratio, skew):
    assert straighten_ratios(-ratio, -skew) == pytest.approx(-straighten_ratios(ratio, skew), abs=CLOSE)


def test_infinite_ratios_stay_infinite():
    both = np.array([-np.inf, np.inf])
    for skew in (-0.5, 0.0, 0.5):
        assert straighten_ratios(both, skew).tolist() == both.tolist()
        assert bend_back(both, skew).tolist() == both.tolist()
    assert read_as_student(np.inf, 9) == np.inf
    assert read_as_normal(-np.inf, 9) == -np.inf


@given(st.floats(-6, 6), st.floats(1, 200))
def test_student_and_normal_values_go_both_ways(value, degrees):
    assert read_as_normal(read_as_student(value, degrees), degrees) == pytest.approx(value, abs=CLOSE)


def test_many_units_leave_the_ratio_and_few_shrink_it():
    assert read_as_normal(3.0, 1e6) == pytest.approx(3.0, abs=1e-4)
    assert read_as_normal(t.ppf(0.975, 9), 9) == pytest.approx(1.959964, abs=1e-5)
    assert read_as_normal(3.0, 0.2) == read_as_normal(3.0, 1.0)


def test_transformed_ratios_of_a_skewed_sum_are_less_skewed():
    """Means of 50 lognormal errors: the ratio has a long tail to the left, the transformed one hardly."""
    errors = np.exp(np.random.default_rng(1).standard_normal((20_000, 50))) - np.exp(0.5)
    rest = errors - errors.mean(axis=1, keepdims=True)
    se = np.sqrt((rest**2).sum(axis=1) / (49 * 50))
    ratio = errors.mean(axis=1) / se
    straight = straighten_ratios(ratio, (rest**3).sum(axis=1) / (50 * se) ** 3)
    low, high = np.mean(ratio < -3), np.mean(ratio > 3)
    assert low > 0.02 > 100 * high
    assert np.mean(straight < -3) < low / 2
