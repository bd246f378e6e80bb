"""``auditbook counts`` and ``auditbook pool``: from tables to files to one folder, on the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditbook.cli import main
from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.evidence import prepare, tally_records
from auditbook.pooling import pool_counts, read_pooled
from auditbook.project import ROOT
from auditbook.records import AuditRecords, Score
from auditbook.run.pooled import make_pooled_tables
from auditbook.settings import Protocol
from auditbook.verdicts import judge
from pooled_hospitals import SITES, draw_records, hand_over, split_tallies, take

COHORT = """
name = "stays"
title = "Stays"
[data]
path = "stays.csv"
[outcome]
column = "died"
event = 1
[attributes.race]
column = "race"
reference = "White"
[attributes.sex]
column = "sex"
[scores.m]
column = "m"
kind = "probability"
threshold = {threshold}
"""


def write_tables(folder: Path, *, threshold: float = 0.5) -> pd.DataFrame:
    """Write the table of each hospital, that of all, and a cohort file."""
    records = draw_records()
    race, sex = records.attributes
    table = pd.DataFrame(
        {
            "died": records.outcome,
            "race": np.array(race.groups)[race.codes],
            "sex": np.array(sex.groups)[sex.codes],
            "m": records.scores[0].values,
            "hospital": np.array(SITES)[records.site],
        }
    )
    for name, part in table.groupby("hospital"):
        part.drop(columns="hospital").to_csv(folder / f"{name}.csv", index=False)
    table.to_csv(folder / "all.csv", index=False)
    (folder / "c.toml").write_text(COHORT.format(threshold=threshold))
    (folder / "all.toml").write_text(COHORT.format(threshold=threshold) + '[site]\ncolumn = "hospital"\n')
    return table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def count(name: str, *options: str, cohort: str = "c.toml") -> int:
    return main(["counts", cohort, "--data", f"{name}.csv", "--output", f"{name}.json", *options])


def test_three_hospitals_come_to_what_the_whole_table_comes_to(folder, capsys):
    assert [count(name, "--no-suppression") for name in SITES] == [0, 0, 0]
    assert count("all", "--no-suppression", cohort="all.toml") == 0
    assert main(["pool", "A.json", "B.json", "C.json", "--run-dir", "one"]) == 0
    assert main(["pool", "all.json", "--run-dir", "other"]) == 0
    for name in ("results/groups.csv", "results/hospital_contrasts.csv", "results/pooled_contrasts.csv"):
        assert (folder / "one" / name).read_bytes() == (folder / "other" / name).read_bytes()
    whole = tally_records(draw_records(), sites=SITES)
    pooled = read_pooled([folder / f"{name}.json" for name in SITES]).tally
    np.testing.assert_array_equal(pooled.attributes[0].counts[0], whole.attributes[0].counts[0])
    assert "records: 3,000" in capsys.readouterr().out


def test_a_file_with_a_minimum_holds_no_small_count_and_is_pooled_with_words(folder):
    assert [count(name, "--minimum", "10") for name in SITES[:2]] == [0, 0]
    assert count("C", "--no-suppression") == 0
    assert main(["pool", "A.json", "B.json", "C.json", "--run-dir", "one"]) == 0
    info = json.loads((folder / "one" / "run.json").read_text())
    assert info["pooled"]["notes"] == [
        "areas, calibration and the Theil index are not judged: A.json, B.json hold decisions only"
    ]
    assert len(list((folder / "one" / "hospitals").glob("forest-*.svg"))) > 0


def test_hospitals_with_other_thresholds_are_refused_by_name(folder, capsys):
    count("A")
    write_tables(folder, threshold=0.4)
    count("B")
    assert main(["pool", "A.json", "B.json"]) == 2
    assert "models.m.threshold: 0.5 in A.json, 0.4 in B.json" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--minimum", "1"], ["--minimum", "10", "--no-suppression"]])
def test_a_wrong_minimum_is_refused(folder, words):
    with pytest.raises(SystemExit) as wrong:
        main(["counts", "c.toml", *words])
    assert wrong.value.code == 2


def hold_tables(tables, found) -> None:
    """Hold what is made of counts to 1e-12, in whatever order the rows stand."""
    for name in ("verdicts", "contrasts", "site_verdicts", "site_agreement", "audit_size"):
        mine, yours = tables[name], found.tables[name]
        if "metric" in mine:
            mine, yours = (
                one[~one["metric"].isin(["TI", "CAL"])].reset_index(drop=True) for one in (mine, yours)
            )
        pd.testing.assert_frame_equal(mine, yours, rtol=1e-12, atol=1e-12, check_dtype=False)


def test_the_pooled_audit_is_the_audit_of_the_whole_table():
    records = draw_records()
    files = {f"{name}.json": hand_over(one) for name, one in split_tallies(records).items()}
    protocol = Protocol(resamples=40, halvings=2, metrics=("DI", "SPD", "EOPP", "EOD", "PP"))
    tables = make_pooled_tables(pool_counts(files).tally, protocol)
    hold_tables(tables, judge(prepare(records), protocol))


@pytest.mark.slow
def test_hospitals_of_new_york_one_by_one_are_the_audit_of_the_whole_table(shared_dir, tmp_path):
    file = read_cohort_file(ROOT / "data" / "cohorts" / "sparcs-heart-failure.toml")
    cohort = load_cohort(file, data=shared_dir / "cohorts" / "sparcs_hf_2024.parquet", cache_dir=tmp_path)
    names, site = np.unique(cohort.site.astype(str), return_inverse=True)
    groups = cohort.attributes[0]
    share = np.bincount(groups.codes, cohort.outcome) / np.maximum(np.bincount(groups.codes), 1)
    chance = np.clip(share[groups.codes] + np.random.default_rng(1).normal(0, 0.2, len(site)), 0.001, 0.999)
    scores = (Score("m", "probability", 0.5, chance),)
    records = AuditRecords(cohort.outcome, cohort.attributes, scores, site=site)
    files = {
        f"{name}.json": hand_over(tally_records(take(records, site == place)))
        for place, name in enumerate(names)
    }
    protocol = Protocol(halvings=2, metrics=("DI", "SPD", "EOPP", "EOD", "PP"))
    tables = make_pooled_tables(pool_counts(files).tally, protocol)
    hold_tables(tables, judge(prepare(records), protocol))


def test_areas_and_calibration_of_pooled_files_are_those_of_the_whole_tally():
    records = draw_records(1200)
    files = {f"{name}.json": hand_over(one) for name, one in split_tallies(records).items()}
    protocol = Protocol(resamples=10, halvings=2, size_repeats=2, audit_sizes=(500,))
    mine = make_pooled_tables(pool_counts(files).tally, protocol)
    yours = make_pooled_tables(tally_records(records, sites=SITES), protocol)
    assert {"auc_matrix", "calibration", "auc_verdicts", "flip_truth"} <= set(mine)
    for name, table in mine.items():
        pd.testing.assert_frame_equal(table, yours[name], rtol=1e-12, atol=1e-12)
