import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from auditbook.errors import InputError
from auditbook.evidence import area_influence, area_limits, cluster_areas, group_auc, rank_levels
from auditbook.ranking import auc_matrix, delong_covariance
from auditbook.ranking.matrix import satterthwaite

EXACT = 1e-12
"""Rounding of sums of a few hundred shares."""

records = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 8), st.integers(0, 2), st.integers(0, 3)),
    min_size=1,
    max_size=40,
)


def draw(rng, n=400, groups=3, clusters=60):
    outcome = rng.integers(0, 2, n)
    score = np.round(rng.random(n) + 0.3 * outcome, 1)
    return outcome, score, rng.integers(0, groups, n), rng.integers(0, clusters, n)


@given(records)
def test_influence_agrees_with_the_pairs_counted_one_by_one(rows):
    outcome, score, group, _ = np.array(rows).T
    found = area_influence(rank_levels(outcome, score), group, 3)
    np.testing.assert_array_equal(found.areas, group_auc(outcome, score, group, 3))
    for i in range(len(rows)):
        mine = np.flatnonzero(group == group[i])
        opposite = mine[outcome[mine] != outcome[i]]
        alike = np.sum(outcome[mine] == outcome[i])
        won = np.sign(score[i] - score[opposite]) * (1 if outcome[i] else -1)
        expected = (np.mean(won + 1) / 2 - found.areas[group[i]]) / alike if len(opposite) else 0.0
        assert found.influence[i] == pytest.approx(expected, abs=EXACT)


def test_records_as_clusters_give_delongs_variance_and_satterthwaites_degrees_of_freedom():
    outcome, score, group, _ = draw(np.random.default_rng(1))
    found = cluster_areas(area_influence(rank_levels(outcome, score), group, 3))
    matrix = auc_matrix(outcome, score, group, 3)
    events, others = delong_covariance(matrix).variances
    np.testing.assert_allclose(found.covariance, np.diag(np.diagonal(events + others)), atol=EXACT)
    np.testing.assert_allclose(found.df, np.diagonal(satterthwaite(matrix)))
    np.testing.assert_allclose([found.events, found.others], [matrix.events, matrix.others])


def test_the_covariance_by_clusters_is_that_of_a_slow_loop():
    outcome, score, group, cluster = draw(np.random.default_rng(2))
    found = cluster_areas(area_influence(rank_levels(outcome, score), group, 3), cluster)
    influence = area_influence(rank_levels(outcome, score), group, 3).influence
    moved = np.zeros((60, 3))
    for g in range(3):
        for label in (0, 1):
            mine = (group == g) & (outcome == label)
            share = np.bincount(cluster[mine], minlength=60) / mine.sum()
            factor = 1 / (1 - 2 * np.sum(share**3) / np.sum(share**2) + np.sum(share**2))
            moved[:, g] += np.sqrt(factor) * np.bincount(cluster[mine], influence[mine], 60)
    np.testing.assert_allclose(found.covariance, moved.T @ moved, atol=EXACT)
    assert found.correlation.shape == (3, 3)
    assert (found.events <= [np.sum(outcome[group == g]) for g in range(3)]).all()


@pytest.mark.parametrize("times", [3, 10])
def test_a_patient_whose_stay_stands_there_ten_times_counts_once(times):
    outcome, score, group, _ = draw(np.random.default_rng(3))
    once = cluster_areas(area_influence(rank_levels(outcome, score), group, 3))
    many = [np.repeat(part, times) for part in (outcome, score, group)]
    again = cluster_areas(
        area_influence(rank_levels(many[0], many[1]), many[2], 3), np.repeat(np.arange(400), times)
    )
    np.testing.assert_allclose(again.covariance, once.covariance, atol=EXACT)
    # the design effect compares to the copies' own DeLong variance, whose n - 1 is not `times` that of once
    np.testing.assert_allclose(again.events, once.events, rtol=0.03)
    np.testing.assert_allclose(again.limits().low, once.limits().low, atol=0.002)


