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
    # placements: events 1/2, 1; non-events 1, 1/2; variance = 2 * (1/8)/2 = 1/8 of 3/16: worth 1.5 pairs.
    # Two events and two non-events leave 2 degrees of freedom: t = 4.30265, and t^2/1.5 = 12.34187
    middle, half = 0.75 + 12.34187 / 2, np.sqrt(12.34187 * 0.75 * 0.25 + 12.34187**2 / 4)
    assert found.low == pytest.approx((middle - half) / 13.34187, abs=1e-5)
    assert found.high == pytest.approx((middle + half) / 13.34187, abs=1e-5)


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


def test_ten_equal_stays_of_a_patient_count_once():
    rng = np.random.default_rng(12)
    outcome = np.repeat([0, 1], [150, 50])
    values = rng.normal(size=200) + outcome
    once, stays = estimate_auroc(outcome, values), [np.repeat(part, 10) for part in (outcome, values)]
    found = estimate_auroc(*stays, unit=np.repeat(np.arange(200), 10))
    assert found.auroc == pytest.approx(once.auroc, abs=EXACT)
    assert [found.low, found.high] == pytest.approx([once.low, once.high], abs=0.001)
    alone = estimate_auroc(*stays)
    assert alone.high - alone.low < 0.4 * (found.high - found.low)


def test_separated_patients_are_pairs_and_their_stays_are_not():
    found = estimate_auroc([0] * 30 + [1] * 10, range(40), unit=np.arange(40) // 5)
    assert (found.low, found.high) == (pytest.approx(0.05**0.5, abs=EXACT), 1.0)
    one = estimate_auroc([0, 0, 1, 1, 0], [1, 2, 3, 1.5, 0], unit=np.zeros(5, int))
    assert np.isnan([one.low, one.high]).all()


def test_interval_by_patients_covers_the_true_area():
    rng, runs, covered = np.random.default_rng(13), 400, 0
    outcome, unit = np.repeat(np.repeat([0, 1], [100, 25]), 6), np.repeat(np.arange(125), 6)
    for _ in range(runs):
        values = 0.8 * rng.normal(size=125)[unit] + 0.6 * rng.normal(size=750) + outcome
        found = estimate_auroc(outcome, values, unit=unit)
        covered += found.low <= 0.7602499389065233 <= found.high
    assert covered / runs >= 0.93 - 2 * np.sqrt(0.93 * 0.07 / runs)
