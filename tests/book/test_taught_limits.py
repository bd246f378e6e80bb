"""Are the examples right by which the book teaches what cannot be, and are the untrue sentences gone?"""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.evidence.agreement import fleiss_kappa
from auditbook.evidence.clusters import measure_spread, pair_clusters
from auditbook.pockets.neighbours import link_mutual
from auditbook.project import project_file
from auditbook.ranking.calibration import fit_calibration
from auditbook.ranking.matrix import auc_matrix
from auditbook.verdicts.flips import flip_rate
from auditbook.verdicts.metrics import METRICS
from auditbook.verdicts.quantities import bound_shares

PAGES = sorted([*project_file("notebooks").glob("*.md"), *project_file("book").glob("*.md")])


def value(metric, counts):
    return float(METRICS[metric].values(np.array(counts)))


def cross_cells(rate, tpr, fpr, size=10_000):
    events = rate * size
    return [tpr * events, fpr * (size - events), (1 - tpr) * events, (1 - fpr) * (size - events)]


@pytest.mark.parametrize("counts", [[[40, 0, 10, 50], [16, 0, 4, 80]], [[48, 0, 12, 40], [16, 0, 4, 80]]])
def test_a_model_with_errors_meets_equal_odds_and_predictive_parity_at_other_event_rates(counts):
    assert [value(metric, counts) for metric in ("EOPP", "EOD", "PP")] == [0, 0, 0]
    rates = [(tp + fn) / (tp + fp + fn + tn) for tp, fp, fn, tn in counts]
    assert value("DI", counts) == pytest.approx(min(rates) / max(rates), abs=1e-12)  # FPR 0: SR is p TPR
    assert all(fn > 0 for _, _, fn, _ in counts)


@given(
    rates=st.tuples(st.floats(0.05, 0.95), st.floats(0.05, 0.95)).filter(lambda p: abs(p[0] - p[1]) > 0.05),
    tpr=st.floats(0.05, 1),
    fpr=st.floats(0.05, 1),
)
def test_equal_odds_leave_predictive_values_apart_where_neither_rate_is_zero(rates, tpr, fpr):
    counts = [cross_cells(rate, tpr, fpr) for rate in rates]
    assert value("EOD", counts) == pytest.approx(0, abs=1e-12)
    assert value("PP", counts) > 1e-4


def test_no_event_found_meets_equal_odds_and_predictive_parity_too():
    counts = [cross_cells(rate, 0, 0.25) for rate in (0.6, 0.2)]
    assert value("EOD", counts) == value("PP", counts) == 0


def test_few_selected_pass_every_metric_at_event_rates_of_a_half_and_a_fifth():
    counts = np.array([[3, 7, 47, 43], [3, 7, 17, 73]])
    for metric in ("DI", "SPD", "EOPP", "EOD", "PP"):
        assert METRICS[metric].passes(METRICS[metric].values(counts)), metric


def test_calibrated_scores_with_other_event_rates_have_equal_areas_across_groups():
    outcome = np.repeat([1, 0, 1, 0, 1, 0], [100, 900, 30, 555, 370, 45])
    score = np.repeat([0.1, 30 / 585, 370 / 415], [1_000, 585, 415])
    group = np.repeat([0, 1], 1_000)
    for level in np.unique(score):
        assert outcome[score == level].mean() == pytest.approx(level, abs=1e-12)
    assert fit_calibration(outcome[group == 1], score[group == 1]).slope.value == pytest.approx(1, abs=1e-6)
    assert [outcome[group == g].mean() for g in (0, 1)] == [0.1, 0.4]
    across = auc_matrix(outcome, score, group, n_groups=2).auc
    assert across[0, 1] == pytest.approx(0.925, abs=1e-12)
    assert across[1, 0] == pytest.approx(0.925, abs=1e-12)


def count_shared(leaves):
    """Count for P and Q, P and R, Q and R the trees in which they share a leaf."""
    return [sum(tree[a] == tree[b] for tree in leaves) for a, b in ((0, 1), (0, 2), (1, 2))]


def test_the_five_trees_of_the_quiz_link_q_and_r_alone():
    trees = [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 1), (0, 1, 2)]  # leaves of P, Q and R in each
    assert count_shared(trees) == [2, 1, 3]
    leaves = np.array(trees, dtype=np.int32).T + 3 * np.arange(5, dtype=np.int32)
    assert link_mutual(np.ascontiguousarray(leaves), 15, neighbours=1).tolist() == [[1, 2]]


