"""Whole runs of the book: executed, re-executed, built, and opened in a browser."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from auditbook.book import open_run, opening
from auditbook.results import read_run
from auditbook.run.chapters import declared_parameters, execute_chapters, read_chapter
from auditbook.run.contents import chapter_names
from auditbook.run.kernels import copied_kernel

pytestmark = pytest.mark.book

ROOT = Path(__file__).resolve().parents[2]
TWIN = ROOT / "data" / "cohorts" / "texas-twin.toml"
SPARCS = ROOT / "data" / "cohorts" / "sparcs-heart-failure.toml"
REFERENCE = ROOT / "tests" / "reference" / "texas-twin-quick.csv"
TWICE = ("audit-report", "metrics", "pockets-care")
"""Chapters that are executed again on the smallest book; on the others, all are."""
TOLD = ("metrics", "what-is-shown", "auc-fairness")
"""Chapters with a model to which scores that tell nothing leave least; the slow tests execute all of them."""

EACH_KIND = ("book/preface", "book/glossary", "notebooks/what-is-shown", "notebooks/auc-matrix", "search")
"""Pages by hand, with many tables, with figures and formulas, and of the theme's own."""


def auditbook(*arguments, code=0):
    call = [sys.executable, "-m", "auditbook.cli", *map(str, arguments)]
    ended = subprocess.run(call, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr[-4000:]
    return ended


FEW_MODELS = {"models": ["logistic", "lightgbm"], "lean": ["logistic"]}
"""What the smallest book's panel is cut down to; `twin_run` trains the whole one."""


@pytest.fixture(scope="module")
def small_twin(tmp_path_factory):
    """The default cohort's file with models that are trained at once."""
    text = TWIN.read_text(encoding="utf-8")
    for key, models in FEW_MODELS.items():
        text, n_changed = re.subn(
            rf"^{key} = \[.*?\]", f"{key} = {json.dumps(models)}", text, flags=re.M | re.S
        )
        assert n_changed == 1
    path = tmp_path_factory.mktemp("cohort") / TWIN.name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def smoke_run(small_twin, tmp_path_factory):
    """The default cohort's book with the least work."""
    folder = tmp_path_factory.mktemp("runs") / "smoke"
    auditbook("run", small_twin, "--profile", "smoke", "--run-dir", folder)
    return folder


@pytest.fixture(scope="module")
def twin_run(tmp_path_factory):
    """The default cohort's book, quick profile."""
    folder = tmp_path_factory.mktemp("runs") / "twin"
    auditbook("run", TWIN, "--profile", "quick", "--run-dir", folder)
    return folder


@pytest.fixture(scope="module")
def sparcs_run(tmp_path_factory, shared_dir):
    """The book on New York heart-failure stays, quick profile."""
    folder = tmp_path_factory.mktemp("runs") / "sparcs"
    data = shared_dir / "cohorts" / "sparcs_hf_2024.parquet"
    auditbook("run", SPARCS, "--data", data, "--profile", "quick", "--run-dir", folder)
    return folder


@pytest.fixture(
    params=["smoke_run", *(pytest.param(name, marks=pytest.mark.slow) for name in ("twin_run", "sparcs_run"))]
)
def book(request):
    """Each book in turn."""
    return request.getfixturevalue(request.param)


def test_every_chapter_was_executed_without_an_error_or_a_warning(book):
    for name in chapter_names():
        notebook = nbformat.read(book / "notebooks" / f"{name}.ipynb", as_version=4)
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                assert output.output_type != "error"
                assert output.get("name") != "stderr", f"{name}: {output.get('text')}"


def test_the_executed_chapters_give_equal_outputs_when_executed_again(book):
    names = TWICE if book.name == "smoke" else chapter_names()
    notebooks = [str(book / "notebooks" / f"{name}.ipynb") for name in names]
    call = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-q", "-p", "no:cacheprovider"]
    call += ["-n", "2", "--dist", "loadfile"]
    call += ["-c", os.devnull, "--rootdir", str(book), *notebooks]
    with copied_kernel(names):
        ended = subprocess.run(call, capture_output=True, text=True, check=False, cwd=book)
    assert ended.returncode == 0, ended.stdout[-6000:]
    assert " passed" in ended.stdout


def test_the_pages_have_no_fault_that_a_reader_would_meet(book):
    from browser import inspect_page, open_browser

    pages = sorted((book / "html").rglob("*.html"))
    assert len(pages) > len(chapter_names())
    with open_browser() as browser:
        for page in pages:
            faults = inspect_page(browser, page)
            found = {name: value for name, value in vars(faults).items() if value}
            assert found == {}, f"{page.relative_to(book)}: {found}"


def test_a_quiz_marks_itself_by_keyboard_and_keeps_its_score(smoke_run):
    from selenium.webdriver.common.keys import Keys

    from browser import open_browser

    page = (smoke_run / "html" / "notebooks" / "tiers.html").resolve().as_uri()
    with open_browser() as browser:
        browser.get(page)
        quiz, others = (
            browser.find_element("css selector", ".quiz"),
            browser.find_elements("css selector", ".quiz"),
        )
        options = quiz.find_elements("css selector", "input")
        right = [mark.text for mark in quiz.find_elements("css selector", ".quiz-mark")]
        assert right == [""] * 4
        options[0].send_keys(Keys.SPACE)
        for _ in range(4):
            quiz.find_element("css selector", "button").send_keys(Keys.ENTER)
            said = quiz.find_element("css selector", "[role=status]").text
            if said.startswith("Right."):
                break
            quiz.find_element("css selector", "input:checked").send_keys(Keys.ARROW_DOWN)
        assert said.startswith("Right. See ")
        assert all(mark.text for mark in quiz.find_elements("css selector", ".quiz-mark"))
        browser.get(page)
        score = browser.find_element("css selector", ".quiz-score").text
        assert score == f"1 of {len(others)} right on this page; kept in this browser only."


@pytest.mark.slow
def test_no_page_breaks_wcag_or_scrolls_sideways_on_a_phone(smoke_run):
    assert (
        list_broken(smoke_run, sorted((smoke_run / "html").rglob("*.html")), width=360, theme="light") == {}
    )


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_pages_of_each_kind_hold_wcag_at_every_width_and_in_both_themes(smoke_run, width, theme):
    pages = [smoke_run / "html" / f"{name}.html" for name in EACH_KIND]
    assert list_broken(smoke_run, pages, width=width, theme=theme) == {}


def list_broken(run, pages, **how):
    """List what is wrong with each page, in one browser."""
    from browser import list_violations, open_browser

    with open_browser() as browser:
        found = {page.relative_to(run).as_posix(): list_violations(browser, page, **how) for page in pages}
    return {page: faults for page, faults in found.items() if faults}


def test_the_book_opens_at_its_first_page_and_holds_every_chapter(book):
    assert (book / "html" / "index.html").is_file()
    for name in chapter_names():
        assert (book / "html" / "notebooks" / f"{name}.html").is_file()


def test_the_page_does_not_show_where_the_run_lies(book):
    for page in (book / "html").rglob("*.html"):
        assert str(book) not in page.read_text(encoding="utf-8")


def test_the_run_says_what_it_read_and_did(book):
    info = json.loads((book / "run.json").read_text(encoding="utf-8"))
    assert info["rows_read"] == info["rows_kept"] + sum(part["rows"] for part in info["left_out"])
    steps = {step["step"]: step["status"] for step in info["steps"]}
    steps = {name: status for name, status in steps.items() if not name.startswith("worked ")}
    expected = {"cohort", "scores", "verdicts", "baselines", "robustness", "pockets", "report", "pages"} | {
        f"chapter {name}" for name in chapter_names()
    }
    assert set(steps) == expected
    assert info["profile"]["name"] == ("smoke" if book.name == "smoke" else "quick")


def test_a_second_call_redoes_nothing(small_twin, smoke_run):
    before = {path: path.stat().st_mtime_ns for path in (smoke_run / "results").iterdir()}
    said = auditbook("run", small_twin, "--profile", "smoke", "--run-dir", smoke_run).stderr
    assert "nothing has changed" in said
    assert "chapter:" not in said
    assert before.keys() == {path for path in (smoke_run / "results").iterdir()}


@pytest.mark.slow
def test_the_default_cohort_gives_the_stored_values(twin_run):
    """Tolerances: models are refitted, so that counts may move by a few records with another processor."""
    stored = pd.read_csv(REFERENCE, comment="#").set_index(["model", "metric", "attribute"])
    found = read_run(twin_run).verdicts.set_index(["model", "metric", "attribute"]).loc[stored.index]
    assert (found["estimate"] - stored["estimate"]).abs().max() <= 0.02
    assert (found["vfr"] - stored["vfr"]).abs().max() <= 0.10
    clear = (stored["margin"] > 2) & stored["verdict"].isin(["pass", "fail"])
    assert clear.sum() >= 10
    assert (found["verdict"] == stored["verdict"])[clear].all()
    assert (found["tier"] == stored["tier"].fillna(""))[clear].mean() >= 0.9


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_whatever_the_number_of_cores(sparcs_run, tmp_path, shared_dir):
    data = shared_dir / "cohorts" / "sparcs_hf_2024.parquet"
    auditbook(
        "audit", SPARCS, "--data", data, "--profile", "quick", "--run-dir", tmp_path / "again", "--jobs", "1"
    )
    for path in sorted((sparcs_run / "results").iterdir()):
        assert (tmp_path / "again" / "results" / path.name).read_bytes() == path.read_bytes(), path.name


BLANK = """\
name = "blank"
data.path = "blank.csv"
[outcome]
column = "event"
event = 1
[attributes.group]
column = "group"
[scores.equal]
column = "equal"
kind = "probability"
[scores.nobody]
column = "nobody"
kind = "decision"
[scores.everybody]
column = "everybody"
kind = "decision"
"""


@pytest.fixture(scope="module")
def blank_run(tmp_path_factory):
    """An audit of scores that tell nothing: all equal, nobody selected, everybody selected."""
    folder = tmp_path_factory.mktemp("blank")
    table = pd.DataFrame({"event": [0, 1, 0, 0] * 50, "group": ["a", "b"] * 100})
    table.assign(equal=0.3, nobody=0, everybody=1).to_csv(folder / "blank.csv", index=False)
    (folder / "blank.toml").write_text(BLANK, encoding="utf-8")
    auditbook("audit", folder / "blank.toml", "--run-dir", folder / "run", "--profile", "smoke")
    return folder / "run"


NONE = "no record is selected, so PPV is undefined"


@pytest.mark.parametrize(
    ("model", "said", "some"),
    [
        ("equal", NONE, TOLD),
        pytest.param("equal", NONE, (), marks=pytest.mark.slow),
        pytest.param("nobody", NONE, (), marks=pytest.mark.slow),
        pytest.param("everybody", "every record is selected", (), marks=pytest.mark.slow),
    ],
    ids=["equal, some", "equal", "nobody", "everybody"],
)
def test_chapters_run_on_scores_that_tell_nothing_and_say_so(blank_run, model, said, some, tmp_path):
    names = [name for name in chapter_names() if "model" in declared_parameters(read_chapter(name), name)]
    assert set(some) <= set(names)
    names = list(some) or names
    assert "metrics" in names
    execute_chapters(names, {"run_dir": str(blank_run), "model": model}, tmp_path, jobs=2)
    for name in names:
        text = (tmp_path / f"{name}.ipynb").read_text(encoding="utf-8")
        outputs = [out for cell in nbformat.reads(text, 4).cells for out in cell.get("outputs", [])]
        assert not [out for out in outputs if out.get("name") == "stderr"]
        assert name != "metrics" or said in text


def test_a_notebook_opened_as_it_is_runs_on_the_default_cohort(smoke_run, tmp_path, monkeypatch):
    """The blank parameter opens the default run; here that run is the one made above."""
    monkeypatch.setattr(opening, "runs_folder", lambda: smoke_run.parent)
    (smoke_run.parent / "texas-twin").symlink_to(smoke_run)
    assert open_run("").info["name"] == "texas-twin"
