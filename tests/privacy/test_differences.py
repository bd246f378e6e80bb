"""What the difference of two rates gives away, found by trying every pair of events."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.privacy.differences import tells_few

NAN = float("nan")


def try_all(difference, n, n_other, smallest):
    pairs = itertools.product(range(n + 1), range(n_other + 1))
    same = [pair for pair in pairs if abs(pair[0] / n - pair[1] / n_other - difference) < 1e-9]
    parts = [part for a, b in same for part in (a, n - a, b, n_other - b)]
    return any(0 < part < smallest for part in parts)


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_a_difference_tells_few_where_some_pair_of_events_with_it_has_few(n, n_other, data):
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, n_other))
    difference = float(f"{a / n - b / n_other:.10g}")
    assert tells_few(difference, n, n_other, 10) == try_all(difference, n, n_other, 10)


@pytest.mark.parametrize(
    ("a", "n", "b", "n_other", "told"),
    [(3, 31, 20, 47, True), (15, 31, 20, 47, False), (28, 31, 20, 47, True), (0, 31, 20, 47, False)],
)
def test_few_events_and_few_without_are_found(a, n, b, n_other, told):
    assert tells_few(a / n - b / n_other, n, n_other, 10) == told


def test_what_is_no_difference_of_whole_numbers_tells_nothing():
    assert not tells_few(0.12345678, 31, 47, 10)
    assert not tells_few(NAN, 31, 47, 10)
    assert not tells_few(0.1, NAN, 47, 10)
