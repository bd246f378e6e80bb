"""Figures of rates and verdicts are drawn for every cohort, with n, intervals and hollow marks."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from auditbook.book.draw import metrics as draw
from auditbook.book.draw.style import label_with_n
from auditbook.book.say import metrics as say
from runs_fixture import KINDS


def rates_frame(**values):
    """Make rates from name=(value, trials)."""
    rows = [{"group": name, "value": value, "trials": n} for name, (value, n) in values.items()]
    table = pd.DataFrame(rows)
    return table.assign(low=table["value"] - 0.1, high=table["value"] + 0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_drawn_on_every_cohort(runs, kind):
    run = runs[kind]
    score_kind = run.models["kind"].iloc[0]
    model, attribute = run.models["model"].iloc[0], run.groups["attribute"].iloc[0]
    groups, bins = (
        table[(table["model"] == model) & (table["attribute"] == attribute)]
        for table in (run.groups, run.score_bins)
    )
    for rate in say.RATES:
        draw.draw_rates(say.pick_rates(groups, rate=rate), title=rate).figure.canvas.draw()
    gaps = say.pick_bins(bins, kind=score_kind)
    draw.draw_bins(gaps, threshold=0.05).figure.canvas.draw()
    draw.draw_verdict_grid(run.verdicts[run.verdicts["model"] == model]).figure.canvas.draw()


def test_n_stands_beside_every_group():
    ax = draw.draw_rates(rates_frame(A=(0.5, 40), B=(0.2, 1234)), title="SR")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [label_with_n("A", 40), label_with_n("B", 1234)]


def test_undefined_rate_is_a_hollow_mark():
    ax = draw.draw_rates(rates_frame(A=(0.5, 40), B=(float("nan"), 0)), title="SR")
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert len(hollow) == 1


def test_interval_is_drawn_through_every_defined_rate():
    ax = draw.draw_rates(rates_frame(A=(0.5, 40), B=(0.2, 50)), title="SR")
    spans = [tuple(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2]
    assert np.allclose(spans, [(0.4, 0.6), (0.1, 0.3)])


def test_given_axes_are_used():
    _, ax = plt.subplots()
    assert draw.draw_rates(rates_frame(A=(0.5, 40), B=(0.2, 50)), title="SR", ax=ax) is ax


def test_empty_results_say_so_instead_of_failing():
    empty = pd.DataFrame(columns=["group", "bin_low", "bin_high", "n", "value", "low", "high"])
    ax = draw.draw_bins(empty, threshold=0.05)
    assert "no probability" in ax.texts[0].get_text().replace("\n", " ")
    ax = draw.draw_verdict_grid(pd.DataFrame(columns=["metric", "attribute"]))
    assert ax.texts[0].get_text() == "There is no cell."


def test_verdicts_are_told_apart_without_colour():
    cells = pd.DataFrame(
        {
            "metric": ["DI", "SPD", "TI"],
            "attribute": "sex",
            "verdict": ["pass", "fail", "inconclusive"],
            "estimate": [0.9, 0.2, float("nan")],
            "smallest_n": 12,
        }
    )
    texts = [text.get_text() for text in draw.draw_verdict_grid(cells).texts]
    assert [text.split()[0] for text in texts] == ["\N{CHECK MARK}", "\N{MULTIPLICATION X}", "?"]
    assert texts[2].endswith("\N{EN DASH}")


def test_larger_bins_have_larger_marks():
    gaps = pd.DataFrame({"group": "A", "bin_low": [0.0, 0.1], "bin_high": [0.1, 0.2], "n": [1, 10_000]})
    ax = draw.draw_bins(gaps.assign(value=0.0, low=-0.1, high=0.1), threshold=0.05)
    small, large = ax.collections[-1].get_sizes()
    assert large > small > 0


def test_many_groups_leave_room_for_the_bins(recwarn):
    names = [f"group number {k}" for k in range(49)]
    gaps = pd.DataFrame({"group": names, "bin_low": 0.1, "bin_high": 0.2, "n": 5, "value": 0.1})
    ax = draw.draw_bins(gaps.assign(low=-0.1, high=0.3), threshold=0.05)
    ax.figure.canvas.draw()
    assert not recwarn.list
    assert ax.get_position().height * ax.figure.get_size_inches()[1] > 2
