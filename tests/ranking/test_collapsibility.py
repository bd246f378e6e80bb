"""Ten metrics that are weighted means of the groups' values, and five that are not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)

from auditbook.errors import InputError
from auditbook.ranking.collapsibility import (
    PERFORMANCE,
    Sample,
    collapse,
    compare_intercept_weights,
    find_counterexample,
    fit_intercept,
    fit_slope,
    pool_samples,
)
from pooled_metrics import tabulate_collapsibility

EXACT = 1e-12
TEN = [name for name, metric in PERFORMANCE.items() if metric.weight is not None]
FIVE = ["auc", "calibration_intercept", "calibration_slope", "ece", "nagelkerke"]
group = st.lists(st.tuples(st.integers(0, 1), st.floats(0.01, 0.99)), min_size=1, max_size=20)


def sample(rows):
    outcome, score = zip(*rows, strict=True)
    return Sample(np.array(outcome), np.array(score))


def draw(seed=1, n=400):
    rng = np.random.default_rng(seed)
    score = rng.uniform(0.05, 0.95, n)
    return Sample((rng.random(n) < score).astype(int), score)


def test_ten_metrics_have_weights_and_five_have_none():
    assert len(TEN) == 10
    assert [name for name in PERFORMANCE if name not in TEN] == FIVE
    assert all(bool(metric.weighed_by) == (name in TEN) for name, metric in PERFORMANCE.items())


@settings(max_examples=60)
@given(st.lists(group, min_size=1, max_size=4))
@pytest.mark.parametrize("name", TEN)
def test_the_weighted_mean_of_the_groups_is_the_overall_value(name, groups):
    samples = [sample(rows) for rows in groups]
    overall = PERFORMANCE[name].value(pool_samples(samples))
    np.testing.assert_allclose(collapse(PERFORMANCE[name], samples), overall, atol=1e-9)


def test_values_equal_those_of_scikit_learn():
    one = draw()
    chosen = one.score >= 0.5
    expected = {
        "log_loss": log_loss(one.outcome, one.score),
        "brier": brier_score_loss(one.outcome, one.score),
        "accuracy": accuracy_score(one.outcome, chosen),
        "f1": f1_score(one.outcome, chosen),
        "tpr": recall_score(one.outcome, chosen),
        "tnr": recall_score(one.outcome, chosen, pos_label=0),
        "ppv": precision_score(one.outcome, chosen),
        "npv": precision_score(one.outcome, chosen, pos_label=0),
        "auc": roc_auc_score(one.outcome, one.score),
        "oe_ratio": one.outcome.sum() / one.score.sum(),
        "net_benefit": np.mean(chosen & (one.outcome == 1)) - np.mean(chosen & (one.outcome == 0)),
    }
    for name, value in expected.items():
        assert PERFORMANCE[name].value(one) == pytest.approx(value, abs=EXACT), name


@pytest.mark.parametrize("name", ["auc", "calibration_slope", "ece", "nagelkerke"])
def test_a_counterexample_has_equal_groups_and_another_overall_value(name):
    found = find_counterexample(name)
    np.testing.assert_allclose(found.values[0], found.values[1], atol=1e-9)
    assert abs(found.overall - found.values[0]) > 0.1
    assert PERFORMANCE[name].value(pool_samples(found.groups)) == found.overall


def test_counterexamples_by_hand():
    assert find_counterexample("auc").values == pytest.approx([0.8, 0.8], abs=EXACT)
    assert find_counterexample("auc").overall == pytest.approx(0.65, abs=EXACT)
    assert find_counterexample("ece").values == pytest.approx([0.15, 0.15], abs=EXACT)
    assert find_counterexample("ece").overall == pytest.approx(0, abs=EXACT)


def test_no_weights_fit_the_calibration_intercept():
    table = compare_intercept_weights()
    low, high = (table[["intercept_first", "intercept_second"]].agg(part, axis=1) for part in ("min", "max"))
    assert ((low < table["overall"]) & (table["overall"] < high)).all()
    ratio = table["weight_ratio"]
    assert abs(np.log(ratio[0] * ratio[3] / (ratio[1] * ratio[2]))) > 0.5


def test_the_same_equation_holds_for_a_metric_with_weights():
    groups = [draw(seed, 50) for seed in range(4)]
    value = PERFORMANCE["oe_ratio"].value
    ratios = []
    for first in groups[:2]:
        for second in groups[2:]:
            overall = value(pool_samples([first, second]))
            ratios.append((overall - value(second)) / (value(first) - overall))
    assert ratios[0] * ratios[3] == pytest.approx(ratios[1] * ratios[2], rel=1e-6)


def test_what_has_no_weights_or_no_example_is_refused():
    with pytest.raises(InputError, match="AUC has no weights"):
        collapse(PERFORMANCE["auc"], [draw()])
    with pytest.raises(InputError, match="no such counterexample for 'brier'"):
        find_counterexample("brier")


def test_one_outcome_or_equal_scores_are_undefined_and_the_table_still_stands():
    one_class, flat = (
        Sample(np.array([0, 0]), np.array([0.2, 0.3])),
        Sample(np.array([0, 1]), np.array([0.4, 0.4])),
    )
    assert np.isnan(fit_intercept(one_class))
    assert np.isnan(fit_slope(flat))
    table = tabulate_collapsibility([one_class, flat, draw()]).set_index("metric")
    assert table["difference"][TEN].abs().max() < 1e-9
    assert table["overall"].notna().all()
    assert np.isnan(tabulate_collapsibility([one_class]).set_index("metric").loc["auc", "overall"])
