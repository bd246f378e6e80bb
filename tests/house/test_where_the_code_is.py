"""The page that says where the code of each statistic is: its names exist, and no statistic is missing."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Mapping

import pytest

import auditbook
from auditbook.project import project_file
from auditbook.run.contents import chapter_names

ROOMS = "evidence cohort verdicts scoring ranking pockets mitigation run book studies".split()
PAGE = project_file("book", "where-the-code-is.md").read_text(encoding="utf-8")
FORMULAS, PROCEDURES = PAGE.split("## Rules, draws and whole procedures")
NAME = re.compile(r"`(auditbook(?:\.\w+)+)`")
MATH = (".. math::", ":math:`")


def names_in(text):
    """List the names in the column of code."""
    return [name for line in text.splitlines() if line.startswith("| ") for name in NAME.findall(line)]


def find(name):
    module, _, inner = name.rpartition(".")
    return getattr(importlib.import_module(module), inner)


def has_definition(found):
    """Whether a formula stands in the docstring, or in each entry of a catalogue."""
    if isinstance(found, Mapping):
        return all(entry.formula for entry in found.values())
    return any(mark in (found.__doc__ or "") for mark in MATH)


def list_functions():
    """List the public functions of the rooms that compute, by full name."""
    left_out = ("auditbook.book", "auditbook.studies", "auditbook.run", "auditbook.cohort")
    for info in pkgutil.walk_packages(auditbook.__path__, "auditbook."):
        if info.ispkg or info.name.startswith(left_out) or info.name.count(".") < 2:
            continue
        module = importlib.import_module(info.name)
        for name, found in inspect.getmembers(module, inspect.isfunction):
            if found.__module__ == info.name and not name.startswith("_"):
                yield f"{info.name}.{name}", found


@pytest.mark.parametrize("name", names_in(PAGE))
def test_what_the_page_names_stands_in_that_module_and_says_what_it_is(name):
    found = find(name)
    if not isinstance(found, Mapping):
        assert found.__doc__
        assert f"{found.__module__}.{found.__name__}" == name


@pytest.mark.parametrize("name", names_in(FORMULAS))
def test_a_statistic_of_the_page_has_its_formula_in_the_code(name):
    assert has_definition(find(name))


def test_every_statistic_with_a_formula_and_a_source_is_on_the_page():
    due = {name for name, found in list_functions() if "References\n" in (found.__doc__ or "")}
    with_formula = {name for name in due if has_definition(find(name))}
    assert with_formula - set(names_in(PAGE)) == set()


@pytest.mark.parametrize("room", ROOMS)
def test_every_statistic_with_a_source_at_a_door_is_on_the_page(room):
    door = importlib.import_module(f"auditbook.{room}")
    at_door = [found for _, found in inspect.getmembers(door, inspect.isfunction)]
    due = {
        f"{found.__module__}.{found.__name__}" for found in at_door if "References\n" in (found.__doc__ or "")
    }
    assert due - set(names_in(PAGE)) == set()


def test_no_line_names_a_function_twice():
    names = names_in(PAGE)
    assert len(names) == len(set(names))


def names_in_chapter(name):
    text = project_file("notebooks", f"{name}.md").read_text(encoding="utf-8")
    return [found for line in text.splitlines() if "Code: `" in line for found in NAME.findall(line)]


@pytest.mark.parametrize("chapter", chapter_names())
def test_what_a_chapter_says_of_its_code_is_true(chapter):
    for name in names_in_chapter(chapter):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            assert find(name) is not None


@pytest.mark.parametrize("line", [line for line in FORMULAS.splitlines() if "{doc}" in line])
def test_a_chapter_of_the_line_says_where_its_code_is(line):
    """By the function itself, or by another of the same module."""
    chapters = re.findall(r"notebooks/([\w-]+)`", line)
    told = {name for chapter in chapters for name in names_in_chapter(chapter)}
    modules = {name.rpartition(".")[0] for name in NAME.findall(line)}
    assert modules & (told | {name.rpartition(".")[0] for name in told})
