"""Worlds with one thing changed: what differs is what they say, and what is told follows from the scores."""

import json
import re

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from auditbook.book.say.text import table_html
from auditbook.evidence.resample import open_stream
from auditbook.studies.draw.simulation_variants import NOTHING, draw_variants
from auditbook.studies.say import simulation_variants as vary
from auditbook.studies.say.simulations import open_simulations
from auditbook.studies.simulations import scoring
from auditbook.studies.simulations.replicates import run_replicate
from auditbook.studies.simulations.scenarios import VARIANT_WORLDS, VARIATIONS, WORLDS, find_world
from auditbook.studies.simulations.scoring import score_methods, subtract_independent
from auditbook.studies.simulations.sizes import QUICK, Sizes
from auditbook.studies.simulations.stored import (
    VARIANT_ORIGIN,
    VARIANT_REPLICATES,
    VARIANT_SCORES,
    read_stored,
)
from auditbook.studies.simulations.variant_worlds import VARIANTS
from auditbook.studies.simulations.worlds import Plant, affected
from stored_simulations import make_rows, store_simulations

SETTINGS = [(question, shift) for question, shift in (("gap", "larger"), ("error", "smaller"))]


def draw_world(name, sizes=QUICK):
    return find_world(name).draw(open_stream(1, name), sizes, None)


@pytest.fixture(scope="module")
def folder(root):
    found = root / "data" / "simulations"
    if not (found / VARIANT_REPLICATES).exists():
        pytest.skip("no changed worlds are stored yet (auditbook simulate --profile variants --keep)")
    return found


@pytest.fixture(scope="module")
def declared(tmp_path_factory):
    return open_simulations(str(store_simulations(tmp_path_factory.mktemp("declared"), "all")))


def make_variants(replicates, monkeypatch, worlds=VARIANT_WORLDS):
    """Draw counts of changed worlds and score them, as they are stored."""
    monkeypatch.setattr(scoring, "RESAMPLES", 100)
    rows = make_rows([world.name for world in worlds], replicates, worlds=worlds)
    scores = score_methods(rows, [each.scenario for each in VARIATIONS])
    made = dict.fromkeys([world.name for world in worlds], replicates)
    return vary.Variants(scores, {"date": "2026-11-30", "replicates": made})


def test_a_changed_world_is_found_by_its_name_and_in_no_default_run():
    names = [world.name for world in VARIANT_WORLDS]
    assert len(set(names)) == len(VARIANTS)
    assert not set(names) & {world.name for world in WORLDS}
    assert [find_world(name) for name in names] == list(VARIANT_WORLDS)


def test_each_variation_plants_what_its_declared_scenario_does():
    for each in VARIATIONS:
        plants = {(plant.question, plant.region) for plant in each.scenario.world.plants}
        assert (each.scenario.question, each.scenario.region) in plants
        assert each.scenario.published == each.base.published
        assert each.scenario.world.continuous == each.base.world.continuous
    planted = sum(len({(p.question, p.region) for p in world.plants}) for world in VARIANT_WORLDS)
    assert len(VARIATIONS) == planted


def test_more_records_are_drawn_where_more_are_said():
    assert len(draw_world("linear twice the records").audit.risk) == 2 * QUICK.continuous
    assert len(draw_world("linear twice the records").discovery.risk) == 2 * QUICK.continuous
    equal = draw_world("binary equal roles", Sizes())
    assert len(equal.discovery.risk) == len(equal.audit.risk) == Sizes().binary_audit


@pytest.mark.parametrize(("name", "share"), [("linear", 0.43), ("linear x1 stronger", 0.75)])
def test_x1_makes_the_share_of_the_explained_variance_that_is_said(name, share):
    drawn = draw_world(name, Sizes(continuous=40_000)).audit
    x1 = drawn.data.table["x1"].to_numpy()
    assert np.corrcoef(x1, drawn.risk)[0, 1] ** 2 == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize(("name", "share"), [("linear", 0.5), ("linear less noise", 0.8)])
def test_the_features_explain_the_share_that_is_said(name, share):
    drawn = draw_world(name, Sizes(continuous=40_000)).audit
    assert np.corrcoef(drawn.risk, drawn.data.outcome)[0, 1] ** 2 == pytest.approx(share, abs=0.015)
    assert drawn.data.outcome.std() == pytest.approx(1, abs=0.02)


