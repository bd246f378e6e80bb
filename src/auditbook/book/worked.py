"""Which pocket audit does an application chapter show, and where does it lie?"""

import subprocess
from pathlib import Path

from auditbook.errors import RunError
from auditbook.project import project_file, runs_folder
from auditbook.results import Run, read_run
from auditbook.settings import Protocol
from auditbook.surroundings import PYTHON

WORKED = {
    "pockets-care": ("obermeyer-full", "care-twin"),
    "pockets-icu": ("wids-icu", "icu-twin"),
    "pockets-images": ("chest-xray", "chest-xray-twin"),
    "pockets-readmission": ("diabetes-130", "readmission-twin"),
    "pockets-hospital-stays": ("sparcs-heart-failure", "texas-twin"),
}
"""Cohorts of each application chapter: the real table, and a synthetic one, which always is there."""


def choose_worked(chapter: str, run: Run) -> str:
    """Choose a chapter's cohort: the run's own, the first whose data are there; blank for the run itself."""
    # Imported here since it takes a second, and most chapters open their run only.
    from auditbook.cohort import read_cohort_file

    cohorts = WORKED[chapter]
    if run.info["name"] in cohorts and run.info.get("pockets", {}).get("status") == "done":
        return ""
    real = read_cohort_file(project_file("data", "cohorts", f"{cohorts[0]}.toml")).data.path
    return cohorts[0] if real is not None and real.is_file() else cohorts[1]


def is_stored(cohort: str, run: Run) -> bool:
    """Tell whether the audit is stored with the project: a synthetic cohort's with the default seed."""
    stored = project_file("data", "worked") / cohort / "run.json"
    return run.info["seed"] == Protocol().seed and stored.is_file()


def place_worked(cohort: str, run: Run) -> Path:
    """Find the folder of a worked audit: in `data`, else where it is kept from run to run."""
    if is_stored(cohort, run):
        return project_file("data", "worked", cohort)
    name = f"{cohort}-{run.info['profile']['name']}-{run.info['seed']}"
    return runs_folder() / ".cache" / "pockets" / name


def open_worked(chapter: str, run: Run) -> Run:
    """Open the pocket audit that an application chapter shows; it is made first where there is none."""
    cohort = choose_worked(chapter, run)
    if not cohort:
        return run
    folder = place_worked(cohort, run)
    if not (folder / "run.json").is_file():
        # A process of its own, since the audit stands above the book and imports what takes seconds.
        call = [*PYTHON, "-m", "auditbook", "pockets", "audit", "--run-dir", str(folder)]
        call += ["--profile", run.info["profile"]["name"], "--seed", str(run.info["seed"])]
        if subprocess.run(
            [*call, str(project_file("data", "cohorts", f"{cohort}.toml"))], check=False
        ).returncode:
            raise RunError(f"the pockets of {cohort} could not be audited: see what the command says above")
    return read_run(folder)
