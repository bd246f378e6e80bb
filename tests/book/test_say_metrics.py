"""What is said of rates, metrics and verdicts is true of every cohort."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from auditbook.book.say import metrics as say
from auditbook.book.say.text import table_html
from auditbook.errors import InputError
from auditbook.settings import METRIC_NAMES, Protocol
from auditbook.verdicts.metrics import METRICS
from runs_fixture import KINDS

EXACT = 1e-12  # the same arithmetic in another order


def group_rows(**counts):
    """Make rows of groups.csv from name=(tp, fp, fn, tn)."""
    table = pd.DataFrame([dict(zip(("tp", "fp", "fn", "tn"), four, strict=True)) for four in counts.values()])
    table.insert(0, "group", list(counts))
    return table.assign(n=table[["tp", "fp", "fn", "tn"]].sum(axis=1), support="")


def first_cells(run):
    model, attribute = run.models["model"].iloc[0], run.groups["attribute"].iloc[0]
    here = (run.groups["model"] == model) & (run.groups["attribute"] == attribute)
    bins = (run.score_bins["model"] == model) & (run.score_bins["attribute"] == attribute)
    kind = run.models["kind"].iloc[0]
    return run.groups[here], run.score_bins[bins], run.verdicts[run.verdicts["model"] == model], kind


def all_sentences(run):
    groups, bins, cells, kind = first_cells(run)
    rates = [say.describe_rates(say.pick_rates(groups, rate=rate), rate=rate) for rate in say.RATES]
    said = [say.describe_bins(say.pick_bins(bins, kind=kind), kind=kind)]
    return [*rates, *said, say.describe_verdicts(cells), say.describe_reasons(cells)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_is_said_of_every_cohort(runs, kind):
    for sentence in all_sentences(runs[kind]):
        assert sentence
        assert "nan" not in sentence.split()
        assert "<" not in sentence


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_is_written_for_every_cohort(runs, kind):
    groups, bins, cells, score_kind = first_cells(runs[kind])
    for rate in say.RATES:
        assert "<table" in table_html(say.pick_rates(groups, rate=rate), say.RATE_COLUMNS)
    assert "<table" in table_html(say.pick_bins(bins, kind=score_kind), say.BIN_COLUMNS)
    assert "<script" not in table_html(say.pick_verdicts(cells), say.VERDICT_COLUMNS)


def test_rates_of_a_hand_sized_group_are_right():
    groups = group_rows(A=(2, 1, 1, 2))
    found = {rate: say.pick_rates(groups, rate=rate)["value"].item() for rate in say.RATES}
    assert found == pytest.approx({"SR": 1 / 2, "TPR": 2 / 3, "FPR": 1 / 3, "PPV": 2 / 3}, abs=EXACT)


def test_bounds_of_a_rate_are_those_of_wilson():
    row = say.pick_rates(group_rows(A=(8, 3, 2, 7)), rate="TPR").iloc[0]
    low, high = proportion_confint(8, 10, method="wilson")
    assert (row["low"], row["high"]) == pytest.approx((low, high), abs=EXACT)


def test_rate_without_trials_is_undefined_and_says_why():
    rates = say.pick_rates(group_rows(A=(0, 1, 0, 2), B=(2, 0, 0, 1)), rate="TPR")
    assert math.isnan(rates["value"].iloc[0])
    assert rates["note"].iloc[0] == "undefined: no events"
    assert "no gap is claimed" in say.describe_rates(rates, rate="TPR")


def test_rate_undefined_everywhere_is_said_once():
    rates = say.pick_rates(group_rows(A=(0, 1, 0, 2), B=(0, 0, 0, 1)), rate="TPR")
    assert say.describe_rates(rates, rate="TPR") == (
        "The true positive rate is undefined in every group: there are no events."
    )


def test_a_withheld_count_is_no_zero_and_its_rate_is_said_to_be_withheld():
    groups = group_rows(A=(4, 2, 4, 6), B=(3.0, math.nan, 3.0, math.nan), C=(math.nan,) * 4)
    groups = groups.assign(n=[16.0, math.nan, math.nan])
    rates = say.pick_rates(groups, rate="SR").set_index("group")
    assert rates["value"].isna().to_dict() == {"A": False, "B": True, "C": True}
    assert rates.loc[["B", "C"], ["hits", "trials"]].isna().all(axis=None)
    assert say.describe_rates(rates.reset_index(), rate="SR") == (
        "The selection rate is 37.5% in A. The selection rate of B and C is withheld."
    )


def test_a_withheld_rate_of_weighted_records_is_blank_where_their_number_is_told():
    groups = group_rows(A=(4, 2, 4, 6), B=(math.nan, 2, math.nan, 6)).assign(
        tpr=[0.5, math.nan], events_effective=[7.0, 7.0], n_effective=[14.0, 14.0]
    )
    groups = groups.assign(non_events_effective=7.0, selected_effective=5.0)
    assert math.isnan(say.pick_rates(groups, rate="TPR")["value"].iloc[1])


def test_gap_of_zero_is_said_without_a_lowest_group():
    rates = say.pick_rates(group_rows(A=(1, 1, 1, 1), B=(2, 2, 2, 2)), rate="SR")
    assert say.describe_rates(rates, rate="SR") == (
        "The selection rate is 50.0% in every group where it is defined."
    )


def test_a_weighted_rate_is_not_set_beside_its_counts_without_a_word():
    counted = say.pick_rates(group_rows(A=(5, 5, 5, 5), B=(6, 6, 4, 4)), rate="SR")
    weighted = counted.assign(value=[0.5, 0.7])
    assert "weighted" not in say.describe_rates(counted, rate="SR")
    assert "(10 of 20 records) to 70.0% in B (12 of 20 records, weighted)" in say.describe_rates(
        weighted, rate="SR"
    )


def test_overlap_of_the_extreme_groups_is_said():
    near = say.pick_rates(group_rows(A=(5, 5, 5, 5), B=(6, 5, 4, 5)), rate="SR")
    far = say.pick_rates(group_rows(A=(500, 0, 0, 500), B=(900, 0, 0, 100)), rate="SR")
    assert "overlap:" in say.describe_rates(near, rate="SR")
    assert "do not overlap" in say.describe_rates(far, rate="SR")


@given(
    counts=st.lists(st.tuples(*[st.integers(0, 60)] * 4), min_size=2, max_size=6),
    order=st.randoms(use_true_random=False),
)
def test_what_is_said_of_rates_does_not_depend_on_the_order_of_groups(counts, order):
    table = group_rows(**{f"g{i}": four for i, four in enumerate(counts)})
    rates = say.pick_rates(table, rate="SR")
    values = rates["value"].dropna()
    if values.duplicated().any():  # which of two equal groups is named is free
        return
    shuffled = rates.sample(frac=1, random_state=order.randint(0, 2**31))
    first = say.describe_rates(rates, rate="SR").split(" It is ")[0]
    assert say.describe_rates(shuffled, rate="SR").split(" It is ")[0] == first


def test_metric_table_lists_what_the_protocol_judges_and_cannot_go_stale():
    names = (*METRIC_NAMES, "TI_benefit", "CAL_large", "AUC")
    table = say.tabulate_metrics(Protocol(metrics=names, thresholds={"DI": 0.9}))
    assert tuple(table["metric"]) == names
    assert table["passes"].iloc[0] == "at least 0.90"
    assert list(table["meaning"]) == [METRICS[name].meaning for name in names]
    assert set(METRICS) == set(names)


def test_formulas_are_those_of_the_package():
    said = say.describe_formulas(Protocol())
    assert all(METRICS[name].formula in said for name in METRIC_NAMES)


def test_rule_keeps_the_digits_of_an_unusual_threshold():
    assert say.write_rule("SPD", 0.125) == "at most 0.125"


def test_values_of_a_hand_sized_table_are_right():
    table = say.tabulate_values([[2, 1, 1, 2], [1, 0, 1, 4]]).set_index("metric")
    expected = {"DI": 1 / 3, "SPD": 1 / 3, "EOPP": 1 / 6, "EOD": 1 / 3, "PP": 1 / 3}
    assert table["value"].to_dict() == pytest.approx(expected, abs=EXACT)
    assert set(table["result"]) == {"fail"}


def test_group_without_events_leaves_the_metric_undefined_and_never_a_gap():
    table = say.tabulate_values([[0, 1, 0, 2], [2, 0, 0, 1]]).set_index("metric")
    assert table.loc[["EOPP", "EOD"], "result"].tolist() == ["undefined", "undefined"]
    assert table.loc[["EOPP", "EOD"], "value"].isna().all()


def test_nobody_selected_leaves_ratio_and_ppv_undefined():
    table = say.tabulate_values([[0, 0, 3, 3], [0, 0, 2, 4]]).set_index("metric")
    assert table.loc["DI", "result"] == table.loc["PP", "result"] == "undefined"


def test_worst_bin_is_named_with_its_size_and_interval():
    bins = pd.DataFrame(
        {"group": ["A", "A"], "bin": [1, 10], "bin_low": [0.0, 0.9], "bin_high": [0.1, 1.0]}
    ).assign(n=[1000, 4], events=[50, 1], mean_score=[0.05, 0.95])
    gaps = say.pick_bins(bins, kind="probability")
    said = say.describe_bins(gaps, kind="probability")
    assert "A, scores 0.9 to 1.0, with 4 records" in said
    assert "70.0 points below" in said
    assert np.allclose(gaps["value"], [0.0, -0.7])


@pytest.mark.parametrize(("kind", "word"), [("rank", "ranks"), ("decision", "decisions only")])
def test_scores_that_are_no_probabilities_have_no_bins_to_compare(kind, word):
    bins = pd.DataFrame({"n": [5], "events": [1], "mean_score": [7.0]})
    gaps = say.pick_bins(bins, kind=kind)
    assert gaps.empty
    assert word in say.describe_bins(gaps, kind=kind)


def test_reasons_come_with_the_cells_that_they_hold_back():
    cells = pd.DataFrame(
        {"metric": ["PP", "EOPP", "DI"], "attribute": "race", "verdict": ["inconclusive"] * 2 + ["pass"]}
    ).assign(reason=["Asian: 4 events, 10 needed"] * 2 + [""])
    assert "EOPP and PP for race" in say.describe_reasons(cells)
    assert "pass 1, fail 0, inconclusive 2" in say.describe_verdicts(cells)


def test_wrong_name_is_answered_with_the_nearest():
    with pytest.raises(InputError, match=r"no attribute 'rase' .did you mean 'race'"):
        say.choose("rase", ["race", "sex"], what="attribute")
    with pytest.raises(InputError, match="this run has no model"):
        say.choose("", [], what="model")


def test_a_smallest_bin_is_said_to_have_none_below_it():
    bins = pd.DataFrame({"group": ["A"], "bin": [1], "bin_low": [0.0], "bin_high": [0.1]})
    gaps = say.pick_bins(bins.assign(n=[4], events=[1], mean_score=[0.05]), kind="probability")
    assert "Of the 1 bin with records, none is smaller." in say.describe_bins(gaps, kind="probability")
