"""Figures of areas and of the metrics made of them are drawn for every cohort, with n and hollow marks."""

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pytest

from auditbook.book.draw import auc_fairness, auc_matrix
from auditbook.book.say import auc_fairness as say_metrics
from auditbook.book.say import auc_matrix as say
from auditbook.ranking.scenarios import (
    SCENARIOS,
    tabulate_densities,
    tabulate_scenario_matrix,
    tabulate_scenarios,
)
from auditbook.ranking.tables import tabulate_areas
from runs_fixture import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_drawn_on_every_cohort(runs, kind):
    run = runs[kind]
    model = run.models["model"].iloc[0]
    for attribute in dict.fromkeys(run.auc_matrix["attribute"]):
        matrix = say.select_matrix(run.auc_matrix, model=model, attribute=attribute)
        auc_matrix.draw_matrix(matrix).figure.canvas.draw()
        auc_matrix.draw_intervals(say.choose_entries(matrix)).figure.canvas.draw()
        metrics = say_metrics.list_metrics(run.auc_fairness, model=model, attribute=attribute)
        auc_fairness.draw_metrics(metrics, n=100).figure.canvas.draw()
    overall = say.list_model_differences(run.auc_differences)
    auc_matrix.draw_differences(overall, n=100, nothing="One model.").figure.canvas.draw()
    verdicts = say_metrics.list_verdicts(run, model=model)
    auc_fairness.draw_parities(verdicts, threshold=0.05).figure.canvas.draw()


def written(ax):
    return [text.get_text() for text in ax.texts]


def test_the_matrix_shows_every_area_and_a_dash_where_there_is_none():
    matrix = tabulate_areas([1, 0, 0], [3, 2, 1], list("AAB"))
    ax = auc_matrix.draw_matrix(matrix)
    assert written(ax) == ["1.00", "1.00", "\u2013", "\u2013"]
    assert [patch.get_fill() and patch.get_facecolor()[3] > 0 for patch in ax.patches] == [1, 1, 0, 0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["A (n = 1)", "B (n = 0)"]


def test_an_area_below_one_half_is_orange_and_one_above_is_blue():
    matrix = tabulate_areas([1, 0, 1, 0], [0.9, 0.6, 0.3, 0.3], list("AABB"))
    above, _, below, _ = (patch.get_facecolor() for patch in auc_matrix.draw_matrix(matrix).patches)
    assert above[2] > above[0]
    assert below[0] > below[2]


def test_an_entry_that_rests_on_too_little_has_a_star():
    matrix = tabulate_areas([1, 0, 1, 0], [0.9, 0.6, 0.3, 0.3], list("AABB"))
    assert written(auc_matrix.draw_matrix(matrix.assign(reason="A: 1 events, 10 needed")))[0] == "1.00*"


def test_scenarios_have_a_panel_of_densities_and_one_of_areas_each():
    matrices = {name: tabulate_scenario_matrix(one) for name, one in SCENARIOS.items()}
    found = auc_matrix.draw_scenarios(tabulate_densities(points=21), matrices)
    found[0].figure.canvas.draw()
    assert [len(ax.lines) for ax in found[::2]] == [4, 4, 4]
    assert written(found[3]) == ["0.86", "0.44", "0.98", "0.80"]


def test_scenario_values_share_one_set_of_labels():
    table = say_metrics.title_scenarios(tabulate_scenarios(n=9_000, rng=np.random.default_rng(1)))
    found = auc_fairness.draw_scenarios(table)
    found[0].figure.canvas.draw()
    assert len(found) == 3
    assert found[0].get_yticklabels()[0].get_text() == "overall"
    assert found[1].get_yticklabels()[0].get_text() == ""


def test_one_model_has_a_sentence_in_place_of_differences(runs):
    overall = say.list_model_differences(runs["two_groups"].auc_differences)
    ax = auc_matrix.draw_differences(overall, n=10, nothing="One model only.")
    assert written(ax) == ["One model only."]


def test_the_advice_is_in_the_key_of_the_metrics(runs):
    table = runs["two_groups"].auc_fairness
    metrics = say_metrics.list_metrics(table, model="risk score", attribute="sex")
    key = auc_fairness.draw_metrics(metrics, n=3_000).get_legend()
    assert [text.get_text() for text in key.get_texts()] == list(auc_fairness.ADVICE)
