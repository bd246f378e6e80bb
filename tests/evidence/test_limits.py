"""One-sided limits err as often as they say, and are joined so that a bound and a p-value agree."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from auditbook.evidence import MEAN, SHARE, Bounded, mover_bounds, share_limits, wilson_interval
from auditbook.evidence.limits import student_quantile


@pytest.mark.parametrize(("k", "n"), [(1, 10), (5, 30), (29, 30), (70, 200)])
def test_limits_of_a_share_are_those_of_statsmodels(k, n):
    expected = proportion_confint(k, n, alpha=0.10, method="jeffreys")
    assert np.allclose(np.ravel(share_limits(k / n, n, stats.norm.isf(0.05))), expected, atol=1e-12)


def test_limits_are_exact_where_nothing_or_everything_was_found():
    low, high = share_limits([0, 1], [19, 19], stats.norm.isf(0.05))
    for place, k in enumerate((0, 19)):
        expected = proportion_confint(k, 19, alpha=0.10, method="beta")
        assert (low[place], high[place]) == pytest.approx(expected, abs=1e-12)


def one_sided_error(limit, n, share):
    """How often a lower limit exceeds the true share, by enumeration."""
    k = np.arange(n + 1)
    return float(stats.binom.pmf(k, n, share)[limit(k, n) > share].sum())


def test_lower_limits_of_small_shares_err_as_often_as_they_say_and_wilsons_more_often():
    z = stats.norm.isf(0.001)
    shares = np.linspace(0.02, 0.3, 57)
    ours, wilson = (
        np.mean([one_sided_error(limit, 40, share) for share in shares])
        for limit in (
            lambda k, n: share_limits(k / n, n, z)[0],
            lambda k, n: wilson_interval(k, n, level=0.998).low,
        )
    )
    assert ours == pytest.approx(0.001, abs=0.0003)
    assert wilson > 2 * ours


def test_limits_never_cross_the_estimate_and_reach_the_ends():
    low, high = share_limits([0, 1, 0.5], [5, 5, 5], [1.6, 1.6, 0.0])
    assert low[0] == 0
    assert high[1] == 1
    assert low[1] < 1
    assert high[0] > 0
    assert low[2] <= 0.5 <= high[2]


def test_a_mean_is_bounded_by_students_quantile():
    one = np.ones(1)
    bounded = Bounded(np.array([MEAN], np.int8), 2 * one, 0 * one, 0.5 * one, 9 * one)
    low, high = bounded.limits(stats.norm.isf(0.01) * one)
    assert high[0] - 2 == pytest.approx(0.5 * stats.t.isf(0.01, 9))
    assert 2 - low[0] == pytest.approx(0.5 * stats.t.isf(0.01, 9))
    assert student_quantile(np.array([1.5]), np.array([np.inf])) == 1.5


def test_a_theil_index_reaches_up_to_what_no_record_shows():
    one = np.ones(1)
    z = stats.norm.isf(0.05) * one
    silent = Bounded(np.array([MEAN], np.int8), 0 * one, 30 * one, 0 * one, 29 * one)
    low, high = silent.limits(z)
    assert low[0] == 0
    wholly_wrong = 1 - np.exp(-high[0])  # share of predictions that makes the index so large
    assert stats.binom.pmf(0, 30, wholly_wrong) == pytest.approx(0.05)
    assert silent.limits(3 * one)[1] > high


def share(k, n):
    one = np.ones(1)
    return Bounded(np.array([SHARE], np.int8), k / n * one, n * one, 0 * one, np.inf * one)


def test_correlation_narrows_the_bounds_of_a_difference():
    one = np.ones(1)
    apart, together = (
        mover_bounds(share(30, 100), share(20, 100), one, rho * one, 1.645 * one) for rho in (0.0, 0.8)
    )
    assert apart[0] < together[0] < 0.1 < together[1] < apart[1]


def test_bounds_of_a_difference_cover_as_often_as_they_say():
    n, m, p, q, z = 40, 60, 0.9, 0.75, stats.norm.isf(0.05)
    k, j = (part.ravel() for part in np.meshgrid(np.arange(n + 1), np.arange(m + 1)))
    chance = stats.binom.pmf(k, n, p) * stats.binom.pmf(j, m, q)
    size = np.ones(len(k))
    first, second = (
        Bounded(np.zeros(len(k), np.int8), hits / trials, trials * size, 0 * size, np.inf * size)
        for hits, trials in ((k, n), (j, m))
    )
    low, high = mover_bounds(first, second, size, 0 * size, z * size)
    assert chance[low > p - q].sum() == pytest.approx(0.05, abs=0.015)
    assert chance[high < p - q].sum() == pytest.approx(0.05, abs=0.015)
