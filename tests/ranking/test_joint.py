"""Intervals that hold at once."""

import numpy as np
import pytest
from scipy.stats import norm, studentized_range

from auditbook.evidence.auc_bootstrap import bootstrap_areas
from auditbook.evidence.intervals import Interval
from auditbook.ranking.joint import (
    bound_crossed,
    bound_differences,
    cross_errors,
    draw_errors,
    joint_levels,
    level_of,
    pair_level,
    set_level,
)
from auditbook.ranking.matrix import auc_matrix, matrix_interval, site_errors, standard_errors
from slow_areas import draw_audit, slow_covariance, slow_influence

MONTE_CARLO = 0.004  # standard error of the level at 4,000 draws is 0.0034 at the aim, less beyond it


def test_independent_intervals_need_the_closed_form():
    found = set_level(np.eye(10), draws=20_000, rng=np.random.default_rng(1))
    assert found == pytest.approx(0.95 ** (1 / 10), abs=MONTE_CARLO)


@pytest.mark.parametrize("count", [3, 6])
def test_all_pairs_need_tukeys_quantile(count):
    found = pair_level(4 * np.eye(count), draws=20_000, rng=np.random.default_rng(2))
    tukey = studentized_range.ppf(0.95, count, 10_000) / np.sqrt(2)
    assert found == pytest.approx(1 - 2 * norm.sf(tukey), abs=MONTE_CARLO)


def test_equal_quantities_need_no_more_than_one():
    assert set_level(np.ones((5, 5)), rng=np.random.default_rng(3)) == pytest.approx(0.95, abs=0.01)


def test_one_interval_or_none_needs_the_aim_itself():
    assert set_level(np.eye(1), rng=np.random.default_rng(4)) == 0.95
    assert set_level(np.full((2, 2), np.nan), rng=np.random.default_rng(4)) == 0.95
    assert pair_level(np.eye(2), rng=np.random.default_rng(4)) == 0.95
    assert pair_level(np.zeros((0, 0)), rng=np.random.default_rng(4)) == 0.95
    assert level_of(np.full(9, 99.0), 0.95, count=5) == pytest.approx(0.99)  # Bonferroni bounds it


def test_drawn_errors_have_the_covariance_of_the_slow_loop():
    outcome, values, codes = draw_audit(np.random.default_rng(5), 150, 3)
    matrix = auc_matrix(outcome, values, codes, 3)
    slow = slow_covariance(
        [slow_influence(outcome, values, codes == g, codes == h) for g in range(3) for h in range(3)]
    )
    drawn = np.concatenate(list(draw_errors(matrix, draws=40_000, rng=np.random.default_rng(6))))
    found = np.cov(drawn.reshape(len(drawn), -1).T)
    np.testing.assert_allclose(found, slow, atol=0.03 * slow.max())


def test_the_covariance_agrees_with_the_stratified_bootstrap():
    outcome, values, codes = draw_audit(np.random.default_rng(7), 500, 3)
    matrix = auc_matrix(outcome, values, codes, 3)
    drawn = np.concatenate(list(draw_errors(matrix, draws=20_000, rng=np.random.default_rng(8))))
    again = bootstrap_areas(outcome, values, codes, 3, resamples=2000, rng=np.random.default_rng(9))
    one, two = (np.cov(part.reshape(len(part), -1).T) for part in (drawn, again))
    np.testing.assert_allclose(one, two, atol=0.1 * two.max())


def test_drawn_site_errors_have_the_spread_of_the_site_errors():
    rng = np.random.default_rng(10)
    outcome, values, codes = draw_audit(rng, 400, 2)
    matrix = auc_matrix(outcome, values, codes, 2, site=rng.integers(0, 20, 400))
    drawn = np.concatenate(list(draw_errors(matrix, draws=20_000, by_site=True, rng=rng)))
    np.testing.assert_allclose(drawn.std(axis=0), site_errors(matrix).se, rtol=0.03)
    difference = drawn - np.swapaxes(drawn, 1, 2)
    np.testing.assert_allclose(
        difference.std(axis=0), cross_errors(matrix, by_site=True), rtol=0.03, atol=1e-12
    )


def test_names_of_sites_change_no_level():
    rng = np.random.default_rng(11)
    outcome, values, codes = draw_audit(rng, 300, 2)
    site, names = rng.integers(0, 20, 300), rng.permutation(20)
    one, two = (
        joint_levels(
            auc_matrix(outcome, values, codes, 2, site=part), by_site=True, rng=np.random.default_rng(1)
        )
        for part in (site, names[site])
    )
    assert one == two


def test_a_level_for_all_lies_between_one_interval_and_bonferroni():
    outcome, values, codes = draw_audit(np.random.default_rng(12), 600, 4)
    found = joint_levels(auc_matrix(outcome, values, codes, 4), rng=np.random.default_rng(13))
    assert 0.95 < found.cross_pairs < 1 - 0.05 / 6
    assert 0.95 < found.entries < 1 - 0.05 / 16


def test_intervals_of_the_whole_matrix_cover_at_once():
    rng = np.random.default_rng(14)
    runs, covered, single = 300, 0, 0
    sizes, lift = np.array([150, 300, 600]), np.array([1.0, 0.8, 1.2])
    codes = np.repeat(np.arange(3), sizes)
    true = norm.cdf(np.repeat(lift[:, None], 3, axis=1) / np.sqrt(2))
    for run in range(runs):
        outcome = (rng.random(len(codes)) < 0.3).astype(int)
        matrix = auc_matrix(outcome, rng.normal(size=len(codes)) + outcome * lift[codes], codes, 3)
        level = joint_levels(matrix, draws=1000, rng=np.random.default_rng(run)).entries
        for aim in (level, 0.95):
            found = matrix_interval(matrix, level=aim)
            holds = ((found.low <= true) & (true <= found.high)).all()
            covered, single = covered + (holds and aim == level), single + (holds and aim == 0.95)
    # four binomial standard errors around the aim
    assert covered / runs == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / runs))
    assert single / runs < 0.9


def test_differences_of_wald_intervals_are_walds_by_hand():
    values, width = np.array([0.7, 0.5]), np.array([0.03, 0.04])
    found = bound_differences(values, Interval(values - width, values + width))
    assert found.low[0, 1] == pytest.approx(0.15)
    assert found.high[0, 1] == pytest.approx(0.25)
    linked = bound_differences(values, Interval(values - width, values + width), correlation=1.0)
    assert linked.low[0, 1] == pytest.approx(0.19)


def test_cross_differences_agree_with_their_errors_in_a_large_audit():
    outcome, values, codes = draw_audit(np.random.default_rng(15), 20_000, 2)
    matrix = auc_matrix(outcome, values, codes, 2)
    found = bound_crossed(matrix, matrix_interval(matrix))
    half = (found.high - found.low)[0, 1] / 2
    assert half == pytest.approx(1.96 * cross_errors(matrix)[0, 1], rel=0.01)
    assert cross_errors(matrix)[0, 1] == pytest.approx(np.hypot(*standard_errors(matrix)[[0, 1], [1, 0]]))
