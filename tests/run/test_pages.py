"""Pages are built when something that they show has changed, and not otherwise."""

import json
import os
import subprocess

import pytest

from auditbook.errors import RunError
from auditbook.run import pages
from auditbook.run.editions import write_sources
from auditbook.run.runner import choose_first
from auditbook.surroundings import CHILDREN, PYTHON


@pytest.fixture
def built(monkeypatch):
    """What was built, in place of Sphinx."""
    calls = []

    def build(stage):
        (stage / pages.INDEX).parent.mkdir(parents=True, exist_ok=True)
        (stage / pages.INDEX).write_text(f"build {len(calls)}", encoding="utf-8")
        calls.append((stage / "notebooks" / "metrics.ipynb").read_text(encoding="utf-8"))

    monkeypatch.setattr(pages, "_build_html", build)
    return calls


def write_chapter(folder, output):
    folder.mkdir(exist_ok=True)
    cell = {"cell_type": "code", "source": "1", "metadata": {}, "outputs": [output]}
    (folder / "metrics.ipynb").write_text(json.dumps({"cells": [cell]}), encoding="utf-8")


def make(tmp_path, **how):
    sources = write_sources("reader", tmp_path / "notebooks", tmp_path / "sources")
    pages.build_pages(sources, tmp_path / "pages", tmp_path / "html", **how)
    return (tmp_path / "html" / "index.html").read_text(encoding="utf-8")


def test_unchanged_chapters_keep_their_pages_and_a_changed_one_does_not(built, tmp_path):
    write_chapter(tmp_path / "notebooks", "1")
    assert [make(tmp_path), make(tmp_path)] == ["build 0", "build 0"]
    write_chapter(tmp_path / "notebooks", "2")
    assert make(tmp_path) == "build 1"
    assert ["1" in built[0], '"2"' in built[1]] == [True, True]


def test_the_book_opens_at_the_page_that_is_asked_for_and_else_at_that_of_its_contents(built, tmp_path):
    write_chapter(tmp_path / "notebooks", "1")
    page = make(tmp_path, first="notebooks/audit-report")
    assert 'content="0; url=notebooks/audit-report.html"' in page
    assert '<a href="notebooks/audit-report.html">' in page
    assert make(tmp_path) == "build 0"


def test_a_users_book_opens_at_the_report_and_that_of_the_shipped_twin_at_the_preface(tmp_path, root):
    assert choose_first(tmp_path / "mine.toml") == "notebooks/audit-report"
    assert choose_first(root / "data" / "cohorts" / "texas-twin.toml") == ""
    assert choose_first(root / "data" / "cohorts" / ".." / "cohorts" / "texas-twin.toml") == ""


def test_pages_are_built_anew_when_asked_to_and_when_they_are_gone(built, tmp_path):
    write_chapter(tmp_path / "notebooks", "1")
    make(tmp_path)
    assert make(tmp_path, force=True) == "build 1"
    (tmp_path / "pages" / "stage" / pages.INDEX).unlink()
    assert make(tmp_path) == "build 2"


def test_a_build_that_fails_leaves_nothing_to_go_on_from(built, tmp_path, monkeypatch):
    write_chapter(tmp_path / "notebooks", "1")
    make(tmp_path)
    write_chapter(tmp_path / "notebooks", "2")
    build = pages._build_html
    monkeypatch.setattr(pages, "_build_html", lambda stage: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make(tmp_path)
    write_chapter(tmp_path / "notebooks", "1")
    monkeypatch.setattr(pages, "_build_html", build)
    assert make(tmp_path) == "build 1"


def test_pages_are_built_without_the_working_folder_and_in_one_encoding(tmp_path, monkeypatch):
    called = []

    def fail(call, **how):
        called.append((call, {name: os.environ.get(name) for name in CHILDREN}))
        return subprocess.CompletedProcess(call, 1, stdout="", stderr="ERROR: stopped")

    monkeypatch.setattr("subprocess.run", fail)
    with pytest.raises(RunError, match="stopped"):
        pages._build_html(tmp_path)
    ((call, told),) = called
    assert tuple(call[: len(PYTHON)]) == PYTHON
    assert told == CHILDREN
