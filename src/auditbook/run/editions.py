"""Who gets which pages: the book of a reader, of a student without solutions, of an instructor?"""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from auditbook.project import project_file
from auditbook.run.folder import fresh_folder

Edition = Literal["reader", "student", "instructor"]
EDITIONS: tuple[Edition, ...] = ("reader", "student", "instructor")
SOLUTION = "solution"
"""Tag of a cell that solves an exercise."""
ANSWERS = re.compile(
    r"^(`{3,})\{admonition\} (?:Solution|What a good answer holds|Answer)\n.*?^\1[ ]*$\n?", re.M | re.S
)
"""An answer that is written beside a question, as chapters and quizzes mark it."""
WITHHELD: dict[Edition, tuple[str, ...]] = {
    "reader": ("book/capstone-solution",),
    "student": ("book/capstone-solution", "book/instructor"),
    "instructor": (),
}
"""Pages that an edition does not hold."""


@dataclass(frozen=True)
class Sources:
    """What the pages of an edition are built from."""

    notebooks: Path  # Executed chapters
    book: Path  # Pages written by hand
    contents: Path  # The table of contents


def write_sources(edition: Edition, notebooks: Path, folder: Path) -> Sources:
    """Write what an edition is built from into a folder, made anew, and return where all of it lies.

    Parameters
    ----------
    edition : {"reader", "student", "instructor"}
        A student's holds no solution: not in a page, a notebook or a source.
    notebooks : Path
        The executed chapters.
    folder : Path
        For what differs from the whole book: the table of contents, and of a student's all pages.
    """
    fresh_folder(folder)
    whole, contents = project_file("book"), folder / "_toc.yml"
    listed = project_file("_toc.yml").read_text(encoding="utf-8")
    contents.write_text(_strip_contents(listed, WITHHELD[edition]), encoding="utf-8")
    if edition == "student":
        return _write_stripped(Sources(folder / "notebooks", folder / "book", contents), notebooks, whole)
    book = whole if edition == "instructor" else folder / "book"
    if edition == "reader":
        _copy_pages(whole, book, WITHHELD["reader"])
    return Sources(notebooks, book, contents)


def _copy_pages(whole: Path, book: Path, withheld: tuple[str, ...]) -> None:
    """Copy the pages written by hand, but for those that are withheld."""
    names = {f"{Path(page).name}.md" for page in withheld}
    shutil.copytree(whole, book, ignore=lambda _, found: names & set(found))


def _write_stripped(found: Sources, notebooks: Path, whole: Path) -> Sources:
    """Write pages and chapters without their answers."""
    _copy_pages(whole, found.book, WITHHELD["student"])
    for page in sorted(found.book.rglob("*.md")):
        page.write_text(strip_answers(page.read_text(encoding="utf-8")), encoding="utf-8")
    found.notebooks.mkdir()
    for path in sorted(notebooks.glob("*.ipynb")):
        kept = strip_notebook(json.loads(path.read_text(encoding="utf-8")))
        text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
        (found.notebooks / path.name).write_text(text, encoding="utf-8")
    return found


def strip_answers(words: str) -> str:
    """Take the answers out of a page's Markdown."""
    return ANSWERS.sub("", words)


def strip_notebook(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """Take the solutions out of an executed chapter; the cell to write at stands before each."""
    return {**notebook, "cells": [_strip_cell(cell) for cell in notebook["cells"] if not _is_solution(cell)]}


def _is_solution(cell: Mapping[str, Any]) -> bool:
    """Tell whether a cell solves an exercise."""
    return SOLUTION in cell.get("metadata", {}).get("tags", [])


def _strip_cell(cell: dict[str, Any]) -> dict[str, Any]:
    """Take the answers out of one cell."""
    if cell["cell_type"] != "markdown":
        return cell
    return {**cell, "source": strip_answers("".join(cell["source"]))}


def _strip_contents(contents: str, withheld: tuple[str, ...]) -> str:
    """Leave withheld pages out of the table of contents."""
    lines = contents.splitlines(keepends=True)
    return "".join(line for line in lines if line.strip().removeprefix("- file: ") not in withheld)
