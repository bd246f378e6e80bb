import numpy as np
import pandas as pd
import pytest

from auditbook.book.say.text import table_html
from auditbook.evidence import open_stream, prepare
from auditbook.settings import Protocol
from auditbook.studies.kept_rows import read_rows
from auditbook.studies.say import next_audits as say
from auditbook.studies.simulations.next_audits import (
    COLUMNS,
    FIXED_AUDITS,
    NEXT,
    SEED,
    band_chances,
    find_farthest,
    read_bands,
    read_fixed,
    run_fixed,
    run_replicate,
)
from auditbook.studies.simulations.next_worlds import (
    FIXED,
    RATE_METRICS,
    SCORE_METRICS,
    THRESHOLDS,
    WORLDS,
    NextWorld,
    draw_patients,
    draw_score_truth,
    draw_scored,
    draw_thresholds,
    draw_truth,
)
from auditbook.verdicts import METRICS, judge, predict_next

ROWS = read_rows(NEXT)
BANDS = read_bands()


@pytest.mark.parametrize(
    ("world", "replicate"),
    [
        (NextWorld("spread", 2), 7),
        (NextWorld("normal", 5), 7),
        (NextWorld("equal", 5), 8),
        (NextWorld("patients", 2), 8),
        (NextWorld("scores", 5), 8),
    ],
)
def test_a_stored_replicate_can_be_made_again(world, replicate):
    mine = (ROWS["world"] == world.name) & (ROWS["groups"] == world.groups)
    again = pd.DataFrame(run_replicate(world, replicate, seed=SEED), columns=COLUMNS)
    stored = ROWS[mine & (ROWS["replicate"] == replicate)].reset_index(drop=True)
    assert len(stored)
    pd.testing.assert_frame_equal(again, stored, check_dtype=False, rtol=1e-8)


def test_the_stored_bands_follow_from_the_replicates():
    found = band_chances(ROWS)
    pd.testing.assert_frame_equal(found, BANDS[list(found)], rtol=1e-4, check_dtype=False)


def test_what_is_printed_comes_true_within_five_points_over_the_families_of_rates():
    """In bands of at least 100 cells; with two standard errors of the simulation."""
    told = BANDS[(BANDS["family"] == "rates") & (BANDS["cells"] >= 100)]
    assert set(told["groups"]) == {2, 5}
    assert len(told) >= 10
    assert (told["off"].abs() <= 0.05 + 2 * told["error"]).all()
    assert (told["off"].abs() <= 0.05).mean() > 0.9


@pytest.mark.parametrize("name", ["spread", "patients", "scores"])
def test_what_is_predicted_is_what_a_whole_audit_prints(name):
    world, rng = NextWorld(name, 3), open_stream(1, name)
    metrics = SCORE_METRICS if name == "scores" else RATE_METRICS
    if name == "scores":
        records = draw_scored(draw_score_truth(world, rng), rng)
    else:
        records = draw_patients(draw_truth(world, rng), rng)
    protocol = Protocol(metrics=metrics, thresholds=draw_thresholds(metrics, 1, rng), resamples=60)
    found = predict_next(prepare(records), protocol)
    whole = judge(prepare(records), protocol, axes=("shown",)).verdicts
    pd.testing.assert_frame_equal(found, whole[list(found)], check_dtype=False)


def test_thresholds_are_those_of_the_metrics_in_every_other_replicate():
    rng = np.random.default_rng(1)
    names = tuple(THRESHOLDS)
    assert draw_thresholds(names, 4, rng) == {name: METRICS[name].threshold for name in names}
    drawn = draw_thresholds(names, 5, rng)
    assert all(THRESHOLDS[name][0] <= drawn[name] <= THRESHOLDS[name][1] for name in names)


def test_records_of_a_family_are_between_two_thousand_and_a_hundred_thousand():
    rng = np.random.default_rng(2)
    totals = [int(draw_truth(world, rng).size.sum()) for world in WORLDS for _ in range(20)]
    assert 1_990 <= min(totals) < 5_000
    assert 40_000 < max(totals) <= 100_001


def test_fixed_worlds_have_the_metric_that_their_names_say():
    values = {world.name: world.value for world in FIXED}
    assert values["accurate, on the threshold"] == pytest.approx(0.80, abs=1e-4)
    assert values["two groups, half the threshold"] == pytest.approx(0.05)
    assert values["five groups, one on the threshold"] == pytest.approx(0.10)
    assert values["five groups, equal"] == pytest.approx(0)


def test_a_stored_fixed_world_can_be_made_again():
    again = run_fixed(FIXED[0], audits=FIXED_AUDITS, seed=SEED)
    stored = read_fixed().iloc[0]
    assert stored["world"] == again["world"]
    assert [stored["printed"], stored["realised"]] == pytest.approx(
        [again["printed"], again["realised"]], rel=1e-4
    )


def test_with_the_truth_on_the_threshold_half_come_true_and_less_is_printed():
    """No rule that sees one audit can print what comes true of one truth."""
    stored = read_fixed().set_index("world").loc["accurate, on the threshold"]
    assert stored["realised"] == pytest.approx(0.5, abs=0.02)
    assert 0.2 < stored["printed"] < 0.45


def test_what_is_said_of_the_bands_is_what_they_hold():
    bands = pd.DataFrame(
        {
            "family": "rates",
            "groups": [2, 2, 2, 5],
            "cells": [300, 100, 99, 200],
            "printed": [0.05, 0.25, 0.95, 0.15],
            "realised": [0.06, 0.21, 0.5, 0.17],
            "error": [0.01, 0.012, 0.1, 0.01],
            "off": [0.01, -0.04, -0.45, 0.02],
        }
    )
    found = find_farthest(bands, "rates")
    assert found["bands"].tolist() == [2, 1]
    told = say.describe_promise(found)
    assert "in the 2 bands of ten points that hold enough cells" in told
    assert "25% is printed: 21% came true, 4.0 points fewer (standard error 1.2 points, 100 cells)" in told
    assert "in the 1 band of ten points that holds enough cells" in told


def test_every_stored_sentence_and_table_is_whole():
    told = [say.describe_promise(find_farthest(BANDS, "rates")), say.describe_fixed(read_fixed())]
    for text in told:
        assert text
        assert not any(sign in text for sign in ("nan", "None", "inf"))
    assert table_html(BANDS[BANDS["family"] == "rates"], say.BAND_COLUMNS)
    assert table_html(read_fixed(), say.FIXED_COLUMNS)
