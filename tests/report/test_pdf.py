"""The report on paper: one page to act on, nothing cut, nothing of the machine."""

import os
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pypdfium2
import pytest
from pypdf import PdfReader

from auditbook.errors import RunError
from auditbook.report import build_report, make_page, pdf, write_report, writing
from auditbook.report.content import Report, Statement
from auditbook.report.pdf import MOST_PAGES, find_chromium, make_pdf, print_by_chromium, print_by_weasyprint

SIZES = {"A4": (595.3, 841.9), "Letter": (612.0, 792.0)}
MARGIN = 30
"""Points beside which nothing stands; the margin is 34."""
LONG = (
    "American Indian or Alaska Native, alone or in combination with one or more others <b>&amp;</b>",
    "\u0645\u0631\u064a\u0636 \u0645\u0646 \u0642\u0633\u0645 \u0627\u0644\u0637\u0648\u0627\u0631\u0626",
    "Unbreakable" * 8,
    "Béla's Ångström & Co",
)


@dataclass(frozen=True)
class Printed:
    """A PDF as it is read: words without white space, pages, and where letters stand."""

    path: Path

    @property
    def words(self) -> list[str]:
        return [strip(page.get_textpage().get_text_range()) for page in pypdfium2.PdfDocument(self.path)]

    @property
    def all(self) -> str:
        return "".join(self.words)

    def list_outside(self) -> list[str]:
        """List letters that lie outside the margins of their page."""
        found = []
        for page in pypdfium2.PdfDocument(self.path):
            width, _ = page.get_size()
            text = page.get_textpage()
            boxes = ((text.get_charbox(i), text.get_text_range(i, 1)) for i in range(text.count_chars()))
            found += [sign for (left, _, right, _), sign in boxes if left < MARGIN or right > width - MARGIN]
        return [sign for sign in found if sign.strip()]


def strip(text: str) -> str:
    """Leave out white space and hyphens, at which a line may have been broken."""
    return re.sub(r"[\s\u00ad\ufffe\u2010\u0002-]+", "", text)


def list_statements(report: Report) -> list[str]:
    told = [report.head.left_out, report.head.population, *report.comparison]
    for page in report.pages:
        told += [page.answer, page.further, page.pockets_said, page.late, page.accuracy]
        told += [*page.without_error, *page.unjudged, *page.repair, *page.unknown]
        told += [one.statement for one in (*page.findings, *page.marks, *page.pockets)]
    told += [said for section in report.annex for said in section.statements]
    return [said.text for said in told if said is not None and said.text]


def check(printed: Printed, report: Report, paper: str) -> None:
    """Check what holds of every report on paper."""
    reader = PdfReader(printed.path)
    assert all(
        (float(page.mediabox.width), float(page.mediabox.height)) == pytest.approx(SIZES[paper], abs=1)
        for page in reader.pages
    )
    words = printed.words
    for place, page in enumerate(report.pages):
        assert strip(f"Decision on {page.model}") in words[place]
    if len(report.pages) == 1:
        assert len(words) <= MOST_PAGES
    assert [text for text in list_statements(report) if strip(text) not in printed.all] == []
    assert printed.list_outside() == []


@pytest.fixture(scope="module")
def reports(runs) -> dict[str, Report]:
    return {kind: build_report(runs[kind]) for kind in runs}


@pytest.fixture(scope="module")
def chromium() -> str:
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


def spoil(report: Report) -> Report:
    """Give groups and models long, foreign and hostile names, and much to say of each."""
    page = report.pages[0]
    unjudged = tuple(
        Statement(f"{name} (race): cannot be judged. " + "Much is lacking. " * 5) for name in LONG
    )
    marks = tuple(replace(one, attribute=f"{one.attribute} {i}") for i in range(9) for one in page.marks)
    calibration = tuple(replace(row, group=name) for name in LONG for row in page.calibration)
    changed = replace(page, model=LONG[0], unjudged=unjudged, marks=marks, calibration=calibration)
    return replace(report, pages=(changed,))


def test_a_report_on_paper_is_a_page_to_act_on_and_an_annex(reports, chromium, tmp_path):
    report = reports["two_groups"]
    make_pdf(report, tmp_path / "report.pdf")
    printed = Printed(tmp_path / "report.pdf")
    check(printed, report, "A4")
    raw = (tmp_path / "report.pdf").read_bytes()
    told = PdfReader(tmp_path / "report.pdf").metadata
    assert told == {"/Title": f"Fairness audit: {report.head.title}", "/Producer": "auditbook"}
    machine = {os.uname().nodename, str(tmp_path), str(Path.home()), "HeadlessChrome", "Linux", "file:"}
    assert [word for word in machine if len(word) > 4 and word.encode() in raw] == []
    assert not re.search(r"https?:|file:|/tmp/|/home/", printed.all)
    assert f"1/{len(printed.words)}" in printed.words[0]


@pytest.mark.parametrize("title", ["Béla (a) \u0645", "a title without room " * 40])
def test_of_what_a_browser_says_of_itself_a_title_is_left(title, chromium, tmp_path):
    target = tmp_path / "report.pdf"
    print_by_chromium("<title>a page</title><p>words</p>", target, chromium)
    assert b"HeadlessChrome" in target.read_bytes()
    pdf._clean(target, title)
    reader = PdfReader(target, strict=True)
    assert reader.metadata == {"/Title": title, "/Producer": "auditbook"}
    assert "words" in reader.pages[0].extract_text()
    assert b"HeadlessChrome" not in target.read_bytes()


