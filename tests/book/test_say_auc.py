"""What is said of areas and of the metrics made of them is true of every cohort."""

import numpy as np
import pandas as pd
import pytest

from auditbook.book.say import auc_fairness, auc_matrix
from auditbook.book.say.text import table_html
from auditbook.ranking.area_metrics import AUC_METRICS
from auditbook.ranking.chance import spread_by_chance
from auditbook.ranking.scenarios import tabulate_scenarios
from auditbook.ranking.tables import tabulate_areas, weigh_entries
from runs_fixture import KINDS


def cells(run):
    return run.auc_matrix[["model", "attribute"]].drop_duplicates().itertuples(index=False)


def well_said(texts):
    return all(texts) and not any("<" in text or "nan" in text or "inf " in text for text in texts)


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_on_the_matrix_is_said_of_every_cohort(runs, kind):
    run = runs[kind]
    other = auc_matrix.pick_other(run.auc_differences)
    said = [auc_matrix.describe_differences(run.auc_differences, other=other)]
    overall = auc_matrix.list_model_differences(run.auc_differences)
    assert "<table" in table_html(overall, auc_matrix.DIFFERENCE_COLUMNS)
    for model, attribute in cells(run):
        matrix = auc_matrix.select_matrix(run.auc_matrix, model=model, attribute=attribute)
        chosen = auc_matrix.choose_entries(matrix)
        said += [auc_matrix.describe_matrix(matrix), auc_matrix.describe_choice(matrix, chosen)]
        said += [auc_matrix.describe_reasons(matrix), auc_matrix.describe_intervals(matrix)]
        assert len(chosen) <= max(auc_matrix.MOST_ENTRIES, len(set(matrix["event_group"])) + 2)
        assert "<table" in table_html(chosen, auc_matrix.ENTRY_COLUMNS)
        assert "<table" in table_html(auc_matrix.list_reasons(matrix), auc_matrix.REASON_COLUMNS)
        groups = auc_matrix.list_group_differences(run.auc_differences, model=other, attribute=attribute)
        assert "<table" in table_html(groups, auc_matrix.GROUP_DIFFERENCE_COLUMNS)
    assert well_said(said)


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_on_the_metrics_is_said_of_every_cohort(runs, kind):
    run = runs[kind]
    said = []
    for model, attribute in cells(run):
        metrics = auc_fairness.list_metrics(run.auc_fairness, model=model, attribute=attribute)
        said += [auc_fairness.describe_metrics(metrics), auc_fairness.describe_parity(run, model=model)]
        assert (metrics["advice"] != "").all()
        assert "<table" in table_html(metrics, auc_fairness.METRIC_COLUMNS)
        verdicts = auc_fairness.list_verdicts(run, model=model)
        said.append(auc_fairness.describe_verdicts(verdicts))
        assert verdicts["attribute"].tolist() == list(dict.fromkeys(run.auc_matrix["attribute"]))
        assert "<table" in table_html(verdicts, auc_fairness.VERDICT_COLUMNS)
        assert "<table" in table_html(verdicts, auc_fairness.TIER_COLUMNS)
    assert well_said(said)
    table = auc_fairness.list_models(run)
    assert table["model"].tolist() == run.models["model"].tolist()
    assert "<table" in table_html(table, auc_fairness.model_columns(run))


def test_four_records_by_hand_have_the_matrix_of_the_chapter():
    matrix = tabulate_areas([1, 0, 1, 0], [0.9, 0.6, 0.3, 0.3], list("AABB"))
    assert matrix["auc"].tolist() == [1, 1, 0, 0.5]
    assert weigh_entries(matrix) == 0.625
    assert "events of B against non-events of A" in auc_matrix.describe_matrix(matrix)


def test_a_group_without_events_leaves_its_row_undefined_with_a_reason():
    matrix = tabulate_areas([1, 0, 0], [3, 2, 1], list("AAB"))
    assert matrix["auc"].isna().tolist() == [False, False, True, True]
    assert "B" in matrix["reason"].iloc[2]
    assert "2 of 4 areas are undefined" in auc_matrix.describe_reasons(matrix)


def test_a_matrix_without_any_pair_says_so():
    matrix = tabulate_areas([0, 0], [1, 2], list("AB"))
    assert auc_matrix.describe_matrix(matrix).startswith("No area can be computed")
    assert np.isnan(weigh_entries(matrix))


def test_a_large_matrix_is_cut_to_its_extremes_and_its_diagonal():
    rng = np.random.default_rng(1)
    group = np.repeat(list("ABCDEF"), 40)
    matrix = tabulate_areas(np.tile([0, 1], 120), rng.normal(size=240), group)
    chosen = auc_matrix.choose_entries(matrix)
    assert len(chosen) == auc_matrix.MOST_ENTRIES
    assert (chosen["event_group"] == chosen["nonevent_group"]).sum() == 6
    assert {matrix["auc"].min(), matrix["auc"].max()} <= set(chosen["auc"])


def test_published_values_lie_within_rounding_and_are_up_to_two_hundredths_off():
    table = auc_fairness.title_scenarios(tabulate_scenarios(n=50_000, rng=np.random.default_rng(3)))
    assert table["possible"].all()
    assert (table["published"] - table["exact"]).abs().max() < 0.025
    told = auc_fairness.describe_scenarios(table)
    assert "30 lie within" in told
    assert "by up to 0.02" in told


def test_equal_groups_have_a_gap_by_chance_that_grows_with_their_number_and_falls_with_their_size():
    rng = np.random.default_rng(5)
    table = spread_by_chance([2, 6], [60, 600], area=0.8, repeats=200, rng=rng)
    assert table["value"].iloc[2] > table["value"].iloc[0] > table["value"].iloc[1]
    assert (table["smallest"] < 0.8).all()
    assert "true gap is zero" in auc_fairness.describe_spread(table, area=0.8, threshold=0.05)


def test_every_metric_is_listed_with_its_advice():
    advice = auc_fairness.list_advice()
    assert advice["title"].tolist() == [metric.title for metric in AUC_METRICS.values()]
    assert advice[["advice", "why"]].ne("").all(axis=None)


def test_of_many_groups_only_the_extreme_single_values_are_listed(runs):
    run = runs["nine_groups"]
    table = run.auc_fairness
    listed = auc_fairness.list_metrics(
        table, model=table["model"].iloc[0], attribute=table["attribute"].iloc[0]
    )
    assert listed["metric"].value_counts()[["xauc1", "xauc0"]].tolist() == [2, 2]
    assert len(listed) == 13


def test_the_run_that_fails_parity_is_said_to_fail():
    verdicts = pd.DataFrame(
        {"attribute": ["sex"], "verdict": ["fail"], "threshold": [0.05], "vfr": [0.2], "reason": [""]}
    )
    told = auc_fairness.describe_verdicts(verdicts)
    assert "It fails for sex." in told
    assert "The largest flip rate is 20.0%" in told
