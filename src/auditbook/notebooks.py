"""How is a notebook executed: by papermill, its faults named, free of what depends on the moment."""

import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError

from auditbook.errors import RunError

KERNEL = "python3"
KERNEL_STARTS = 4
HIDDEN = "remove-cell"


def execute_notebook(
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
            _tell_what_is_drawn(cell)
        if "injected-parameters" in tags:
            cell["id"] = "injected-parameters"  # else drawn anew for every run
        if {"parameters", "injected-parameters"} & set(tags) and HIDDEN not in tags:
            cell.metadata["tags"] = [*tags, HIDDEN]
    return notebook


def _tell_what_is_drawn(cell: nbformat.NotebookNode) -> None:
    """Add to a figure's alternative text what was drawn this time, which the kernel has left beside it."""
    image = cell.metadata.get("mystnb", {}).get("image")
    drawn = [output.get("metadata", {}).pop("image/png", {}) for output in cell["outputs"]]
    words = " ".join(each["alt"] for each in drawn if each.get("alt"))
    if image and image.get("alt") and words:
        image["alt"] = f"{image['alt']} {words}"


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
