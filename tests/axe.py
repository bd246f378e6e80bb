"""Asks axe-core, the accessibility engine, what is wrong with a page at a width, light or dark."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from selenium import webdriver

WIDTHS = (360, 768, 1440)
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa")
RUN = """
const [rules, done] = arguments;
axe.run({runOnly: rules, resultTypes: ['violations']}).then(
    found => done(found.violations.map(one => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`)),
    wrong => done([String(wrong)])
)
"""

UNFOLD = """
const still = document.createElement('style');
still.textContent = '* { animation: none !important; transition: none !important }';
document.head.append(still);
for (const one of document.querySelectorAll('details')) one.open = true
"""
"""What unfolds fades in, and half faded in it has too little contrast."""


@cache
def read_axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def open_at(browser: webdriver.Chrome, page: Path, *, width: int, dark: bool = False) -> None:
    """Open a page at a width, in the colours that its reader prefers, with all that folds unfolded."""
    features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    metrics = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(page.resolve().as_uri())
    browser.execute_script(UNFOLD)


def list_violations(browser: webdriver.Chrome, page: Path, *, width: int, dark: bool = False) -> list[str]:
    """List what breaks WCAG 2.1 AA on a page: the rule, and the first element that breaks it."""
    open_at(browser, page, width=width, dark=dark)
    browser.execute_script(read_axe())
    browser.set_script_timeout(120)
    return browser.execute_async_script(RUN, list(RULES))


def measure_overflow(browser: webdriver.Chrome) -> int:
    """Measure by how many pixels the open page is wider than its window."""
    return browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
