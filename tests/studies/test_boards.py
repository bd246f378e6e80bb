"""The worlds of the boards are what they say, and stored replicates are made again exactly."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from auditbook.evidence import estimate_auroc, open_stream
from auditbook.project import project_file
from auditbook.settings import METRIC_NAMES
from auditbook.studies.boards.study import (
    BOARDS,
    SIZED,
    SIZED_BOARDS,
    WORLDS,
    run_replicate,
    summarise_boards,
    summarise_sizes,
)
from auditbook.studies.boards.worlds import NAMES, BoardWorld, draw_board, find_truth, set_rates
from auditbook.studies.kept_rows import read_rows, run_study

FOLDER = project_file("data") / "simulations"
LARGE = BoardWorld("edge", 400_000)


def rates_of(records, attribute):
    """TPR, FPR, selection rate and PPV of the first group and of the others."""
    first = records.attributes[attribute].codes == 0
    y, d = records.outcome == 1, records.scores[0].decisions
    return [
        [d[part & y].mean(), d[part & ~y].mean(), d[part].mean(), y[part & d].mean()]
        for part in (first, ~first)
    ]


def test_the_first_group_of_each_attribute_lies_on_a_threshold():
    records = draw_board(LARGE, open_stream(1, "large"))
    gaps = [np.subtract(*rates_of(records, place)) for place in range(4)]
    ratio = np.divide(*rates_of(records, 2))
    assert gaps[0][0] == pytest.approx(-0.10, abs=0.01)
    assert gaps[1][1] == pytest.approx(0.10, abs=0.01)
    assert ratio[2] == pytest.approx(0.80, abs=0.01)
    assert gaps[3][3] == pytest.approx(-0.10, abs=0.01)
    truth = find_truth(LARGE)
    edges = {("EOPP", "race"), ("EOD", "sex"), ("DI", "payer"), ("PP", "age"), ("CAL", "race")}
    assert edges <= {cell for cell, answer in truth.items() if answer == "edge"}
    assert set(truth) == set(product(METRIC_NAMES, NAMES))


@pytest.mark.parametrize("area", [0.6, 0.8, 0.97])
def test_a_score_is_calibrated_and_has_its_area(area):
    records = draw_board(BoardWorld("equal", 100_000, area=area), open_stream(2, "area"))
    score, y = records.scores[0].values, records.outcome
    assert estimate_auroc(y, score).auroc == pytest.approx(area, abs=0.01)
    for low in (0.1, 0.3, 0.5):
        here = (score >= low) & (score < low + 0.1)
        if here.sum() > 2_000:
            assert y[here].mean() == pytest.approx(score[here].mean(), abs=0.02)


def test_patients_and_sites_are_alike_and_small_groups_are_small():
    stays = draw_board(BoardWorld("equal", 5_000, stays=10), open_stream(3, "stays"))
    assert 600 < stays.unit.max() < 1_300
    one = pd.DataFrame({"unit": stays.unit, "race": stays.attributes[0].codes})
    assert len(one.drop_duplicates()) == stays.unit.max() + 1
    sites = draw_board(BoardWorld("equal", 5_000, sites=30, unequal=True), open_stream(3, "sites"))
    sizes = np.bincount(sites.site)
    assert sizes.max() > 4 * np.median(sizes)
    small = draw_board(BoardWorld("equal", 5_000, smallest=30), open_stream(3, "small"))
    assert (small.attributes[0].codes[small.outcome == 1] == 0).sum() == pytest.approx(30, abs=18)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_rates_of_every_world_are_rates(world):
    if world.kind == "equal":
        return
    rates = set_rates(world)
    for base, off in ((rates.tpr, rates.off_tpr), (rates.fpr, rates.off_fpr)):
        assert base + off[off < 0].sum() > 0
        assert base + off[off > 0].sum() < 1


def test_a_simulation_goes_on_where_it_stopped(tmp_path):
    worlds = [BoardWorld("equal", 300), BoardWorld("edge", 300)]
    study = replace(BOARDS, worlds=worlds)
    whole = run_study(study, replicates=3, seed=2026, store=tmp_path / "whole.jsonl")
    part = tmp_path / "part.jsonl"
    run_study(study, replicates=1, seed=2026, store=part)
    with part.open("a", encoding="utf-8") as file:
        file.write('{"seed": 2026, "co\n')
    pd.testing.assert_frame_equal(run_study(study, replicates=3, seed=2026, store=part), whole)


@pytest.fixture(scope="module")
def stored():
    return read_rows(BOARDS)


@pytest.mark.parametrize("place", [0, 7, 13, 21, 27, 40, 49])
def test_stored_replicates_are_made_again_exactly(stored, place):
    world = WORLDS[place]
    row = stored[(stored["world"] == world.name) & (stored["replicate"] == 1)].iloc[0]
    again = run_replicate(world, 1)[0]
    assert {name: again[name] for name in BOARDS.columns} == row.to_dict()


def test_the_stored_summary_is_that_of_the_stored_replicates(stored):
    found = summarise_boards(stored)
    kept = pd.read_csv(FOLDER / "boards.csv")
    pd.testing.assert_frame_equal(found, kept, rtol=1e-5)
    about = json.loads((FOLDER / "boards.json").read_text(encoding="utf-8"))
    assert set(stored["world"]) == {world.name for world in WORLDS}
    assert (found["replicates"] == about["replicates"]).all()


def test_what_is_shown_on_the_stored_boards_is_hardly_ever_false(stored):
    found = summarise_boards(stored)
    for side in ("false_fail", "false_pass"):
        assert (found[f"{side}_high"] <= 0.065).all(), found.loc[
            found[f"{side}_high"] > 0.065, "world"
        ].tolist()


@pytest.fixture(scope="module")
def sized():
    return read_rows(SIZED_BOARDS)


@pytest.mark.parametrize("place", [1, 6, 13, 18])
def test_stored_boards_by_size_and_gap_are_made_again_exactly(sized, place):
    world = SIZED[place]
    row = sized[(sized["world"] == world.name) & (sized["replicate"] == 3)].iloc[0]
    again = run_replicate(world, 3)[0]
    assert {name: again[name] for name in SIZED_BOARDS.columns} == row.to_dict()


def test_the_stored_summary_by_size_and_gap_is_that_of_the_replicates(sized):
    found = summarise_sizes(sized)
    pd.testing.assert_frame_equal(
        found, pd.read_csv(FOLDER / "boards_sizes.csv"), rtol=1e-5, check_dtype=False
    )
    about = json.loads((FOLDER / "boards_sizes.json").read_text(encoding="utf-8"))
    assert set(sized["world"]) == {world.name for world in SIZED}
    assert (found["replicates"] == about["replicates"]).all()


def test_boards_by_size_are_the_boards_of_the_same_worlds(stored, sized):
    both = sized.merge(stored, on=["world", "replicate"], suffixes=("", "_stored"))
    assert len(both) > 200
    for name in ("fail", "pass", "false_fail", "false_pass", "race_eopp"):
        assert (both[name] == both[f"{name}_stored"]).all()


def test_the_level_over_the_board_only_takes_answers_away(sized):
    for name in ("fail", "pass", "false_fail", "false_pass"):
        assert (sized[name] <= sized[f"{name}_alone"]).all()
