import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from auditbook.errors import InputError
from auditbook.evidence import counts

RATES = (
    counts.selection_rate,
    counts.true_positive_rate,
    counts.false_positive_rate,
    counts.positive_predictive_value,
    counts.accuracy,
    counts.event_rate,
)

records = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 2)), max_size=30)


def columns(rows):
    return np.array(rows, int).reshape(-1, 3).T


def test_eight_records_are_counted_as_by_hand():
    outcome = [1, 1, 1, 0, 0, 0, 1, 0]
    decision = [1, 0, 1, 1, 0, 0, 0, 0]
    group = [0, 0, 0, 0, 0, 1, 1, 1]
    assert counts.count_groups(outcome, decision, group, 2).tolist() == [[2, 1, 1, 1], [0, 0, 1, 2]]


def test_several_models_are_counted_at_once():
    both = counts.count_groups([1, 0, 1], [[1, 1, 0], [0, 0, 1]], [0, 1, 1], 2)
    assert both.shape == (2, 2, 4)
    for row, decision in zip(both, ([1, 1, 0], [0, 0, 1]), strict=True):
        assert (row == counts.count_groups([1, 0, 1], decision, [0, 1, 1], 2)).all()


def test_a_group_without_a_record_counts_zero():
    assert counts.count_groups([1], [1], [0], 3)[1:].sum() == 0


def test_no_records_at_all_count_zero():
    assert counts.count_groups([], [], [], 2).tolist() == [[0] * 4] * 2


@given(records)
def test_counts_agree_with_scikit_learn(rows):
    outcome, decision, group = columns(rows)
    found = counts.count_groups(outcome, decision, group, 3)
    for place in range(3):
        mine = group == place
        if not mine.any():
            assert found[place].sum() == 0
            continue
        (tn, fp), (fn, tp) = confusion_matrix(outcome[mine], decision[mine], labels=[0, 1])
        assert found[place].tolist() == [tp, fp, fn, tn]


@given(records, st.randoms())
def test_the_order_of_the_records_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    one, other = (counts.count_groups(*columns(part), 3) for part in (rows, shuffled))
    assert (one == other).all()


@given(records, st.data())
def test_sites_add_up_to_the_whole(rows, data):
    outcome, decision, group = columns(rows)
    site = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))), int)
    split = counts.count_sites(outcome, decision, group, 3, site=site, n_sites=4)
    assert split.shape == (4, 3, 4)
    assert (split.sum(axis=0) == counts.count_groups(outcome, decision, group, 3)).all()
    for place in range(4):
        mine = site == place
        alone = counts.count_groups(outcome[mine], decision[mine], group[mine], 3)
        assert (split[place] == alone).all()


def test_sites_of_several_models_have_the_models_in_front():
    split = counts.count_sites([1, 0], [[1, 1], [0, 0]], [0, 1], 2, site=[0, 1], n_sites=2)
    assert split.shape == (2, 2, 2, 4)
    assert split[0, 0].tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("function", RATES)
def test_a_rate_without_a_denominator_is_nan_and_silent(function):
    assert np.isnan(function([[0, 0, 0, 0]])).all()


def test_each_rate_has_its_value_by_hand():
    by_hand = [8 / 20, 6 / 9, 2 / 11, 6 / 8, 15 / 20, 9 / 20]
    assert [float(function([6, 2, 3, 9])) for function in RATES] == pytest.approx(by_hand)


@settings(max_examples=50)
@given(st.lists(st.integers(0, 50), min_size=4, max_size=4), st.integers(2, 9))
def test_rates_do_not_change_when_every_count_is_multiplied(table, times):
    for function in RATES:
        np.testing.assert_allclose(function(table), function(np.multiply(table, times)), rtol=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: counts.count_groups([0, 2], [0, 1], [0, 0], 1), "outcomes must be 0 or 1; found 2"),
        (lambda: counts.count_groups([0, 1], [0.0, 0.3], [0, 0], 1), "decisions must be 0 or 1; found 0.3"),
        (lambda: counts.count_groups([0, 1], [0, np.nan], [0, 0], 1), "decisions must be 0 or 1; found nan"),
        (lambda: counts.count_groups([0, 1], [0, 1], [0, 2], 2), "group positions run from 0 to 2"),
        (lambda: counts.count_groups([0, 1], [0, 1], [-1, 0], 2), "group positions run from -1 to 0"),
        (lambda: counts.count_groups([0, 1], [0, 1], [0.0, 1.0], 2), "whole numbers"),
        (lambda: counts.count_groups([0, 1], [0, 1, 1], [0, 0], 1), "each record needs one of each"),
        (lambda: counts.count_sites([0], [0], [0], 1, site=[3], n_sites=2), "site positions run from 3 to 3"),
        (lambda: counts.count_sites([0], [0], [0], 1, site=[0, 1], n_sites=2), "2 sites for 1 records"),
    ],
)
def test_bad_input_is_refused_with_what_was_found(call, message):
    with pytest.raises(InputError, match=message):
        call()
