import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from auditbook.evidence.intervals import flip_interval, percentile_interval, wilson_interval

ROUNDING = 1e-12  # both sides do the same arithmetic in another order

trials = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(trials)
def test_wilson_agrees_with_scipy(pair):
    hits, n = pair
    interval, oracle = wilson_interval(hits, n), binomtest(hits, n).proportion_ci(method="wilson")
    assert float(interval.low) == pytest.approx(oracle.low, abs=ROUNDING)
    assert float(interval.high) == pytest.approx(oracle.high, abs=ROUNDING)


def test_wilson_is_statsmodels_own_to_the_last_digit():
    hits, n = np.tril_indices(300)[::-1]
    low, high = proportion_confint(hits, n + 1.0, alpha=0.1, method="wilson")
    interval = wilson_interval(hits, n + 1, level=0.9)
    assert (interval.low == np.where(hits == 0, 0.0, low)).all()
    assert interval.high.tolist() == high.tolist()


@given(trials)
def test_wilson_is_never_of_zero_width_and_stays_between_0_and_1(pair):
    interval = wilson_interval(*pair)
    assert 0 <= interval.low < interval.high <= 1


def test_wilson_without_trials_is_nan():
    interval = wilson_interval([0, 1], [0, 2])
    assert np.isnan([interval.low[0], interval.high[0]]).all()
    assert not np.isnan(interval.low[1])


@given(trials, st.floats(0, 1))
def test_the_flip_interval_holds_the_flip_rate_of_every_share_that_wilson_holds(pair, position):
    share, flips = wilson_interval(*pair), flip_interval(*pair)
    inside = share.low + position * (share.high - share.low)
    assert flips.low - ROUNDING <= min(inside, 1 - inside) <= flips.high + ROUNDING
    assert 0 <= flips.low < flips.high <= 0.5


@given(trials)
def test_the_flip_interval_does_not_tell_pass_from_fail(pair):
    passes, n = pair
    one, other = flip_interval(passes, n), flip_interval(n - passes, n)
    np.testing.assert_allclose([one.low, one.high], [other.low, other.high], atol=ROUNDING)


def test_the_flip_interval_reaches_one_half_only_where_wilson_straddles_it():
    assert flip_interval(240, 500).high == 0.5
    assert flip_interval(100, 500).high < 0.25
    assert flip_interval(400, 500).high < 0.25


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=40), st.integers(0, 5))
def test_percentiles_agree_with_numpy_and_pass_over_undefined_values(values, gaps):
    interval = percentile_interval([*values, *[np.nan] * gaps])
    np.testing.assert_allclose(
        [interval.low, interval.high], np.quantile(values, [0.025, 0.975]), rtol=1e-9, atol=1e-9
    )


def test_percentiles_of_many_rows_are_those_of_each():
    table = np.random.default_rng(1).normal(size=(3, 4, 50))
    table[0, 0, :20] = np.nan
    table[2, 3] = np.nan
    together = percentile_interval(table)
    assert together.low.shape == (3, 4)
    assert float(together.high[0, 0]) == float(percentile_interval(table[0, 0]).high)
    assert np.isnan(together.low[2, 3])


def test_percentiles_of_nothing_are_nan():
    assert np.isnan(percentile_interval(np.zeros((2, 0))).low).all()
