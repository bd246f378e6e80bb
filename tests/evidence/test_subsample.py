"""Subsamples without replacement: the law of drawing records, and nothing left to chance at the whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from auditbook.errors import InputError
from auditbook.evidence.area_sums import cut_steps, find_areas
from auditbook.evidence.areas import group_auc
from auditbook.evidence.counts import count_groups
from auditbook.evidence.placements import rank_levels
from auditbook.evidence.score_cells import sort_cells
from auditbook.evidence.score_sums import order_scores, sum_scores
from auditbook.evidence.subsample import _draw_distinct, subsample_areas, subsample_counts, subsample_scores
from auditbook.verdicts.metrics import METRICS

SAME_LAW = 1e-3  # least p-value of a two-sample Kolmogorov-Smirnov test; seeds are fixed
N = 1200


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(11)
    group = rng.choice(3, N, p=[0.06, 0.24, 0.7])
    risk = rng.beta(0.8 + 0.2 * group, 1.6, N)
    outcome = (rng.random(N) < risk).astype(int)
    values = np.clip(np.round(risk + rng.normal(0, 0.05, N), 3), 0, 1)
    return outcome, values, group


EVIDENCE = ("counts", "score sums", "areas")


def describe(outcome, values, group):
    """Count and sum records one by one."""
    return (
        count_groups(outcome, values >= 0.5, group, 3),
        sum_scores(order_scores(outcome, values), group, 3),
        group_auc(outcome, values, group, 3),
    )


@pytest.mark.parametrize("size", [100, 500, 1000, 1180])
def test_drawn_counts_and_sums_have_the_law_of_drawing_records_without_replacement(cohort, size):
    outcome, values, group = cohort
    rng = np.random.default_rng(size)
    slow = {name: [] for name in METRICS}
    for _ in range(800):
        rows = rng.permutation(N)[:size]
        found = dict(zip(EVIDENCE, describe(outcome[rows], values[rows], group[rows]), strict=True))
        for name, metric in METRICS.items():
            slow[name].append(float(metric.values(found[metric.evidence])))
    counts = subsample_counts(describe(*cohort)[0], size=size, repeats=3000, rng=rng)
    cells = sort_cells(order_scores(outcome, values), group, 3)
    sums = subsample_scores(cells, size=size, repeats=3000, rng=rng)
    steps = cut_steps(rank_levels(outcome, values), group, 3)
    areas = find_areas(subsample_areas(steps, size=size, repeats=3000, rng=rng))
    found = dict(zip(EVIDENCE, (counts, sums, areas), strict=True))
    for name, metric in METRICS.items():
        fast = metric.values(found[metric.evidence])
        assert ks_2samp(np.round(fast, 9), np.round(slow[name], 9), nan_policy="omit").pvalue > SAME_LAW, name
        # areas of a few records have long tails, so the spread of 800 of them is known less well
        slack = 0.2 if name == "AUC" else 0.12
        assert np.nanstd(fast) == pytest.approx(np.nanstd(slow[name]), rel=slack), name


def test_the_whole_drawn_is_the_whole(cohort):
    counts, sums, areas = describe(*cohort)
    steps = cut_steps(rank_levels(*cohort[:2]), cohort[2], 3)
    whole = find_areas(subsample_areas(steps, size=N, repeats=2, rng=np.random.default_rng(1)))
    np.testing.assert_allclose(whole, np.stack([areas, areas]), atol=1e-12)
    cells = sort_cells(order_scores(cohort[0], cohort[1]), cohort[2], 3)
    rng = np.random.default_rng(1)
    assert (subsample_counts(counts, size=N, repeats=5, rng=rng) == counts).all()
    drawn = subsample_scores(cells, size=N, repeats=5, rng=rng)
    for part, again in zip(drawn.parts(), sums.parts(), strict=True):
        np.testing.assert_allclose(part, np.broadcast_to(again, part.shape), atol=1e-9)
    for part, again in zip(cells.total().parts(), sums.parts(), strict=True):
        np.testing.assert_allclose(part, again, atol=1e-9)


def test_all_but_one_record_leaves_the_sum_without_that_record():
    values = np.array([0.11, 0.13, 0.17, 0.19])
    cells = sort_cells(order_scores(np.zeros(4, int), values), np.zeros(4, int), 1)
    drawn = subsample_scores(cells, size=3, repeats=200, rng=np.random.default_rng(2))
    possible = {round(values.sum() - value, 9) for value in values}
    assert {round(total, 9) for total in drawn.score[:, 0].sum(axis=1)} == possible


@given(st.integers(1, 60), st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(lambda c: sum(c) > 0))
def test_no_count_is_larger_than_the_cohorts_and_all_add_up(size, counts):
    table = np.array([counts, counts])
    size = min(size, int(table.sum()))
    drawn = subsample_counts(table, size=size, repeats=3, rng=np.random.default_rng(size))
    assert (drawn <= table).all()
    assert (drawn >= 0).all()
    assert (drawn.sum(axis=(1, 2)) == size).all()


def test_every_set_of_places_is_equally_likely():
    wanted, held = np.full(6000, 2), np.full(6000, 4)
    draw, place = _draw_distinct(wanted, held, np.random.default_rng(3))
    assert (np.bincount(draw) == 2).all()
    pairs, times = np.unique(place.reshape(-1, 2), axis=0, return_counts=True)
    assert len(pairs) == 6
    assert times == pytest.approx(np.full(6, 1000), abs=4 * np.sqrt(6000 * 5 / 36))


@pytest.mark.parametrize("size", [0, 41])
def test_a_subsample_larger_than_the_cohort_or_empty_is_refused(size):
    with pytest.raises(InputError, match=f"a subsample of {size} records cannot be drawn from 40"):
        subsample_counts([[10, 10, 10, 10]], size=size, repeats=2, rng=np.random.default_rng(1))
