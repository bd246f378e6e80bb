"""Curves over the size of the smallest group, and bars of what a group can bear."""

import matplotlib as mpl

mpl.use("agg")

import pandas as pd

from auditbook.studies.draw import small_groups as draw

NAN = float("nan")


def curves(**changed):
    columns = {"curve": ["near"] * 4}
    columns |= {"smallest": [30, 60, 30, 60], "value": [0.5, 0.4, 0.3, 0.2]}
    columns |= {
        "low": [0.4, 0.3, NAN, NAN],
        "high": [0.6, 0.5, NAN, NAN],
        "dashed": [False, False, True, True],
    }
    return pd.DataFrame(columns | changed)


def test_sizes_are_the_ticks_and_guides_are_lines():
    ax = draw.draw_by_size(curves(), quantity="share", guides=(0.95, 0.93))
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["30", "60"]
    assert {line.get_ydata()[0] for line in ax.lines if len(set(line.get_ydata())) == 1} >= {0.95, 0.93}


def test_a_truth_is_dotted_in_the_colour_of_its_estimate_and_once_in_the_key():
    ax = draw.draw_by_size(curves(), quantity="share")
    dotted = [line for line in ax.lines if line.get_linestyle() == ":" and len(line.get_xdata())]
    marks = [line for line in ax.lines if line.get_label() == "near"]
    assert [line.get_color() for line in dotted] == [line.get_color() for line in marks]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["near", "truth"]


def test_a_value_that_does_not_exist_is_a_hollow_mark():
    ax = draw.draw_by_size(curves(value=[NAN, 0.4, 0.3, 0.2]), quantity="share")
    assert [line.get_markerfacecolor() for line in ax.lines].count("none") == 1


def test_nothing_to_draw_is_said():
    ax = draw.draw_by_size(curves(value=NAN), quantity="share")
    assert "Nothing was simulated" in ax.texts[0].get_text()


def test_numbers_are_not_written_in_per_cent():
    ax = draw.draw_by_size(curves(), quantity="kappa", in_percent=False)
    ax.figure.canvas.draw()
    assert not any("%" in label.get_text() for label in ax.get_yticklabels())


def test_groups_are_bars_with_their_size():
    groups = pd.DataFrame({"group": ["<b>A</b> $x$", "B"], "n": [40, 4_000], "borne": [0, 12], "asked": 23})
    ax = draw.draw_group_lines(groups)
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.texts] == ["0 of 23", "12 of 23"]
    assert "(n = 4,000)" in ax.get_yticklabels()[1].get_text()


def test_a_run_without_groups_has_a_sentence():
    empty = pd.DataFrame({"group": [], "n": [], "borne": [], "asked": []})
    assert "no group" in draw.draw_group_lines(empty).texts[0].get_text()
