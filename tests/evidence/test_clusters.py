"""Variances over clusters are those of cluster-robust regression, for one group and for two together."""

import numpy as np
import pytest
from statsmodels.api import OLS

from auditbook.evidence import (
    count_equal_clusters,
    join_df,
    lift_left_out,
    measure_overlap,
    measure_spread,
    pair_clusters,
    rate,
    sum_powers,
)
from auditbook.evidence.clusters import alone_spread, interleave_spreads


@pytest.fixture
def records():
    rng = np.random.default_rng(3)
    cluster = rng.integers(0, 25, 400)
    group = rng.integers(0, 2, 400)
    hit = (rng.random(400) < 0.3 + 0.3 * rng.random(25)[cluster]).astype(float)
    return cluster, group, hit


def spread_of(cluster, group, hit):
    pairs = pair_clusters(cluster, group, 2)
    n, k = (np.bincount(pairs.place, part, len(pairs.group)) for part in (np.ones(len(hit)), hit))
    share = rate(pairs.total(k), pairs.total(n))
    return measure_spread(pairs, k - share[pairs.group] * n, n)


def test_covariance_is_that_of_cluster_robust_regression(records):
    cluster, group, hit = records
    dummies = np.stack([group == 0, group == 1], axis=1).astype(float)
    fit = OLS(hit, dummies).fit(cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False})
    assert np.allclose(spread_of(*records).covariance, fit.cov_params() * 25 / 24, atol=1e-14)


def test_each_record_by_itself_gives_the_textbook_variance(records):
    _, group, hit = records
    found = spread_of(np.arange(len(hit)), group, hit).covariance
    for place in (0, 1):
        assert found[place, place] == pytest.approx(hit[group == place].var(ddof=1) / (group == place).sum())
    assert found[0, 1] == 0


def test_names_and_order_of_clusters_do_not_matter(records):
    cluster, group, hit = records
    order = np.random.default_rng(1).permutation(len(hit))
    renamed = np.random.default_rng(2).permutation(100)[cluster]
    assert np.allclose(
        spread_of(*records).covariance, spread_of(renamed[order], group[order], hit[order]).covariance
    )


def test_few_or_unequal_clusters_do_not_speak_of_others():
    equal, lopsided = np.repeat(np.arange(20), 10), np.r_[np.zeros(60, int), np.repeat(np.arange(1, 20), 5)]
    speak = [
        spread_of(c, np.zeros(len(c), int), np.arange(len(c)) % 2).speaks_of_others for c in (equal, lopsided)
    ]
    assert speak[0].tolist() == [True, False]  # the second group holds nobody
    assert speak[1].tolist() == [False, False]
    assert not spread_of(equal % 14, np.zeros(200, int), np.arange(200) % 2).speaks_of_others[0]


def test_one_cluster_says_nothing_of_its_spread():
    found = spread_of(np.zeros(10, int), np.zeros(10, int), np.arange(10) % 2)
    assert np.isnan(found.covariance[0, 0])


def test_spreads_of_bins_are_put_together_group_by_group():
    one, two = (alone_spread(np.array([1.0, 2.0]) * k, np.array([5.0, 6.0])) for k in (1, 10))
    together = interleave_spreads([one, two])
    expected = [one.covariance[0, 0], two.covariance[0, 0], one.covariance[1, 1], two.covariance[1, 1]]
    assert np.allclose(np.diagonal(together.covariance), expected)
    assert together.clusters.tolist() == [5, 5, 6, 6]


@pytest.mark.parametrize("effect", [1.0, 1.7, 12.0])
def test_unequal_clusters_are_worth_as_many_equal_ones_as_their_parts_of_the_variance_say(effect):
    held = np.random.default_rng(4).integers(1, 60, (23, 3)).astype(float)
    share = held / held.sum(axis=0)
    part = share + (effect - 1) * share**2 / (share**2).sum(axis=0)
    expected = part.sum(axis=0) ** 2 / (part**2).sum(axis=0)
    assert count_equal_clusters(sum_powers(held), np.full(3, effect)) == pytest.approx(expected)
    if effect == 1:
        assert expected == pytest.approx(held.sum(axis=0) ** 2 / (held**2).sum(axis=0))


def test_degrees_of_freedom_are_those_of_welch_and_at_least_one():
    one, other = np.array([2.0, 0.0, 0.0]), np.array([3.0, 3.0, 0.0])
    found = join_df((one, other), (np.full(3, 8.0), np.full(3, 5.0)))
    assert found.tolist() == pytest.approx([25 / (4 / 7 + 9 / 4), 4.0, 4.0])
    assert join_df((one, other), (np.ones(3), np.ones(3))).tolist() == [1.0, 1.0, 1.0]


def test_lifted_residuals_of_a_ratio_are_those_of_leaving_out_one_cluster_after_the_other():
    rng = np.random.default_rng(3)
    n = rng.integers(1, 200, 12).astype(float)
    k = rng.binomial(n.astype(int), 0.3)
    whole = k.sum() / n.sum()
    moved = whole - (k.sum() - k) / (n.sum() - n)
    lifted = lift_left_out(n) * (k - whole * n) / n.sum()
    assert np.allclose(lifted, np.sqrt(11 / 12) * moved, atol=1e-15)
    assert np.allclose(lift_left_out(np.ones(8)) ** 2, 8 / 7)  # m/(m - 1) for equal ones
    assert lift_left_out(np.array([[3.0, 1.0], [0.0, 1.0]])).tolist() == [[0.0, 2**0.5], [0.0, 2**0.5]]


def test_two_parts_of_one_cluster_are_one_square():
    one, six = np.ones(1), np.full(1, 6.0)
    same = measure_overlap(np.ones((6, 1)), np.ones((6, 1)), np.full(1, 2.0))
    assert np.allclose(join_df((one, 3 * one), (six, six), same), 5)
    apart = measure_overlap(np.eye(2)[:, :1], np.eye(2)[:, 1:], np.ones(1))
    assert apart.tolist() == [0]
    assert np.allclose(join_df((one, one), (six, six), apart), 10)


def test_degrees_of_freedom_are_those_of_drawn_sums_of_squares():
    rng = np.random.default_rng(4)
    held = np.exp(rng.normal(size=(2, 40, 1))) * 100
    share = held / held.sum(axis=1, keepdims=True)
    drawn = [rng.normal(size=(40, 40_000)) * np.sqrt(part) for part in share]
    squares = np.square(drawn[0] + drawn[1]).sum(axis=0)
    counts = tuple(1 / np.square(part).sum(axis=0) for part in share)
    df = join_df((np.ones(1), np.ones(1)), counts, measure_overlap(*held, np.ones(1)))
    assert df[0] == pytest.approx(2 * squares.mean() ** 2 / squares.var() - 1, rel=0.06)
