"""Figures of flip rates are drawn for every cohort, with n, intervals and hollow marks."""

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import pandas as pd
import pytest

from auditbook.book.draw import verdicts as draw
from auditbook.book.say import audit, verdicts
from runs_fixture import KINDS


def cells_frame(**columns):
    base = {"metric": "DI", "attribute": "sex", "smallest_n": 450, "site_count": np.nan}
    for name in ("vfr", "vfr_own_size", "vfr_site"):
        base |= {name: 0.2, f"{name}_low": 0.1, f"{name}_high": 0.3}
    return pd.DataFrame([base]).assign(**columns)


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_drawn_on_every_cohort(runs, kind):
    run = runs[kind]
    cells = verdicts.rank_cells(run.verdicts, model=run.models["model"].iloc[0])
    draw.draw_flip_rates(cells, stable=0.10).figure.canvas.draw()
    draw.draw_board(audit.count_standings(audit.build_board(run))).figure.canvas.draw()


def test_n_and_three_flip_rates_are_drawn_where_there_are_sites():
    ax = draw.draw_flip_rates(cells_frame(site_count=40), stable=0.10)
    assert ax.get_yticklabels()[0].get_text() == "DI, sex (n = 450)"
    assert len(ax.get_legend().get_texts()) == 3


def test_flip_rate_over_sites_is_not_drawn_without_sites():
    ax = draw.draw_flip_rates(cells_frame(), stable=0.10)
    assert len(ax.get_legend().get_texts()) == 2


def test_missing_flip_rate_is_a_hollow_mark():
    ax = draw.draw_flip_rates(cells_frame(vfr=np.nan, vfr_own_size=np.nan), stable=0.10)
    assert sum(line.get_markerfacecolor() == "none" for line in ax.lines) == 2


def test_no_cell_is_said():
    ax = draw.draw_flip_rates(cells_frame().iloc[:0], stable=0.10)
    assert ax.texts[0].get_text() == "There is no cell."


def test_resamples_are_counted_in_the_legend_without_the_undefined_ones():
    draws = pd.DataFrame({"label": ["N = 10"] * 3, "value": [0.1, 0.2, np.nan]})
    ax = draw.draw_resamples(draws, threshold=0.1, estimate=0.15)
    assert "N = 10 (2 resamples)" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_resamples_that_are_all_undefined_or_all_equal_are_drawn():
    gone = pd.DataFrame({"label": ["N = 10"] * 2, "value": [np.nan, np.nan]})
    assert draw.draw_resamples(gone, threshold=0.1, estimate=np.nan).texts
    same = pd.DataFrame({"label": ["N = 10"] * 2, "value": [0.1, 0.1]})
    draw.draw_resamples(same, threshold=0.1, estimate=0.1).figure.canvas.draw()


def test_sweep_draws_a_band_and_the_line_to_compare_with():
    table = pd.DataFrame({"name": "EOPP", "x": [10, 100], "value": [0.2, 0.1], "low": 0.05, "high": 0.3})
    ax = draw.draw_sweep(table, guide=0.10, labels=("records", "flip rate"), log=True)
    assert len(ax.collections) == 1
    assert ax.get_xscale() == "log"
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--"]


def test_board_writes_the_number_of_cells_and_has_a_look_for_every_standing():
    assert set(draw.BOARD_LOOKS) == set(audit.STANDINGS)
    board = pd.DataFrame({"model": "m", "standing": list(audit.STANDINGS), "cells": [1, 0, 2, 3, 4, 5]})
    texts = [text.get_text() for text in draw.draw_board(board).texts]
    assert texts == ["1", "2", "3", "4", "5"]
