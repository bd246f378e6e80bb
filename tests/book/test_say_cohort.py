"""What is said of a cohort is true of every cohort."""

import numpy as np
import pandas as pd
import pytest

from auditbook.book.say import cohort as say
from auditbook.book.say.text import table_html
from auditbook.evidence.intervals import rate_events
from auditbook.settings import Protocol
from auditbook.verdicts.base_rates import compare_base_rates
from runs_fixture import AWKWARD, KINDS

PROTOCOL = Protocol()


def groups_of(**counts):
    """Make rows of cohort_groups.csv from name=(n, events)."""
    rows = [
        {"attribute": "a", "group": name, "n": n, "events": events} for name, (n, events) in counts.items()
    ]
    table = pd.DataFrame(rows)
    table = table.assign(share=table["n"] / table["n"].sum(), n_audit=table["n"])
    return rate_events(table)


def all_sentences(run):
    ratios = compare_base_rates(run.cohort_groups, protocol=run.protocol)
    sites = rate_events(run.cohort_sites)
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
    ratios = compare_base_rates(run.cohort_groups, protocol=run.protocol)
    shown = [
        (say.tabulate_flow(run.info), say.FLOW_COLUMNS),
        (run.cohort_groups, say.GROUP_COLUMNS),
        (say.find_small_groups(run.cohort_groups), say.SMALL_COLUMNS),
        (ratios, say.RATIO_COLUMNS),
        (rate_events(run.cohort_sites), say.SITE_COLUMNS),
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


def test_unsupported_group_is_left_out_of_the_ratio_and_named():
    ratios = compare_base_rates(groups_of(A=(100, 20), B=(200, 80), C=(12, 1)), protocol=PROTOCOL)
    assert ratios["ratio"].iloc[0] == pytest.approx(0.5)
    assert "Left out of the ratio for lack of support (a: C)" in say.describe_base_rates(ratios)


def test_one_supported_group_gives_no_ratio():
    ratios = compare_base_rates(groups_of(A=(100, 20), B=(5, 0)), protocol=PROTOCOL)
    assert np.isnan(ratios["ratio"].iloc[0])
    assert "No attribute has two groups" in say.describe_base_rates(ratios)


def test_widest_intervals_come_first_and_empty_groups_on_top():
    table = say.find_small_groups(groups_of(A=(4000, 800), B=(0, 0), C=(40, 8)))
    assert list(table["group"]) == ["B", "C", "A"]


def test_cohort_without_sites_says_so(runs):
    assert "names no site" in say.describe_sites(rate_events(runs["two_groups"].cohort_sites))


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
    said = say.describe_columns(columns.assign(column=list("abcde"), n_columns=1))
    assert "with a role: 2 features, 1 outcome and 2 excluded." in said
    assert "one line" not in said


def test_a_long_series_of_columns_is_one_line_and_counted_whole():
    columns = pd.DataFrame(
        {
            "column": ["y", "emb_0 … emb_511", "age"],
            "n_columns": [1, 512, 1],
            "role": ["outcome", "feature", "feature"],
            "missing": [0, 3, 1],
            "missing_share": [0.0, 0.3, 0.1],
        }
    )
    said = say.describe_columns(columns)
    assert "The data have 514 columns with a role: 1 outcome and 513 features." in said
    assert "512 columns, emb\\_0 … emb\\_511, are told in one line." in said.replace("&#95;", "\\_")
    holed = say.describe_missing(columns)
    assert holed.startswith("513 of 514 columns have missing values, most of all ")
