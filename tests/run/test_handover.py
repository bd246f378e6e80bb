"""``auditbook counts`` and ``auditbook pool``: from tables to files to one folder, on the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditbook.cli import main
from auditbook.evidence import tally_records
from auditbook.pooling import read_pooled
from pooled_hospitals import SITES, draw_records

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
    for name in ("results/groups.csv", "hospitals/hospital_contrasts.csv", "hospitals/pooled_contrasts.csv"):
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
