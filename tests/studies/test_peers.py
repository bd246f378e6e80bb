"""Our form of each tool's rule says what the tool itself says, and stored counts are made again."""

import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from auditbook.evidence import prepare
from auditbook.project import project_file
from auditbook.studies.boards.peers import (
    MEASURES,
    PEERS,
    flag_board,
    flag_disparities,
    flag_gaps,
    flag_ratios,
    run_replicate,
    summarise_peers,
)
from auditbook.studies.boards.study import WORLDS
from auditbook.studies.kept_rows import read_rows
from peer_libraries import flag_with_aequitas, flag_with_fairlearn, list_boards

FOLDER = project_file("data") / "simulations"
BOARDS = 36
ALIKE = np.array([[20, 10, 10, 60], [40, 20, 20, 120]])


@pytest.fixture(scope="module")
def boards():
    return list_boards(BOARDS)


@pytest.fixture(scope="module")
def ours(boards):
    return [flag_board(prepare(records)) for records in boards]


@pytest.mark.parametrize("part", [slice(12), pytest.param(slice(12, BOARDS), marks=pytest.mark.slow)])
def test_gaps_are_those_of_fairlearn(boards, ours, part):
    theirs = [flag_with_fairlearn(records) for records in boards[part]]
    assert all(np.array_equal(flags["gap"], told) for flags, told in zip(ours[part], theirs, strict=True))
    assert 0.1 < np.mean(theirs) < 0.9


def test_the_band_is_that_of_aequitas(boards, ours):
    if find_spec("aequitas") is None:
        pytest.skip("Aequitas is not installed; make setup-test installs it")
    theirs = [flag_with_aequitas(records) for records in boards]
    assert all(np.array_equal(flags["band"], told) for flags, told in zip(ours, theirs, strict=True))
    assert 0.1 < np.mean(theirs) < 0.9


def test_flags_are_those_that_faircareai_gave(ours):
    """Kept from FairCareAI 0.3.0 in an environment of its own: benchmarks/peers.py --keep."""
    kept = pd.read_csv(project_file("tests") / "reference" / "faircare_flags.csv")
    assert kept["board"].nunique() == BOARDS
    theirs = kept[list(MEASURES["flags"])].to_numpy(bool).reshape(BOARDS, 4, 2)
    assert all(np.array_equal(flags["flags"], told) for flags, told in zip(ours, theirs, strict=True))
    assert 0.1 < theirs.mean() < 0.9


def test_groups_that_are_alike_are_flagged_by_no_rule():
    for flag in (flag_gaps, flag_ratios, flag_disparities):
        assert not flag(ALIKE).any()
        assert not flag(ALIKE[::-1]).any()


def test_a_rule_by_hand():
    """Selection 0.35 and 0.43, TPR 0.50 and 0.60, FPR 0.20 and 0.26, PPV 0.71 and 0.70."""
    counts = np.array([[250, 100, 250, 400], [60, 26, 40, 74]])
    assert flag_gaps(counts).tolist() == [False, False, False, False]
    assert flag_ratios(counts).tolist() == [False, False, True, False]
    assert flag_disparities(counts).tolist() == [False, False]
    more = counts + np.array([[0, 0, 0, 0], [2, 0, -2, 0]])  # selection 0.44, TPR 0.62
    assert flag_gaps(more).tolist() == [False, True, False, False]
    assert flag_ratios(more).tolist() == [True, False, True, False]
    assert flag_disparities(more).tolist() == [True, True]


def test_a_rate_without_a_denominator_counts_as_each_tool_counts_it():
    counts = np.array([[0, 0, 0, 80], [20, 10, 10, 160]])
    assert flag_gaps(counts).tolist() == [True, True, False, True]
    assert flag_ratios(counts).tolist() == [True, False, True, False]
    assert flag_disparities(counts).tolist() == [True, True]


def test_ratios_to_nobody_are_a_finding_and_nobody_to_nobody_is_none():
    counts = np.array([[0, 0, 50, 150], [5, 5, 5, 85]])
    assert flag_ratios(counts)[0]
    assert not flag_disparities(counts)[0]
    assert not flag_ratios(np.array([[0, 0, 50, 150], [0, 0, 25, 75]])).any()


def test_a_group_of_nine_has_no_flag():
    counts = np.array([[30, 10, 20, 140], [9, 0, 0, 0]])
    assert not flag_disparities(counts).any()
    assert flag_gaps(counts).any()
    assert flag_ratios(counts).any()


@pytest.fixture(scope="module")
def stored():
    return read_rows(PEERS)


@pytest.mark.parametrize("place", [0, 9, 22, -14, -3])
def test_stored_replicates_are_made_again_exactly(stored, place):
    world = PEERS.worlds[place]
    rows = stored[(stored["world"] == world.name) & (stored["replicate"] == 2)]
    assert run_replicate(world, 2) == rows.to_dict("records")


def test_the_stored_summary_is_that_of_the_stored_replicates(stored):
    pd.testing.assert_frame_equal(
        summarise_peers(stored), pd.read_csv(FOLDER / "boards_peers.csv"), rtol=1e-5, check_dtype=False
    )
    about = json.loads((FOLDER / "boards_peers.json").read_text(encoding="utf-8"))
    counted = stored.groupby(["world", "rule"]).size()
    assert (counted == about["replicates"]).all()
    assert set(stored["world"]) == {world.name for world in PEERS.worlds}


def test_every_rule_accuses_most_small_boards_of_equal_groups(stored):
    small = summarise_peers(stored[stored["world"] == WORLDS[0].name])
    assert (small["accused_share"] > 0.9).all()
