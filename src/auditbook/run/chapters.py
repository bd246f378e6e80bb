"""How does a chapter run on a cohort: parameters checked, executed by papermill, faults named."""

import ast
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError

from auditbook.errors import InputError, RunError, nearest
from auditbook.run.contents import chapter_source
from auditbook.workers import STOPPED, do_beside

KERNEL = "python3"
KERNEL_STARTS = 4
HIDDEN = "remove-cell"


def check_parameters(notebook: nbformat.NotebookNode, parameters: Mapping[str, Any], chapter: str) -> None:
    """Refuse parameters that the chapter does not declare or that have another type than its default."""
    declared = declared_parameters(notebook, chapter)
    faults = []
    for name, value in parameters.items():
        if name not in declared:
            listed = ", ".join(declared)
            faults.append(
                f"chapter '{chapter}' has no parameter '{name}'{nearest(name, declared)}; it has: {listed}"
            )
        elif type(value) is not type(declared[name]):
            kind = type(declared[name]).__name__
            faults.append(f"chapter '{chapter}': parameter '{name}' is {value!r}; it must be of type {kind}")
    if faults:
        raise InputError(*faults)


def declared_parameters(notebook: nbformat.NotebookNode, chapter: str) -> dict[str, Any]:
    """Read the parameters of a chapter and their defaults from its one ``parameters`` cell."""
    cells = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise RunError(f"chapter '{chapter}' has {len(cells)} cells tagged 'parameters'; it needs one")
    declared: dict[str, Any] = {}
    for statement in ast.parse(cells[0].source).body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            raise RunError(
                f"chapter '{chapter}': the cell tagged 'parameters' may hold plain assignments only"
            )
        declared[statement.targets[0].id] = ast.literal_eval(statement.value)
    return declared


def read_chapter(name: str) -> nbformat.NotebookNode:
    """Read a chapter's Markdown source as a notebook bound to the running environment's kernel."""
    notebook = jupytext.read(chapter_source(name))
    notebook.metadata["kernelspec"] = {"name": KERNEL, "display_name": "Python 3", "language": "python"}
    for position, cell in enumerate(notebook.cells):
        cell["id"] = f"{name}-{position}"[-64:]
    return notebook


@contextmanager
def own_kernel() -> Iterator[None]:
    """Make ``python3`` mean the running interpreter, whatever kernels are installed on the machine."""
    before = os.environ.get("JUPYTER_PATH")
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "kernels" / KERNEL
        spec.mkdir(parents=True)
        start = [
            sys.executable,
            "-m",
            "ipykernel_launcher",
            "-f",
            "{connection_file}",
            "--log-level=CRITICAL",
        ]
        (spec / "kernel.json").write_text(
            json.dumps({"argv": start, "display_name": "Python 3", "language": "python"}), encoding="utf-8"
        )
        os.environ["JUPYTER_PATH"] = folder if before is None else folder + os.pathsep + before
        try:
            yield
        finally:
            if before is None:
                del os.environ["JUPYTER_PATH"]
            else:
                os.environ["JUPYTER_PATH"] = before


def execute_chapters(
    names: Sequence[str],
    parameters: Mapping[str, Any],
    folder: Path,
    *,
    jobs: int = 1,
    finished: Callable[[str, float], None] = lambda name, seconds: None,
) -> None:
    """Execute chapters side by side and write the notebooks with their outputs."""
    notebooks = {name: read_chapter(name) for name in names}
    for name, notebook in notebooks.items():
        check_parameters(notebook, parameters, name)
    calls = [(name, notebook, parameters, folder / f"{name}.ipynb") for name, notebook in notebooks.items()]
    try:
        with own_kernel(), closing(do_beside(_execute, calls, jobs=jobs)) as executed:
            for place, seconds in executed:
                finished(calls[place][0], seconds)
    except BrokenProcessPool as fault:
        raise RunError(f"a chapter could not be finished: {STOPPED}") from fault


def _execute(
    name: str, notebook: nbformat.NotebookNode, parameters: Mapping[str, Any], target: Path
) -> float:
    """Execute one chapter and return the seconds; its notebook is written when the last cell has run."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        source, executed = Path(scratch) / "source.ipynb", Path(scratch) / "executed.ipynb"
        nbformat.write(notebook, source)
        try:
            _run_cells(source, executed, parameters, target.parent)
        except PapermillExecutionError as fault:
            raise RunError(_describe_failure(name, fault)) from fault
        except RuntimeError as fault:
            raise RunError(f"chapter '{name}': the kernel stopped: {fault}") from fault
        nbformat.write(_without_traces(nbformat.read(executed, as_version=4)), target)
    return time.monotonic() - started


def _run_cells(source: Path, executed: Path, parameters: Mapping[str, Any], folder: Path) -> None:
    """Run a notebook's cells; begin anew when its kernel does not start.

    Kernels that start at the same moment can choose the same port, and one of them then ends at once.
    """
    for attempt in range(KERNEL_STARTS):
        try:
            papermill.execute_notebook(
                source,
                executed,
                parameters=dict(parameters),
                kernel_name=KERNEL,
                cwd=folder,
                progress_bar=False,
            )
        except DeadKernelError:
            raise  # in the middle of a cell: not a matter of ports
        except RuntimeError:
            if attempt == KERNEL_STARTS - 1:
                raise
        else:
            return


def _describe_failure(name: str, fault: PapermillExecutionError) -> str:
    """Say which chapter, cell and error."""
    first = next((line for line in fault.source.splitlines() if line.strip()), "")
    return f"chapter '{name}', cell {fault.cell_index} ({first.strip()}): {fault.ename}: {fault.evalue}"


def _without_traces(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Drop what depends on the moment and the machine; hide the parameter cells from the page."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "outputs" in cell:
            cell["outputs"] = _join_streams(cell["outputs"])
        if "injected-parameters" in tags:
            cell["id"] = "injected-parameters"  # else drawn anew for every run
        if {"parameters", "injected-parameters"} & set(tags) and HIDDEN not in tags:
            cell.metadata["tags"] = [*tags, HIDDEN]
    return notebook


def _join_streams(outputs: Iterable[Any]) -> list[Any]:
    """Join printed text that came in pieces, whose number depends on the moment."""
    joined: list[Any] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last["text"] += output["text"]
        else:
            joined.append(output)
    return joined
