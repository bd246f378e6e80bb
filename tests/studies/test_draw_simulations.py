"""Figures of stored simulations are drawn for all worlds, for some, and for none."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import pytest

from auditbook.studies.draw import simulations as draw
from auditbook.studies.say import simulation_printed as printed
from auditbook.studies.say import simulation_quiet as quiet
from auditbook.studies.say import simulation_verdicts as verdicts
from auditbook.studies.say import simulations as say
from stored_simulations import KINDS, store_simulations

SHOWN = ("combined", "forest", "ridge", "leiden", say.STRONGEST, "oracle")
TITLES = ("combined audit", "targeted", "best other")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return {
        kind: say.open_simulations(str(store_simulations(tmp_path_factory.mktemp(kind), kind)))
        for kind in KINDS
    }


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_drawn_of_whatever_is_stored(stored, kind):
    found = stored[kind]
    beside = printed.compare_printed_errors(found)
    drawn = [
        draw.draw_quiet(quiet.lay_out_quiet(found, "gap")),
        draw.draw_scores(say.pick_scores(found, "gap", "larger", SHOWN)),
        draw.draw_differences(say.pick_differences(found, "gap", "larger", "combined")),
        draw.draw_printed(beside[beside["shift"] == "larger"], titles=TITLES)[0],
        draw.draw_grid(verdicts.lay_out_grid(found.compared, "error", "smaller")),
        draw.draw_matrix(verdicts.count_against(found.compared)),
    ]
    for ax in drawn:
        ax.figure.canvas.draw()
    if kind == "none":
        assert {ax.texts[0].get_text() for ax in drawn} == {draw.NOTHING}


def test_each_world_has_a_tick_at_its_level(stored):
    table = quiet.lay_out_quiet(stored["all"], "error")
    ax = draw.draw_quiet(table)
    ticks = {
        line.get_xdata()[0] for line in ax.lines if line.get_color() == "black" and line.get_ydata().size
    }
    assert {0.05, 0.025, 0.0125} <= ticks
    assert len(ax.get_yticks()) == table["title"].nunique() == 13
    assert "8 audits, 4 maps" in ax.get_yticklabels()[0].get_text()


def test_each_scenario_says_its_replicates_and_its_strongest_alternative(stored):
    ax = draw.draw_scores(say.pick_scores(stored["all"], "gap", "larger", SHOWN))
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(labels) == 17
    assert all("n = 4, strongest: " in label for label in labels)


def test_wins_and_losses_differ_in_shape_and_in_words(stored):
    table = verdicts.lay_out_grid(stored["all"].compared, "gap", "larger")
    ax = draw.draw_grid(table)
    for row in table.itertuples():
        signs = [text.get_text()[0] for text in ax.texts]
        assert draw.SIGNS[row.says] in signs
    assert len(ax.texts) == len(table)


def test_a_matrix_says_how_many_replicates_it_rests_on(stored):
    ax = draw.draw_matrix(verdicts.count_against(stored["all"].compared))
    assert ax.get_title(loc="left").endswith("(replicates: 4)")


def test_a_single_replicate_has_no_interval(stored):
    table = say.pick_scores(stored["one"], "gap", "larger", ("combined",))
    assert table["f1_low"].isna().all()
    draw.draw_scores(table).figure.canvas.draw()


def test_colours_of_a_balance_run_from_orange_over_white_to_blue():
    assert draw._blend(0.0) == (1.0, 1.0, 1.0)
    assert draw._blend(1.0)[2] > draw._blend(1.0)[0]
    assert draw._blend(-1.0)[0] > draw._blend(-1.0)[2]
