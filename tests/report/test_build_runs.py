"""Reports of whole audits, made with the smoke profile: every number and claim against the result files."""

import json

import numpy as np
import pandas as pd
import pytest

from auditbook.progress import Progress
from auditbook.report import build_report, write_json
from auditbook.results import read_run, write_results
from auditbook.run import run_audit
from auditbook.run.plan import Request
from auditbook.run.pockets import run_pockets
from auditbook.settings import PROFILES
from pocket_tables import make_pocket_tables
from report_checks import check_report

NINE = ("Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak")
TWO_THOUSAND = """
name = "two-thousand"
title = "Two thousand stays"
[data]
path = "stays.csv"
[outcome]
column = "long"
event = 1
harm = "a long stay"
[attributes.origin]
column = "origin"
[attributes.sex]
column = "sex"
[scores.given]
column = "score"
kind = "probability"
threshold = 0.3
[panel]
models = []
"""


def check(folder, written):
    report = build_report(read_run(folder))
    write_json(report, written / "report.json")
    check_report(report, folder, written / "report.json")
    return report


def make_request(cohort, folder, **more):
    return Request(cohort, profile=PROFILES["smoke"], run_dir=folder / "run", jobs=1, **more)


def write_stays(folder):
    """Write 2,000 stays of nine origins, the smallest of a few people, and their cohort file."""
    rng = np.random.default_rng(11)
    shares = 1 / np.arange(1, 10) ** 2
    origin = rng.choice(9, 2000, p=shares / shares.sum())
    logit = rng.normal(-1.2, 1, 2000)
    score = 1 / (1 + np.exp(-(logit + 0.8 * (origin == 1))))
    table = {"origin": np.array(NINE)[origin], "sex": rng.choice(["f", "m"], 2000), "score": score}
    table["long"] = (rng.random(2000) < 1 / (1 + np.exp(-logit))).astype(int)
    table["age"] = rng.integers(18, 95, 2000)
    pd.DataFrame(table).to_csv(folder / "stays.csv", index=False)
    (folder / "stays.toml").write_text(TWO_THOUSAND, encoding="utf-8")
    return folder / "stays.toml"


def test_a_number_as_outcome_has_a_report(run_folders, tmp_path):
    info = json.loads((run_folders["two_groups"] / "run.json").read_text(encoding="utf-8"))
    info["outcome"] = {"column": "days", "event": "", "continuous": True}
    tables = make_pocket_tables("continuous")
    info["pockets"] = {"status": "done", "records": {"audit": 4000}, "trained": [], "mapped": []}
    (tmp_path / "results").mkdir()
    write_results(tables, tmp_path / "results")
    (tmp_path / "run.json").write_text(json.dumps(info), encoding="utf-8")
    report = check(tmp_path, tmp_path)
    assert report.head.continuous
    assert report.head.records == 4000
    assert [page.model for page in report.pages] == ["xgboost", "logistic"]
    assert all(page.pockets for page in report.pages)


@pytest.mark.slow
def test_two_thousand_records_in_nine_groups(tmp_path):
    folder = run_audit(make_request(write_stays(tmp_path), tmp_path), Progress(total=6))
    report = check(folder, tmp_path)
    assert report.pages[0].unjudged


@pytest.mark.slow
def test_the_twin(root, tmp_path):
    request = make_request(root / "data" / "cohorts" / "texas-twin.toml", tmp_path)
    check(run_audit(request, Progress(total=6)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("obermeyer", "obermeyer_holdout.parquet"),
        ("diabetes-130", "diabetes130.parquet"),
        ("sparcs-heart-failure", "sparcs_hf_2024.parquet"),
    ],
)
def test_real_cohorts(name, table, root, shared_dir, tmp_path):
    cohort, data = root / "data" / "cohorts" / f"{name}.toml", shared_dir / "cohorts" / table
    check(run_audit(make_request(cohort, tmp_path, data=data), Progress(total=6)), tmp_path)


@pytest.mark.slow
def test_a_pocket_audit_of_a_number(root, tmp_path):
    folder = run_pockets(
        make_request(root / "data" / "cohorts" / "care-twin.toml", tmp_path), Progress(total=6)
    )
    report = check(folder, tmp_path)
    assert report.head.continuous