def test_halves_of_a_region_cancel_and_lie_within_the_upper_fifth():
    audit = draw_world("linear halves", Sizes(continuous=40_000)).audit
    signs = audit.regions["halves"]
    assert (signs != 0).mean() == pytest.approx(0.2, abs=0.01)
    assert abs(signs.mean()) < 0.01
    np.testing.assert_array_equal(signs != 0, audit.regions["x1"] != 0)
    hit = affected(audit, Plant("error", "halves", "larger"))
    assert set(np.sign(audit.data.table["x2"][hit > 0])) == {1.0}
    assert set(np.sign(audit.data.table["x2"][hit < 0])) == {-1.0}


def test_yes_or_no_features_are_a_fifth_yes_and_events_as_common():
    audit = draw_world("binary yes or no", Sizes(binary_audit=40_000)).audit
    table = audit.data.table
    for name, region in (("x1", "x1"), ("x12", "irrelevant")):
        assert set(table[name]) == {-0.5, 2.0}
        np.testing.assert_array_equal(table[name] > 0, audit.regions[region] != 0)
        assert (table[name] > 0).mean() == pytest.approx(0.2, abs=0.01)
    assert audit.risk.mean() == pytest.approx(0.08, abs=0.003)


def test_a_changed_constant_reaches_the_audit():
    tree = {"linear": set(), "linear all candidates": set()}
    for name in tree:
        rows = run_replicate(
            find_world(name),
            replicate=0,
            seed=1,
            sizes=Sizes(continuous=600, continuous_trees=20, draws=99, rounds=5),
        )
        tree[name] = set(rows["shift"])
        assert rows.loc[rows["method"] == "forest", "pockets"].min() >= 1
    assert "none" in tree["linear"]
    assert "none" not in tree["linear all candidates"]
    changes = {world.name: dict(world.changes) for world in VARIANT_WORLDS}
    assert changes["linear all candidates"] == {"candidates": 1.0}
    assert changes["binary three fits"] == {"fits": 3}


def test_every_target_has_a_declared_scenario_and_a_variation():
    targets = vary.list_targets()
    assert len(targets) == 20
    for target in targets:
        assert any(each.base is target.scenario for each in VARIATIONS)
        assert 0 < target.printed < 1


def test_a_difference_of_independent_scores_covers():
    """Two means of 60 values each: the interval put together from theirs holds the true difference."""
    rng = np.random.default_rng(3)
    held, trials = 0, 2_000
    for _ in range(trials):
        parts = []
        for mean in (0.6, 0.5):
            values = rng.normal(mean, 0.2, 60)
            half = 1.96 * values.std(ddof=1) / np.sqrt(60)
            middle = values.mean()
            parts.append(pd.Series({"f1": middle, "f1_low": middle - half, "f1_high": middle + half}))
        _, low, high = subtract_independent(*parts)
        held += low <= 0.1 <= high
    assert held / trials == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(
    ("before", "after", "low", "high", "says"),
    [
        (0.4, 0.6, 0.1, 0.3, vary.NEARER),
        (0.4, 0.2, -0.3, -0.1, vary.FARTHER),
        (0.4, 0.8, 0.3, 0.5, vary.NEARER),
        (0.6, 0.9, 0.2, 0.4, vary.FARTHER),
        (0.4, 0.6, -0.1, 0.5, vary.STILL),
        (0.4, 0.6, np.nan, np.nan, vary.STILL),
    ],
)
def test_a_change_is_judged_by_where_it_leads(before, after, low, high, says):
    assert vary.judge_change(before, after, low, high, 0.65) == says


@pytest.mark.parametrize("replicates", [1, 4])
def test_what_is_told_follows_from_the_scores(declared, monkeypatch, replicates):
    table = vary.compare_variants(declared, make_variants(replicates, monkeypatch))
    changed = table[table["change"] != vary.DECLARED]
    told = vary.describe_changes(table)
    lines = told.split("\n")
    assert len(lines) == changed["change"].nunique() == len(VARIANTS)
    for line, (_, part) in zip(lines, changed.groupby("change", sort=False), strict=True):
        counts = [
            int(word)
            for word in re.findall(r"(?<!\.)\b\d+\b(?=(?: printed| comes?| goe?s?| do(?:es)? not))", line)
        ]
        assert counts == [
            len(part),
            *((part["says"] == each).sum() for each in (vary.NEARER, vary.FARTHER, vary.STILL)),
        ]
    said = [told, vary.describe_reached(table), vary.announce_variants(make_variants(2, monkeypatch))]
    assert not any(re.search(r"\bnan\b|\binf\b|None|\[", text) for text in said)
    html = table_html(table, vary.VARIANT_COLUMNS)
    assert html.count("<tr") == len(table) + 1
    for question, shift in SETTINGS:
        part = table[(table["question"] == question) & (table["shift"] == shift)]
        panels = draw_variants(part)
        assert len(panels) == part.groupby(["scenario", "method"]).ngroups
        panels[0].figure.canvas.draw()
        plt.close("all")


