"""Figures of audit size, sites and tiers are drawn for every cohort, with n, intervals and hollow marks."""

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pandas as pd
import pytest

from auditbook.book.draw import audit_size, sites, tiers
from auditbook.book.say import audit_size as say_size
from auditbook.book.say import sites as say_sites
from auditbook.book.say import tiers as say_tiers
from auditbook.verdicts.metrics import METRICS
from auditbook.verdicts.tiers import TIERS
from runs_fixture import KINDS

NAN = float("nan")


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_drawn_on_every_cohort(runs, kind):
    run = runs[kind]
    model = run.models["model"].iloc[0]
    half = run.audit_size["n"].max() / 2
    for attribute in dict.fromkeys(run.verdicts["attribute"]):
        sweep = say_size.select_sweep(run.audit_size, run.protocol, model=model, attribute=attribute)
        audit_size.draw_spread(sweep, bound=0.05, half=half).figure.canvas.draw()
        audit_size.draw_pass_shares(sweep, half=half).figure.canvas.draw()
    folds = run.site_verdicts[run.site_verdicts["model"] == model]
    sites.draw_fold_verdicts(folds).figure.canvas.draw()
    agreement = say_sites.list_agreement(run.site_agreement, model=model)
    sites.draw_agreement(agreement, bound=0.4).figure.canvas.draw()
    board = say_tiers.build_board(run)
    tiers.draw_board(board).figure.canvas.draw()
    tiers.draw_tiers(say_tiers.count_tiers(board)).figure.canvas.draw()


def sweep_frame(**columns):
    base = {"metric": "DI", "n": [1_000, 2_500, 4_000], "cv": [0.2, NAN, 0.0], "cv_low": 0.1, "cv_high": 0.3}
    base |= {"pass_share": [0.5, NAN, 1.0], "pass_low": 0.3, "pass_high": 1.0}
    return pd.DataFrame(base | columns)


def test_a_missing_spread_is_hollow_and_the_whole_is_left_out():
    ax = audit_size.draw_spread(sweep_frame(), bound=0.05, half=2_000)
    assert sum(line.get_markerfacecolor() == "none" for line in ax.lines) == 1
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1,000", "2,500"]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert len(ax.patches) == 1  # the shaded part


def test_pass_shares_have_intervals_and_every_size():
    ax = audit_size.draw_pass_shares(sweep_frame())
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1,000", "2,500", "4,000"]
    assert len(ax.containers) == 1
    assert not ax.patches


def test_nothing_to_draw_is_said():
    blank = sweep_frame(cv=NAN, pass_share=NAN)
    assert audit_size.draw_spread(blank, bound=0.05).texts
    assert audit_size.draw_pass_shares(blank).texts
    empty = pd.DataFrame({"metric": [], "attribute": [], "n": [], "fold": [], "verdict": []})
    assert sites.draw_fold_verdicts(empty).texts


def test_a_metric_looks_the_same_whichever_others_are_drawn():
    alone, all_of_them = audit_size.mark_metrics(["PP"]), audit_size.mark_metrics(METRICS)
    assert alone["PP"] == all_of_them["PP"]
    assert len(set(all_of_them.values())) == len(METRICS)


def test_missing_ratings_are_hollow_and_the_axis_names_the_size_of_the_folds():
    rows = {"metric": "DI", "attribute": "sex", "fold": [1, 2, 3], "n": [700, 710, 90], "sites": 1}
    table = pd.DataFrame(rows | {"verdict": ["pass", "fail", "inconclusive"]})
    ax = sites.draw_fold_verdicts(table)
    assert ax.get_xlabel() == "fold (n = 90 to 710 records)"
    assert [line.get_markerfacecolor() == "none" for line in ax.lines].count(True) == 1


def test_an_undefined_kappa_is_hollow_and_ratings_are_counted():
    rows = {"metric": ["DI"], "ratings": 80, "kappa": NAN, "kappa_low": NAN, "kappa_high": NAN}
    ax = sites.draw_agreement(pd.DataFrame(rows | {"gwet_ac1": 1.0, "raw_agreement": 1.0}), bound=0.4)
    assert ax.get_yticklabels()[0].get_text() == "DI (80 ratings)"
    assert sum(line.get_markerfacecolor() == "none" for line in ax.lines) == 1


def board_frame():
    rows = {"model": ["a", "b"], "metric": "DI", "attribute": "sex", "smallest_n": 450, "vfr": [0.3, NAN]}
    return pd.DataFrame(rows | {"verdict": ["fail", "inconclusive"], "violations": [2, NAN], "place": 0})


def test_a_tile_has_letter_flip_rate_and_a_dot_for_each_axis():
    ax = tiers.draw_board(board_frame())
    assert [text.get_text() for text in ax.texts] == ["F 30%", "? "]
    assert [len(line.get_xdata()) for line in ax.lines] == [2, 0]
    assert ax.get_yticklabels()[0].get_text() == "DI, sex (n = 450)"


def test_a_grid_of_twelve_models_is_wide_enough_for_its_tiles():
    frames = [board_frame().assign(model=[f"model {i}", f"other {i}"]) for i in range(6)]
    ax = tiers.draw_board(pd.concat(frames))
    ax.figure.canvas.draw()
    assert len(ax.get_xticklabels()) == 12
    assert ax.figure.get_size_inches()[0] > 9


def test_every_tier_has_a_look():
    assert set(tiers.TIER_LOOKS) == {*TIERS, say_tiers.NO_TIER}
    tally = pd.DataFrame({"model": "m", "tier": list(tiers.TIER_LOOKS), "cells": [1, 0, 2, 3, 4]})
    assert [text.get_text() for text in tiers.draw_tiers(tally).texts] == ["1", "2", "3", "4"]
    assert np.isclose(tiers.draw_tiers(tally).get_xlim()[1], 10, atol=1)
