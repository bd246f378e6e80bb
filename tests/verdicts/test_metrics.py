import itertools
from fractions import Fraction

import fairlearn.metrics as fairlearn
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_score

from auditbook.errors import InputError
from auditbook.evidence.areas import group_auc
from auditbook.evidence.counts import count_groups
from auditbook.evidence.score_sums import order_scores, sum_scores
from auditbook.settings import EXTRA_METRIC_NAMES, METRIC_NAMES
from auditbook.verdicts.formulas import theil_index
from auditbook.verdicts.metrics import METRICS, find_metric
from small_audits import EVERY_METRIC, SCORES, slow_group, slow_metric

ROUNDING = 1e-12  # the same arithmetic in another order
COUNT_METRICS = [name for name, metric in METRICS.items() if metric.evidence == "counts"]
SCORE_METRICS = [name for name, metric in METRICS.items() if metric.evidence != "counts"]

records = st.lists(st.tuples(st.integers(0, 1), SCORES, st.integers(0, 2)), min_size=1, max_size=30)


def evidence(name, outcome, values, codes, n_groups):
    if METRICS[name].evidence == "areas":
        return group_auc(outcome, values, codes, n_groups)
    if METRICS[name].evidence == "score sums":
        return sum_scores(order_scores(outcome, values), codes, n_groups)
    return count_groups(outcome, np.asarray(values) >= 0.5, codes, n_groups)


def columns(rows):
    outcome, values, codes = zip(*rows, strict=True)
    return np.array(outcome), np.array(values), np.array(codes)


def test_the_registry_holds_the_published_metrics_and_the_extras():
    assert tuple(METRICS) == METRIC_NAMES + EXTRA_METRIC_NAMES == EVERY_METRIC


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_every_metric_is_described_in_full(metric):
    assert metric.title
    assert metric.source
    assert metric.quantity
    assert metric.undefined
    assert metric.formula.count("{") == metric.formula.count("}")
    assert metric.meaning.endswith(".")
    assert metric.meaning.count(".") == 1
    assert "records" in metric.needs


@settings(max_examples=40)
@given(records)
@pytest.mark.parametrize("name", EVERY_METRIC)
def test_the_metric_equals_the_slow_loop_over_records(name, rows):
    outcome, values, codes = columns(rows)
    found = METRICS[name].values(evidence(name, outcome, values, codes, 3))
    np.testing.assert_allclose(found, slow_metric(name, outcome, values, codes, 3), atol=1e-9)


@settings(max_examples=40)
@given(records, st.permutations(range(3)), st.randoms())
@pytest.mark.parametrize("name", EVERY_METRIC)
def test_the_order_of_records_and_the_names_of_groups_do_not_change_a_single_bit(name, rows, names, random):
    outcome, values, codes = columns(rows)
    other = columns(random.sample(rows, len(rows)))
    one = METRICS[name].values(evidence(name, outcome, values, codes, 3))
    two = METRICS[name].values(evidence(name, other[0], other[1], np.array(names)[other[2]], 3))
    np.testing.assert_array_equal(one, two)


def all_tables(n_groups, most):
    cells = itertools.product(range(most + 1), repeat=4 * n_groups)
    return np.array(list(cells)).reshape(-1, n_groups, 4)


@pytest.mark.parametrize(("n_groups", "most"), [(2, 3), (3, 1)])
@pytest.mark.parametrize("name", [name for name in COUNT_METRICS if name != "TI_benefit"])
def test_no_small_table_gets_another_value_or_verdict_when_its_groups_change_places(name, n_groups, most):
    tables, metric = all_tables(n_groups, most), METRICS[name]
    first = metric.values(tables)
    for order in itertools.permutations(range(n_groups)):
        again = metric.values(tables[:, order])
        np.testing.assert_array_equal(first, again)
        np.testing.assert_array_equal(metric.passes(first), metric.passes(again))


def test_a_value_that_equals_the_threshold_as_a_fraction_passes_and_its_neighbours_are_told_apart():
    rates = sorted({Fraction(top, bottom) for bottom in range(1, 21) for top in range(bottom + 1)})
    low, high = (np.array(side) for side in zip(*itertools.combinations(rates, 2), strict=True))
    parts = np.stack([low.astype(float), high.astype(float)], axis=-1)[:, None]
    for name, exact in (("DI", low * 5 >= high * 4), ("SPD", (high - low) * 10 <= 1)):
        metric = METRICS[name]
        assert (metric.passes(metric.combine(parts)) == exact.astype(bool)).all()


def test_four_fifths_from_counts_passes():
    table = [[4, 0, 6, 0], [5, 0, 5, 0]]
    assert METRICS["DI"].passes(METRICS["DI"].values(np.array(table)))
    assert METRICS["SPD"].passes(METRICS["SPD"].values(np.array([[8, 0, 2, 0], [7, 0, 3, 0]])))


def test_two_groups_of_twenty_have_their_values_by_hand():
    table = np.array([[6, 2, 2, 10], [3, 3, 3, 11]])
    by_hand = {"DI": 0.75, "SPD": 0.1, "EOPP": 0.25, "EOD": 0.25, "PP": 0.25}
    assert {name: pytest.approx(float(METRICS[name].values(table))) for name in by_hand} == by_hand


