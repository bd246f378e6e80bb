"""Areas of single groups and of all, with their covariance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from auditbook.ranking.matrix import auc_matrix, site_errors, standard_errors
from auditbook.ranking.summary import summarise_areas
from slow_areas import (
    draw_audit,
    draw_sites,
    jackknife,
    slow_covariance,
    slow_influence,
    slow_site_covariance,
)

EXACT = 1e-12
G = 3
rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 8), st.integers(0, G - 1)), min_size=1, max_size=40
)


def every_area(outcome, values, codes):
    mine = [codes == g for g in range(G)]
    everyone = np.ones(len(codes), bool)
    pairs = [(m, m) for m in mine] + [(m, everyone) for m in mine] + [(everyone, m) for m in mine]
    return [slow_influence(outcome, values, *pair) for pair in [*pairs, (everyone, everyone)]]


@settings(max_examples=40)
@given(rows)
def test_values_and_covariance_equal_the_slow_loop_over_pairs(records):
    outcome, values, codes = np.array(records).T
    found, slow = summarise_areas(auc_matrix(outcome, values, codes, G)), every_area(outcome, values, codes)
    area = np.array([one[0] for one in slow])
    np.testing.assert_allclose(found.values, area, atol=EXACT)
    covariance = slow_covariance(slow)
    covariance[np.isnan(area)] = covariance[:, np.isnan(area)] = np.nan
    np.testing.assert_allclose(found.covariance, covariance, atol=EXACT)


def test_the_overall_area_is_that_of_scikit_learn():
    outcome, values, codes = draw_audit(np.random.default_rng(1), 400, G)
    found = summarise_areas(auc_matrix(outcome, values, codes, G))
    assert found.values[found.overall] == pytest.approx(roc_auc_score(outcome, values), abs=EXACT)


def test_site_covariance_equals_the_slow_loop_over_pairs():
    rng = np.random.default_rng(2)
    outcome, values, codes = draw_audit(rng, 300, G)
    site = rng.integers(0, 15, 300)
    matrix = auc_matrix(outcome, values, codes, G, site=site)
    found = summarise_areas(matrix, by_site=True)
    np.testing.assert_allclose(
        found.covariance, slow_site_covariance(every_area(outcome, values, codes), site), atol=1e-10
    )
    np.testing.assert_allclose(found.se[found.within], np.diagonal(site_errors(matrix).se), atol=EXACT)


def test_site_errors_are_those_of_leaving_out_one_site_after_the_other():
    rng = np.random.default_rng(5)
    outcome, values, codes = draw_audit(rng, 3000, G)
    site = draw_sites(rng, 3000, 20)

    def measure(kept):
        return summarise_areas(auc_matrix(outcome[kept], values[kept], codes[kept], G)).values

    found = summarise_areas(auc_matrix(outcome, values, codes, G, site=site), by_site=True)
    exact = np.sqrt(np.square(jackknife(measure, site)).sum(axis=0) * 19 / 20)
    np.testing.assert_allclose(found.se, exact, rtol=0.04)


def test_within_errors_are_those_of_the_matrix():
    outcome, values, codes = draw_audit(np.random.default_rng(3), 300, G)
    matrix = auc_matrix(outcome, values, codes, G)
    found = summarise_areas(matrix)
    np.testing.assert_allclose(found.se[found.within], np.diagonal(standard_errors(matrix)), atol=EXACT)
    assert np.abs(found.correlation - np.eye(3 * G + 1)).max() <= 1


def test_without_events_everything_is_undefined_and_without_sites_nothing_is_sure():
    found = summarise_areas(auc_matrix([0, 0], [1, 2], [0, 1], 2))
    assert np.isnan(found.values).all()
    unsited = summarise_areas(auc_matrix([0, 1], [1, 2], [0, 0], 1), by_site=True)
    assert np.isnan(unsited.covariance).all()
    assert np.isnan(unsited.interval().low).all()


def test_a_single_site_gives_no_interval():
    outcome, values, codes = draw_audit(np.random.default_rng(4), 60, G)
    matrix = auc_matrix(outcome, values, codes, G, site=np.zeros(60, int))
    assert np.isnan(summarise_areas(matrix, by_site=True).interval().low).all()
