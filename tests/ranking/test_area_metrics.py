"""The metrics made of areas, their advice and their intervals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from auditbook.ranking.area_metrics import AUC_METRICS, assess_areas, equity_scaled
from auditbook.ranking.joint import cross_errors
from auditbook.ranking.matrix import auc_matrix, standard_errors
from auditbook.ranking.summary import summarise_areas
from slow_areas import draw_audit

G = 3
rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 6), st.integers(0, G - 1)), min_size=1, max_size=40
)


def assess(outcome, values, codes, n_groups, **options):
    found = assess_areas(
        auc_matrix(outcome, values, codes, n_groups, site=options.pop("site", None)),
        rng=np.random.default_rng(1),
        **options,
    )
    return {(one.metric, one.group if one.metric in ("xauc1", "xauc0") else None): one for one in found}


def test_every_metric_carries_its_advice_and_the_reason():
    advice = {name: metric.advice for name, metric in AUC_METRICS.items()}
    assert advice["within_parity"] == "recommended"
    assert {advice[name] for name in ("cross_parity", "xauc1", "xauc0", "xauc1_parity", "xauc0_parity")} == {
        "with caution"
    }
    last = ("gap_to_overall", "equity_scaled", "minimum", "min_max_ratio")
    assert {advice[name] for name in last} == {"not recommended"}
    for metric in AUC_METRICS.values():
        assert metric.meaning.endswith(".")
        assert metric.why.endswith(".")
        assert metric.formula.count("{") == metric.formula.count("}")
        assert metric.source


def test_values_by_hand():
    # areas: a within 1, b within 1/2, a over b 0, b over a 1; xAUC1 1/2, 3/4; xAUC0 1, 1/4; overall 5/8
    found = assess([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.3], [0, 0, 1, 1], 2)
    value = {key: one.value for key, one in found.items()}
    assert value["auc", None] == 0.625
    assert value["within_parity", None] == 0.5
    assert value["cross_parity", None] == 1.0
    assert [value["xauc1", g] for g in (0, 1)] == [0.5, 0.75]
    assert [value["xauc0", g] for g in (0, 1)] == [1.0, 0.25]
    assert value["xauc1_parity", None] == 0.25
    assert value["xauc0_parity", None] == 0.75
    assert value["gap_to_overall", None] == 0.375
    assert value["equity_scaled", None] == pytest.approx(0.625 / 1.5)
    assert value["minimum", None] == 0.5
    assert value["min_max_ratio", None] == 0.5
    assert (found["within_parity", None].group, found["within_parity", None].other) == (0, 1)
    assert (found["cross_parity", None].group, found["cross_parity", None].other) == (1, 0)


@settings(max_examples=50)
@given(rows, st.permutations(range(G)))
def test_names_of_groups_change_no_value_and_no_interval_misses_its_value(records, names):
    outcome, values, codes = np.array(records).T
    one = assess(outcome, values, codes, G)
    two = assess(outcome, values, np.array(names)[codes], G)
    for key, found in one.items():
        again = two[key[0], None if key[1] is None else names[key[1]]]
        np.testing.assert_allclose(again.value, found.value, atol=1e-12)
        if not np.isnan(found.low + found.high):
            assert found.low - 1e-12 <= found.value <= found.high + 1e-12
            assert found.low < found.high


@settings(max_examples=30)
@given(rows)
def test_largest_differences_equal_the_loop_over_pairs(records):
    outcome, values, codes = np.array(records).T
    matrix, found = auc_matrix(outcome, values, codes, G), assess(outcome, values, codes, G)
    within, cross = [], []
    for g in range(G):
        for h in range(g):
            within.append(abs(matrix.auc[g, g] - matrix.auc[h, h]))
            cross.append(abs(matrix.auc[g, h] - matrix.auc[h, g]))
    for name, slow in (("within_parity", within), ("cross_parity", cross)):
        known = [one for one in slow if not np.isnan(one)]
        np.testing.assert_allclose(found[name, None].value, max(known) if known else np.nan, atol=1e-12)


def test_intervals_of_two_groups_are_walds_in_a_large_audit():
    outcome, values, codes = draw_audit(np.random.default_rng(2), 30_000, 2)
    matrix = auc_matrix(outcome, values, codes, 2)
    found, se, summary = assess(outcome, values, codes, 2), standard_errors(matrix), summarise_areas(matrix)
    for name, error in (
        ("within_parity", np.hypot(se[0, 0], se[1, 1])),
        ("cross_parity", cross_errors(matrix)[0, 1]),
        ("xauc1_parity", np.sqrt(np.array([1, -1]) @ summary.covariance[2:4, 2:4] @ [1, -1])),
    ):
        one = found[name, None]
        assert one.high - one.value == pytest.approx(1.96 * error, rel=0.02)
        assert one.low == pytest.approx(max(one.value - 1.96 * error, 0), abs=0.02 * error)


def test_intervals_cover_the_largest_difference_whether_there_is_one_or_not():
    rng = np.random.default_rng(3)
    sizes, runs = np.array([200, 400, 800]), 150
    codes = np.repeat(np.arange(3), sizes)
    for lift, truth in (
        (np.ones(3), 0.0),
        (np.array([0.6, 1, 1]), norm.cdf(1 / 2**0.5) - norm.cdf(0.6 / 2**0.5)),
    ):
        covered, zero, values = 0, 0, []
        for _ in range(runs):
            outcome = (rng.random(len(codes)) < 0.3).astype(int)
            matrix = auc_matrix(outcome, rng.normal(size=len(codes)) + outcome * lift[codes], codes, 3)
            one = assess_areas(matrix, draws=500, rng=rng)[1]
            covered, zero = covered + (one.low <= truth <= one.high), zero + (one.low == 0)
            values.append(one.value)
        # conservative by construction, so only too few would be wrong: four binomial standard errors
        assert covered / runs > 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)
        assert np.mean(values) > truth  # the value itself is biased upward
        assert zero / runs > 0.9 or truth > 0


def test_perfect_separation_keeps_every_interval_open():
    found = assess(np.tile([0, 1], 40), np.tile([0.1, 0.9], 40), np.arange(80) // 2 % 2, 2)
    assert found["within_parity", None].value == 0
    assert found["within_parity", None].high > 0.1
    assert found["minimum", None].low < 0.95
    assert found["equity_scaled", None].low < 1


def test_a_group_of_one_class_is_left_out_and_two_groups_then_have_no_difference():
    found = assess([0, 1, 0, 1, 0, 0], [1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 1, 1], 2)
    assert np.isnan(found["within_parity", None].value)
    assert np.isnan(found["cross_parity", None].value)
    assert np.isnan(found["xauc1", 1].value)
    assert found["xauc0", 1].value == 0
    assert found["minimum", None].value == 0.75
    assert np.isnan(found["min_max_ratio", None].value)


@pytest.mark.parametrize(
    ("outcome", "values", "codes", "n_groups"),
    [
        ([0, 0], [1, 2], [0, 1], 2),
        ([1], [0.5], [0], 1),
        ([0, 1], [0.5, 0.5], [0, 1], 2),
        ([0, 1] * 30, [0.4] * 60, [0, 0, 1, 1, 2, 2] * 10, 3),
        ([1, 0, 1, 0, 1, 0, 1], [1, 2, 3, 4, 5, 6, 7], [0, 1, 1, 1, 1, 1, 1], 2),
        ([], [], [], 2),
        ([1, 0, 1, 0], [1, 2, 1, 2], [0, 0, 1, 1], 2),
    ],
)
def test_degenerate_audits_give_numbers_or_nan_and_never_a_crash(outcome, values, codes, n_groups):
    codes = np.array(codes, int)
    for site in (None, np.arange(len(codes)) % 2, np.zeros(len(codes), int)):
        for by_site in (False, True):
            found = assess(outcome, values, codes, n_groups, site=site, by_site=by_site)
            assert set(AUC_METRICS) == {name for name, _ in found} | (
                set() if n_groups else {"xauc1", "xauc0"}
            )


def test_equity_scaled_area_prefers_the_score_that_leaves_a_group_to_chance():
    assert equity_scaled(0.875, [1, 0.5]) > equity_scaled(0.75, [1, 1])


def test_a_group_that_is_everybody_has_a_gap_of_zero_and_no_interval():
    outcome, values, codes = np.array([(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)] * 20).T
    found = assess(outcome, values, codes, G)
    gap = next(one for (metric, _), one in found.items() if metric == "gap_to_overall")
    assert gap.value == 0
    assert np.isnan(gap.low)
    assert np.isnan(gap.high)
