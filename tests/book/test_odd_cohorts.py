"""Cohorts that break tools get the right words, and no sentence holds a nan."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest

import runs_fixture
from auditbook.report import build_report, make_fragment
from auditbook.results import read_run
from page_texts import list_texts
from runs_fixture import AWKWARD, Recipe, make_run

RACE = {"race": ("A", "B", "C", "D")}
PLAIN = Recipe(1_664, {"sex": ("F", "M")}, {"sex": (0.5, 0.5)}, {"score": "probability"}, source="given")
RECIPES = {
    "one tiny group": replace(
        PLAIN, attributes=RACE, shares={"race": (0.0066, 0.2934, 0.3, 0.4)}, models={"score": "probability"}
    ),
    "one site": replace(PLAIN, sites=1),
    "no site": PLAIN,
    "nine groups": replace(
        PLAIN,
        rows=4_000,
        attributes={"race & <i>ethnicity</i>": AWKWARD},
        shares={"race & <i>ethnicity</i>": (0.004, 0.06, 0.02, 0.22, 0.18, 0.45, 0.03, 0.01, 0.026)},
    ),
    "rare events": replace(PLAIN, rows=6_000, event_rate=0.0018),
    "equal scores, nobody selected": PLAIN,
    "equal scores, everybody selected": PLAIN,
}
ALL_SCORES = {"equal scores, nobody selected": 0.3, "equal scores, everybody selected": 0.6}
UNTOLD = re.compile(r"\bnan\b|\binf\b|\bNone\b|\bNaN\b|\bNaT\b")


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """The odd cohorts as finished runs, by name."""
    drawn, known = runs_fixture.draw_sample, dict(runs_fixture.RECIPES)
    folder, found = tmp_path_factory.mktemp("odd"), {}
    for name, recipe in RECIPES.items():
        level = ALL_SCORES.get(name)

        def draw(recipe, rng, level=level):
            sample = drawn(recipe, rng)
            if level is None:
                return sample
            return replace(sample, scores={key: np.full(recipe.rows, level) for key in sample.scores})

        try:
            runs_fixture.RECIPES[name], runs_fixture.draw_sample = recipe, draw
            found[name] = read_run(make_run(folder / name, name))
        finally:
            runs_fixture.draw_sample = drawn
            runs_fixture.RECIPES.clear()
            runs_fixture.RECIPES.update(known)
    return found


@pytest.mark.parametrize("name", RECIPES)
def test_no_sentence_holds_a_nan_and_no_markup_of_the_cohort(name, odd):
    for page, text in list_texts(odd[name], "score").items():
        assert text.strip(), page
        assert not UNTOLD.search(re.sub(r"<[^>]*>", " ", text)), page
        assert "<script>" not in text
        assert "<b>or</b>" not in text
        assert "<i>ethnicity" not in text


def report(odd, name):
    """What the report says, and what the sentences on its cells say of all of them."""
    said = re.sub(r"<[^>]*>", " ", make_fragment(build_report(odd[name])))
    return html.unescape(list_texts(odd[name], "score")["audit-report"] + " ".join(said.split()))


def test_one_tiny_group_is_named_and_silences_nobody_else(odd):
    cells = odd["one tiny group"].verdicts.set_index("metric")
    text = report(odd, "one tiny group")
    for metric in ("DI", "SPD", "EOPP", "EOD", "PP"):
        assert cells.loc[metric, "shown"] in ("open", "fail")
        assert cells.loc[metric, "gap_groups"]
        assert "A" not in cells.loc[metric, "gap_groups"].split(", ")
        assert cells.loc[metric, "left_out"].startswith("A: ")
    assert re.search(r"Not compared: A: \d+ events?, 10 needed\.", text)
    assert re.search(r"A \(race; 12 people, \d with the event\) cannot be judged at all\. It lacks \d", text)


def test_one_site_and_no_site_are_limits_of_their_own(odd):
    assert "All records come from one site" in report(odd, "one site")
    assert "No site is named" in report(odd, "no site")
    assert set(odd["one site"].verdicts["scope"]) <= {"records", ""}
    flips = list_texts(odd["one site"], "score")["verdict-flip-rate"]
    assert "All audited records come from one site, so whole sites cannot be drawn." in flips


def test_rare_events_leave_open_what_rests_on_them(odd):
    cells = odd["rare events"].verdicts.set_index("metric")
    events = odd["rare events"].groups["events"]
    assert events.min() < 30
    assert cells.loc["SPD", "shown"] == "pass"
    assert cells.loc["EOPP", "shown"] in ("open", "none")
    assert "shown to fail" not in report(odd, "rare events").lower().split("no cell asks")[0]


@pytest.mark.parametrize("name", ALL_SCORES)
def test_equal_scores_tell_nobody_apart_and_are_said_to(name, odd):
    cells, text = odd[name].verdicts.set_index("metric"), report(odd, name)
    assert not (cells["shown"] == "fail").loc[["DI", "SPD", "EOPP", "EOD"]].any()
    whom = "nobody" if name.endswith("nobody selected") else "everybody"
    assert f"The model selects {whom}: where groups look alike, it is because nobody is told apart." in text
    if name.endswith("nobody selected"):
        assert cells.loc["DI", "shown"] == cells.loc["PP", "shown"] == "none"
        assert "It lacks 10 selected records: none of them is selected at this threshold." in text
        assert "no record is selected" in text or "undefined" in text


def test_nine_groups_with_awkward_names_are_all_told(odd):
    text = report(odd, "nine groups")
    for name in (
        "Béla's Ångström & Co",
        "Asian <b>or</b> Pacific Islander",
        "<script>alert(1)</script>",
        "(missing)",
    ):
        assert name in text
    assert text.count("cannot be judged") <= 1 + len(odd["nine groups"].verdicts)
