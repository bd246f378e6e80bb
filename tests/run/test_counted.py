"""An audit of a cohort that is counted part by part says what the audit of its table says."""

import json
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest

from auditbook.cohort import load, load_cohort, read_cohort_file
from auditbook.counting import count_cohort
from auditbook.errors import InputError
from auditbook.mitigation import vary_audit
from auditbook.progress import Progress
from auditbook.run import Request, run_audit, run_book
from auditbook.run import counted as counted_run
from auditbook.run.counted import describe_counted, make_counted_tables
from auditbook.run.plan import plan_run
from auditbook.run.steps import Steps
from auditbook.run.tables import make_tables
from auditbook.scoring import score_cohort
from counted_cohorts import odd_table, write_cohort

EXACT = 1e-12
"""What is made of counts may differ by the order of sums of floats."""
OF_COUNTS = ("DI", "SPD", "EOPP", "EOD", "PP")
RECORDED = {
    "cohort_columns",
    "auc_differences",
    "calibration",
    "label_change",
    "label_agreement",
    "lead_times",
}
"""Tables that need records."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The tables of one odd cohort, held in memory and counted in parts."""
    folder = tmp_path_factory.mktemp("counted")
    file = write_cohort(folder, frame=odd_table(2500))
    protocol = replace(file.protocol, resamples=40, halvings=4, site_folds=3, audit_sizes=(500, 1000))
    cohort = load_cohort(file, cache_dir=folder)
    scored = score_cohort(cohort, protocol=protocol, cache_dir=folder)
    counted = count_cohort(file, rows=300)
    table = make_tables(cohort, scored, protocol)
    table |= vary_audit(cohort, scored, table, protocol=protocol)
    return table, make_counted_tables(counted, protocol), counted


def assert_same(found, expected, columns=None):
    assert len(found) == len(expected)
    for name in expected.columns if columns is None else columns:
        ours, theirs = found[name].reset_index(drop=True), expected[name].reset_index(drop=True)
        if pd.api.types.is_numeric_dtype(theirs):
            np.testing.assert_allclose(
                ours.astype(float), theirs.astype(float), rtol=EXACT, atol=EXACT, err_msg=name
            )
        else:
            assert ours.tolist() == theirs.tolist(), name


@pytest.mark.parametrize("name", ["cohort_groups", "cohort_sites", "missing_attribute"])
def test_who_is_there_is_told_alike(made, name):
    table, parts, _ = made
    assert_same(parts[name], table[name])


def test_verdicts_by_counts_are_those_of_the_table(made):
    table, parts, _ = made
    mine, theirs = (tables["verdicts"] for tables in (parts, table))
    chosen = theirs["metric"].isin(OF_COUNTS)
    assert_same(mine[mine["metric"].isin(OF_COUNTS)], theirs[chosen])


def test_other_constants_are_tried_with_the_same_conclusions(made):
    table, parts, _ = made
    mine, theirs = (tables["sensitivity_cells"] for tables in (parts, table))
    chosen = theirs["metric"].isin(OF_COUNTS)
    assert chosen.any()
    assert_same(mine[mine["metric"].isin(OF_COUNTS)], theirs[chosen])
    named = ["setting", "label", "value", "in_force", "model", "cells", "inconclusive"]
    assert_same(parts["sensitivity"], table["sensitivity"], named)


def test_groups_and_models_are_told_alike(made):
    table, parts, _ = made
    exact = ["model", "attribute", "group", "n", "tp", "fp", "fn", "tn", "tpr", "fpr", "ppv", "support"]
    assert_same(parts["groups"], table["groups"], exact)
    exact = ["model", "kind", "event_is", "threshold", "given_threshold", "n_audit", "events_audit", "f1"]
    assert_same(parts["models"], table["models"], [*exact, "accuracy", "event_rate", "selection_rate"])


def test_what_is_read_from_bins_is_near(made):
    table, parts, _ = made
    mine, theirs = (tables["models"] for tables in (parts, table))
    np.testing.assert_allclose(mine["auroc"], theirs["auroc"], atol=1e-3)
    np.testing.assert_allclose(mine["auroc_low"], theirs["auroc_low"], atol=1e-3)
    np.testing.assert_allclose(mine["brier"], theirs["brier"], atol=1e-9)
    probable = theirs["kind"] != "rank"
    np.testing.assert_allclose(mine["mean_score"][probable], theirs["mean_score"][probable], atol=1e-9)


def test_score_bins_of_probabilities_and_decisions_are_those_of_the_table(made):
    table, parts, _ = made
    theirs = table["score_bins"]
    chosen = theirs[theirs["model"] != "grade"]
    assert_same(
        parts["score_bins"],
        chosen,
        ["model", "attribute", "group", "bin", "bin_low", "bin_high", "n", "events"],
    )
    np.testing.assert_allclose(parts["score_bins"]["mean_score"], chosen["mean_score"], atol=1e-9)


def test_every_table_that_needs_no_record_is_made(made):
    table, parts, _ = made
    assert set(table) - set(parts) <= RECORDED
    assert set(parts) <= set(table)


