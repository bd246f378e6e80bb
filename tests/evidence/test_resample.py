import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from auditbook.errors import InputError
from auditbook.evidence.area_sums import cut_steps, find_areas
from auditbook.evidence.areas import group_auc
from auditbook.evidence.counts import count_groups, stratum_sizes
from auditbook.evidence.placements import rank_levels
from auditbook.evidence.resample import (
    allocate_strata,
    draw_areas,
    draw_counts,
    draw_scores,
    draw_sites,
    open_stream,
)
from auditbook.evidence.score_cells import sort_cells
from auditbook.evidence.score_sums import order_scores, sum_scores, sum_site_scores
from auditbook.verdicts.metrics import METRICS
from small_audits import EVERY_METRIC

SAME_LAW = 1e-3  # two samples of one law fall below this in one comparison of a thousand; seeds are fixed

sizes = st.lists(st.integers(0, 500), min_size=1, max_size=12).filter(any)


def test_a_stratum_too_small_for_its_share_takes_one_record_from_the_largest():
    assert allocate_strata([9990, 9, 1], total=100).tolist() == [98, 1, 1]


def test_the_largest_remainders_are_rounded_up():
    assert allocate_strata([50, 30, 20], total=7).tolist() == [4, 2, 1]


@given(sizes, st.integers(12, 3000))
def test_shares_add_up_and_keep_every_stratum_near_its_proportion(held, total):
    drawn, flat = allocate_strata(held, total=total), np.array(held)
    quota = flat * total / flat.sum()
    assert drawn.sum() == total
    assert ((drawn > 0) == (flat > 0)).all()
    if quota[flat > 0].min() >= 1:
        assert (np.abs(drawn - quota) < 1).all()


def test_a_resample_as_large_as_the_cohort_keeps_every_stratum_size():
    assert allocate_strata([[7, 1], [0, 12]], total=20).tolist() == [[7, 1], [0, 12]]


def test_a_resample_too_small_for_its_strata_is_refused():
    with pytest.raises(InputError, match="a resample of 2 records cannot keep one of each of 3 strata"):
        allocate_strata([5, 5, 5], total=2)


def test_streams_belong_to_their_names():
    assert open_stream(1, "a", "b").random() == open_stream(1, "a", "b").random()
    others = {open_stream(1, *names).random() for names in (("a", "b"), ("b", "a"), ("ab",), ("a", "b", ""))}
    assert len(others | {open_stream(2, "a", "b").random()}) == 5


def test_drawn_counts_keep_every_stratum_and_follow_the_binomial():
    table = np.array([[30, 20, 70, 80], [1, 0, 0, 9]])
    draws = draw_counts(table, size=105, resamples=4000, rng=np.random.default_rng(5))
    drawn = allocate_strata(stratum_sizes(table), total=105)
    assert (stratum_sizes(draws) == drawn).all()
    tp = draws[:, 0, 0]
    m, q = drawn[0, 0], 0.3
    assert tp.mean() == pytest.approx(m * q, abs=4 * np.sqrt(m * q * (1 - q) / 4000))
    assert tp.var() == pytest.approx(m * q * (1 - q), rel=0.1)
    assert (draws[:, 1, 0] == drawn[1, 0]).all()


def test_sites_are_drawn_with_replacement_as_many_as_there_are():
    times = draw_sites(7, resamples=3000, rng=np.random.default_rng(2))
    assert (times.sum(axis=1) == 7).all()
    assert times.mean(axis=0) == pytest.approx(np.ones(7), abs=0.1)


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(11)
    n = 2400
    group = rng.choice(3, n, p=[0.05, 0.25, 0.7])
    risk = rng.beta(0.8 + 0.2 * group, 1.6, n)
    outcome = (rng.random(n) < risk).astype(int)
    values = np.clip(np.round(risk + rng.normal(0, 0.05, n), 3), 0, 1)
    return outcome, values, group, rng.integers(0, 15, n)


def slow_resamples(cohort, *, size, resamples, rng):
    """Draw record by record within label x group, and count and sum each resample afresh."""
    outcome, values, group, _ = cohort
    strata = [np.flatnonzero((group == g) & (outcome == y)) for g in range(3) for y in (1, 0)]
    drawn = allocate_strata([len(rows) for rows in strata], total=size)
    found = {name: [] for name in EVERY_METRIC}
    for _ in range(resamples):
        pairs = zip(strata, drawn, strict=True)
        rows = np.concatenate([rng.choice(part, m, replace=True) for part, m in pairs])
        counts = count_groups(outcome[rows], values[rows] >= 0.5, group[rows], 3)
        sums = sum_scores(order_scores(outcome[rows], values[rows]), group[rows], 3)
        areas = group_auc(outcome[rows], values[rows], group[rows], 3)
        for name, metric in METRICS.items():
            mine = {"counts": counts, "score sums": sums, "areas": areas}[metric.evidence]
            found[name].append(float(metric.values(mine)))
    return found


@pytest.mark.parametrize("size", [150, 2000])
def test_drawn_counts_and_sums_have_the_law_of_a_bootstrap_of_records(cohort, size):
    outcome, values, group, _ = cohort
    slow = slow_resamples(cohort, size=size, resamples=1200, rng=np.random.default_rng(3))
    counts = count_groups(outcome, values >= 0.5, group, 3)
    cells = sort_cells(order_scores(outcome, values), group, 3)
    rng = np.random.default_rng(4)
    draws = draw_counts(counts, size=size, resamples=6000, rng=rng)
    sums = draw_scores(cells, size=size, resamples=6000, rng=rng)
    steps = cut_steps(rank_levels(outcome, values), group, 3)
    areas = find_areas(draw_areas(steps, size=size, resamples=6000, rng=rng))
    for name, metric in METRICS.items():
        fast = metric.values({"counts": draws, "score sums": sums, "areas": areas}[metric.evidence])
        assert ks_2samp(fast, slow[name]).pvalue > SAME_LAW, name
        assert np.std(fast) == pytest.approx(np.std(slow[name]), rel=0.12), name


def test_whole_sites_have_the_law_of_a_bootstrap_of_sites(cohort):
    outcome, values, group, site = cohort
    ordered = order_scores(outcome, values)
    times = draw_sites(15, resamples=400, rng=np.random.default_rng(6))
    fast = sum_site_scores(ordered, group, 3, site=site, n_sites=15).weigh(times)
    for draw in range(0, 400, 40):
        rows = np.concatenate([np.repeat(np.flatnonzero(site == s), t) for s, t in enumerate(times[draw])])
        slow = sum_scores(order_scores(outcome[rows], values[rows]), group[rows], 3)
        for part, again in zip(fast.parts(), slow.parts(), strict=True):
            np.testing.assert_allclose(part[draw], again, atol=1e-9)


def test_drawn_sums_stay_possible_even_in_a_skewed_bin():
    values = np.concatenate([np.zeros(60), [0.09], np.full(40, 0.95)])
    outcome = np.concatenate([np.zeros(61), np.ones(40)]).astype(int)
    cells = sort_cells(order_scores(outcome, values), np.zeros(101, int), 1)
    sums = draw_scores(cells, size=101, resamples=2000, rng=np.random.default_rng(8))
    low = sums.score[:, 0, 0]
    assert low.min() >= 0
    assert low.max() <= 0.09 * 61
    np.testing.assert_allclose(sums.score[:, 0, 9], 38.0)
    assert (METRICS["TI"].by_group(sums) >= 0).all()
