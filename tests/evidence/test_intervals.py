import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from scipy.stats.contingency import relative_risk
from statsmodels.stats.proportion import proportion_confint

from auditbook.evidence.intervals import (
    add_share,
    f1_interval,
    flip_interval,
    percentile_interval,
    ratio_interval,
    wilson_interval,
)

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


def test_shares_of_a_table_carry_their_bounds_and_an_empty_whole_has_none():
    found = add_share(pd.DataFrame({"n": [10, 0]}), "rate", [4, 0], [10, 0])
    bounds = wilson_interval(4, 10)
    assert found.loc[0, ["rate", "rate_low", "rate_high"]].tolist() == [0.4, bounds.low, bounds.high]
    assert found.loc[1, ["rate", "rate_low", "rate_high"]].isna().all()
    assert add_share(pd.DataFrame({"k": [1, 3]}), "share", [1, 3], 4)["share"].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("table", [(20, 100, 80, 200), (1, 3, 2, 5), (10, 10, 10, 10)])
def test_ratio_interval_is_scipys(table):
    bounds = ratio_interval(*table)
    oracle = relative_risk(*table).confidence_interval(0.95)
    assert (float(bounds.low), float(bounds.high)) == pytest.approx((oracle.low, oracle.high), rel=1e-6)


def test_ratio_of_a_share_of_zero_has_no_interval():
    bounds = ratio_interval([0, 5], 10, [5, 0], 10)
    assert np.isnan([bounds.low, bounds.high]).all()


@given(tp=st.integers(0, 50), fp=st.integers(0, 50), fn=st.integers(0, 50))
def test_f1_lies_within_its_interval_wherever_it_is_defined(tp, fp, fn):
    bounds = f1_interval(tp, fp, fn)
    if not tp + fp + fn:
        assert np.isnan([bounds.low, bounds.high]).all()
        return
    f1 = 2 * tp / (2 * tp + fp + fn)
    assert 0 <= bounds.low <= f1 + 1e-12
    assert f1 - 1e-12 <= bounds.high <= 1
