"""What the widgets say is what the package computes: exact, by keyboard, without a network."""

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from auditbook.evidence import SHARE, Bounded, fleiss_kappa, gwet_ac1, mover_bounds, prepare, raw_agreement
from auditbook.evidence.limits import share_limits
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import find_metric, judge

STATIC = Path(__file__).resolve().parents[2] / "book" / "_static"
PAGE = """<!doctype html><html lang="en"><body><div data-widget="{name}"></div>
<script>{script}</script></body></html>"""
NAMES = ("flip", "threshold", "agreement", "judged")


@pytest.fixture(scope="module")
def browser():
    from browser import open_browser

    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def ask(browser, tmp_path_factory):
    open_widget(browser, "flip", tmp_path_factory.mktemp("widgets"))
    return lambda call: browser.execute_script(f"return auditbookWidgets.{call}")


def open_widget(browser, name, folder):
    page = folder / f"{name}.html"
    script = (STATIC / "widgets.js").read_text(encoding="utf-8")
    page.write_text(PAGE.format(name=name, script=script), encoding="utf-8")
    browser.get(page.as_uri())


def share(k, n):
    none = np.zeros(1)
    return Bounded(np.array([SHARE], np.int8), np.array([k / n]), n + none, none, np.full(1, np.inf))


def bound(high, low, n, other_n, alpha):
    z = np.array([stats.norm.isf(alpha)])
    found = mover_bounds(share(high, n), share(low, other_n), np.ones(1), np.zeros(1), z)
    return float(found[0][0]), float(found[1][0])


@pytest.mark.parametrize("alpha", [0.05, 0.005, 0.0014])
@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (1, 30), (29, 30), (120, 300), (3, 7)])
def test_limits_of_a_share(ask, k, n, alpha):
    found = ask(f"shareLimits({k}, {n}, {alpha})")
    low, high = share_limits(k / n, n, stats.norm.isf(alpha))
    assert (found["low"], found["high"]) == pytest.approx((float(low), float(high)), abs=1e-9)


def enumerate_audits(n, rates, threshold):
    """Go through all audits one by one, slowly."""
    chances = [stats.binom.pmf(range(n + 1), n, rate) for rate in rates]
    pairs = len(list(combinations(rates, 2)))
    found = dict.fromkeys(("fails", "shownFail", "shownPass"), 0.0)
    kept = {}
    for counts in product(range(n + 1), repeat=len(rates)):
        chance = float(np.prod([part[k] for part, k in zip(chances, counts, strict=True)]))
        low, high = min(counts), max(counts)
        if (low, high) not in kept:
            kept[low, high] = bound(high, low, n, n, 0.05 / pairs)[0], bound(high, low, n, n, 0.05)[1]
        fail, within = kept[low, high]
        found["fails"] += chance * ((high - low) / n > threshold + 1e-12)
        found["shownFail"] += chance * (fail > threshold)
        found["shownPass"] += chance * (within < threshold)
    return found


@pytest.mark.parametrize(
    ("n", "groups", "rate", "gap", "threshold"),
    [(12, 3, 0.8, 0.2, 0.1), (40, 2, 0.9, 0.4, 0.1), (10, 3, 0.95, 0.0, 0.25), (60, 2, 0.95, 0.0, 0.25)],
)
def test_chances_over_all_audits(ask, n, groups, rate, gap, threshold):
    found = ask(f"flip({{n: {n}, groups: {groups}, rate: {rate}, gap: {gap}, threshold: {threshold}}})")
    told = enumerate_audits(n, [rate - gap] + [rate] * (groups - 1), threshold)
    assert {name: found[name] for name in told} == pytest.approx(told, abs=1e-9)
    assert found["flipRate"] == pytest.approx(min(told["fails"], 1 - told["fails"]), abs=1e-9)
    assert found["open"] == pytest.approx(1 - told["shownFail"] - told["shownPass"], abs=1e-9)


