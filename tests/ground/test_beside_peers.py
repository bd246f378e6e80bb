"""The page of the benchmarks beside other tools: its numbers, and that the tools find the same."""

import runpy
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from scipy import stats


@pytest.fixture(scope="module")
def tool(root):
    return runpy.run_path(str(root / "tools" / "write_beside_peers.py"))


@pytest.fixture(scope="module")
def work(root):
    sys.path.insert(0, str(root / "benchmarks"))
    try:
        yield __import__("peer_work")
    finally:
        sys.path.remove(str(root / "benchmarks"))


@pytest.fixture(scope="module")
def lines(root):
    return pd.read_csv(root / "data" / "benchmarks" / "beside_peers.csv")


@pytest.fixture(scope="module")
def board(work):
    rng = np.random.default_rng(5)
    outcome = (rng.random(3_000) < 0.4).astype(np.int8)
    score = np.round(np.clip(0.3 * outcome + rng.random(3_000), 0, 1), 2)
    return work.Board(outcome, score, ("race", "sex"), (rng.integers(0, 3, 3_000), rng.integers(0, 2, 3_000)))


def test_the_page_holds_what_is_stored(tool, root):
    page = (root / "book" / "beside-peers.md").read_text(encoding="utf-8")
    assert page == tool["write_page"](page), "run: python tools/write_beside_peers.py"


def test_the_sentences_say_the_ratios_of_the_stored_times(tool, lines, root):
    page = (root / "book" / "beside-peers.md").read_text(encoding="utf-8")
    part = lines[(lines["part"] == "resample") & (lines["resamples"] > 0)]
    ours, theirs = part[part["tool"] == "auditbook"], part[part["tool"] != "auditbook"]
    assert set(theirs["tool"]) == {"numpy", "fairlearn"}
    for line in theirs.itertuples():
        asked = 1_000 if line.tool == "numpy" else 10_000
        for mine in ours.itertuples():
            ratio = (line.seconds / line.resamples) / (mine.seconds / mine.resamples)
            told = "reached" if ratio >= asked else "not reached"
            times = f"{tool['write_times'](ratio)} times as long as one of {mine.resamples:,}"
            assert f"{times} ({asked:,} asked: {told})" in page


def test_a_figure_that_is_missed_is_called_so(tool, lines):
    part = lines[lines["part"] == "resample"]
    slow = part.assign(seconds=part["seconds"].where(part["tool"] != "numpy", 1e-5))
    text = " ".join(tool["tell_resamples"](slow))
    assert "1,000 asked: not reached" in text
    assert "10,000 asked: reached" in text
    alone = " ".join(tool["tell_resamples"](part[part["tool"] != "fairlearn"]))
    assert "fairlearn was not installed where this was measured." in alone


def test_what_was_stored_agrees_between_the_tools(lines):
    """Rates and areas to rounding, shares of trees to single precision; means of 20 random draws loosely."""
    bound = {"rates": 1e-9, "areas": 1e-9, "forest": 1e-6, "blocks": 0.02, "resample": 0.03}
    told = lines[lines["off"].notna()]
    assert {"rates", "areas", "forest", "resample"} <= set(told["part"])
    assert (told["off"].abs() <= told["part"].map(bound)).all()
    fairlearn = told[told["tool"] == "fairlearn"]
    assert (fairlearn["off"] <= 1e-12).all()


def test_draws_of_counts_and_of_records_follow_one_law(work, board):
    counts = work.count_board(board, first=True)[0]
    ours, theirs = work.count_draws(counts, 4_000, board), work.record_draws(board, 1_000, within=True)
    assert stats.ks_2samp(ours, theirs).pvalue > 1e-4
    wrong = work.count_draws(counts // 2, 4_000, board)
    assert stats.ks_2samp(wrong * 0.9, theirs).pvalue < 1e-4


def test_scikit_learn_and_fairlearn_find_the_same(work, board):
    assert work.sklearn_areas(board) == pytest.approx(work.our_areas(board), abs=1e-12)
    whole = work.count_draws(work.count_board(board)[0], 1, board, keep_all=True)
    assert work.fairlearn_draws(board, 2) == pytest.approx(whole[0], abs=1e-12)


@pytest.mark.slow
def test_aequitas_and_aif360_find_the_same_rates(work, board):
    ours = work.our_ratios(board)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert work.aequitas_rates(board) == pytest.approx(ours.by_group, abs=1e-9)
        if find_spec("aif360"):
            assert work.aif360_ratios(board) == pytest.approx(ours.by_pair, abs=1e-9)


def test_links_know_in_which_share_of_trees_two_records_meet(work):
    forest = work.grow_same_forest(120)
    links = work.link_records(forest)
    assert len(links.pairs)
    met = (forest.leaves[links.pairs[:, 0]] == forest.leaves[links.pairs[:, 1]]).mean(axis=1)
    assert links.share == pytest.approx(met)


@pytest.mark.slow
def test_the_matrix_of_distances_holds_the_same_shares(work):
    pytest.importorskip("fgclustering")
    forest = work.grow_same_forest(120)
    links, distance = work.link_records(forest), work.forest_shares(forest)
    assert 1 - distance[tuple(links.pairs.T)] == pytest.approx(links.share, abs=1e-6)


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.36e-6, "1.36 µs"), (0.0136, "13.6 ms"), (2.5, "2.5 s"), (1234.0, "1,234.0 s")]
)
def test_times_are_written_in_their_unit(tool, seconds, text):
    assert tool["write_seconds"](seconds) == text
