"""The report of pooled counts says, number by number, what the audit of the whole table says."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from auditbook.cli import main
from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.columns import TABLES
from auditbook.pooling import read_pooled
from auditbook.report.hospitals import list_limits
from auditbook.report.source import Source
from auditbook.results import Run
from auditbook.run.pooled import describe_pooled, make_pooled_results, read_protocol
from auditbook.run.tables import make_tables
from auditbook.scoring import score_cohort
from pooled_hospitals import SITES, draw_records

COHORT = """
name = "stays"
title = "Stays"
[data]
path = "all.csv"
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
threshold = 0.52
[protocol]
metrics = ["DI", "SPD", "EOPP", "EOD", "PP"]
resamples = 40
halvings = 4
audit_sizes = [500]
size_repeats = 2
[pockets]
run = false
"""
OF_COUNTS = (
    "cohort_groups cohort_sites groups verdicts contrasts rates pooled_rates site_verdicts site_agreement "
    "audit_size tipping_points score_bins"
).split()
ALIKE = ("answer", "findings", "further", "without_error", "unjudged", "marks", "calibration", "accuracy")
NEAR = 1e-6
"""Scores are rounded by 2^-33 a record, and fits of calibration stop near their solution."""
SHEETS = ("groups", "cells", "contrasts")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three hospitals whose scores, steps of 0.05, no bin joins; Black patients' lie lower."""
    records = draw_records(1500)
    race, sex = records.attributes
    steps = np.round(records.scores[0].values - 0.2 * (race.codes == 1), 1)
    table = pd.DataFrame(
        {
            "died": records.outcome,
            "race": np.array(race.groups)[race.codes],
            "sex": np.array(sex.groups)[sex.codes],
            "m": np.clip(steps, 0.05, 0.95),
            "hospital": np.array(SITES)[records.site],
        }
    )
    table.to_csv(tmp_path / "all.csv", index=False)
    for name, part in table.groupby("hospital"):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "c.toml").write_text(COHORT)
    (tmp_path / "all.toml").write_text(COHORT + '[site]\ncolumn = "hospital"\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hand_over(*options):
    for name in SITES:
        assert main(["counts", "c.toml", "--data", f"{name}.csv", "--output", f"{name}.json", *options]) == 0
    return ["A.json", "B.json", "C.json"]


def hold(mine, yours, where):
    """Hold two parts of report.json beside each other, number by number."""
    if isinstance(mine, dict):
        assert mine.keys() == yours.keys(), where
        for key in mine:
            hold(mine[key], yours[key], f"{where}.{key}")
    elif isinstance(mine, list):
        assert len(mine) == len(yours), where
        for place, pair in enumerate(zip(mine, yours, strict=True)):
            hold(*pair, f"{where}[{place}]")
    elif isinstance(mine, (int, float)) and isinstance(yours, (int, float)):
        assert math.isclose(mine, yours, rel_tol=NEAR, abs_tol=NEAR), where
    else:
        assert mine == yours, where


def test_tables_of_pooled_files_are_those_of_the_whole_table(folder):
    pooled = read_pooled([folder / name for name in hand_over("--no-suppression")])
    cohort = load_cohort(read_cohort_file(folder / "all.toml"), cache_dir=folder)
    protocol = read_protocol(pooled)
    scored = score_cohort(cohort, protocol=protocol, cache_dir=folder)
    mine, yours = make_pooled_results(pooled), make_tables(cohort, scored, protocol)
    for name in OF_COUNTS:
        pd.testing.assert_frame_equal(mine[name], yours[name], rtol=1e-9, atol=1e-9, check_dtype=False)
    exact = ["model", "n_audit", "events_audit", "selection_rate", "accuracy", "auroc"]
    pd.testing.assert_frame_equal(mine["models"][exact], yours["models"][exact], atol=1e-9)


def test_a_pool_with_withheld_groups_counts_everybody_and_says_who_is_withheld(folder):
    names = hand_over("--no-suppression")
    assert main(["counts", "c.toml", "--data", "A.csv", "--output", "A.json", "--minimum", "25"]) == 0
    pooled = read_pooled([folder / name for name in names])
    assert pooled.withheld
    tables, whole = make_pooled_results(pooled), pd.read_csv(folder / "all.csv")
    for name in ("hospital_contrasts", "pooled_contrasts", "withheld_bounds"):
        assert TABLES[name].explain_difference(list(tables[name].columns)) == ""
    row = tables["models"].iloc[0]
    assert (row["n_audit"], row["events_audit"]) == (len(whole), whole["died"].sum())
    assert (
        tables["cohort_sites"].set_index("site")["n"].to_dict() == whole["hospital"].value_counts().to_dict()
    )
    info = describe_pooled(pooled, [])
    limits = " ".join(list_limits(Source(Run(folder, info))))
    assert "1 hospital withholds groups of race and sex, for small counts or to hide them" in limits
    assert "A.json holds decisions only." in limits
    assert info["synthetic"] is False


@pytest.mark.slow
def test_every_number_of_the_pooled_report_is_that_of_the_whole_table(folder, capsys):
    assert main(["pool", *hand_over("--no-suppression"), "--run-dir", "pooled"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in told[-5:-1]] == [
        "audited",
        "shown to fail",
        "open",
        "cannot be judged",
    ]
    assert main(["audit", "all.toml", "--run-dir", "whole", "--profile", "smoke", "--jobs", "1"]) == 0
    mine, yours = (
        json.loads((folder / one / "report/report.json").read_text()) for one in ("pooled", "whole")
    )
    assert mine["head"]["records"] == yours["head"]["records"] == 1500
    for part in ALIKE:
        hold(mine["pages"][0][part], yours["pages"][0][part], part)
    sections = [{one["key"]: one["sheets"] for one in report["annex"]} for report in (mine, yours)]
    for key in SHEETS:
        hold(sections[0][key], sections[1][key], key)
    assert "hospitals" in sections[0]
    assert "hospitals" not in sections[1]
    page = (folder / "pooled" / "report" / "index.html").read_text()
    assert "3 hospitals handed over counts and no record" in page
    assert (folder / "pooled" / "report" / "report.pdf").stat().st_size > 0
