"""What a user has set for other work: a kernel neither runs nor shows it, and figures are the same."""

import nbformat
import pytest

from auditbook.notebooks import execute_notebook
from auditbook.run.kernels import copied_kernel, own_kernel

NAMES = ("cohort", "metrics")
CELLS = (
    "from auditbook.book.draw.style import label_rows, new_axes\n"
    "ax = new_axes(rows=2)\nlabel_rows(ax, ['a', 'b'])\n_ = ax.set_title('A title')",
    "import os, random\nprint('traced' in globals(), os.path.dirname(random.__file__) == os.getcwd())",
)
RC = "text.usetex: True\nfont.family: cursive\nsavefig.facecolor: red\naxes.facecolor: red\nbackend: QtAgg\n"
STARTUP = "traced = 1\nopen({trace!r}, 'a').write({name!r})\n"


def notebook(*sources):
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{place}") for place, source in enumerate(sources)]
    made = nbformat.v4.new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def run_in(kernels, folder):
    with kernels:
        execute_notebook("metrics", notebook(*CELLS), {}, folder / "metrics.ipynb")
    return (folder / "metrics.ipynb").read_bytes()


@pytest.fixture
def odd_user(tmp_path, monkeypatch):
    """A user whose home, working folder and environment hold settings and modules for other work."""
    home, work, trace = tmp_path / "home", tmp_path / "work", tmp_path / "trace"
    places = {
        "MATPLOTLIBRC": (home / "matplotlibrc", RC),
        "IPYTHONDIR": (home / "ipython" / "profile_default" / "startup" / "00.py", STARTUP),
        "PYTHONSTARTUP": (home / "startup.py", STARTUP),
        "RANDOM": (work / "random.py", STARTUP),
        "RC": (work / "matplotlibrc", RC),
        "CONFIG": (
            home / "ipython" / "profile_default" / "ipython_kernel_config.py",
            "c.InlineBackend.figure_formats = {'svg'}\nc.InteractiveShellApp.exec_lines = ['traced = 2']\n",
        ),
    }
    for name, (path, text) in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{trace!r}", repr(str(trace))).replace("{name!r}", repr(name)), "utf-8")
    for name in ("MATPLOTLIBRC", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, str(places[name][0]))
    for name, value in {
        "HOME": home,
        "IPYTHONDIR": home / "ipython",
        "JUPYTER_CONFIG_DIR": home / "jupyter",
        "MPLBACKEND": "Agg",
        "LC_ALL": "de_DE.ISO-8859-1",
    }.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(work)
    return trace


@pytest.mark.parametrize(
    "kernels", [own_kernel, pytest.param(lambda: copied_kernel(NAMES), marks=pytest.mark.slow)]
)
def test_settings_of_a_user_change_no_byte_of_a_notebook(kernels, tmp_path, request):
    usual, odd = tmp_path / "usual", tmp_path / "odd"
    usual.mkdir()
    before = run_in(kernels(), usual)
    trace = request.getfixturevalue("odd_user")
    odd.mkdir()
    (odd / "random.py").write_text(f"open({str(trace)!r}, 'a').write('folder')", encoding="utf-8")
    assert run_in(kernels(), odd) == before
    assert b"False False" in before
    assert not trace.exists()