def test_no_three_trees_share_leaves_twice_once_and_three_times():
    ways = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2)]
    assert not any(count_shared(trees) == [2, 1, 3] for trees in itertools.product(ways, repeat=3))


def test_a_flip_rate_is_not_the_share_that_reverses_where_resamples_contradict_the_verdict():
    counts = np.array([[12, 5, 3, 20], [13, 5, 2, 20], [12, 5, 3, 20]])
    found = flip_rate(counts, "EOPP", resamples=4_000, rng=np.random.default_rng(1))
    assert (found.verdict, found.dominant) == ("pass", "fail")
    assert found.vfr == pytest.approx(exact_pass_share([12, 13, 12], 15), abs=0.03)  # 4.5 standard errors
    assert 1 - found.pass_share == pytest.approx(0.774, abs=0.03)


def test_kappa_is_one_where_nineteen_items_in_twenty_are_alike_and_low_where_folds_dissent():
    assert fleiss_kappa([[20, 0]] * 19 + [[0, 20]]) == pytest.approx(1, abs=1e-12)
    assert fleiss_kappa([[18, 2]] * 20) < 0


def exact_pass_share(found, events, threshold=0.1):
    """Add up the chances of all resamples of some groups' found events whose gap passes."""
    count = np.arange(events + 1)
    chances = [_binomial(count, events, k / events) for k in found]
    gaps = np.ptp(np.stack(np.meshgrid(*[count] * len(found), indexing="ij")), axis=0) / events
    joint = chances[0][:, None, None] * chances[1][:, None] * chances[2]
    return float(joint[gaps <= threshold + 1e-9].sum())


def _binomial(count, trials, share):
    ways = np.cumprod([1, *((trials - k) / (k + 1) for k in range(trials))])
    return ways * share**count * (1 - share) ** (trials - count)


UNTRUE = {
    r"only a perfect model could|unless the model is perfect|unless the model never errs": "FPR 0 is enough",
    r"cannot have equal areas across groups|score fails cross-group": "they can: both 0.925",
    r"In three trees records P and Q": "impossible in three trees",
    r"kappa cannot be high|(?:is low|low) whenever nearly all": "unanimous folds: kappa 1",
    r"largest difference(?: among many small groups)? is never zero": "by accident it is",
    r"some metrics must fail": "a threshold leaves room: few selected pass them all",
    r"\d+ ?% of samples would reverse": "a flip rate is the rarer share of resamples",
    r"EOPP and PP need events|a minimum of 10 events a group all three": "PP rests on selected records",
    r"alike, as kappa does not": "unanimous folds: kappa 1",
    r"At the bound of a \*stable\* verdict": "the share of audits that pass is not known from one audit",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).stem)
def test_no_page_says_what_the_examples_refute(page):
    text = page.read_text(encoding="utf-8")
    said = {why for pattern, why in UNTRUE.items() if re.search(pattern, text, flags=re.IGNORECASE)}
    assert not said


def test_no_source_stands_twice_in_the_bibliography():
    keys = re.findall(
        r"^@\w+\{([^,]+),", project_file("book", "references.bib").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(set(keys)) == sorted(keys)


@pytest.mark.parametrize(("clusters", "worth"), [(5, 50 / (200 / 19)), (1, 1)])
def test_twenty_patients_are_worth_nineteen_records_and_a_share_of_0_takes_their_design_effect(
    clusters, worth
):
    """As the chapter says: ten equal records each, 12 of 20 selected; nobody in the other group."""
    held = np.r_[np.full(20, 10), np.full(clusters, 50 // clusters)]
    group = np.r_[np.zeros(20, int), np.ones(clusters, int)]
    pairs = pair_clusters(np.repeat(np.arange(len(held)), held), np.repeat(group, held), 2)
    away = held * np.r_[np.full(12, 0.4), np.full(8, -0.6), np.zeros(clusters)]
    found = bound_shares(
        np.array([[0.6, 0.0]]), np.array([[200.0, 50.0]]), [measure_spread(pairs, away, held.astype(float))]
    )
    assert found.bounded.effective[0].tolist() == pytest.approx([19, worth], rel=1e-9)
