"""Scores of simulations: counts by hand, invariances, paired intervals."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import f1_score as sklearn_f1

from auditbook.studies.simulations.judged import COUNTS, count_hits
from auditbook.studies.simulations.replicates import COLUMNS
from auditbook.studies.simulations.scenarios import ERRORS, GAPS
from auditbook.studies.simulations.scoring import (
    compare_methods,
    count_false_flags,
    count_independent,
    count_verdicts,
    f1_score,
    judge_difference,
    score_methods,
)

SIGNS = arrays(np.int8, 30, elements=st.integers(-1, 1))


def hits(*flags, truth, scored=None):
    truth = np.array(truth, np.int8)
    everyone = np.ones(len(truth), bool) if scored is None else np.array(scored)
    return count_hits([np.array(each, np.int8) for each in flags], truth, everyone)


def test_a_wrong_direction_is_a_false_flag_and_a_miss():
    assert hits([-1], truth=[1]) == dict(zip(COUNTS, (1, 1, 0, 1, 1, 0), strict=True))


def test_a_conflict_of_two_maps_counts_like_a_wrong_direction():
    found = hits([1, 1], [-1, -1], truth=[1, 0])
    assert found == dict(zip(COUNTS, (2, 1, 0, 2, 1, 2), strict=True))


def test_two_maps_that_agree_count_once():
    assert hits([1, 0], [1, 1], truth=[1, 1])["tp"] == 2


def test_records_that_are_not_scored_do_not_count():
    found = hits([1, 1], truth=[1, 1], scored=[True, False])
    assert (found["records"], found["tp"]) == (1, 1)


@given(SIGNS, SIGNS, SIGNS)
def test_turning_all_directions_changes_no_count(one, two, truth):
    everyone = np.ones(len(truth), bool)
    assert count_hits([one, two], truth, everyone) == count_hits([-one, -two], -truth, everyone)


@given(SIGNS, SIGNS)
def test_misses_and_hits_are_the_affected_records(flags, truth):
    found = count_hits([flags], truth, np.ones(len(truth), bool))
    assert found["tp"] + found["fn"] == found["affected"] == np.count_nonzero(truth)
    assert found["tp"] + found["fp"] == np.count_nonzero(flags)


@given(arrays(np.int8, 30, elements=st.integers(0, 1)), arrays(np.int8, 30, elements=st.integers(0, 1)))
def test_errors_of_one_direction_give_the_usual_f1(flags, truth):
    found = count_hits([flags], truth, np.ones(30, bool))
    ours = f1_score(*(np.array(float(found[name])) for name in ("tp", "fp", "fn")))
    assert np.nan_to_num(ours) == pytest.approx(sklearn_f1(truth, flags, zero_division=0.0))


def make_rows(hits_of, *, question="error", region="x1", shift="larger", replicates=30, world="linear"):
    rng = np.random.default_rng(5)
    rows = []
    for replicate in range(replicates):
        noise = int(rng.integers(-5, 6))
        for method, hit in hits_of.items():
            tp = hit + noise if shift != "none" else 0
            counts = {"records": 1000, "affected": 200, "tp": tp, "fp": 50, "fn": 200 - tp, "conflicts": 0}
            rows.append(
                dict.fromkeys(COLUMNS, 0)
                | counts
                | {"world": world, "replicate": replicate, "seed": 1, "method": method}
                | {"question": question, "region": region, "shift": shift, "pockets": 5, "tested": 4}
                | {"flagged": int(replicate < 3), "covered": 1}
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def test_the_pooled_score_is_that_of_the_summed_counts():
    rows = make_rows({"combined": 100, "k-means": 60})
    scores = score_methods(rows).set_index("method")
    part = rows[rows["method"] == "combined"]
    by_hand = 2 * part["tp"].sum() / (2 * part["tp"].sum() + part["fp"].sum() + part["fn"].sum())
    assert scores.loc["combined", "f1"] == pytest.approx(by_hand)
    assert scores.loc["combined", "f1_low"] < by_hand < scores.loc["combined", "f1_high"]
    assert scores.loc["combined", "tested_share"] == 0.8


def test_differences_in_the_same_replicates_are_told_apart_though_scores_vary_more():
    compared = compare_methods(make_rows({"combined": 100, "k-means": 97, "risk bins": 60}))
    row = compared[(compared["method"] == "combined") & (compared["other"] == "k-means")].iloc[0]
    assert row["strongest"]
    assert row["says"] == "win"
    assert row["high"] - row["low"] < 0.01


def test_equal_methods_are_not_distinguishable():
    compared = compare_methods(make_rows({"combined": 80, "forest": 80, "risk bins": 80}))
    assert set(compared["says"]) == {"not distinguishable"}


def test_one_replicate_decides_nothing():
    rows = make_rows({"combined": 100, "risk bins": 10}, replicates=1)
    assert np.isnan(score_methods(rows)["f1_low"]).all()
    assert set(compare_methods(rows)["says"]) == {"not distinguishable"}


def test_scores_do_not_depend_on_the_order_of_rows():
    rows = make_rows({"combined": 100, "risk bins": 60})
    pd.testing.assert_frame_equal(compare_methods(rows), compare_methods(rows.sample(frac=1, random_state=1)))


def test_wins_are_counted_against_the_strongest_alternative():
    rows = pd.concat(
        [
            make_rows({"combined": 100, "risk bins": 60, "k-means": 20}),
            make_rows({"combined": 40, "risk bins": 60, "k-means": 20}, question="gap"),
        ]
    )
    found = count_verdicts(compare_methods(rows)).set_index(["question", "method"])
    assert found.loc[("error", "combined"), "win"] == 1
    assert found.loc[("gap", "combined"), "loss"] == 1


def test_false_flags_are_counted_where_nothing_is_planted():
    rows = pd.concat(
        [make_rows({"combined": 0}, region="", shift="none"), make_rows({"combined": 100}, shift="larger")]
    )
    found = count_false_flags(rows)
    assert found[["replicates", "audits", "flagged"]].to_numpy().tolist() == [[30, 30, 3]]
    assert found["independent"].iloc[0] == pytest.approx(30)
    assert found["share_low"].iloc[0] < 0.1 < found["share_high"].iloc[0]


def test_audits_of_the_same_maps_that_always_agree_count_once():
    once = make_rows({"combined": 0}, region="", shift="none")
    rows = pd.concat([once.assign(audit=number) for number in range(5)])
    alone, joined = count_false_flags(once).iloc[0], count_false_flags(rows).iloc[0]
    assert joined[["replicates", "audits", "flagged"]].tolist() == [30, 150, 15]
    assert joined["independent"] == pytest.approx(30)
    assert joined["share_low"] == pytest.approx(alone["share_low"])


@given(st.lists(st.integers(0, 5), min_size=2, max_size=30))
def test_audits_never_count_for_more_than_they_are(flagged):
    found = count_independent(np.array(flagged, float), np.full(len(flagged), 5.0))
    assert 0 < found <= 5 * len(flagged)


@pytest.mark.parametrize(
    ("interval", "says"), [((0.01, 0.2), "win"), ((-0.2, -0.01), "loss"), ((0.0, 0.1), "not distinguishable")]
)
def test_an_interval_that_touches_zero_is_no_win(interval, says):
    assert judge_difference(*interval) == says


def test_titles_tell_scenarios_of_a_question_apart():
    for scenarios in (GAPS, ERRORS):
        assert len({each.title for each in scenarios}) == len(scenarios)
