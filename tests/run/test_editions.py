"""A student's book holds no solution: not in a page, a notebook or a source."""

import json
import re

import nbformat
import pytest

from auditbook.run.chapters import read_chapter
from auditbook.run.contents import chapter_names
from auditbook.run.editions import (
    ANSWERS,
    EDITIONS,
    SOLUTION,
    WITHHELD,
    strip_answers,
    strip_notebook,
    write_sources,
)
from auditbook.run.pages import list_sources

STUB = "stub"
LONG = 25
"""A line of a solution that is as long as this stands nowhere else by chance."""


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """All chapters as notebooks, every cell of code with an output that tells which it is."""
    folder = tmp_path_factory.mktemp("notebooks")
    for name in chapter_names():
        notebook = read_chapter(name)
        for place, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                cell["outputs"] = [nbformat.v4.new_output("stream", text=f"output {name} {place}\n")]
        nbformat.write(notebook, folder / f"{name}.ipynb")
    return folder


@pytest.fixture(scope="module")
def student(executed, tmp_path_factory):
    return write_sources("student", executed, tmp_path_factory.mktemp("student"))


def solutions(executed, root):
    """Give every line of a marked solution, and every output of one, long enough to be known again."""
    lines = []
    for path in sorted((root / "book").glob("*.md")):
        lines += [
            line for found in ANSWERS.finditer(path.read_text("utf-8")) for line in found[0].splitlines()
        ]
    for path in sorted(executed.glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                lines += [line for found in ANSWERS.finditer(source) for line in found[0].splitlines()]
            elif SOLUTION in cell["metadata"].get("tags", []):
                lines += source.splitlines()
                lines += ["".join(output["text"]).strip() + '\\n"' for output in cell["outputs"]]
    return {line.strip() for line in lines if len(line.strip()) >= LONG or line.startswith("output ")}


def test_no_line_of_a_solution_is_left_anywhere(executed, student, root, tmp_path):
    told = "\n".join(
        path.read_text(encoding="utf-8") for _, path in list_sources(student) if path.suffix != ".png"
    )
    whole = "\n".join(
        path.read_text(encoding="utf-8")
        for _, path in list_sources(write_sources("instructor", executed, tmp_path))
        if path.suffix != ".png"
    )
    looked_for = {
        json.dumps(line, ensure_ascii=False)[1:-1] if '"' in line else line
        for line in solutions(executed, root)
    }
    looked_for = {line for line in looked_for if line in whole}
    assert len(looked_for) > 250
    elsewhere = strip_exercises(whole)
    assert sorted(line for line in looked_for if line in told and line not in elsewhere) == []


def strip_exercises(text):
    return re.sub(r"## Exercises.*?(?=## Quiz|\Z)", "", text, flags=re.S)


def test_every_exercise_in_code_has_a_hint_a_cell_to_write_at_and_a_marked_solution(executed, student):
    for path in sorted(student.notebooks.glob("*.ipynb")):
        before = json.loads((executed / path.name).read_text(encoding="utf-8"))["cells"]
        after = json.loads(path.read_text(encoding="utf-8"))["cells"]
        kinds = [set(cell["metadata"].get("tags", [])) & {STUB, SOLUTION} for cell in before]
        told = "".join("".join(cell["source"]) for cell in before)
        exercises = len(re.findall(r"^\*\*\d\. In code\.\*\*", told, re.M))
        assert kinds.count({STUB}) == kinds.count({SOLUTION}) == exercises, path.name
        assert told.count("{admonition} Hint") == exercises, path.name
        assert all(kinds[place - 1] == {STUB} for place, kind in enumerate(kinds) if kind == {SOLUTION})
        kept = [cell for cell, kind in zip(before, kinds, strict=True) if kind != {SOLUTION}]
        assert [cell for cell in after if cell["cell_type"] == "code"] == [
            cell for cell in kept if cell["cell_type"] == "code"
        ]


def test_quizzes_stay_and_instructors_pages_go(student, executed):
    told = "".join(path.read_text(encoding="utf-8") for path in sorted(student.book.glob("quiz-*.md")))
    assert told.count(":class: quiz\n") > 20
    assert "{admonition} Answers" in told


@pytest.mark.parametrize("edition", EDITIONS)
def test_each_edition_holds_its_pages_and_no_other(executed, tmp_path, edition, root):
    sources = write_sources(edition, executed, tmp_path / "sources")
    listed = set(re.findall(r"file: (\S+)", sources.contents.read_text(encoding="utf-8")))
    assert listed == set(re.findall(r"file: (\S+)", (root / "_toc.yml").read_text("utf-8"))) - set(
        WITHHELD[edition]
    )
    held = {place for place, _ in list_sources(sources)}
    assert not {f"{page}.md" for page in WITHHELD[edition]} & held
    assert {f"{page}.md" for page in listed if page.startswith("book/")} <= held
    told = "".join(path.read_text("utf-8") for place, path in list_sources(sources) if place.endswith(".md"))
    assert ("For instructors only" in told) == (edition == "instructor")


def test_an_answer_ends_where_its_block_ends():
    text = "Q?\n\n````{admonition} Solution\n:class: dropdown\n\n```\ncode\n```\n````\n\n"
    text += "After ```{admonition} Note\n"
    assert strip_answers(text) == "Q?\n\n\nAfter ```{admonition} Note\n"
    note = "```{admonition} Answers\n:class: dropdown\n\n1. So.\n```\n"
    assert strip_answers(note) == note


def test_a_notebook_keeps_all_else():
    cell = {"cell_type": "code", "source": "1", "metadata": {"tags": ["hide-input"]}, "outputs": []}
    book = {"cells": [cell], "metadata": {"kernelspec": {}}, "nbformat": 4}
    assert strip_notebook(book) == book
