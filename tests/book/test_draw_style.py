"""The start of every figure: a notebook draws it once, when it shows it, with letters that can be read."""

import nbformat
from hypothesis import given
from hypothesis import strategies as st
from nbclient import NotebookClient

from auditbook.book.draw.style import BLACK, FAIL, PASS, WHITE, ink_on
from auditbook.run.kernels import own_kernel

CELLS = (
    "from auditbook.book.draw.style import new_axes\n"
    "from matplotlib.backends.backend_agg import FigureCanvasAgg\n"
    "drawn = []\n"
    "FigureCanvasAgg.draw_idle = lambda canvas: drawn.append(canvas)",
    "_ = new_axes()",
    "_ = new_axes()",
    "print(len(drawn))",
)


def test_a_notebook_draws_no_figure_before_it_shows_it():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    with own_kernel():
        NotebookClient(notebook, kernel_name="python3").execute()
    _, first, second, count = (cell.outputs for cell in notebook.cells)
    assert all("image/png" in output.data for output in (*first, *second))
    assert (len(first), len(second), count[0].text) == (1, 1, "0\n")


@given(st.tuples(*[st.integers(0, 255)] * 3))
def test_letters_stand_out_from_every_colour_below_them(parts):
    face = tuple(part / 255 for part in parts)
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in face]
    ground = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    letters = 1.0 if ink_on(face) == WHITE else 0.0
    darker, lighter = sorted([ground, letters])
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_a_colour_of_the_figures_is_written_on_with_the_ink_that_can_be_read():
    assert [ink_on(colour) for colour in (PASS, FAIL, WHITE)] == [WHITE, BLACK, BLACK]
