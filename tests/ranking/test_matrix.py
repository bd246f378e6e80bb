"""Areas within and across groups, their standard errors and intervals."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from auditbook.evidence.areas import group_auc
from auditbook.evidence.auc_bootstrap import bootstrap_areas
from auditbook.evidence.auroc import estimate_auroc
from auditbook.ranking.matrix import (
    auc_matrix,
    bound_areas,
    delong_covariance,
    leave_out_sites,
    matrix_interval,
    matrix_site_interval,
    satterthwaite,
    site_errors,
    site_influence,
    standard_errors,
    student_quantile,
)
from slow_areas import (
    draw_audit,
    draw_sites,
    jackknife,
    slow_covariance,
    slow_influence,
    slow_site_covariance,
)

EXACT = 1e-12  # the same arithmetic in another order
G = 3
rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 8), st.integers(0, G - 1)), min_size=1, max_size=50
)


def columns(records):
    return np.array(records).T


@given(rows)
def test_every_entry_equals_scikit_learn_on_its_pair_of_groups(records):
    outcome, values, codes = columns(records)
    areas = auc_matrix(outcome, values / 8, codes, G).auc
    for g in range(G):
        for h in range(G):
            chosen = np.where(outcome == 1, codes == g, codes == h)
            if len(set(outcome[chosen])) == 2:
                assert areas[g, h] == pytest.approx(roc_auc_score(outcome[chosen], values[chosen]), abs=EXACT)
            else:
                assert np.isnan(areas[g, h])


@given(rows)
def test_the_overall_area_is_the_weighted_sum_of_the_matrix(records):
    outcome, values, codes = columns(records)
    if len(set(outcome)) < 2:
        return
    matrix = auc_matrix(outcome, values, codes, G)
    weight = np.outer(matrix.event_share, matrix.other_share)
    found = np.where(weight > 0, weight * np.nan_to_num(matrix.auc), 0).sum()
    assert found == pytest.approx(roc_auc_score(outcome, values), abs=EXACT)


@given(rows)
def test_negated_scores_turn_every_area_round(records):
    outcome, values, codes = columns(records)
    one, other = auc_matrix(outcome, values, codes, G), auc_matrix(outcome, -values, codes, G)
    np.testing.assert_allclose(other.auc, 1 - one.auc, atol=EXACT)
    np.testing.assert_allclose(standard_errors(other), standard_errors(one), atol=1e-9)


@given(rows)
def test_swapped_labels_and_negated_scores_transpose_the_matrix(records):
    outcome, values, codes = columns(records)
    one, other = auc_matrix(outcome, values, codes, G), auc_matrix(1 - outcome, -values, codes, G)
    np.testing.assert_allclose(other.auc, one.auc.T, atol=EXACT)
    np.testing.assert_allclose(standard_errors(other), standard_errors(one).T, atol=1e-9)


@given(rows, st.randoms(), st.permutations(range(G)))
def test_order_of_records_rising_transforms_and_names_of_groups_change_nothing(records, random, names):
    outcome, values, codes = columns(records)
    other = columns(random.sample(records, len(records)))
    one = auc_matrix(outcome, values, codes, G)
    two = auc_matrix(other[0], np.exp(other[1] / 3), np.array(names)[other[2]], G)
    np.testing.assert_array_equal(two.auc[np.ix_(names, names)], one.auc)
    np.testing.assert_array_equal(standard_errors(two)[np.ix_(names, names)], standard_errors(one))


def test_the_diagonal_is_the_area_by_group():
    outcome, values, codes = draw_audit(np.random.default_rng(1), 300, 4)
    np.testing.assert_array_equal(
        auc_matrix(outcome, values, codes, 4).within, group_auc(outcome, values, codes, 4)
    )


def test_a_matrix_by_hand():
    # events: a at 3, b at 1; non-events: a at 2, b at 1
    found = auc_matrix([1, 1, 0, 0], [3, 1, 2, 1], [0, 1, 0, 1], 2).auc
    assert found.tolist() == [[1.0, 1.0], [0.0, 0.5]]


@settings(max_examples=25)
@given(rows)
def test_standard_errors_equal_the_slow_loop_over_pairs(records):
    outcome, values, codes = columns(records)
    found = standard_errors(auc_matrix(outcome, values, codes, G))
    for g in range(G):
        for h in range(G):
            slow = slow_covariance([slow_influence(outcome, values, codes == g, codes == h)])[0, 0]
            np.testing.assert_allclose(found[g, h] ** 2, slow, atol=EXACT)


def test_the_covariance_of_every_pair_of_areas_equals_the_slow_loop_over_pairs():
    outcome, values, codes = draw_audit(np.random.default_rng(7), 120, 2)
    found = delong_covariance(auc_matrix(outcome, values, codes, 2))
    places = list(product(range(2), range(2)))
    influences = [slow_influence(outcome, values, codes == g, codes == h) for g, h in places]
    slow = slow_covariance(influences)
    for one, two in product(range(4), range(4)):
        assert found.between(places[one], places[two]) == pytest.approx(slow[one, two], abs=EXACT)


def test_areas_that_share_no_record_do_not_vary_together():
    outcome, values, codes = draw_audit(np.random.default_rng(7), 120, 2)
    found = delong_covariance(auc_matrix(outcome, values, codes, 2))
    assert found.between((0, 0), (1, 1)) == found.between((0, 1), (1, 0)) == 0


def test_the_covariance_of_a_group_with_one_event_is_nan():
    found = delong_covariance(auc_matrix([1, 0, 0, 1, 1, 0], [3, 1, 2, 1, 2, 0], [0, 0, 0, 1, 1, 1], 2))
    assert np.isnan(found.between((0, 0), (0, 0)))
    assert np.isfinite(found.events[1]).all()


def test_site_errors_equal_the_slow_loop_over_pairs():
    rng = np.random.default_rng(2)
    outcome, values, codes = draw_audit(rng, 300, G)
    site = rng.integers(0, 12, 300)
    matrix = auc_matrix(outcome, values, codes, G, site=site)
    found = site_errors(matrix)
    for g in range(G):
        for h in range(G):
            slow = slow_site_covariance([slow_influence(outcome, values, codes == g, codes == h)], site)[0, 0]
            assert found.se[g, h] ** 2 == pytest.approx(slow, rel=1e-9)
    np.testing.assert_allclose(site_influence(matrix).sum(axis=0), 0, atol=EXACT)


def test_sites_of_one_record_each_give_the_errors_of_independent_records():
    outcome, values, codes = draw_audit(np.random.default_rng(5), 2000, 2)
    matrix = auc_matrix(outcome, values, codes, 2, site=np.arange(2000))
    np.testing.assert_allclose(site_errors(matrix).se, standard_errors(matrix), rtol=1e-9)


def test_site_errors_are_those_of_leaving_out_one_site_after_the_other():
    rng = np.random.default_rng(8)
    outcome, values, codes = draw_audit(rng, 3000, 2)
    site = draw_sites(rng, 3000, 20)
    matrix = auc_matrix(outcome, values, codes, 2, site=site)
    moved = jackknife(lambda kept: auc_matrix(outcome[kept], values[kept], codes[kept], 2).auc, site)
    exact = np.sqrt(np.square(moved).sum(axis=0) * 19 / 20)
    np.testing.assert_allclose(site_errors(matrix).se, exact, rtol=0.02)
    np.testing.assert_allclose(
        leave_out_sites(matrix), moved * np.sqrt(19 / 20), atol=0.1 * np.abs(moved).max()
    )


def test_leaving_out_sites_of_events_only_or_non_events_only_is_exact():
    rng = np.random.default_rng(9)
    site = draw_sites(rng, 300, 16)
    outcome, values = site % 2, np.round(rng.normal(size=300), 1)
    matrix = auc_matrix(outcome, values, np.zeros(300, int), 1, site=site)
    moved = jackknife(
        lambda kept: auc_matrix(outcome[kept], values[kept], np.zeros(kept.sum(), int), 1).auc, site
    )
    np.testing.assert_allclose(leave_out_sites(matrix), moved * np.sqrt(7 / 8), atol=EXACT)


def test_copies_of_a_site_do_not_add_information():
    rng = np.random.default_rng(6)
    outcome, values, codes = draw_audit(rng, 400, 2)
    site = np.tile(np.arange(40), 10)
    one = site_errors(auc_matrix(outcome, values, codes, 2, site=site)).se
    five = site_errors(
        auc_matrix(*(np.tile(part, 5) for part in (outcome, values, codes)), 2, site=np.tile(site, 5))
    ).se
    np.testing.assert_allclose(five, one, rtol=1e-9)


def test_standard_errors_agree_with_the_stratified_bootstrap():
    outcome, values, codes = draw_audit(np.random.default_rng(7), 600, G)
    drawn = bootstrap_areas(outcome, values, codes, G, resamples=2000, rng=np.random.default_rng(1))
    matrix = auc_matrix(outcome, values, codes, G)
    # the standard deviation of 2,000 resamples is itself known within 1.6 %; the bootstrap divides by n
    np.testing.assert_allclose(drawn.std(axis=0), standard_errors(matrix), rtol=0.08)
    np.testing.assert_allclose(drawn.mean(axis=0), matrix.auc, atol=0.01)


def test_the_interval_of_one_group_is_that_of_the_area_over_all_but_for_students_quantile():
    outcome, values, _ = draw_audit(np.random.default_rng(8), 5000, 2)
    found = matrix_interval(auc_matrix(outcome, values, np.zeros(5000, int), 1))
    whole = estimate_auroc(outcome, values)
    assert found.low[0, 0] == pytest.approx(whole.low, abs=1e-4)
    assert found.high[0, 0] == pytest.approx(whole.high, abs=1e-4)


def test_perfect_separation_gives_a_one_sided_interval():
    outcome, values = np.repeat([0, 1], [30, 10]), np.arange(40)
    found = matrix_interval(auc_matrix(outcome, values, np.zeros(40, int), 1))
    assert (found.low[0, 0], found.high[0, 0]) == (pytest.approx(0.05**0.1, abs=EXACT), 1.0)
    turned = matrix_interval(auc_matrix(outcome, -values, np.zeros(40, int), 1))
    assert (turned.low[0, 0], turned.high[0, 0]) == (0.0, pytest.approx(1 - 0.05**0.1, abs=EXACT))
    by_site = matrix_site_interval(auc_matrix(outcome, values, np.zeros(40, int), 1, site=np.arange(40) % 4))
    assert by_site.low[0, 0] == pytest.approx(0.05**0.25, abs=EXACT)


def test_equal_scores_give_one_half_and_no_interval():
    matrix = auc_matrix([0, 1] * 20, np.full(40, 0.3), np.arange(40) // 2 % 2, 2)
    assert (matrix.auc == 0.5).all()
    assert (standard_errors(matrix) == 0).all()
    assert np.isnan(matrix_interval(matrix).low).all()


def test_a_group_of_one_class_is_undefined_where_it_matters_and_stands_elsewhere():
    matrix = auc_matrix([0, 0, 1, 0, 1, 0], [1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 1, 1], 2)
    assert np.isnan(matrix.auc[0]).all()
    assert matrix.auc[1].tolist() == [1.0, 0.25]
    assert np.isnan(matrix_interval(matrix).low[0]).all()


def test_a_group_of_one_record_has_areas_but_no_interval():
    matrix = auc_matrix([1, 0, 1, 0, 1, 0], [5, 2, 3, 4, 1, 6], [0, 1, 1, 1, 1, 1], 2)
    assert matrix.auc[0].tolist()[1] == pytest.approx(2 / 3)
    assert np.isnan(matrix.auc[0, 0])
    assert np.isnan(matrix_interval(matrix).low[0]).all()


@settings(max_examples=60)
@given(rows)
def test_no_interval_has_zero_width_or_misses_its_area(records):
    outcome, values, codes = columns(records)
    matrix = auc_matrix(outcome, values, codes, G)
    found = matrix_interval(matrix)
    known = ~np.isnan(found.low)
    assert (found.high[known] > found.low[known]).all()
    assert ((found.low <= matrix.auc + EXACT) & (matrix.auc <= found.high + EXACT))[known].all()
    assert ((found.low >= 0) & (found.high <= 1))[known].all()


def test_no_group_and_no_record_give_empty_tables():
    assert auc_matrix([], [], np.array([], int), 0).auc.shape == (0, 0)
    assert np.isnan(auc_matrix([], [], np.array([], int), 2).auc).all()


def test_degrees_of_freedom_by_hand_and_at_infinity():
    found = satterthwaite(auc_matrix([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0] * 4, 1))
    assert found.tolist() == [[2.0]]  # both parts 1/16, one degree each
    assert np.isinf(satterthwaite(auc_matrix([0, 1], [1, 2], [0, 0], 1))).all()
    assert student_quantile(0.95, np.inf) == pytest.approx(1.959964, abs=1e-6)


def test_a_wider_level_gives_a_wider_interval():
    narrow, wide = (bound_areas([0.7], [0.1], level=level, pairs=[9]) for level in (0.9, 0.99))
    assert wide.low < narrow.low
    assert wide.high > narrow.high


def test_intervals_cover_in_every_entry_with_one_group_of_sixty():
    rng = np.random.default_rng(12)
    sizes, rate, runs = np.array([60, 200, 400, 800, 1500]), 0.3, 1000
    base, lift = np.array([0, 0.3, -0.2, 0.1, 0.5]), 1 + 0.1 * np.arange(5)
    codes = np.repeat(np.arange(5), sizes)
    true = norm.cdf(((base + lift)[:, None] - base) / np.sqrt(2))
    covered = np.zeros((5, 5))
    for _ in range(runs):
        outcome = (rng.random(len(codes)) < rate).astype(int)
        values = rng.normal(size=len(codes)) + base[codes] + outcome * lift[codes]
        found = matrix_interval(auc_matrix(outcome, values, codes, 5))
        covered += (found.low <= true) & (true <= found.high)
    share = covered / runs
    # every entry within 93 to 97 %, give or take three binomial standard errors of the largest of 25
    slack = 3 * np.sqrt(0.95 * 0.05 / runs)
    assert 0.93 - slack < share.min()
    assert share.max() < 0.97 + slack
    assert 0.93 < share[0].mean() < 0.97
    assert 0.94 < share.mean() < 0.96


def test_site_intervals_cover_when_sites_differ_and_plain_ones_do_not():
    rng = np.random.default_rng(13)
    n_sites, size, runs = 40, 30, 400
    site = np.repeat(np.arange(n_sites), size)
    codes = (site >= n_sites // 2).astype(int)  # each site serves one group
    true = norm.cdf(1 / np.sqrt(2 * (1 + 0.8**2)))
    covered = np.zeros(2)
    for _ in range(runs):
        effect = rng.normal(size=n_sites) * 0.8
        outcome = (rng.random(len(site)) < 0.4).astype(int)
        values = rng.normal(size=len(site)) + outcome + effect[site]
        matrix = auc_matrix(outcome, values, codes, 2, site=site)
        for place, found in enumerate((matrix_interval(matrix), matrix_site_interval(matrix))):
            covered[place] += found.low[0, 1] <= true <= found.high[0, 1]
    slack = 4 * np.sqrt(0.95 * 0.05 / runs)
    assert covered[1] / runs == pytest.approx(0.95, abs=slack)
    assert covered[0] / runs < 0.85
