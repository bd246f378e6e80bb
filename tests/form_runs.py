"""Finished runs to fill forms from: an unequal cohort with words about its use, and a continuous outcome."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auditbook.cli import main
from auditbook.report import Report, build_report
from auditbook.results import Run, read_run, write_results
from cohorts import write_pair
from made_once import make_once
from pocket_tables import make_pocket_tables
from runs_fixture import make_run

USE = {
    "model": "Fall risk <2>",
    "version": "3.1",
    "owner": "Ward 4",
    "users": "nurses of the night",
    "intended_use": "to plan visits | on the ward",
    "out_of_scope": "children",
    "period": "2024",
    "selected_means": "a nurse looks in every hour",
    "primary_metric": "EOPP",
    "why": "a fall that nobody foresaw is the harm",
}
COHORT = f"""
title = "Ward 4: Größe & <b>co</b> | 2024"
data.source = "the ward's own register"
[outcome]
column = "fell"
event = "yes"
harm = "a fall that nobody foresaw"
[site]
column = "ward"
[attributes.origin]
column = "origin"
[attributes.sex]
column = "sex"
[scores."=risk"]
column = "risk"
kind = "probability"
threshold = 0.5
[scores.points]
column = "points"
kind = "rank"
threshold = 60
[features]
include = []
[panel]
models = []
[use]
{chr(10).join(f"{key} = {json.dumps(text)}" for key, text in USE.items())}
"""


def audit_unequal(folder: Path, rows: int = 2500) -> Path:
    """Audit scores that miss many who fall in one group, print nothing, and return the folder of the run."""
    rng = np.random.default_rng(3)
    origin = rng.choice(["Århus, n. <i>", "=Ñandú", "x_y"], rows, p=[0.45, 0.45, 0.1])
    risk = rng.beta(1.5, 1.8, rows)
    fell = rng.random(rows) < risk
    seen = np.where(origin == "=Ñandú", 0.6 * risk, risk)
    table = pd.DataFrame(
        {
            "fell": np.where(fell, "yes", "no"),
            "ward": [f"ward {k}" for k in rng.integers(0, 30, rows)],
            "origin": origin,
            "sex": rng.choice(["f", "m"], rows),
            "risk": seen.round(4),
            "points": (100 * risk).round(),
        }
    )
    path, run = write_pair(folder, table, COHORT), folder / "run"
    call = ["audit", str(path), "--profile", "smoke", "--jobs", "1", "--run-dir", str(run)]
    with pytest.MonkeyPatch.context() as unprinted:
        unprinted.setattr("auditbook.report.writing.make_pdf", lambda *arguments, **options: None)
        if main(call):
            raise RuntimeError("the audit of the unequal cohort failed")
    return run


def make_continuous(folder: Path) -> Path:
    """Write the result files of a pocket audit of a continuous outcome, and return the folder of the run."""
    make_run(folder, "two_groups")
    results = folder / "results"
    kept = {"cohort_groups.csv", "cohort_sites.csv", "cohort_columns.csv"}
    for path in results.iterdir():
        if path.name not in kept:
            path.unlink()
    tables = make_pocket_tables("continuous")
    write_results(tables, results)
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    models = list(dict.fromkeys(tables["pocket_errors"]["model"]))
    info |= {"outcome": {"column": "los", "event": "", "continuous": True}, "event": "", "models": models}
    info["pockets"] = {"status": "done", "records": {"audit": 4000}, "models": models}
    (folder / "run.json").write_text(json.dumps(info), encoding="utf-8")
    return folder


class ReportedRuns:
    """The small finished runs, an unequal one and a continuous outcome, with what their reports say."""

    def __init__(self, folders: dict[str, Path], factory: pytest.TempPathFactory) -> None:
        self.folders, self.factory = folders, factory
        self.made: dict[str, tuple[Run, Report]] = {}

    def __getitem__(self, kind: str) -> tuple[Run, Report]:
        if kind not in self.made:
            run = read_run(self._make(kind))
            self.made[kind] = run, build_report(run)
        return self.made[kind]

    def _make(self, kind: str) -> Path:
        if kind in self.folders:
            return self.folders[kind]
        if kind == "unequal":
            return make_once(self.factory, kind, audit_unequal) / "run"
        return make_once(self.factory, kind, make_continuous)
