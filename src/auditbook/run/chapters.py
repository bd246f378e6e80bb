"""How does a chapter run on a cohort: parameters checked, executed side by side, times told."""

import ast
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from auditbook.errors import InputError, RunError, nearest
from auditbook.notebooks import KERNEL, execute_notebook
from auditbook.run.contents import chapter_source
from auditbook.run.kernels import copied_kernel
from auditbook.workers import STOPPED, do_beside


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
        with copied_kernel(names), closing(do_beside(execute_notebook, calls, jobs=jobs)) as executed:
            for place, seconds in executed:
                finished(calls[place][0], seconds)
    except BrokenProcessPool as fault:
        raise RunError(f"a chapter could not be finished: {STOPPED}") from fault