def test_equal_groups_have_no_gap_and_a_ratio_of_one():
    table = np.array([[6, 2, 2, 10]] * 3)
    assert [float(METRICS[name].values(table)) for name in ("DI", "SPD", "EOPP", "EOD", "PP")] == [
        1,
        0,
        0,
        0,
        0,
    ]


def test_a_group_that_is_never_selected_gives_a_ratio_of_zero_and_nobody_selected_gives_none():
    assert METRICS["DI"].values(np.array([[0, 0, 5, 5], [1, 0, 4, 5]])) == 0
    assert np.isnan(METRICS["DI"].values(np.array([[0, 0, 5, 5], [0, 0, 4, 5]])))


def test_one_group_with_a_rate_has_no_gap_to_itself():
    table = np.array([[1, 0, 1, 1], [0, 1, 0, 3]])
    assert np.isnan(METRICS["EOPP"].values(table))
    assert np.isnan(METRICS["EOD"].values(table))


def test_equalised_odds_keeps_the_groups_of_both_parts():
    parts = METRICS["EOD"].by_group(np.array([[1, 1, 1, 1], [1, 0, 0, 2]]))
    assert parts.tolist() == [[0.5, 1.0], [0.5, 0.0]]


@pytest.mark.parametrize("seed", range(8))
def test_fairlearn_gives_the_same_values(seed):
    rng = np.random.default_rng(seed)
    outcome, decision, group = rng.integers(0, 2, 200), rng.integers(0, 2, 200), rng.integers(0, 3, 200)
    table = count_groups(outcome, decision, group, 3)
    call = {"y_true": outcome, "y_pred": decision, "sensitive_features": group}
    precision = fairlearn.MetricFrame(metrics=precision_score, **call)
    oracle = {
        "DI": fairlearn.demographic_parity_ratio(**call),
        "SPD": fairlearn.demographic_parity_difference(**call),
        "EOPP": fairlearn.equal_opportunity_difference(**call),
        "EOD": fairlearn.equalized_odds_difference(**call),
        "PP": precision.difference(),
    }
    for name, value in oracle.items():
        assert float(METRICS[name].values(table)) == pytest.approx(value, abs=ROUNDING)


@given(st.lists(st.integers(0, 30), min_size=8, max_size=8), st.integers(2, 7))
@pytest.mark.parametrize("name", COUNT_METRICS)
def test_multiplying_all_counts_changes_nothing(name, cells, times):
    table = np.array(cells).reshape(2, 4)
    np.testing.assert_allclose(
        METRICS[name].values(table), METRICS[name].values(table * times), rtol=1e-9, atol=ROUNDING
    )


def test_leading_axes_are_kept():
    tables = np.random.default_rng(1).integers(1, 9, (2, 5, 3, 4))
    for name in COUNT_METRICS:
        together = METRICS[name].values(tables)
        assert together.shape == (2, 5)
        assert together[1, 4] == METRICS[name].values(tables[1, 4])


def test_the_theil_index_runs_from_zero_to_the_log_of_n():
    assert theil_index(5.0, 0.0, 5) == 0
    assert theil_index(1.0, 0.0, 8) == pytest.approx(np.log(8))
    assert np.isnan(theil_index(0.0, 0.0, 8))
    assert np.isnan(theil_index(0.0, 0.0, 0))


def test_benefits_of_one_half_and_one_have_their_theil_index_by_hand():
    index = slow_group([(1, 0.5), (1, 1.0)])["T"]
    assert index == pytest.approx(0.0566330123)
    sums = sum_scores(order_scores([1, 1], [0.5, 1.0]), [0, 0], 1)
    assert METRICS["TI"].by_group(sums)[0, 0] == pytest.approx(index)


def test_a_group_without_any_benefit_has_no_theil_index():
    sums = sum_scores(order_scores([1, 0, 1], [0.0, 1.0, 0.5]), [0, 0, 1], 2)
    np.testing.assert_array_equal(METRICS["TI"].by_group(sums), [[np.nan, 0.0]])
    assert np.isnan(METRICS["TI"].values(sums))


def test_a_score_of_one_is_calibrated_in_the_last_bin_and_empty_bins_are_left_out():
    sums = sum_scores(order_scores([1, 1, 0], [1.0, 0.9, 0.0]), [0, 0, 1], 2)
    np.testing.assert_allclose(METRICS["CAL"].by_group(sums), [[0.05, 0.0]], atol=ROUNDING)
    assert METRICS["CAL"].passes(METRICS["CAL"].values(sums))


@settings(max_examples=40)
@given(records)
@pytest.mark.parametrize("name", ["DI", "SPD", "EOPP", "EOD", "PP"])
def test_no_metric_leaves_its_range(name, rows):
    value = METRICS[name].values(evidence(name, *columns(rows), 3))
    assert np.isnan(value) or 0 <= value <= 1


def test_the_threshold_can_be_another():
    assert not METRICS["SPD"].passes(0.12)
    assert METRICS["SPD"].passes(0.12, threshold=0.15)
    assert METRICS["DI"].passes(0.8 - 1e-12)
    assert not METRICS["DI"].passes(np.nan)


def test_an_unknown_metric_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"no metric 'EOP'.*did you mean 'EOPP'"):
        find_metric("EOP")
