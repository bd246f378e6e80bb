import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.errors import InputError
from auditbook.evidence.score_cells import sort_cells
from auditbook.evidence.score_sums import assign_bins, order_scores, stack_sums, sum_scores, sum_site_scores
from small_audits import SCORES

records = st.lists(
    st.tuples(st.integers(0, 1), SCORES, st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30
)


def columns(rows):
    outcome, values, codes, site = zip(*rows, strict=True)
    return np.array(outcome), np.array(values), np.array(codes), np.array(site)


def test_bins_are_closed_below_and_the_last_one_above():
    assert assign_bins(np.arange(11) / 10).tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]


@given(records)
def test_sums_equal_those_over_the_records(rows):
    outcome, values, codes, _ = columns(rows)
    sums = sum_scores(order_scores(outcome, values), codes, 3)
    benefit = 1 - np.abs(outcome - values)
    for group in range(3):
        mine = codes == group
        assert sums.benefit[group] == pytest.approx(benefit[mine].sum())
        logs = [b * np.log(b) for b in benefit[mine] if b > 0]
        assert sums.benefit_log[group] == pytest.approx(sum(logs), abs=1e-12)
        for place in range(10):
            both = mine & (assign_bins(values) == place)
            assert sums.records[group, place] == both.sum()
            assert sums.events[group, place] == outcome[both].sum()
            assert sums.score[group, place] == pytest.approx(values[both].sum())


@given(records, st.randoms())
def test_shuffled_records_give_the_same_bits(rows, random):
    one, other = columns(rows), columns(random.sample(rows, len(rows)))
    for part, again in zip(
        sum_scores(order_scores(*one[:2]), one[2], 3).parts(),
        sum_scores(order_scores(*other[:2]), other[2], 3).parts(),
        strict=True,
    ):
        np.testing.assert_array_equal(part, again)


@given(records)
def test_sites_drawn_once_each_add_up_to_the_whole(rows):
    outcome, values, codes, site = columns(rows)
    ordered = order_scores(outcome, values)
    at_site = sum_site_scores(ordered, codes, 3, site=site, n_sites=4)
    assert at_site.records.shape == (4, 3, 10)
    once = at_site.weigh(np.ones((2, 4)))
    for part, whole in zip(once.parts(), sum_scores(ordered, codes, 3).parts(), strict=True):
        np.testing.assert_allclose(part, [whole, whole], atol=1e-12)


@given(records)
def test_cells_hold_every_record_once_with_their_mean_and_covariance(rows):
    outcome, values, codes, _ = columns(rows)
    cells = sort_cells(order_scores(outcome, values), codes, 3)
    assert cells.sizes.sum() == len(rows)
    assert sorted(cells.score[cells.rows]) == sorted(values)
    for place, flat in enumerate(cells.index):
        group, label, score_bin = np.unravel_index(flat, cells.sizes.shape)
        mine = (codes == group) & (outcome == label) & (assign_bins(values) == score_bin)
        benefit = np.where(label, values[mine], 1 - values[mine])
        logs = np.where(benefit > 0, benefit * np.log(np.where(benefit > 0, benefit, 1)), 0)
        part = slice(cells.start[place], cells.start[place] + cells.held[place])
        np.testing.assert_array_equal(cells.score[cells.rows[part]], np.sort(values[mine]))
        np.testing.assert_allclose(cells.mean[:, place], [values[mine].mean(), logs.mean()], atol=1e-12)
        root = np.array([[cells.root[0, place], 0], cells.root[1:, place]])
        np.testing.assert_allclose(root @ root.T, np.cov(values[mine], logs, ddof=0), atol=1e-9)
        assert cells.low[0, place] == values[mine].min()
        assert cells.high[0, place] == values[mine].max()
        assert cells.low[1, place] <= logs.min() + 1e-12
        assert cells.high[1, place] == pytest.approx(logs.max(), abs=1e-12)


def test_sums_of_models_are_stacked_in_front():
    sums = sum_scores(order_scores([1, 0], [0.9, 0.2]), [0, 0], 1)
    assert stack_sums([sums, sums, sums]).score.shape == (3, 1, 10)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([-4.2, 3.9], "scores run from -4.2 to 3.9: not probabilities"),
        ([0.0, 97.0], "scores run from 0 to 97: not probabilities"),
        ([0.5, np.nan], "1 scores are missing"),
    ],
)
def test_logits_percentages_and_gaps_are_no_probabilities(values, message):
    with pytest.raises(InputError, match=message):
        order_scores([0, 1], values)
