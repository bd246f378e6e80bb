"""What is said of foretold and realised flip rates is true of every cohort, and drawn for each."""

import re

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pandas as pd
import pytest

from auditbook.book.draw import flip_truth as draw
from auditbook.book.say import flip_truth as say
from auditbook.book.say.text import table_html
from auditbook.columns import empty_table
from auditbook.results import read_table
from auditbook.run.plan import Request, load_planned, plan_run
from auditbook.scoring.score import score_cohort
from auditbook.verdicts.forecast import check_flips
from auditbook.verdicts.forecast_summary import (
    list_surprises,
    summarise_cohort,
    tabulate_causes,
    tabulate_ways,
)
from auditbook.verdicts.forecast_world import foretell_world
from runs_fixture import KINDS

NAN = float("nan")
WAY = ("records", "records")


def well_said(texts):
    return all(texts) and not any(re.search(r"<|\bnan\b|\binf\b", text) for text in texts)


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_and_table_is_there_for_every_cohort(runs, kind):
    run = runs[kind]
    truth, summary = run.flip_truth, run.flip_truth_summary
    way = say.choose_way(truth)
    ways = say.name_ways(tabulate_ways(summary))
    cells, causes = list_surprises(truth, way), tabulate_causes(truth)
    said = [say.describe_halvings(run), say.describe_ways(ways), say.describe_cells(cells, stable=0.1)]
    said += [say.describe_calibration(summary, way, name) for name in say.PREDICTIONS]
    said += [say.describe_range(truth), say.describe_spread(causes), say.describe_other_half(truth)]
    said += [say.describe_sites(truth), say.describe_pairs(truth, way), say.list_takeaways(run)]
    assert [text for text in said if not well_said([text])] == []
    bins = say.select_bins(summary, way)
    tables = (
        (bins, say.CALIBRATION_COLUMNS),
        (ways, say.WAY_COLUMNS),
        (cells, say.CELL_COLUMNS),
        (say.name_ways(causes), say.CAUSE_COLUMNS),
    )
    for table, columns in tables:
        assert "<table" in table_html(table, columns)


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_drawn_for_every_cohort(runs, kind):
    run = runs[kind]
    way = say.choose_way(run.flip_truth)
    figures = [
        draw.draw_calibration(say.select_bins(run.flip_truth_summary, way)),
        draw.draw_ways(say.name_ways(tabulate_ways(run.flip_truth_summary))),
        draw.draw_cells(list_surprises(run.flip_truth, way), stable=0.1),
    ]
    for ax in figures:
        ax.figure.canvas.draw()


def test_what_cannot_be_said_is_said(runs):
    assert "there is no site column" in say.describe_halvings(runs["two_groups"])
    assert "3 sites are too few to halve (10 needed)" in say.describe_halvings(runs["three_sites"])
    assert "nothing can be said" in say.describe_halvings(runs["inconclusive"])
    assert "and as often by whole sites" in say.describe_halvings(runs["nine_groups"])
    assert "could not be checked" in say.list_takeaways(runs["inconclusive"])
    assert "Of other sites nothing can be said" in say.list_takeaways(runs["two_groups"])


def summary_row(**columns):
    base = {"halving": "records", "drawing": "records", "model": "m", "prediction": "vfr", "bin": 0}
    base |= {"bin_low": 0.0, "bin_high": 0.5, "predictions": 100, "predicted": 0.1, "realised": 0.2}
    base |= {"realised_low": 0.15, "realised_high": 0.25, "realised_mixed": 0.18, "error": 0.1}
    base |= {"error_low": 0.05, "error_high": 0.15, "abs_error": 0.12, "chance_error": 0.02}
    return base | {"wrong_side": 0.1, "brier": 0.2, "brier_constant": 0.16} | columns


def test_too_few_too_many_and_right_are_told_apart():
    few = say.describe_calibration(pd.DataFrame([summary_row()]), WAY)
    assert "too few" in few
    assert "no better than always naming the mean" in few
    many = summary_row(error=-0.1, error_low=-0.15, error_high=-0.05, brier=0.1)
    said = say.describe_calibration(pd.DataFrame([many]), WAY)
    assert "too many" in said
    assert "better than always naming the mean" in said
    unsure = summary_row(error=0.03, error_low=-0.01, error_high=0.07)
    assert "cannot tell the two apart" in say.describe_calibration(pd.DataFrame([unsure]), WAY)
    tiny = summary_row(error=0.004, error_low=0.001, error_high=0.007)
    assert "right on average" in say.describe_calibration(pd.DataFrame([tiny]), WAY)


def test_too_few_by_mirrored_halves_only_is_told_as_such():
    said = say.describe_calibration(pd.DataFrame([summary_row(realised_mixed=0.105)]), WAY)
    assert "too few flips for halves that mirror each other, but not for mixed ones" in said


def stored(**columns):
    base = {"cohort": "a", "halving": "records", "drawing": "records", "cells": 9, "vfr": 0.1}
    base |= {"vfr_site": NAN, "realised": 0.2, "realised_mixed": 0.15, "sure": 0}
    return base | {"sure_realised": NAN, "sure_mixed": NAN} | columns