def test_a_small_group_beside_a_large_one(ask):
    found = ask("judgeGroup({events: 15, others: 60, rate: 0.9, gap: 0.4, threshold: 0.1})")
    told = dict.fromkeys(("shownFail", "shownPass"), 0.0)
    for k, j in product(range(16), range(61)):
        chance = stats.binom.pmf(k, 15, 0.5) * stats.binom.pmf(j, 60, 0.9)
        sides = (j, k, 60, 15) if j / 60 > k / 15 else (k, j, 15, 60)
        told["shownFail"] += chance * (bound(*sides, 0.05)[0] > 0.1)
        told["shownPass"] += chance * (bound(*sides, 0.05)[1] < 0.1)
    assert told["shownFail"] > 0.5
    assert {name: found[name] for name in told} == pytest.approx(told, abs=1e-9)


@pytest.mark.parametrize(
    ("found", "shown"), [((45, 20), "fail"), ((33, 27), "open"), ((40, 40), "pass"), ((47, 46), "pass")]
)
def test_shown_is_what_an_audit_shows(ask, found, shown):
    n, threshold = 50, 0.2
    outcome, group = np.ones(2 * n, np.int8), np.repeat([0, 1], n)
    selected = np.concatenate([(np.arange(n) < k).astype(float) for k in found])
    records = AuditRecords(
        outcome, (Attribute("sex", ("F", "M"), group),), (Score("m", "decision", 0.5, selected),)
    )
    protocol = Protocol(metrics=("EOPP",), thresholds={"EOPP": threshold}, min_non_events=0)
    assert judge(prepare(records), protocol).verdicts["shown"].tolist() == [shown]
    high, low = (f"shareLimits({k}, {n}, 0.05)" for k in found)
    bounds = ask(f"boundGap(...[{high}, {low}])")
    told = "fail" if bounds["low"] > threshold else "pass" if bounds["high"] < threshold else "open"
    assert told == shown


@pytest.mark.parametrize(
    "passes", [(18, 18, 18, 18), (20, 20, 20, 0), (20, 20, 20, 20), (3, 11, 19, 7), (0, 0, 0, 0)]
)
def test_kappa_and_ac1(ask, passes):
    found = ask(f"agreement({{passes: {list(passes)}}})")
    table = [[k, 20 - k] for k in passes]
    told = raw_agreement(table), fleiss_kappa(table), gwet_ac1(table)
    kappa = float("nan") if found["kappa"] is None else found["kappa"]
    assert (found["raw"], kappa, found["ac1"]) == pytest.approx(told, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (0.5, 0.3), (0.0, 1.0), (0.2, 0.9)])
def test_thresholds_of_two_groups(ask, first, second):
    found = ask(f"threshold({{first: {first}, second: {second}}})")
    counts = np.array([[one[name] for name in ("tp", "fp", "fn", "tn")] for one in found["counts"]])
    assert counts.sum(axis=1).tolist() == [200, 200]
    assert found["di"] == pytest.approx(float(find_metric("DI").values(counts[None])[0]), abs=1e-12)
    assert found["tpr"] == pytest.approx((counts[:, 0] / counts[:, [0, 2]].sum(axis=1)).tolist(), abs=1e-12)
    assert found["accuracy"] == pytest.approx(counts[:, [0, 3]].sum() / 400, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_widget_is_moved_by_keyboard_and_says_what_it_shows(browser, name, tmp_path):
    from selenium.webdriver.common.keys import Keys

    open_widget(browser, name, tmp_path)
    before = browser.find_element("css selector", ".widget-results").text
    for slider in browser.find_elements("css selector", "input[type=range]"):
        assert browser.find_element("css selector", f"label[for='{slider.get_attribute('id')}']").text
        slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    after = browser.find_element("css selector", "[aria-live=polite]").text
    assert after != before
    assert "NaN" not in after
    assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]


def test_every_widget_stands_in_a_chapter_with_a_still_picture():
    told = "".join(path.read_text("utf-8") for path in sorted((STATIC.parents[1] / "notebooks").glob("*.md")))
    for name in NAMES:
        assert (
            told.count(f'<div data-widget="{name}"><noscript><img src="../_static/widget-{name}.png" alt="')
            == 1
        )
        assert (STATIC / f"widget-{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "http" not in (STATIC / "widgets.js").read_text(encoding="utf-8")
