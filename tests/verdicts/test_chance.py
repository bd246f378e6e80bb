"""What chance alone does to a verdict."""

import numpy as np
import pytest

from auditbook.verdicts.chance import bound_spread, fail_without_cause, flip_by_ratio, flip_other_patients

LEVEL = 0.95
MONTE_CARLO = 0.02  # four standard errors of a share of 0.95 in 2,000 repeats


def test_a_disparate_impact_on_the_line_is_a_coin():
    found = flip_by_ratio([0.8, 0.95], n=1000, rng=np.random.default_rng(1))
    assert found[0.8].vfr > 0.45
    assert found[0.95].vfr < 0.01


def test_more_resamples_agree_on_the_same_patients_and_not_across_patients():
    found = flip_other_patients(40, [0.80, 0.72], repeats=30, rng=np.random.default_rng(1))
    along = (found["k_50"] - found["k_5000"]).abs().mean()
    assert along < 0.06
    assert found["k_5000"].std() > 2 * along


def test_equal_groups_fail_less_with_more_events():
    found = fail_without_cause(
        [10, 100, 1_000], rate=0.8, groups=5, threshold=0.1, repeats=500, rng=np.random.default_rng(1)
    )
    assert found["fails"].is_monotonic_decreasing
    assert found["fails"].iloc[0] > 0.8
    assert found["fails"].iloc[-1] == 0


def test_the_interval_of_a_spread_holds_the_truth_as_often_as_it_says():
    seen = np.random.default_rng(1).normal(size=(2_000, 8)).std(axis=1, ddof=1)
    found = bound_spread(seen, 8)
    assert ((found.low <= 1) & (found.high >= 1)).mean() == pytest.approx(LEVEL, abs=MONTE_CARLO)


def test_a_spread_of_one_repeat_has_no_interval():
    found = bound_spread([0.1], [1])
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
