"""Two models on the same records."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from auditbook.columns import TABLES
from auditbook.errors import InputError
from auditbook.ranking.compare import compare_models, tabulate_auc_differences
from auditbook.ranking.matrix import auc_matrix
from auditbook.records import AuditRecords
from slow_areas import slow_influence
from small_audits import random_audit

G = 2
rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 5), st.integers(0, G - 1)),
    min_size=1,
    max_size=30,
)


@settings(max_examples=50)
@given(rows)
def test_differences_and_errors_equal_the_slow_loop_over_pairs(records):
    outcome, one, other, codes = np.array(records).T
    found = compare_models(outcome, one, other, codes, G)
    expected = auc_matrix(outcome, one, codes, G).auc - auc_matrix(outcome, other, codes, G).auc
    np.testing.assert_allclose(found.difference, expected, atol=1e-12)
    for g in range(G):
        for h in range(G):
            first, second = (slow_influence(outcome, s, codes == g, codes == h) for s in (one, other))
            m, n = first[2]
            if min(m, n) < 2:
                assert np.isnan(found.se[g, h])
                continue
            moved = first[1] - second[1]
            slow = (moved[0] @ moved[0]) * m / (m - 1) + (moved[1] @ moved[1]) * n / (n - 1)
            assert found.se[g, h] ** 2 == pytest.approx(slow, abs=1e-12)


def test_identical_models_differ_by_nothing_with_certainty():
    rng = np.random.default_rng(1)
    outcome, values, codes = rng.integers(0, 2, 90), rng.random(90), rng.integers(0, 2, 90)
    for site in (None, rng.integers(0, 9, 90)):
        found = compare_models(outcome, values, np.exp(values), codes, 2, site=site)
        assert (found.difference == 0).all()
        assert (found.p_value == 1).all()
        assert (found.se == 0).all()
        assert np.isnan(found.low).all()


def test_swapping_the_models_turns_the_difference_round():
    rng = np.random.default_rng(2)
    outcome, codes = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    one, other = rng.random(200) + outcome, rng.random(200)
    first, second = (
        compare_models(outcome, one, other, codes, 2),
        compare_models(outcome, other, one, codes, 2),
    )
    np.testing.assert_allclose(first.difference, -second.difference, atol=1e-12)
    np.testing.assert_allclose(first.low, -second.high, atol=1e-12)
    np.testing.assert_allclose(first.p_value, second.p_value, atol=1e-12)


def test_site_errors_equal_the_slow_sums():
    rng = np.random.default_rng(3)
    outcome, codes, site = rng.integers(0, 2, 200), rng.integers(0, 2, 200), rng.integers(0, 12, 200)
    one, other = np.round(rng.random(200) + outcome, 1), rng.random(200)
    found = compare_models(outcome, one, other, codes, 2, site=site)
    first, second = (slow_influence(outcome, s, codes == 0, codes == 1)[1] for s in (one, other))
    moved = [(first - second)[:, site == place].sum() for place in range(12)]
    assert found.se[0, 1] ** 2 == pytest.approx(12 / 11 * np.square(moved).sum())


def test_degrees_of_freedom_are_those_of_the_sites_that_hold_the_two_groups():
    rng = np.random.default_rng(6)
    outcome, site = rng.integers(0, 2, 3000), np.arange(3000) % 60
    codes = np.where(site < 5, rng.integers(0, 2, 3000), 0)  # the second group stands in 5 of 60 sites
    one, other = rng.random(3000) + outcome, rng.random(3000)
    found = compare_models(outcome, one, other, codes, 2, site=site)
    reach = (found.high - found.low) / 2 / found.se
    assert t.ppf(0.975, 9) < reach[1, 1] < t.ppf(0.975, 3)
    assert reach[0, 0] == pytest.approx(t.ppf(0.975, 110), abs=0.05)


def test_pairing_pays_and_the_test_holds_its_level():
    rng = np.random.default_rng(4)
    runs, rejected, outcome = 600, 0, np.repeat([0, 1], [60, 40])
    for _ in range(runs):
        shared = rng.normal(size=100) + outcome
        one, other = (shared + 0.5 * rng.normal(size=100) for _ in range(2))
        rejected += compare_models(outcome, one, other, np.zeros(100, int), 1).p_value[0, 0] < 0.05
    assert rejected / runs == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / runs))
    paired = compare_models(outcome, one, other, np.zeros(100, int), 1).se[0, 0]
    alone = norm.cdf(1) * 0.06  # roughly the error of a single area of this size
    assert paired < alone


def test_too_little_to_compare_is_nan_with_a_reason_and_the_rest_stands():
    found = compare_models([0, 0, 1, 0, 1, 0], [1, 2, 3, 4, 5, 6], [1, 2, 3, 6, 5, 4], [0, 0, 1, 1, 1, 1], 2)
    assert np.isnan(found.difference[0]).all()
    assert found.difference[1, 1] == 0
    with pytest.raises(InputError, match="1 groups for 2 records"):
        compare_models([0, 1], [1, 2], [1, 2], [0], 1)
    with pytest.raises(InputError, match="2 outcomes and 1 scores"):
        compare_models([0, 1], [1, 2], [1], [0, 0], 1)


def test_table_compares_every_model_with_the_first():
    records = random_audit(np.random.default_rng(5), 400, ["a", "b"], models=3, n_sites=15)
    table = tabulate_auc_differences(records)
    assert list(table.columns) == TABLES["auc_differences"].names()
    assert table["model"].tolist() == ["m1"] * 5 + ["m2"] * 5
    assert table["event_group"].tolist() == ["all", "a", "a", "b", "b"] * 2
    assert table["p_value"].between(0, 1).all()
    assert table["site_p_value"].between(0, 1).all()
    assert (table["reason"] == "").all()
    alone = AuditRecords(records.outcome, records.attributes, records.scores[:1])
    assert len(tabulate_auc_differences(alone)) == 0
