"""The worlds of the coverage study are what they say, and stored replicates are made again exactly."""

import json

import numpy as np
import pandas as pd
import pytest

from auditbook.evidence import estimate_auroc, open_stream
from auditbook.project import project_file
from auditbook.ranking import auc_matrix
from auditbook.records import AuditRecords
from auditbook.studies.coverage import worlds as populations
from auditbook.studies.coverage.study import STUDY, run_replicate, summarise_coverage
from auditbook.studies.coverage.worlds import GROUPS, WORLDS, CoverageWorld, draw_records, find_truth
from auditbook.studies.kept_rows import read_rows

FOLDER = project_file("data") / "simulations"


@pytest.fixture(scope="module")
def stored():
    return read_rows(STUDY)


def test_truths_are_those_of_very_many_records(monkeypatch):
    monkeypatch.setattr(populations, "RECORDS", 300_000)
    drawn, truth = draw_records(CoverageWorld(), open_stream(1, "many")), find_truth()
    codes, y, d = drawn.attributes[0].codes, drawn.outcome == 1, drawn.scores[0].decisions == 1
    for group in range(len(GROUPS)):
        mine = codes == group
        rates = {"SR": d[mine], "TPR": d[mine & y], "FPR": d[mine & ~y], "PPV": y[mine & d]}
        for name, part in rates.items():
            assert part.mean() == pytest.approx(truth.rates[name][group], abs=0.01)
        assert y[mine].mean() == pytest.approx(drawn.scores[0].values[mine].mean(), abs=0.005)
    for model, score in enumerate(drawn.scores):
        areas = auc_matrix(drawn.outcome, score.values, codes, 2).auc
        np.testing.assert_allclose(areas, truth.areas[model], atol=0.01)
        assert estimate_auroc(drawn.outcome, score.values).auroc == pytest.approx(
            truth.overall[model], abs=0.01
        )


def test_records_of_a_patient_and_of_a_site_are_alike():
    stays = draw_records(CoverageWorld(stays=10), open_stream(2, "stays"))
    table = pd.DataFrame({"unit": stays.unit, "score": stays.scores[0].values})
    assert table.groupby("unit")["score"].mean().std() > 0.75 * table["score"].std()
    sites = draw_records(CoverageWorld(sites=30, spread=1.0), open_stream(2, "sites"))
    sizes = np.bincount(sites.site)
    assert sizes.max() > 3 * np.median(sizes)


def test_no_interval_by_sites_is_printed_in_five_sites():
    rows = run_replicate(CoverageWorld(sites=5), 0)
    assert [row["printed"] for row in rows] == [0] * len(rows)


@pytest.mark.parametrize("place", [0, 1, 3, 6, 8])
def test_stored_replicates_are_made_again_exactly(stored, place):
    world = WORLDS[place]
    kept = stored[(stored["world"] == world.name) & (stored["replicate"] == 1)]
    assert run_replicate(world, 1) == kept.to_dict("records")


def test_the_stored_summary_is_that_of_the_stored_replicates(stored):
    kept = pd.read_csv(FOLDER / "coverage.csv")
    pd.testing.assert_frame_equal(summarise_coverage(stored), kept, rtol=1e-5)
    about = json.loads((FOLDER / "coverage.json").read_text(encoding="utf-8"))
    whole = kept[kept["world"] != "5 sites"]
    assert (whole["replicates"] == about["replicates"]).all()


def test_stored_intervals_cover_as_asked(stored):
    found = summarise_coverage(stored)
    assert (found.loc[found["world"] == "5 sites", "printed"] == 0).all()
    known = found[found["printed"] > 0]
    asked = np.where(known["world"].str.contains("sites"), 0.92, 0.93)
    assert (known["coverage"] >= asked).all(), known.loc[known["coverage"] < asked, ["world", "figure"]]


def test_an_audit_is_of_two_models():
    drawn = draw_records(WORLDS[0], open_stream(3, "two"))
    assert isinstance(drawn, AuditRecords)
    assert [score.model for score in drawn.scores] == ["calibrated", "noisy"]
