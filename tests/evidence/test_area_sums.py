"""What AUC parity is resampled from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.evidence.area_sums import N_STEPS, cut_steps, find_areas
from auditbook.evidence.areas import group_auc
from auditbook.evidence.auc_bootstrap import bootstrap_areas
from auditbook.evidence.placements import rank_levels
from auditbook.evidence.resample import draw_areas
from slow_areas import draw_audit

rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 300), st.integers(0, 2)), min_size=1, max_size=300
)


@settings(max_examples=60)
@given(rows)
def test_areas_of_the_whole_are_those_of_the_records(records):
    outcome, values, codes = np.array(records).T
    found = find_areas(cut_steps(rank_levels(outcome, values), codes, 3).total())
    np.testing.assert_allclose(found, group_auc(outcome, values, codes, 3), atol=1e-12)


@settings(max_examples=60)
@given(rows, st.randoms())
def test_the_order_of_records_does_not_change_a_bit(records, random):
    one, two = (np.array(part).T for part in (records, random.sample(records, len(records))))
    first, second = (cut_steps(rank_levels(*part[:2]), part[2], 3) for part in (one, two))
    np.testing.assert_array_equal(first.held, second.held)
    np.testing.assert_array_equal(first.inside, second.inside)


@pytest.mark.parametrize("rate", [0.02, 0.5])
def test_stretches_are_in_order_keep_ties_together_and_hold_few_records_each(rate):
    rng = np.random.default_rng(1)
    outcome = (rng.random(20_000) < rate).astype(int)
    levels = rank_levels(outcome, np.round(rng.normal(size=20_000), 3))
    cells = cut_steps(levels, np.zeros(20_000, int), 1)
    assert (np.diff(cells.step) >= 0).all()
    assert (np.diff(cells.step)[np.diff(levels.level) == 0] == 0).all()
    share = cells.held[0] / cells.held[0].sum(axis=-1, keepdims=True)
    assert share.mean(axis=0).max() < 2 / N_STEPS


def test_sites_add_up_to_the_whole():
    rng = np.random.default_rng(2)
    outcome, values, codes = draw_audit(rng, 500, 3)
    cells = cut_steps(rank_levels(outcome, values), codes, 3)
    np.testing.assert_array_equal(cells.at_sites(rng.integers(0, 5, 500), 5).sum(axis=0), cells.held)


@pytest.mark.parametrize(("n", "slack"), [(120, 0.08), (5000, 0.08)])
def test_resampled_areas_spread_as_those_of_a_bootstrap_of_records(n, slack):
    outcome, values, codes = draw_audit(np.random.default_rng(3), n, 3, ties=False)
    cells = cut_steps(rank_levels(outcome, values), codes, 3)
    fast = find_areas(draw_areas(cells, size=n, resamples=4000, rng=np.random.default_rng(4)))
    slow = bootstrap_areas(outcome, values, codes, 3, resamples=1000, rng=np.random.default_rng(5))
    slow = np.einsum("rgg->rg", slow)
    # the standard deviation of 1,000 resamples is known within 2.3 %
    np.testing.assert_allclose(fast.std(axis=0), slow.std(axis=0), rtol=slack)
    np.testing.assert_allclose(
        fast.mean(axis=0), slow.mean(axis=0), atol=5 * slow.std(axis=0).max() / 1000**0.5
    )


def test_a_group_of_one_class_has_no_area_in_any_resample():
    cells = cut_steps(rank_levels([0, 0, 1, 0], [1, 2, 3, 4]), [0, 0, 1, 1], 2)
    drawn = find_areas(draw_areas(cells, size=4, resamples=3, rng=np.random.default_rng(1)))
    assert np.isnan(drawn[:, 0]).all()
    assert not np.isnan(drawn[:, 1]).any()


def test_no_record_and_one_class_of_many_scores_are_cut_without_fault():
    assert np.isnan(find_areas(cut_steps(rank_levels([], []), np.array([], int), 2).total())).all()
    one_class = cut_steps(rank_levels(np.zeros(200, int), np.arange(200)), np.zeros(200, int), 1)
    assert one_class.held.sum() == 200
