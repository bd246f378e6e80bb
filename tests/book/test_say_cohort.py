"""What is said of a cohort is true of every cohort."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import relative_risk

from auditbook.book.say import cohort as say
from auditbook.book.say.text import table_html
from auditbook.settings import Protocol
from runs_fixture import AWKWARD, KINDS

PROTOCOL = Protocol()


def groups_of(**counts):
    """Make rows of cohort_groups.csv from name=(n, events)."""
    rows = [
        {"attribute": "a", "group": name, "n": n, "events": events} for name, (n, events) in counts.items()
    ]
    table = pd.DataFrame(rows)
    table["event_rate"] = table["events"] / table["n"].where(table["n"] > 0)
    table["share"] = table["n"] / table["n"].sum()
    bounds = say.wilson_interval(table["events"], table["n"])
    return table.assign(event_rate_low=bounds.low, event_rate_high=bounds.high, n_audit=table["n"])


def all_sentences(run):
    ratios = say.compare_base_rates(run.cohort_groups, protocol=run.protocol)
    sites = say.add_site_intervals(run.cohort_sites)
    return [
        say.announce_data(run.info),
        say.describe_question(run.info),
        say.describe_flow(run.info),
        say.describe_attributes(run.cohort_groups),
        say.describe_base_rates(ratios),
        say.describe_small_groups(run.cohort_groups, protocol=run.protocol),
        say.describe_sites(sites),
        say.describe_site_rates(sites),
        say.describe_columns(run.cohort_columns),
        say.describe_missing(run.cohort_columns),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_can_be_said_of_every_cohort(runs, kind):
    for text in all_sentences(runs[kind]):
        assert text
        assert "nan" not in text
        assert "None" not in text
        assert "  " not in text


@pytest.mark.parametrize("kind", KINDS)
def test_no_sentence_carries_markup_from_the_cohort(runs, kind):
    for text in all_sentences(runs[kind]):
        assert "<" not in text
        assert "$" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_can_be_written_for_every_cohort(runs, kind):
    run = runs[kind]
    ratios = say.compare_base_rates(run.cohort_groups, protocol=run.protocol)
    shown = [
        (say.tabulate_flow(run.info), say.FLOW_COLUMNS),
        (run.cohort_groups, say.GROUP_COLUMNS),
        (say.find_small_groups(run.cohort_groups), say.SMALL_COLUMNS),
        (ratios, say.RATIO_COLUMNS),
        (say.add_site_intervals(run.cohort_sites), say.SITE_COLUMNS),
        (run.cohort_columns, say.COLUMN_COLUMNS),
    ]
    for frame, columns in shown:
        assert table_html(frame, columns).count("<tr>") >= 2


def test_synthetic_cohort_is_announced_as_such(runs):
    assert "**Synthetic cohort" in say.announce_data(runs["nine_groups"].info)
    assert "ynthetic" not in say.announce_data(runs["two_groups"].info)


def test_event_that_is_a_value_is_written_with_an_equals_sign():
    assert "y &#60; 3" not in say.describe_question({"outcome": {"column": "y", "event": "Yes"}})
    assert "**y = Yes**" in say.describe_question({"outcome": {"column": "y", "event": "Yes"}})
    assert "**y &#62; 3**" in say.describe_question({"outcome": {"column": "y", "event": "> 3"}})


def test_flow_adds_up(runs):
    for run in runs.values():
        flow = say.tabulate_flow(run.info).set_index("kind")["rows"]
        assert flow["read"] == flow.get("kept") + np.sum(flow.get("left out", 0))


def test_flow_by_hand():
    info = {"rows_read": 10, "rows_kept": 7, "left_out": [{"reason": "died", "rows": 3}]}
    assert list(say.tabulate_flow(info)["start"]) == [0, 7, 0]
    assert "7 are kept as records, 70.0% of them" in say.describe_flow(info)
    assert "one reason: died" in say.describe_flow(info)


def test_cohort_from_which_nothing_was_left_out_says_so():
    assert "none was left out" in say.describe_flow({"rows_read": 5, "rows_kept": 5, "left_out": []})


def test_empty_group_is_named_and_has_no_rate():
    text = say.describe_groups(groups_of(A=(40, 8), B=(0, 0)))
    assert "B is declared in the cohort file but is empty" in text
    assert "nothing to compare" in text


def test_group_of_missing_values_is_counted():
    groups = groups_of(A=(40, 8), B=(60, 20))
    groups.loc[1, "group"] = "(missing)"
    assert "60 records have no value here" in say.describe_groups(groups)


def test_overlapping_intervals_are_called_possibly_chance():
    assert "may be chance" in say.describe_groups(groups_of(A=(40, 8), B=(40, 10)))
    assert "do not overlap" in say.describe_groups(groups_of(A=(4000, 800), B=(4000, 1600)))


def test_ratio_by_hand_and_against_scipy():
    row = say.compare_base_rates(groups_of(A=(100, 20), B=(200, 80)), protocol=PROTOCOL).iloc[0]
    oracle = relative_risk(20, 100, 80, 200).confidence_interval(0.95)
    assert row["ratio"] == pytest.approx(0.5)
    assert (row["ratio_low"], row["ratio_high"]) == pytest.approx((oracle.low, oracle.high), rel=1e-6)
    assert row["smallest_n"] == 100


def test_unsupported_group_is_left_out_of_the_ratio_and_named():
    ratios = say.compare_base_rates(groups_of(A=(100, 20), B=(200, 80), C=(12, 1)), protocol=PROTOCOL)
    assert ratios["ratio"].iloc[0] == pytest.approx(0.5)
    assert "Left out of the ratio for lack of support (a: C)" in say.describe_base_rates(ratios)


def test_one_supported_group_gives_no_ratio():
    ratios = say.compare_base_rates(groups_of(A=(100, 20), B=(5, 0)), protocol=PROTOCOL)
    assert np.isnan(ratios["ratio"].iloc[0])
    assert "No attribute has two groups" in say.describe_base_rates(ratios)


@given(st.permutations(["A", "B", "C"]))
def test_ratio_does_not_depend_on_the_order_or_names_of_groups(names):
    counts = dict(zip(names, [(100, 20), (200, 80), (300, 90)], strict=True))
    row = say.compare_base_rates(groups_of(**counts), protocol=PROTOCOL).iloc[0]
    assert row["ratio"] == pytest.approx(0.5)
    assert row["lowest_group"] == names[0]


def test_model_without_error_has_the_ratio_of_event_rates():
    assert say.ratio_with_equal_errors(0.2, 0.4, tpr=1, fpr=0) == pytest.approx(0.5)


def test_blind_model_has_ratio_one_and_one_that_selects_nobody_has_none():
    assert say.ratio_with_equal_errors(0.2, 0.4, tpr=0.3, fpr=0.3) == pytest.approx(1.0)
    assert np.isnan(say.ratio_with_equal_errors(0.2, 0.4, tpr=0, fpr=0))


@given(
    st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)).map(sorted),
    st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
)
def test_equal_errors_keep_the_ratio_between_that_of_event_rates_and_one(rates, errors):
    (low, high), (fpr, tpr) = rates, errors
    ratio = say.ratio_with_equal_errors(low, high, tpr=tpr, fpr=fpr)
    assert np.isnan(ratio) or low / high - 1e-9 <= ratio <= 1 + 1e-9


def test_widest_intervals_come_first_and_empty_groups_on_top():
    table = say.find_small_groups(groups_of(A=(4000, 800), B=(0, 0), C=(40, 8)))
    assert list(table["group"]) == ["B", "C", "A"]


def test_cohort_without_sites_says_so(runs):
    assert "names no site" in say.describe_sites(say.add_site_intervals(runs["two_groups"].cohort_sites))


def test_equal_sites_count_in_full():
    sites = pd.DataFrame({"n": [50] * 4, "events": [10] * 4})
    text = say.describe_sites(sites)
    assert "4.0 sites of equal size" in text
    assert "2 sites hold half" in text


def test_cohort_without_missing_values_asks_who_filled_them_in():
    columns = pd.DataFrame({"column": ["a"], "role": ["feature"], "missing": [0], "missing_share": [0.0]})
    assert "No column has a missing value" in say.describe_missing(columns)


def test_awkward_names_are_all_told_apart(runs):
    table = table_html(runs["nine_groups"].cohort_groups, say.GROUP_COLUMNS)
    assert all(say.escape(name) in table for name in AWKWARD)


def test_roles_are_counted_in_the_plural():
    columns = pd.DataFrame({"role": ["feature", "feature", "outcome", "excluded", "excluded"]})
    said = say.describe_columns(columns.assign(column=list("abcde")))
    assert "with a role: 2 features, 1 outcome and 2 excluded." in said