def test_the_best_other_never_sees_the_errors_of_the_model(declared, monkeypatch):
    table = vary.compare_variants(declared, make_variants(3, monkeypatch))
    others = table.loc[table["method"] == vary.OTHER, "grouping"]
    assert len(others)
    assert not others.str.contains("targeted").any()


def test_nothing_stored_is_said_and_drawn(declared, tmp_path):
    found = vary.open_variants(str(tmp_path))
    table = vary.compare_variants(declared, found)
    assert table.empty
    assert vary.announce_variants(found) == vary.NOT_STORED
    assert vary.describe_reached(table) == ""
    assert draw_variants(table)[0].texts[0].get_text() == NOTHING
    assert "<table" in table_html(table, vary.VARIANT_COLUMNS)


def test_only_some_changed_worlds_stored(declared, monkeypatch):
    found = make_variants(2, monkeypatch, worlds=VARIANT_WORLDS[:1])
    table = vary.compare_variants(declared, found)
    assert set(table["change"]) == {vary.DECLARED, VARIANTS[0].change}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear x1 stronger", "binary yes or no"])
def test_a_stored_changed_replicate_is_made_again_exactly(folder, name):
    """About 40 seconds of a core for both."""
    if not find_world(name).continuous:
        pytest.importorskip("graph_tool", reason="graph-tool, which fits block models, is not installed")
    stored = read_stored(folder, VARIANT_REPLICATES)
    sizes = Sizes(**json.loads((folder / VARIANT_ORIGIN).read_text(encoding="utf-8"))["sizes"])
    part = stored[stored["world"] == name]
    seed, replicate = (int(value) for value in part[["seed", "replicate"]].iloc[-1])
    kept = part[(part["seed"] == seed) & (part["replicate"] == replicate)].reset_index(drop=True)
    again = run_replicate(find_world(name), replicate=replicate, seed=seed, sizes=sizes)
    pd.testing.assert_frame_equal(again, kept)


def test_the_chapter_says_what_the_stored_replicates_show(folder):
    """The table "Put together" of `simulations-groupings`, line by line."""
    table = vary.compare_variants(open_simulations(""), vary.open_variants(""))
    by_world = {each.world.name: table[table["change"] == each.change] for each in VARIANTS}
    counts = {name: part["says"].value_counts() for name, part in by_world.items()}

    def count(name, says):
        return int(counts[name].get(says, 0))

    strong = by_world["linear x1 stronger"]
    forest = strong[(strong["question"] == "gap") & (strong["method"] == "forest")]
    combined = strong[(strong["shift"] == "larger") & (strong["method"] == "combined")]
    assert set(forest["says"]) == set(combined["says"]) == {vary.NEARER}
    assert (len(forest), len(combined)) == (2, 2)
    assert count("linear twice the records", vary.NEARER) >= 4
    assert count("linear twice the records", vary.FARTHER) == 0
    assert count("linear less noise", vary.FARTHER) >= count("linear less noise", vary.NEARER)
    assert count("linear all candidates", vary.STILL) >= 9
    halves = by_world["linear halves"]
    assert (halves["f1"] < 0.3).all()
    assert count("linear halves", vary.FARTHER) > count("linear halves", vary.NEARER)
    blind = table[(table["scenario"] == "binary, irrelevant feature") & (table["method"] == vary.OTHER)]
    flags = blind["change"] == by_world["binary yes or no"]["change"].iloc[0]
    assert (blind.loc[flags, "f1"] > blind.loc[flags, "printed"]).all()
    assert (blind.loc[~flags, "f1"] < blind.loc[~flags, "printed"] - 0.2).all()
    assert blind["grouping"].str.contains("k-means|mahalanobis").all()
    for name in ("binary equal roles", "binary three fits"):
        assert count(name, vary.STILL) >= 7
    ridge = table[(table["scenario"] == "linear risk") & (table["method"] == "ridge")]
    assert (ridge["f1_low"] > ridge["printed"]).all()


def test_the_stored_scores_of_changed_worlds_follow_from_their_counts(folder):
    scores = score_methods(read_stored(folder, VARIANT_REPLICATES), [each.scenario for each in VARIATIONS])
    kept = pd.read_csv(folder / VARIANT_SCORES)
    pd.testing.assert_frame_equal(kept, scores.reset_index(drop=True), rtol=1e-4, check_dtype=False)
