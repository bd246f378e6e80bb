"""Open pages of a built book in headless Chromium and report what a reader would stumble over."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = """
--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-dev-shm-usage
--disable-background-networking --disable-component-update --disable-sync --window-size=1280,1600
"""
LOCAL = ("file:", "data:", "blob:", "about:", "chrome:", "devtools:")

MATHS_DONE = """
return !document.querySelector('.math')
    || (window.MathJax && MathJax.startup && document.querySelectorAll('mjx-container').length > 0)
"""
MISSING_IMAGES = """
return [...document.images].filter(i => !(i.complete && i.naturalWidth > 0)).map(i => i.src.slice(0, 200))
"""
NAMELESS_IMAGES = """
return [...document.querySelectorAll('article img')]
    .filter(i => !i.alt.trim() || /_build|\\.png$/.test(i.alt))
    .map(i => i.src.slice(-80))
"""
MATHS_FAULTS = """
const raw = [...document.querySelectorAll('.math')].filter(m => !m.querySelector('mjx-container'));
const bad = [...document.querySelectorAll('mjx-merror, [data-mjx-error]')];
return raw.concat(bad).map(m => m.textContent.slice(0, 80))
"""
BROKEN_LINKS = """
return [...document.querySelectorAll('article a[href^="#"]')].filter(a => a.hash.length > 1
    && !document.getElementById(decodeURIComponent(a.hash.slice(1)))).map(a => a.hash)
"""
AXE_DONE = """
const done = arguments[arguments.length - 1];
const tags = {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']};
const where = node => `${node.target.join(' ')} ${node.html.slice(0, 120)}`;
const words = rule => rule.nodes.map(node => `${rule.id}: ${where(node)}`);
axe.run({exclude: [['mjx-container svg']]}, {runOnly: tags, resultTypes: ['violations']})
    .then(found => done(found.violations.flatMap(words)), fault => done([String(fault)]));
"""
"""The paths of a formula's picture are left out: they hold no text, and are thousands."""
SIDEWAYS = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT_FORMULAS = """
return [...document.querySelectorAll('article .math')].filter(formula =>
    [formula, ...formula.querySelectorAll('mjx-container')].some(part =>
        part.scrollWidth > part.clientWidth + 2 && part.clientWidth > 1
        && ['hidden', 'clip'].includes(getComputedStyle(part).overflowX)))
    .map(formula => formula.textContent.slice(0, 80))
"""


@dataclass(frozen=True)
class Faults:
    """What is wrong with one page; every list is empty on a good one."""

    console: list[str]
    requests: list[str]
    images: list[str]
    nameless: list[str]
    maths: list[str]
    links: list[str]


@contextmanager
def open_browser() -> Iterator[webdriver.Chrome]:
    """Start headless Chromium with its console and network written down."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed (make test installs them on Debian)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()


def inspect_page(browser: webdriver.Chrome, page: Path) -> Faults:
    """Open one page from disk and list its faults.

    Parameters
    ----------
    browser : webdriver
        From `open_browser`.
    page : Path
        An HTML file.

    Returns
    -------
    Faults
        Console errors, requests that leave the machine, missing images, images without alternative text,
        formulas that were not set, links to nowhere within the page.
    """
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(page.resolve().as_uri())
    WebDriverWait(browser, 30).until(lambda b: b.execute_script(MATHS_DONE))
    return Faults(
        console=[line["message"] for line in browser.get_log("browser") if line["level"] == "SEVERE"],
        requests=[url for url in _requested(browser) if not url.startswith(LOCAL)],
        images=browser.execute_script(MISSING_IMAGES),
        nameless=browser.execute_script(NAMELESS_IMAGES),
        maths=browser.execute_script(MATHS_FAULTS),
        links=browser.execute_script(BROKEN_LINKS),
    )


def list_violations(browser: webdriver.Chrome, page: Path, *, width: int, theme: str) -> list[str]:
    """List what of a page breaks WCAG 2.1 AA, scrolls sideways or is cut, at a width and in a theme."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 576}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wish = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wish})
    browser.get(page.resolve().as_uri())
    WebDriverWait(browser, 60).until(lambda b: b.execute_script(MATHS_DONE))
    browser.set_script_timeout(120)
    browser.execute_script((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = list(browser.execute_async_script(AXE_DONE))
    over = browser.execute_script(SIDEWAYS)
    found += [f"wider than the screen by {over} pixels"] if over > 0 else []
    return found + [f"cut: {formula}" for formula in browser.execute_script(CUT_FORMULAS)]


def _requested(browser: webdriver.Chrome) -> list[str]:
    events = [json.loads(line["message"])["message"] for line in browser.get_log("performance")]
    sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
    return [event["params"]["request"]["url"] for event in sent]
