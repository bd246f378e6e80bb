"""Figures of scores are drawn for probabilities, ranks and bare decisions."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import pytest

from auditbook.book.draw import scores as draw
from auditbook.book.say import scores as say
from auditbook.evidence.intervals import rate_events
from auditbook.evidence.score_bins import compare_levels, share_bins, sweep_thresholds
from auditbook.results import rows
from runs_fixture import KINDS


def rates_of(run, model):
    return rate_events(say.select_bins(run.score_bins, model))


def texts_of(ax):
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_can_be_drawn_for_every_model(runs, kind):
    run = runs[kind]
    for row in rows(run.models):
        bins = say.select_bins(run.score_bins, row.model)
        sweep = sweep_thresholds(bins)
        drawn = [
            draw.draw_aurocs(run.models),
            draw.draw_score_shares(share_bins(bins)),
            draw.draw_calibration(rate_events(bins), kind=row.kind),
            draw.draw_sweep(sweep, threshold=row.threshold),
        ]
        for attribute in run.info["attributes"]:
            drawn.append(draw.draw_levels(compare_levels(run.groups, row.model, attribute, kind=row.kind)))
        for ax in drawn:
            ax.figure.canvas.draw()


def test_model_without_auroc_is_a_hollow_mark(runs):
    ax = draw.draw_aurocs(runs["decisions"].models)
    assert [line.get_markerfacecolor() for line in ax.lines].count("none") == 1


def test_probabilities_have_a_diagonal_and_ranks_have_none(runs):
    labels = [
        line.get_label()
        for line in draw.draw_calibration(rates_of(runs["three_sites"], "refit"), kind="probability").lines
    ]
    assert "score = event rate" in labels
    labels = [
        line.get_label()
        for line in draw.draw_calibration(rates_of(runs["three_sites"], "deployed"), kind="rank").lines
    ]
    assert "score = event rate" not in labels


def test_decisions_have_no_calibration_figure(runs):
    ax = draw.draw_calibration(rates_of(runs["decisions"], "rule of thumb"), kind="decision")
    assert "Decisions only" in texts_of(ax)[0]


def test_number_of_records_stands_above_every_filled_bin(runs):
    rates = rates_of(runs["two_groups"], "risk score")
    ax = draw.draw_calibration(rates, kind="probability")
    assert texts_of(ax) == [f"{n:,}" for n in rates.loc[rates["n"] > 0, "n"]]


def test_key_of_the_distributions_counts_both_outcomes(runs):
    run = runs["two_groups"]
    shares = share_bins(say.select_bins(run.score_bins, "risk score"))
    key = [text.get_text() for text in draw.draw_score_shares(shares).get_legend().get_texts()]
    assert key == [f"non-events (n = {shares['others'].sum():,})", f"events (n = {shares['events'].sum():,})"]


def test_levels_without_probabilities_say_so(runs):
    run = runs["inconclusive"]
    groups = run.groups.assign(mean_score=5.5)
    ax = draw.draw_levels(compare_levels(groups, "points", "race", kind="rank"))
    assert "not probabilities" in ax.get_xlabel()


def test_rate_that_cannot_be_computed_at_any_threshold_is_hollow(runs):
    sweep = sweep_thresholds(say.select_bins(runs["nan"].score_bins, "rule of thumb"))
    ax = draw.draw_sweep(sweep, threshold=0.5)
    assert "none" in [line.get_markerfacecolor() for line in ax.lines]


def test_figure_draws_on_the_axes_it_is_given(runs):
    _, ax = plt.subplots()
    assert draw.draw_aurocs(runs["two_groups"].models, ax=ax) is ax
