"""What is said of calibration by group is true of every cohort, and drawn for each."""

import re
from html import unescape

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pandas as pd
import pytest

from auditbook.book.draw import calibration as draw
from auditbook.book.say import calibration as say
from auditbook.book.say.text import table_html
from auditbook.ranking.calibration_reading import (
    NULL,
    bin_simulated,
    compare_cal,
    compare_models,
    count_readings,
    fit_simulated,
    judge_scores,
    pick_curves,
    pick_fits,
    read_together,
)
from auditbook.ranking.scenarios import draw_calibrated
from auditbook.results import rows
from runs_fixture import KINDS

NAN = float("nan")


def well_said(texts):
    return all(texts) and not any(re.search(r"<|\bnan\b|\binf\b", text) for text in texts)


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_table_and_figure_is_there_for_every_cohort(runs, kind):
    run = runs[kind]
    models = compare_models(run)
    said = [say.describe_models(models)]
    draw.draw_model_slopes(models).figure.canvas.draw()
    assert "<table" in table_html(models, say.MODEL_COLUMNS)
    readings = count_readings(run)
    assert "<table" in table_html(readings, say.READING_COLUMNS)
    assert (readings.drop(columns="model").sum(axis=1) == len(run.info["attributes"])).all()
    for model in run.models["model"]:
        both = say.write_cal(compare_cal(run, model))
        said.append(say.describe_cal(both))
        assert "<table" in table_html(both, say.CAL_COLUMNS)
        for attribute in run.info["attributes"]:
            curves = pick_curves(run, model, attribute)
            fits = pick_fits(run, model, attribute)
            said += [say.describe_curves(curves), say.describe_fits(fits)]
            draw.draw_curves(curves, sparse=say.SPARSE)[0].figure.canvas.draw()
            for name in NULL:
                draw.draw_fits(fits, name=name).figure.canvas.draw()
            for columns in (say.BY_RECORDS_COLUMNS, say.BY_SITES_COLUMNS):
                assert "<table" in table_html(fits, columns)
            assert "<table" in table_html(curves, say.BIN_COLUMNS)
    assert well_said(said), said


def test_calibrated_groups_of_unlike_risk_fail_across_but_not_within():
    table = fit_simulated(draw_calibrated(n=100_000, rng=np.random.default_rng(3)))
    assert table["intercept"].abs().max() < 0.04
    assert (table["slope"] - 1).abs().max() < 0.04
    assert table["auc"].diff().abs().max() < 0.03
    assert table["across"].diff().abs().max() > 0.6
    assert "cross-group parity is off by 0.7" in say.describe_simulated(table)


def test_bins_of_simulated_records_hold_them_all():
    records = draw_calibrated(n=1000, rng=np.random.default_rng(1))
    bins = bin_simulated(records)
    assert bins["n"].sum() == 1000
    assert bins["group"].drop_duplicates().tolist() == ["M", "F"]
    assert bins["events"].sum() == records.outcome.sum()
    assert (bins["event_rate_low"] <= bins["event_rate"]).all()


def test_ranks_and_decisions_have_no_curve_and_no_fit(runs):
    for kind, model, attribute in (
        ("three_sites", "deployed", "race"),
        ("decisions", "rule of thumb", "sex"),
    ):
        run = runs[kind]
        assert "no probabilities" in say.describe_curves(pick_curves(run, model, attribute))
        said = say.describe_fits(pick_fits(run, model, attribute))
        assert said.startswith("No group has an intercept or a slope")
        assert compare_models(run).set_index("model").loc[model, "scores"] == "no probabilities"


def bound_by_sites(fits):
    """Give fits of groups in few sites the intervals that they would have in many."""
    ends = {
        f"{name}_site_{end}": fits[f"{name}_{end}"] + shift
        for name in NULL
        for end, shift in (("low", -0.1), ("high", 0.1))
    }
    return fits.assign(**ends, site_reason="")


def test_intervals_by_sites_are_told_only_where_there_are_sites(runs):
    with_sites = say.describe_fits(bound_by_sites(pick_fits(runs["nine_groups"], "xgboost", "age")))
    assert "Slope with whole sites as the units" in with_sites
    without = say.describe_fits(pick_fits(runs["two_groups"], "risk score", "sex"))
    assert "whole sites" not in without


def test_few_sites_give_no_interval_by_sites_and_it_is_said_why(runs):
    fits = pick_fits(runs["three_sites"], "refit", "sex")
    assert fits[["slope_site_low", "intercept_site_low"]].isna().all(axis=None)
    few = "(3 sites, 15 needed)"
    said = unescape(say.describe_fits(fits))
    assert f"No interval with whole sites as the units for F {few} and M {few}." in said


def fit(**columns):
    base = {"attribute": "sex", "group": "F", "n": 500, "events": 100, "intercept": 0.0}
    base |= {"intercept_low": -0.1, "intercept_high": 0.1, "slope": 1.0, "slope_low": 0.9, "slope_high": 1.1}
    base |= dict.fromkeys(
        ("intercept_site_low", "intercept_site_high", "slope_site_low", "slope_site_high"), NAN
    )
    return base | {"reason": "", "site_reason": "", "sites": NAN} | columns


