"""Random-effects pooling: published worked examples, statsmodels as oracle, extremes, coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.meta_analysis import combine_effects, effectsize_2proportions

from auditbook.errors import InputError
from auditbook.pooling.random_effects import LEAST_PREDICTED, pool_effects

# Kacker (2004), doi:10.1088/0026-1394/41/3/004, table 1: nine laboratories
KACKER = np.array([61.00, 61.40, 62.21, 62.30, 62.34, 62.60, 62.70, 62.84, 65.90])
KACKER_VARIANCE = np.array([0.2025, 1.2100, 0.0900, 0.2025, 0.3844, 0.5625, 0.0676, 0.0225, 1.8225])
# Colditz et al. (1994), doi:10.1001/jama.1994.03510330076038: cases and others, vaccinated and not
BCG = np.array(
    [
        [4, 119, 11, 128],
        [6, 300, 29, 274],
        [3, 228, 11, 209],
        [62, 13536, 248, 12619],
        [33, 5036, 47, 5761],
        [180, 1361, 372, 1079],
        [8, 2537, 10, 619],
        [505, 87886, 499, 87892],
        [29, 7470, 45, 7232],
        [17, 1699, 65, 1600],
        [186, 50448, 141, 27197],
        [5, 2493, 3, 2338],
        [27, 16886, 29, 17825],
    ],
    float,
)


def _log_odds_ratios() -> tuple[np.ndarray, np.ndarray]:
    a, b, c, d = BCG.T
    return np.log(a * d / (b * c)), 1 / a + 1 / b + 1 / c + 1 / d


def test_paule_mandel_of_nine_laboratories_is_the_published_one() -> None:
    found = pool_effects(KACKER, KACKER_VARIANCE)
    assert np.sqrt(found.tau2) == pytest.approx(0.8399, abs=6e-5)  # as printed, four digits
    assert found.estimate == pytest.approx(62.4076199113286, abs=1e-9)  # metafor 2.4, method PM


def test_interval_of_the_variance_of_thirteen_trials_is_the_published_one() -> None:
    # van Houwelingen, Arends and Stijnen (2002), doi:10.1002/sim.1040; Q-profile interval by metafor
    found = pool_effects(*_log_odds_ratios())
    printed = pytest.approx((0.1302, 1.1812), abs=1e-4)  # its solver stops within 1.2e-4
    assert (found.tau2_low, found.tau2_high) == printed


def test_mean_and_interval_agree_with_statsmodels() -> None:
    y, v = effectsize_2proportions(BCG[:, 0], BCG[:, :2].sum(1), BCG[:, 2], BCG[:, 2:].sum(1))
    found = pool_effects(y, v)
    other = combine_effects(y, v, method_re="pm", use_t=True, atol=1e-10)
    assert found.tau2 == pytest.approx(other.tau2, rel=1e-9)
    assert found.estimate == pytest.approx(other.mean_effect_re, rel=1e-9)
    assert (found.high - found.low) / 2 / 2.1788128296634177 == pytest.approx(
        other.sd_eff_w_re_hksj, rel=1e-8
    )
    assert found.i2 == pytest.approx(other.i2, abs=1e-12)


def test_equal_hospitals_differ_by_chance_alone() -> None:
    found = pool_effects([0.1] * 4, [0.01] * 4)
    assert (found.estimate, found.tau2, found.i2) == (pytest.approx(0.1), 0.0, 0.0)
    assert found.high - 0.1 == pytest.approx(3.182446305284263 * 0.05)  # t with 3 df, never below 1/sum w


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_hospitals_are_told_what_can_be(count: int) -> None:
    found = pool_effects([0.1, 0.3][:count], [0.01, 0.01][:count])
    assert np.isnan(found.prediction_low)
    assert np.isnan(found.low) == (count < 2)
    assert np.isnan(found.estimate) == (count == 0)
    assert LEAST_PREDICTED == 3


def test_prediction_is_wider_than_the_mean_where_hospitals_differ() -> None:
    found = pool_effects(*_log_odds_ratios())
    assert found.prediction_low < found.low < found.high < found.prediction_high


def test_nothing_is_surer_of_the_next_hospital_than_of_the_mean() -> None:
    for effects in ([0.1, 0.1, 0.1], [0.1, 0.2, 0.3], [0.1, 0.11, 0.12, 0.3]):
        found = pool_effects(effects, [0.01] * len(effects))
        assert found.prediction_low <= found.low < found.high <= found.prediction_high


def test_prediction_of_many_exact_hospitals_is_their_normal_range() -> None:
    y = np.random.default_rng(3).normal(0.2, 0.1, 4000)
    found = pool_effects(y, np.full(4000, 1e-8))
    assert found.prediction_high - found.prediction_low == pytest.approx(2 * 1.96 * 0.1, rel=0.05)


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=8), st.floats(-5, 5), st.floats(0.1, 10))
def test_shift_and_scale_pass_through(effects: list[float], shift: float, scale: float) -> None:
    y, v = np.array(effects), np.linspace(0.01, 0.05, len(effects))
    one, other = pool_effects(y, v), pool_effects(scale * y + shift, scale**2 * v)
    for name in ("estimate", "low", "high", "prediction_low", "prediction_high"):
        assert getattr(other, name) == pytest.approx(scale * getattr(one, name) + shift, abs=1e-7 * scale)
    assert other.tau2 == pytest.approx(scale**2 * one.tau2, abs=1e-9 * scale**2)


def test_order_of_hospitals_is_of_no_consequence() -> None:
    y, v = _log_odds_ratios()
    one, other = pool_effects(y, v), pool_effects(y[::-1], v[::-1])
    assert one.prediction_high == pytest.approx(other.prediction_high, abs=1e-10)
    assert one.weights == pytest.approx(other.weights[::-1])


@pytest.mark.parametrize(("effects", "variances"), [([0.1], [0.0]), ([np.nan], [1.0]), ([0.1, 0.2], [1.0])])
def test_what_cannot_be_pooled_is_refused(effects: list[float], variances: list[float]) -> None:
    with pytest.raises(InputError, match=r"variance|estimates"):
        pool_effects(effects, variances)