def test_a_run_says_what_was_counted_and_how(made):
    told = describe_counted(made[2])
    assert (told["rows_read"], told["rows_audited"], told["rows_train"]) == (2500, told["rows_kept"], 0)
    assert told["counted"]["score_bins"]["risk"] == 1024
    assert "flag" not in told["counted"]["score_bins"]
    assert {entry["attribute"] for entry in told["missing_groups"]} == {"race", "race_sex"}


def ask_for_parts(folder):
    file = write_cohort(folder, frame=odd_table(1500))
    text = file.path.read_text().replace("[outcome]", 'read = "in parts"\n[outcome]', 1)
    file.path.write_text(text + "\n[protocol]\nresamples = 40\nhalvings = 4\n")
    return Request(read_cohort_file(file.path).path, jobs=1, run_dir=folder / "run")


def test_chapters_of_a_counted_cohort_are_refused_with_the_cure(tmp_path):
    with pytest.raises(InputError, match=r"chapters need records.* auditbook audit.* read = \"whole\""):
        run_book(ask_for_parts(tmp_path), Progress(0))


def test_a_scheduler_counts_whatever_the_length_and_is_handed_on(tmp_path, monkeypatch):
    request = replace(ask_for_parts(tmp_path), scheduler="tcp://node:8786")
    asked = {}
    monkeypatch.setattr(counted_run, "count_cohort", lambda file, **how: asked.update(how))
    counted_run.count_planned(plan_run(request))
    assert asked["scheduler"] == "tcp://node:8786"
    text = request.cohort.read_text()
    request.cohort.write_text(text.replace('read = "in parts"\n', ""))
    assert plan_run(request).counted
    assert not plan_run(replace(request, scheduler="")).counted
    with pytest.raises(InputError, match=r"chapters need records.* or leave --scheduler out"):
        run_book(request, Progress(0))


def test_a_scheduler_is_refused_where_the_table_is_held_in_memory(tmp_path):
    request = replace(ask_for_parts(tmp_path), scheduler="tcp://node:8786")
    text = request.cohort.read_text()
    request.cohort.write_text(text.replace('"in parts"', '"whole"'))
    with pytest.raises(InputError, match=r"--scheduler: odd.toml: .*leave one of the two out"):
        plan_run(request)
    request.cohort.write_text(text + '\n[outcomes.stay]\ncolumn = "ward"\nevent = "A"\n')
    with pytest.raises(InputError, match=r"--scheduler: odd.toml: \[outcomes\]"):
        plan_run(request)


def test_rows_of_a_database_that_is_counted_are_never_held_whole(tmp_path, monkeypatch):
    request = put_into_database(ask_for_parts(tmp_path))
    monkeypatch.setattr(load, "read_database", None)
    steps = Steps(plan_run(request), Progress(0))
    assert steps.begin(("counted",)) == {"counted"}
    assert steps.source is None
    assert len(steps.data_hash) == 64


def put_into_database(request):
    """Put the table of a request into a database, without the scores that only order records."""
    with duckdb.connect(str(request.cohort.parent / "clinic.duckdb")) as database:
        table = request.cohort.parent / "part0.csv"
        database.execute(f"create table stays as select * from read_csv('{table}', all_varchar = true)")
    text = request.cohort.read_text().replace(
        'path = ["part0.csv"]', 'connection = "duckdb:///clinic.duckdb"\nquery = "stays"'
    )
    ranks = text[text.index("[scores.grade]") : text.index("[scores.alive]")]
    request.cohort.write_text(text.replace(ranks, ""))
    return request


@pytest.mark.slow
def test_an_audit_of_a_counted_database_is_that_of_its_table(tmp_path):
    for name in ("parts", "whole"):
        (tmp_path / name).mkdir()
    parts = put_into_database(ask_for_parts(tmp_path / "parts"))
    whole = put_into_database(ask_for_parts(tmp_path / "whole"))
    whole.cohort.write_text(whole.cohort.read_text().replace('"in parts"', '"whole"'))
    runs = [run_audit(one, Progress(0)) for one in (parts, whole)]
    mine, theirs = (pd.read_csv(folder / "results" / "verdicts.csv") for folder in runs)
    assert_same(mine[mine["metric"].isin(OF_COUNTS)], theirs[theirs["metric"].isin(OF_COUNTS)])
    hashes = [json.loads((folder / "run.json").read_text())["hashes"]["data"] for folder in runs]
    assert hashes[0] == hashes[1]


@pytest.mark.slow
def test_the_report_of_a_counted_cohort_says_so(tmp_path):
    folder = run_audit(ask_for_parts(tmp_path), Progress(0))
    info = json.loads((folder / "run.json").read_text())
    assert [step["step"] for step in info["steps"]] == ["counted", "pockets", "report"]
    page = (folder / "report" / "index.html").read_text()
    assert "They were counted part by part" in page
    before = {path.name: path.read_bytes() for path in (folder / "results").glob("*.csv")}
    run_audit(replace(ask_for_parts(tmp_path), force=True), Progress(0))
    assert {path.name: path.read_bytes() for path in (folder / "results").glob("*.csv")} == before