def test_each_direction_of_being_off_has_its_word():
    fits = pd.DataFrame(
        [
            fit(group="steep", slope=0.5, slope_low=0.4, slope_high=0.6),
            fit(group="flat", slope=1.5, slope_low=1.2, slope_high=1.8),
            fit(group="low", intercept=0.5, intercept_low=0.4, intercept_high=0.6),
        ]
    )
    said = say.describe_fits(fits)
    assert "scores are too extreme in steep and scores are too timid in flat" in said
    assert "scores are too low in low" in said
    assert "every interval holds 0" in say.describe_fits(pd.DataFrame([fit()]))
    gone = fit(group="one", slope=NAN, slope_low=NAN, slope_high=NAN)
    assert "No slope for one" in say.describe_fits(pd.DataFrame([fit(), gone]))


def model_row(**columns):
    base = {"model": "m", "kind": "probability", "n": 900, "n_train": 700, "by_sites": False}
    base |= {"intercept": 0.0, "intercept_lower": -0.1, "intercept_upper": 0.1}
    return base | {"slope": 0.5, "slope_lower": 0.4, "slope_upper": 0.6} | columns


def judged(**columns):
    table = pd.DataFrame([model_row(**columns)])
    return table.assign(scores=[judge_scores(row) for row in rows(table)])


def test_overconfident_models_are_named_with_what_a_score_of_90_percent_stands_for():
    said = say.describe_models(judged())
    assert said.startswith("Overconfident: m, 1 of 1 model")
    assert "trained on 700 records" in said
    assert "a score of 90% stands for 75%." in said
    assert "trained on" not in say.describe_models(judged(n_train=0))
    calm = say.describe_models(judged(slope=0.95, slope_upper=1.02))
    assert "No model's slope is shown to lie below 1 (95% intervals by records)" in calm


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({"slope": 1.5, "slope_lower": 1.2, "slope_upper": 1.8}, "too timid"),
        ({"slope": 1.0, "slope_upper": 1.1, "intercept_upper": -0.05}, "too high"),
        ({"slope": 1.0, "slope_upper": 1.1, "intercept_lower": 0.05}, "too low"),
        ({"slope": 1.0, "slope_upper": 1.1}, "not shown to be off"),
        ({"slope": NAN}, "without a slope"),
        ({"kind": "rank"}, "no probabilities"),
    ],
)
def test_what_scores_are_has_one_word(columns, word):
    assert judged(**columns)["scores"].iloc[0] == word


@pytest.mark.parametrize(
    ("verdict", "off", "known", "reading"),
    [
        ("fail", 2, 3, "agree"),
        ("pass", 0, 3, "agree"),
        ("fail", 0, 3, "CAL alone fails"),
        ("pass", 1, 3, "fits alone are off"),
        ("inconclusive", 1, 3, "CAL cannot say"),
        ("fail", 0, 0, "no fits"),
    ],
)
def test_cal_and_fits_are_read_together(verdict, off, known, reading):
    assert read_together(verdict, off, known) == reading


def test_a_disagreement_names_the_bin_and_its_size():
    row = {"attribute": "race", "estimate": 0.3, "verdict": "fail", "reason": "", "worst_group": "<A>"}
    row |= {
        "worst_low": 0.8,
        "worst_high": 0.9,
        "worst_n": 7,
        "off": 0,
        "fits": 3,
        "reading": "CAL alone fails",
    }
    said = say.describe_cal(pd.DataFrame([row]))
    assert "CAL fails at 0.300 on one bin, &#60;A&#62;, 0.8\N{EN DASH}0.9, with 7 records" in said
    assert "fewer than 30 records for race" in said
    row |= {"verdict": "pass", "estimate": 0.03, "off": 2, "reading": "fits alone are off"}
    assert "CAL passes at 0.030, yet 2 of 3 groups" in say.describe_cal(pd.DataFrame([row]))
    assert "not among" in say.describe_cal(pd.DataFrame())


def test_sparse_bins_are_hollow_and_every_group_has_its_panel(runs):
    curves = pick_curves(runs["nine_groups"], "xgboost", "age")
    drawn = draw.draw_curves(curves.assign(n=np.where(curves["bin"] == 1, 5, curves["n"])), sparse=30)
    assert len(drawn) == curves["group"].nunique()
    assert "white" in [line.get_markerfacecolor() for line in drawn[0].lines]
    assert all("(n = " in ax.get_title() for ax in drawn)


def test_two_marks_a_group_where_sites_are_known(runs):
    fits = bound_by_sites(pick_fits(runs["nine_groups"], "xgboost", "age"))
    key = draw.draw_fits(fits, name="slope").get_legend().get_texts()
    assert [text.get_text() for text in key] == ["95% interval", "by whole sites"]
