"""What is said of overall values is true of every cohort, and drawn for each."""

import re

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pandas as pd
import pytest

from auditbook.book.draw import collapsibility as draw
from auditbook.book.say import collapsibility as say
from auditbook.book.say.text import table_html
from auditbook.ranking.collapsibility import (
    PERFORMANCE,
    Sample,
    pool_samples,
    tabulate_counterexamples,
    tabulate_weights,
)
from auditbook.ranking.overall_values import (
    EXACT,
    compare_attributes,
    compare_models,
    compare_overall,
    list_areas,
)
from auditbook.results import read_run
from pooled_metrics import tabulate_collapsibility
from runs_fixture import KINDS, RECIPES, draw_sample, make_run

NAN = float("nan")


def well_said(texts):
    return all(texts) and not any(re.search(r"<|\bnan\b|\binf\b", text) for text in texts)


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_table_and_figure_is_there_for_every_cohort(runs, kind):
    run = runs[kind]
    for model in run.models["model"]:
        table = compare_attributes(run, model)
        said = [say.describe_overall(table), say.describe_gaps(run)]
        draw.draw_differences(table).figure.canvas.draw()
        assert "<table" in table_html(table, say.OVERALL_COLUMNS)
        for attribute in run.info["attributes"]:
            areas, models = list_areas(run, model, attribute), compare_models(run, attribute)
            said += [say.describe_areas(areas), say.describe_models(models, run.info, attribute)]
            draw.draw_areas(areas).figure.canvas.draw()
            assert "<table" in table_html(areas, say.AREA_COLUMNS)
            assert "<table" in table_html(models, say.MODEL_COLUMNS)
        assert well_said(said), said


@pytest.mark.parametrize("kind", KINDS)
def test_overall_values_of_collapsible_metrics_are_the_weighted_means(runs, kind):
    for model in runs[kind].models["model"]:
        table = compare_attributes(runs[kind], model)
        found = table[table["collapsible"]]
        assert (found["difference"].abs().dropna() < EXACT).all()
        assert not found["outside"].any()


@pytest.mark.parametrize(("kind", "model"), [("two_groups", "risk score"), ("three_sites", "refit")])
def test_values_from_result_files_are_those_of_the_records(runs, kind, model):
    recipe, sample = RECIPES[kind], draw_sample(RECIPES[kind], np.random.default_rng(42))
    attribute = next(iter(recipe.attributes))
    parts = [
        Sample(sample.outcome[here], sample.scores[model][here])
        for here in (sample.codes[attribute] == place for place in range(len(recipe.attributes[attribute])))
    ]
    oracle = tabulate_collapsibility(parts).set_index("metric")
    found = compare_overall(runs[kind], model, attribute).set_index("metric")
    assert set(oracle.index) - set(found.index) == set(say.UNKNOWN)
    for column in ("lowest", "highest", "mean", "overall"):
        expected = oracle.loc[found.index, column]
        assert found[column].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-6), column


def test_two_wards_by_hand():
    outcome = np.repeat([1, 0, 1, 0], [1, 4, 4, 1])
    wards = [Sample(outcome, np.repeat(scores, 5)) for scores in ([0.1, 0.2], [0.7, 0.8])]
    auc = PERFORMANCE["auc"].value
    assert [auc(ward) for ward in wards] == pytest.approx([0.8, 0.8])
    assert auc(pool_samples(wards)) == pytest.approx(0.65)


def test_weights_of_ten_metrics_reproduce_the_overall_value():
    a = Sample(np.repeat([1, 0, 1, 0], [1, 5, 3, 1]), np.repeat([0.2, 0.7], [6, 4]))
    b = Sample(np.repeat([1, 0, 1, 0], [1, 2, 4, 3]), np.repeat([0.3, 0.6], [3, 7]))
    table = tabulate_weights([a, b])
    assert len(table) == 10
    assert table["mean"].to_numpy() == pytest.approx(table["overall"].to_numpy())
    tpr = table.set_index("title").loc["True positive rate"]
    assert (tpr["weight_a"], tpr["weight_b"], tpr["overall"]) == (4, 5, pytest.approx(7 / 9))


def test_counterexamples_lie_outside_both_groups():
    table = tabulate_counterexamples()
    low, high = table[["one", "other"]].min(axis=1), table[["one", "other"]].max(axis=1)
    assert ((table["overall"] < low) | (table["overall"] > high)).all()
    assert well_said([say.describe_counterexample(name) for name in table["metric"]])
    assert say.describe_intercepts().endswith("one is 2.2 times the other.")


def test_groups_that_all_lie_below_the_whole_are_called_an_illusion():
    areas = pd.DataFrame(
        {
            "role": ["overall", "mean", "group", "group"],
            "name": ["all", "mean", "<A>", "B"],
            "value": [0.9, 0.6, 0.6, 0.6],
        }
    )
    assert "*every* group is served worse than the whole: an illusion" in say.describe_areas(areas)
    above = areas.assign(value=[0.5, 0.6, 0.6, 0.6])
    assert "*no* group" in say.describe_areas(above)
    assert "no area to compare" in say.describe_areas(areas.assign(value=NAN))


def test_value_outside_the_groups_is_named(runs):
    table = compare_attributes(runs["two_groups"], "risk score")
    table.loc[table["metric"] == "auc", ["overall", "difference", "outside"]] = [0.95, 0.2, True]
    said = say.describe_overall(table)
    assert "that of the AUC by sex" in said
    assert "Outside all groups' values: AUC by sex (0.950" in said


def test_records_without_a_group_leave_the_overall_fits_blank(runs, tmp_path):
    run = read_run(make_run(tmp_path, "two_groups"))
    run.__dict__["groups"] = run.groups.assign(n=run.groups["n"] - 1)
    found = compare_overall(run, "risk score", "sex").set_index("metric")
    assert np.isnan(found.loc["calibration_slope", "overall"])
    assert "have no group in some attribute" in say.describe_gaps(run)


def test_marks_of_an_unknown_difference_are_hollow(runs):
    ax = draw.draw_differences(compare_attributes(runs["decisions"], "rule of thumb"))
    assert "none" in [line.get_markerfacecolor() for line in ax.lines]


def test_a_group_alone_is_described():
    assert say.describe_sample(Sample(np.array([0, 1]), np.array([0.5, 0.5]))) == (
        "score 0.5: 1 of 2 with the event"
    )
