"""The start of every figure: a notebook draws it once, when it shows it."""

import nbformat
from nbclient import NotebookClient

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
