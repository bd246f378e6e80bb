"""Chapters: their form, their parameters, and what a failing one says."""

import ast
import re
import shutil
import sys
import time
from contextlib import nullcontext
from itertools import chain
from types import SimpleNamespace

import nbformat
import pytest

from auditbook import notebooks
from auditbook.errors import InputError, RunError
from auditbook.notebooks import execute_notebook
from auditbook.project import project_file
from auditbook.run import chapters, runner
from auditbook.run.contents import chapter_names, chapter_source
from auditbook.run.kernels import own_kernel

NAMES = chapter_names()
PAGES = ("book", "notebooks")


def code_cells(name):
    return [cell for cell in chapters.read_chapter(name).cells if cell.cell_type == "code"]


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_defines_no_function_or_class(name):
    for cell in code_cells(name):
        kinds = {type(node) for node in ast.walk(ast.parse(cell.source))}
        assert not kinds & {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef}, cell.source


@pytest.mark.parametrize("name", NAMES)
def test_every_table_of_a_chapter_says_what_a_row_is(name):
    for node in chain.from_iterable(ast.walk(ast.parse(cell.source)) for cell in code_cells(name)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "show_table":
            captions = [ast.unparse(each.value) for each in node.keywords if each.arg == "caption"]
            assert len(captions) == 1, ast.unparse(node)
            assert "One row" in captions[0], ast.unparse(node)


@pytest.mark.parametrize("name", NAMES)
def test_no_table_of_a_chapter_stands_where_a_notebook_shows_nothing(name):
    for cell in code_cells(name):
        *before, last = ast.parse(cell.source).body or [ast.Pass()]
        for statement in before:
            assert "show_table(" not in ast.unparse(statement), cell.source
        assert isinstance(last, ast.Expr) or "show_table(" not in ast.unparse(last), cell.source


@pytest.mark.parametrize("name", NAMES)
def test_no_cell_of_a_chapter_is_longer_than_a_dozen_lines(name):
    for cell in code_cells(name):
        assert len(cell.source.splitlines()) <= 12, cell.source


@pytest.mark.parametrize("name", NAMES)
def test_no_cell_hides_its_value_with_a_semicolon(name):
    """It works in one executor and not in another, so that re-executed outputs would differ."""
    for cell in code_cells(name):
        assert not cell.source.rstrip().endswith(";"), cell.source


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_declares_its_parameters_and_starts_with_a_title(name):
    notebook = chapters.read_chapter(name)
    assert "run_dir" in chapters.declared_parameters(notebook, name)
    assert notebook.cells[0].source.lstrip().startswith("# ")


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_of_a_chapter_is_told_in_words(name):
    """Drawing functions belong to `auditbook.book.draw`, which chapters import as `draw`."""
    for cell in code_cells(name):
        if "draw.draw_" in cell.source:
            assert cell.metadata.get("mystnb", {}).get("image", {}).get("alt"), cell.source


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_is_kept_without_outputs(name):
    assert all(not cell.outputs for cell in code_cells(name))
    assert "outputs" not in chapter_source(name).read_text(encoding="utf-8").split("---")[1]


def test_an_unknown_parameter_is_an_error_with_the_nearest_name():
    notebook = chapters.read_chapter(NAMES[0])
    with pytest.raises(InputError, match="no parameter 'run_dirr' \\(did you mean 'run_dir'\\?\\)"):
        chapters.check_parameters(notebook, {"run_dirr": ".."}, NAMES[0])


def test_a_parameter_of_another_type_is_an_error():
    notebook = chapters.read_chapter(NAMES[0])
    with pytest.raises(InputError, match="'run_dir' is 3; it must be of type str"):
        chapters.check_parameters(notebook, {"run_dir": 3}, NAMES[0])


def test_an_unknown_chapter_is_an_error_with_the_nearest_name():
    with pytest.raises(InputError, match="no chapter 'metricz' \\(did you mean 'metrics'\\?\\)"):
        chapter_source("metricz")


def small_notebook(*sources):
    cells = [nbformat.v4.new_code_cell('run_dir = ""', metadata={"tags": ["parameters"]})]
    cells += [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {
        "name": "elsewhere-3.9",
        "display_name": "Elsewhere",
        "language": "python",
    }
    return notebook


def execute(notebook, folder, run_dir=".."):
    """Execute a notebook as the chapter `metrics`, in this process, and return the file that it becomes."""
    target = folder / "metrics.ipynb"
    with own_kernel():
        execute_notebook("metrics", notebook, {"run_dir": run_dir}, target)
    return target


def test_a_failing_cell_names_chapter_cell_and_error(tmp_path):
    with pytest.raises(RunError, match=r"chapter 'metrics', cell 2 \(1 / 0\): ZeroDivisionError"):
        execute(small_notebook("1 / 0"), tmp_path)
    assert not (tmp_path / "metrics.ipynb").exists()


def test_a_chapter_runs_in_this_environment_whatever_kernel_its_author_had(tmp_path):
    source = "import sys\nprint(sys.executable)\nprint(run_dir)"
    target = execute(small_notebook(source), tmp_path, run_dir='"; import os #')
    text = nbformat.read(target, as_version=4).cells[-1].outputs[0].text.splitlines()
    assert text == [sys.executable, '"; import os #']


def test_a_chapter_that_is_stopped_from_outside_is_a_failed_run(tmp_path, monkeypatch):
    source = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"
    monkeypatch.setattr(chapters, "read_chapter", lambda name: small_notebook(source))
    with pytest.raises(RunError, match="its process was stopped from outside"):
        chapters.execute_chapters(["metrics"], {"run_dir": ".."}, tmp_path)


def test_two_cells_of_parameters_are_an_error():
    notebook = small_notebook()
    notebook.cells.append(notebook.cells[0])
    with pytest.raises(RunError, match="has 2 cells tagged 'parameters'"):
        chapters.declared_parameters(notebook, "metrics")


def test_chapters_run_side_by_side_and_the_finished_ones_are_kept_when_one_fails(tmp_path, monkeypatch):
    sources = {"cohort": "print(1)", "metrics": "import time; time.sleep(4); 1 / 0", "scores": "print(3)"}
    monkeypatch.setattr(chapters, "read_chapter", lambda name: small_notebook(sources[name]))
    told = []
    with pytest.raises(RunError, match="chapter 'metrics'"):
        chapters.execute_chapters(
            list(sources), {"run_dir": ".."}, tmp_path, jobs=2, finished=lambda name, _: told.append(name)
        )
    assert "cohort" in told
    assert {path.stem for path in tmp_path.glob("*.ipynb")} >= set(told)


def test_a_chapter_is_told_its_own_seconds_and_not_those_since_all_began(tmp_path):
    start, found = time.monotonic(), []
    for source in ("import time; time.sleep(1)", "1"):
        with own_kernel():
            found.append(
                execute_notebook("metrics", small_notebook(source), {"run_dir": ".."}, tmp_path / "a")
            )
    slow, quick = found
    assert slow >= 1
    assert 0 < quick <= time.monotonic() - start - 1


def test_run_json_gets_the_seconds_that_each_chapter_has_measured(tmp_path, monkeypatch):
    took = {"cohort": 3.5, "scores": 0.25}
    monkeypatch.setattr(
        chapters, "do_beside", lambda work, calls, jobs: (pair for pair in enumerate(took.values()))
    )
    monkeypatch.setattr(chapters, "copied_kernel", lambda names: nullcontext())
    monkeypatch.setattr(runner, "_chapter_keys", lambda plan, info: dict.fromkeys(took, "key"))
    request = SimpleNamespace(force=True, only=None, jobs=1)
    plan = SimpleNamespace(next=tmp_path / "next", folder=tmp_path, request=request)
    info = {"steps": []}
    quiet = SimpleNamespace(say=lambda text: None, done=lambda: None)
    runner._execute_chapters(plan, info, quiet)
    assert {step["step"]: step["seconds"] for step in info["steps"]} == {
        f"chapter {name}": seconds for name, seconds in took.items()
    }


def test_the_same_chapter_executed_twice_is_the_same_file(tmp_path):
    notebook = small_notebook("print(run_dir)")
    found = [execute(notebook, tmp_path).read_bytes() for _ in range(2)]
    assert found[0] == found[1]


def test_text_printed_in_pieces_is_one_output(tmp_path):
    source = "import time\nfor part in range(3):\n    print(part, flush=True)\n    time.sleep(0.4)"
    outputs = nbformat.read(execute(small_notebook(source), tmp_path), as_version=4).cells[-1].outputs
    assert [output.text for output in outputs] == ["0\n1\n2\n"]


def test_a_kernel_that_does_not_start_is_started_again(tmp_path, monkeypatch):
    calls = []

    def start(source, executed, **_):
        calls.append(source)
        if len(calls) == 1:
            raise RuntimeError("Kernel died before replying to kernel_info")
        shutil.copy(source, executed)

    monkeypatch.setattr(notebooks.papermill, "execute_notebook", start)
    execute_notebook("metrics", small_notebook("1"), {}, tmp_path / "metrics.ipynb")
    assert len(calls) == 2
    assert (tmp_path / "metrics.ipynb").is_file()


def test_a_kernel_that_never_starts_is_a_failed_run(tmp_path, monkeypatch):
    def start(*_, **__):
        raise RuntimeError("Kernel died before replying to kernel_info")

    monkeypatch.setattr(notebooks.papermill, "execute_notebook", start)
    with pytest.raises(RunError, match="chapter 'metrics': the kernel stopped"):
        execute_notebook("metrics", small_notebook("1"), {}, tmp_path / "metrics.ipynb")


@pytest.mark.parametrize(
    "path", sorted(chain(*(project_file(part).glob("*.md") for part in PAGES))), ids=lambda path: path.name
)
def test_every_work_that_a_page_cites_is_in_the_list_of_works(path):
    """With the prefix under which the page lists its works."""
    text = path.read_text(encoding="utf-8")
    known = set(
        re.findall(r"^@\w+\{([^,\s]+),", project_file("book", "references.bib").read_text("utf-8"), re.M)
    )
    prefix = re.search(r":keyprefix: (\S+)", text)
    start = prefix.group(1) if prefix else ""
    cited = [
        key.strip() for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", text) for key in keys.split(",")
    ]
    assert [key for key in cited if not (key.startswith(start) and key.removeprefix(start) in known)] == []


def test_an_alternative_text_says_what_was_drawn_this_time():
    image = {"alt": "One row a group."}
    metadata = {"mystnb": {"image": image}}
    output = {"output_type": "display_data", "metadata": {"image/png": {"alt": "Rows: A; B."}}}
    cell = nbformat.from_dict({"metadata": metadata, "outputs": [output]})
    notebooks._tell_what_is_drawn(cell)
    assert cell.metadata["mystnb"]["image"]["alt"] == "One row a group. Rows: A; B."
    assert cell["outputs"][0]["metadata"] == {}
    notebooks._tell_what_is_drawn(cell)
    assert cell.metadata["mystnb"]["image"]["alt"] == "One row a group. Rows: A; B."
