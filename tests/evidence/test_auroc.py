"""The area under the ROC curve, and how sure one can be of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from auditbook.errors import InputError
from auditbook.evidence.areas import group_auc
from auditbook.evidence.auroc import estimate_auroc

EXACT = 1e-12  # the same sums in another order


def test_value_by_hand_counts_pairs_in_order():
    assert estimate_auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).auroc == 0.75


def test_interval_by_hand():
    found = estimate_auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    # placements: events 1/2, 1; non-events 1, 1/2; variance = 2 * (1/8)/2 = 1/8
    width = 1.959963984540054 * np.sqrt(0.125) / (0.75 * 0.25)
    assert found.low == pytest.approx(1 / (1 + np.exp(-(np.log(3) - width))), abs=EXACT)
    assert found.high == pytest.approx(1 / (1 + np.exp(-(np.log(3) + width))), abs=EXACT)


def test_ties_count_half():
    assert estimate_auroc([0, 1, 0, 1], [0.3, 0.3, 0.3, 0.3]).auroc == 0.5


def test_equal_scores_get_no_interval_of_zero_width():
    found = estimate_auroc([0, 1] * 10, np.full(20, 0.4))
    assert np.isnan([found.low, found.high]).all()


def test_perfect_separation_has_a_one_sided_interval():
    found = estimate_auroc([0] * 30 + [1] * 10, range(40))
    assert (found.auroc, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.05**0.1, abs=EXACT)
    wrong = estimate_auroc([1] * 10 + [0] * 30, range(40))
    assert (wrong.auroc, wrong.low) == (0.0, 0.0)
    assert wrong.high == pytest.approx(1 - found.low, abs=EXACT)


@pytest.mark.parametrize("outcome", [[0, 0, 0], [1, 1, 1], []])
def test_one_outcome_only_is_undefined(outcome):
    found = estimate_auroc(outcome, np.linspace(0, 1, len(outcome)))
    assert np.isnan([found.auroc, found.low, found.high]).all()


def test_a_single_event_gets_no_interval():
    found = estimate_auroc([0, 1, 0, 0], [0.1, 0.2, 0.3, 0.05])
    assert found.auroc == pytest.approx(2 / 3)
    assert np.isnan(found.low)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="outcomes must be 0 or 1"):
        estimate_auroc([0, 2], [0.1, 0.2])
    with pytest.raises(InputError, match="2 outcomes and 3 scores"):
        estimate_auroc([0, 1], [0.1, 0.2, 0.3])
    with pytest.raises(InputError, match="1 of 2 scores are missing"):
        estimate_auroc([0, 1], [0.1, np.nan])


scored = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 12)), min_size=8, max_size=60)


@given(scored)
@settings(max_examples=60, deadline=None)
def test_area_agrees_with_scikit_learn_and_the_area_by_group(pairs):
    outcome, values = np.array([*pairs, (0, 3), (1, 3)]).T
    found = estimate_auroc(outcome, values).auroc
    assert found == pytest.approx(roc_auc_score(outcome, values), abs=EXACT)
    assert found == pytest.approx(group_auc(outcome, values, np.zeros(len(values), int), 1)[0], abs=EXACT)


@given(scored, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_order_of_records_and_increasing_transforms_change_nothing(pairs, random):
    outcome, values = np.array([*pairs, (0, 3), (1, 4)]).T
    order = np.array(random.sample(range(len(values)), len(values)))
    first = estimate_auroc(outcome, values)
    second = estimate_auroc(outcome[order], np.exp(values / 5)[order])
    both = [[found.auroc, found.low, found.high] for found in (first, second)]
    np.testing.assert_allclose(*both, atol=1e-9)


@given(scored)
@settings(max_examples=40, deadline=None)
def test_reversed_scores_mirror_the_interval(pairs):
    outcome, values = np.array([*pairs, (0, 3), (1, 4)]).T
    up, down = estimate_auroc(outcome, values), estimate_auroc(outcome, -values)
    np.testing.assert_allclose(
        [1 - up.auroc, 1 - up.high, 1 - up.low], [down.auroc, down.low, down.high], atol=1e-9
    )


def test_interval_covers_the_true_area():
    rng = np.random.default_rng(11)
    true, runs = 0.7602499389065233, 1000  # normal scores one SD apart: Phi(1/sqrt(2))
    outcome = np.repeat([0, 1], [150, 50])
    covered = 0
    for _ in range(runs):
        found = estimate_auroc(outcome, rng.normal(size=200) + outcome)
        covered += found.low <= true <= found.high
    # four binomial standard errors around 0.95, and a point for the approximation
    assert covered / runs == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / runs) + 0.01)
