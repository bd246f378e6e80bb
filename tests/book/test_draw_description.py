"""A figure says in words what was drawn this time, and a notebook keeps these words beside the picture."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from auditbook.book.draw.description import MOST_PANELS, describe_figure
from auditbook.book.draw.style import label_rows, new_axes, say_nothing_to_draw


@pytest.fixture
def axes():
    yield new_axes(rows=2)
    plt.close("all")


def test_rows_are_named_and_the_measure_has_its_range(axes):
    axes.plot([0.25, 0.5], [0, 1], "o", label="own size")
    label_rows(axes, ["Black\n(n = 120)", r"\$50 and more (n = 1,000)"])
    axes.set_xlabel("flip rate")
    axes.legend()
    assert describe_figure(axes.figure) == (
        "Rows: Black (n = 120); $50 and more (n = 1,000). Drawn of flip rate: 0.25 to 0.5. Key: own size."
    )


def test_a_long_list_of_rows_is_counted(axes):
    axes.plot(range(30), range(30), "o")
    label_rows(axes, [f"group {number}" for number in range(30)])
    assert "group 11; and 18 more." in describe_figure(axes.figure)


def test_a_figure_with_nothing_drawn_is_not_said_to_show_a_range(axes):
    say_nothing_to_draw(axes, "There is no cell.")
    assert describe_figure(axes.figure) == ""


def test_values_that_are_not_known_are_not_written(axes):
    axes.plot([np.nan], [np.nan], "o")
    axes.set(xlabel="score", ylabel="event rate")
    assert "nan" not in describe_figure(axes.figure)
    assert "inf" not in describe_figure(axes.figure)


@pytest.mark.parametrize(
    ("panels", "said"), [(1, ""), (5, "There is one more panel."), (9, "5 more panels.")]
)
def test_panels_are_told_with_their_titles_until_there_are_too_many(panels, said):
    figure, axes = plt.subplots(1, panels, squeeze=False)
    for number, ax in enumerate(axes[0]):
        ax.plot([1, 2], [3, 4])
        ax.set(title=f"site {number}", xlabel="score")
    words = describe_figure(figure)
    plt.close(figure)
    assert words.startswith("site 0: Drawn of score: 1 to 2.")
    assert words.count("site") == min(panels, MOST_PANELS)
    assert words.endswith(said)