@given(records, st.randoms())
def test_neither_the_order_of_records_nor_the_names_of_clusters_change_a_limit(rows, random):
    def limits(given_rows, renamed):
        outcome, score, group, cluster = np.array(given_rows).T
        cluster = renamed[cluster]
        return cluster_areas(area_influence(rank_levels(outcome, score), group, 3), cluster).limits()

    names = np.array(random.sample(range(4), 4))
    one, other = limits(rows, np.arange(4)), limits(random.sample(rows, len(rows)), names)
    np.testing.assert_allclose(one.low, other.low, atol=1e-9)
    np.testing.assert_allclose(one.high, other.high, atol=1e-9)


def test_an_area_worth_n_pairs_has_wilsons_interval():
    found = area_limits(0.7, 0.7 * 0.3 / 25, 1000, 25)
    assert (float(found.low), float(found.high)) == pytest.approx(
        proportion_confint(17.5, 25, method="wilson"), abs=1e-6
    )


def test_perfect_separation_of_m_pairs_is_bounded_as_m_hits_of_m():
    found = area_limits([1.0, 0.0], 0.0, 12, 300)
    low, high = proportion_confint(12, 12, method="wilson")
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=1e-6)
    assert (found.low[1], found.high[1]) == pytest.approx((0.0, 1 - low), abs=1e-6)


def test_levels_and_groups_are_vectors_and_a_higher_level_is_farther_out():
    found = area_limits([0.6, 0.9, 0.97], 0.001, 30, 500, df=[9, 29, 200], level=[[0.9], [0.95], [0.999]])
    assert found.low.shape == (3, 3)
    assert (np.diff(found.low, axis=0) < 0).all()
    assert (np.diff(found.high, axis=0) > 0).all()
    assert (found.low > 0).all()
    assert (found.high < 1).all()


def test_reversing_the_score_mirrors_the_limits():
    one, other = (area_limits(area, 0.002, 10, 90, df=9) for area in (0.93, 0.07))
    assert float(one.low) == pytest.approx(1 - float(other.high))
    assert float(one.high) == pytest.approx(1 - float(other.low))


def test_without_an_area_or_its_variance_there_is_no_limit():
    found = area_limits([np.nan, 0.7, 0.7], [0.1, np.nan, 0.0], [10, 10, 0], 20)
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()


def test_one_event_or_no_record_gives_no_limit():
    outcome, score = [1, 0, 0, 0], [0.1, 0.2, 0.3, 0.05]
    found = cluster_areas(area_influence(rank_levels(outcome, score), [0, 0, 0, 0], 2))
    assert found.areas[0] == pytest.approx(1 / 3)
    assert np.isnan(found.limits().low).all()


def test_one_cluster_says_nothing():
    outcome, score, group, _ = draw(np.random.default_rng(4))
    found = cluster_areas(area_influence(rank_levels(outcome, score), group, 3), np.zeros(400, int))
    assert np.isnan(found.limits().low).all()
    assert found.clusters.tolist() == [1, 1, 1]


def test_groups_or_clusters_of_another_number_are_refused():
    levels = rank_levels([0, 1], [0.2, 0.3])
    with pytest.raises(InputError, match="3 groups for 2 records"):
        area_influence(levels, [0, 0, 0], 1)
    with pytest.raises(InputError, match="1 clusters for 2 records"):
        cluster_areas(area_influence(levels, [0, 0], 1), [0])


@pytest.mark.parametrize("area", [0.8, 0.9, 0.97])
def test_ten_events_are_enough_for_limits_that_hold(area):
    rng, tries = np.random.default_rng(5), 400
    codes = np.repeat(np.arange(tries), 200)
    outcome = np.tile(np.repeat([1, 0], [10, 190]), tries)
    score = rng.standard_normal(len(codes)) + outcome * np.sqrt(2) * norm.ppf(area)
    found = cluster_areas(area_influence(rank_levels(outcome, score), codes, tries)).limits()
    covered = np.mean((found.low <= area) & (area <= found.high))
    assert covered >= 0.93 - 2 * np.sqrt(0.93 * 0.07 / tries)