def test_weasyprint_prints_the_same_words(reports, tmp_path):
    report = reports["two_groups"]
    print_by_weasyprint(make_page(report), tmp_path / "report.pdf")
    check(Printed(tmp_path / "report.pdf"), report, "A4")


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["two_groups", "nine_groups", "three_sites", "inconclusive", "decisions", "nan"]
)
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_every_kind_of_run_is_printed_on_either_paper(reports, chromium, tmp_path, kind, paper):
    make_pdf(reports[kind], tmp_path / "report.pdf", paper=paper)
    check(Printed(tmp_path / "report.pdf"), reports[kind], paper)


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_long_and_foreign_names_break_no_page(reports, chromium, tmp_path, paper):
    report = spoil(reports["two_groups"])
    make_pdf(report, tmp_path / "report.pdf", paper=paper)
    printed = Printed(tmp_path / "report.pdf")
    assert strip("Decision on American Indian") in printed.words[0]
    assert printed.list_outside() == []
    assert len(printed.words) <= MOST_PAGES
    assert strip(LONG[2]) in printed.all


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_one_model_with_nine_groups_is_eight_pages_at_most(reports, chromium, tmp_path, paper):
    report = reports["nine_groups"]
    alone = replace(report, pages=report.pages[:1], comparison=(), comparison_sheet=None)
    make_pdf(alone, tmp_path / "report.pdf", paper=paper)
    assert len(Printed(tmp_path / "report.pdf").words) <= MOST_PAGES


@pytest.mark.slow
def test_twelve_models_have_a_page_each(reports, chromium, tmp_path):
    report = reports["nine_groups"]
    models = tuple(replace(report.pages[i % 2], model=f"model {i:02d}") for i in range(12))
    make_pdf(replace(report, pages=models), tmp_path / "report.pdf")
    words = Printed(tmp_path / "report.pdf").words
    assert all(strip(f"Decision on model {i:02d}") in words[i] for i in range(12))


@pytest.mark.slow
def test_heads_of_a_table_stand_on_every_page_that_it_goes_on_to(reports, chromium, tmp_path):
    report = reports["nine_groups"]
    make_pdf(replace(report, pages=report.pages[:1]), tmp_path / "report.pdf")
    words = Printed(tmp_path / "report.pdf").words
    with_groups = [page for page in words if strip("Béla's Ångström & Co") in page][1:]
    assert all("Attribute" in page for page in with_groups if "Everygroup" in page)


@pytest.mark.slow
def test_the_same_report_is_the_same_file(reports, chromium, tmp_path):
    for name in ("one.pdf", "two.pdf"):
        make_pdf(reports["decisions"], tmp_path / name)
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


def test_a_browser_that_prints_nothing_is_named_with_its_last_words(tmp_path):
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\necho first >&2\necho no display here >&2\nexit 3\n", encoding="utf-8")
    browser.chmod(0o755)
    with pytest.raises(RunError, match=r"the browser did not print the report \(no display here\)"):
        print_by_chromium("<p>", tmp_path / "report.pdf", str(browser))
    assert not (tmp_path / "report.pdf").exists()


def test_a_browser_that_does_not_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(pdf, "PATIENCE", 0.2)
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\nsleep 60\n", encoding="utf-8")
    browser.chmod(0o755)
    with pytest.raises(RunError, match=r"it was ended after 0\.2 seconds"):
        print_by_chromium("<p>", tmp_path / "report.pdf", str(browser))


def test_where_the_browser_fails_weasyprint_prints(reports, tmp_path, monkeypatch):
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    browser.chmod(0o755)
    monkeypatch.setattr(pdf, "find_chromium", lambda: str(browser))
    make_pdf(reports["decisions"], tmp_path / "report.pdf", paper="Letter")
    check(Printed(tmp_path / "report.pdf"), reports["decisions"], "Letter")


def test_without_a_printer_the_page_is_written_and_it_is_said_what_is_lacking(
    run_folders, tmp_path, monkeypatch
):
    def refuse(html: str, target: Path) -> None:
        raise RunError(pdf.NO_PRINTER)

    folder = Path(shutil.copytree(run_folders["decisions"], tmp_path / "run"))
    (folder / "report").mkdir()
    (folder / "report" / "report.pdf").write_text("of before", encoding="utf-8")
    monkeypatch.setattr(pdf, "find_chromium", lambda: None)
    monkeypatch.setattr(pdf, "print_by_weasyprint", refuse)
    said = write_report(folder)
    assert said == pdf.NO_PRINTER
    assert sorted(path.name for path in (folder / "report").iterdir()) == ["index.html", "report.json"]
    assert sorted(path.name for path in folder.iterdir()) == ["report", "results", "run.json"]


def test_a_report_that_fails_leaves_that_of_before(run_folders, tmp_path, monkeypatch):
    def fail(report: Report, **options: object) -> str:
        raise ZeroDivisionError

    folder = Path(shutil.copytree(run_folders["decisions"], tmp_path / "run"))
    (folder / "report").mkdir()
    (folder / "report" / "index.html").write_text("of before", encoding="utf-8")
    monkeypatch.setattr(writing, "make_page", fail)
    with pytest.raises(ZeroDivisionError):
        write_report(folder)
    assert (folder / "report" / "index.html").read_text(encoding="utf-8") == "of before"
    assert sorted(path.name for path in folder.iterdir()) == ["report", "results", "run.json"]
