"""How well do flip rates foretell audits of the other half, on the cohorts that come with the project?

Writes data/reference/flip_truth_measured.csv, which the chapter "Does the flip rate tell the truth?" shows.
Run with

    OMP_NUM_THREADS=1 python benchmarks/flip_truth.py FOLDER

where FOLDER holds the tables of the real cohorts (see README). The scores of models trained on the way are
kept in the folder of runs. A minute or two for each model that has to be trained, then some seconds.
"""

import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd

from auditbook.project import project_file, runs_folder, versions
from auditbook.records import AuditRecords
from auditbook.run.plan import Plan, Request, load_planned, plan_run
from auditbook.scoring.score import score_cohort
from auditbook.verdicts.forecast import check_flips
from auditbook.verdicts.forecast_summary import summarise_cohort

COHORTS = {
    "sparcs-heart-failure": "sparcs_hf_2024.parquet",
    "diabetes-130": "diabetes130.parquet",
    "obermeyer": "obermeyer_holdout.parquet",
    "texas-twin": None,
}
LIBRARIES = ("numpy", "pandas", "scikit-learn", "xgboost")


def measure(name: str, folder: Path) -> pd.DataFrame:
    """Check one cohort and reduce the result to a row a way of halving and drawing."""
    table = COHORTS[name]
    request = Request(
        project_file("data", "cohorts", f"{name}.toml"),
        data=None if table is None else folder / table,
        run_dir=runs_folder() / "flip-truth" / name,
        jobs=1,
    )
    plan = _keep_canonical(plan_run(request))
    cohort = load_planned(plan)
    records = score_cohort(cohort, protocol=plan.protocol, cache_dir=plan.cache, jobs=1).records
    found = check_flips(records, protocol=plan.protocol, seed=plan.protocol.seed)
    about = describe(name, records, plan.protocol.seed, plan.protocol.halvings)
    return summarise_cohort(found["flip_truth_summary"]).assign(**about)


def _keep_canonical(plan: Plan) -> Plan:
    """Train the canonical model only: no other takes part in the check."""
    panel = replace(plan.file.panel, models=plan.file.panel.models[:1], lean=())
    return replace(plan, file=replace(plan.file, panel=panel))


def describe(name: str, records: AuditRecords, seed: int, halvings: int) -> dict[str, object]:
    """Say what was checked, and with which versions."""
    known = versions()
    return {
        "cohort": name,
        "model": records.scores[0].model,
        "records": len(records.outcome),
        "sites": 0 if records.site is None else len(set(records.site.tolist())),
        "seed": seed,
        "halvings": halvings,
        "note": "; ".join(f"{library} {known[library]}" for library in LIBRARIES),
    }


def main() -> None:
    """Measure every cohort and write the table."""
    folder = Path(sys.argv[1])
    table = pd.concat([measure(name, folder) for name in COHORTS], ignore_index=True)
    first = ["cohort", "model", "records", "sites", "halving", "drawing"]
    table = table[[*first, *(name for name in table.columns if name not in first)]]
    path = project_file("data", "reference") / "flip_truth_measured.csv"
    table.to_csv(path, index=False, float_format="%.10g", lineterminator="\n")
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
