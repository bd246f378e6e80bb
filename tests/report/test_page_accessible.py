"""The report on a screen: readable by everybody, at any width, light and dark."""

from pathlib import Path

import pytest

from auditbook.report import build_report, make_fragment, make_page
from axe import WIDTHS, list_violations, measure_overflow, open_at
from browser import inspect_page, open_browser

BOOK = """<!doctype html><html lang="en" data-theme="{theme}"><head><title>Book</title>
<style>body {{ background: {paper}; color: {ink} }}</style></head>
<body><main><h1>The report</h1>{fragment}</main></body></html>"""
PAPER = {"light": ("#ffffff", "#222222"), "dark": ("#14181e", "#ced6dd")}


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(runs, tmp_path_factory) -> dict[str, Path]:
    """Two reports, and one of them inside a page of another style, light and dark."""
    folder = tmp_path_factory.mktemp("pages")
    reports = {kind: build_report(runs[kind]) for kind in ("decisions", "three_sites")}
    texts = {kind: make_page(report) for kind, report in reports.items()}
    for theme, (paper, ink) in PAPER.items():
        fragment = make_fragment(reports["decisions"])
        texts[theme] = BOOK.format(theme=theme, paper=paper, ink=ink, fragment=fragment)
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in texts}


@pytest.mark.parametrize(("width", "dark"), [(360, False), (1440, True)])
def test_a_report_breaks_no_rule_of_access(browser, pages, width, dark):
    assert list_violations(browser, pages["decisions"], width=width, dark=dark) == []
    assert measure_overflow(browser) <= 0


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_of_two_models_breaks_no_rule_of_access(browser, pages, width, dark):
    assert list_violations(browser, pages["three_sites"], width=width, dark=dark) == []
    assert measure_overflow(browser) <= 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_fragment_is_read_in_a_page_of_another_style(browser, pages, theme):
    assert list_violations(browser, pages[theme], width=768) == []


def test_a_report_asks_for_nothing_and_complains_of_nothing(browser, pages):
    faults = inspect_page(browser, pages["decisions"])
    assert (faults.console, faults.requests, faults.images, faults.links) == ([], [], [], [])


def test_folded_tables_are_printed_open(browser, pages):
    open_at(browser, pages["three_sites"], width=1440)
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = false")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    heights = browser.execute_script(
        "const tables = document.querySelectorAll('.ab-part:not(.ab-more) details table');"
        "return [...tables].map(t => t.offsetHeight)"
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(heights) > 3
    assert min(heights) > 50


def test_prose_is_no_wider_than_the_eye_can_follow(browser, pages):
    open_at(browser, pages["decisions"], width=1440)
    widest = browser.execute_script(
        "return Math.max(...[...document.querySelectorAll('.ab-block p, .ab-said p, .ab-texts p, .ab-large')]"
        ".map(p => p.getBoundingClientRect().width / parseFloat(getComputedStyle(p).fontSize)))"
    )
    assert widest / 0.5 < 90  # letters, of half an em each