def test_the_stored_comparison_is_told_cohort_by_cohort():
    apart = stored(halving="sites", drawing="sites", vfr_site=0.18, sure=4, sure_realised=0.3, sure_mixed=0.3)
    said = say.describe_measured(pd.DataFrame([stored(), apart, stored(cohort="b <i>")])).splitlines()
    assert said[0] == (
        "- a, audits of whole other sites: vfr foretold 10.0%, vfr_site 18.0%; realised 15.0% to 20.0%. "
        "Where vfr was at most 1%: 30.0%."
    )
    assert said[1].startswith(
        "- b &#60;i&#62;, audits of other records (there are no sites): vfr foretold 10.0%;"
    )


def test_what_came_of_sure_forecasts_is_told():
    sure = summary_row(bin=1, bin_high=0.01, realised=0.25, realised_mixed=0.13, predictions=7)
    said = say.describe_calibration(pd.DataFrame([summary_row(), sure]), WAY)
    assert "1% or less (7 predictions), 25.0% of the audits ended in the other verdict" in said


def test_the_nearer_flip_rate_is_named():
    rows = [
        summary_row(halving="sites", drawing="sites"),
        summary_row(halving="sites", drawing="sites", prediction="vfr_site", predicted=0.19, abs_error=0.2),
    ]
    ways = tabulate_ways(pd.DataFrame(rows))
    said = say.describe_ways(ways)
    assert "Halved by site, audits of whole sites" in said
    assert "**vfr_site** is nearer on average, and vfr prediction by prediction" in said


def cell(**columns):
    base = {"halving": "records", "drawing": "records", "metric": "DI", "attribute": "sex", "n": 500}
    base |= {"estimate": 0.82, "threshold": 0.8, "halvings": 5, "halves_sd": 0.01, "predicted": 0.02}
    base |= {"predicted_site": NAN, "realised": 0.3, "realised_mixed": 0.2, "error": 0.28}
    return base | columns


def test_cells_that_looked_stable_and_flipped_are_named():
    table = pd.DataFrame([cell(), cell(n=1000), cell(metric="SPD", realised=0.05, error=0.03)])
    cells = list_surprises(table, WAY)
    assert cells["n"].tolist() == [1000, 500]
    assert cells["distance"].tolist() == pytest.approx([2.0, 2.0])
    said = say.describe_cells(cells, stable=0.1)
    assert "2 of 2 cells were foretold to be stable" in said
    assert "1 flipped more often than that: DI for sex; with mixed halves still 1" in said
    assert "mirror" not in said
    assert "mirror each other" in say.describe_cells(cells.assign(realised=0.7), stable=0.1)


def test_sites_that_are_alike_have_a_ratio_of_one():
    apart = cell(halving="sites", realised=0.3, predicted=0.1, halves_sd=0.03)
    said = say.describe_sites(pd.DataFrame([cell(), apart]))
    assert "lie 3.0 times as far apart" in said
    assert "were not halved" in say.describe_sites(pd.DataFrame([cell()]))


def test_the_stored_comparison_is_found_again(shared_dir, root, tmp_path):
    """On the cohort whose scores are given, so that no model has to be trained."""
    name, data = "obermeyer", shared_dir / "cohorts" / "obermeyer_holdout.parquet"
    request = Request(root / "data" / "cohorts" / f"{name}.toml", data=data, run_dir=tmp_path, jobs=1)
    plan = plan_run(request)
    scored = score_cohort(load_planned(plan), protocol=plan.protocol, cache_dir=tmp_path, jobs=1)
    found = check_flips(scored.records, protocol=plan.protocol, seed=plan.protocol.seed)
    again = summarise_cohort(found["flip_truth_summary"])
    kept = read_table(root / "data" / "reference" / "flip_truth_measured.csv")
    kept = kept[kept["cohort"] == name].reset_index(drop=True)
    assert len(kept) == len(again) == 1
    pd.testing.assert_frame_equal(again, kept[again.columns], rtol=1e-8)


def test_every_row_of_the_stored_comparison_can_be_read(root):
    kept = read_table(root / "data" / "reference" / "flip_truth_measured.csv")
    assert set(kept["cohort"]) == {"sparcs-heart-failure", "diabetes-130", "obermeyer", "texas-twin"}
    assert (kept["seed"] == 42).all()
    assert kept["note"].str.contains("numpy").all()
    assert well_said([say.describe_measured(kept)])
    assert "<table" in table_html(say.name_ways(kept), say.MEASURED_COLUMNS)


def test_worlds_show_what_is_foretold_and_what_comes():
    rng = np.random.default_rng(1)
    near = [[400, 100, 100, 400], [340, 100, 160, 400]]
    table = say.tabulate_worlds(
        {
            "small half": foretell_world(near, "EOPP", half=1000, size=1000, rng=rng),
            "large half": foretell_world(near, "EOPP", half=100_000, size=1000, rng=rng),
        }
    )
    small, large = table["realised"] - table["predicted"]
    assert small > 0.05
    assert abs(large) < 0.03
    assert "<table" in table_html(table, say.WORLD_COLUMNS)


def test_a_run_without_halvings_lists_no_causes_under_their_titles():
    causes = tabulate_causes(empty_table("flip_truth"))
    assert "nothing to list" in table_html(say.select_causes(causes, WAY), say.CAUSE_COLUMNS)
