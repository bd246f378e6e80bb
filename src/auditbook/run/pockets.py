"""How is a pocket audit run on its own, and opened by a chapter?"""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from auditbook.cohort import read_cohort_file
from auditbook.errors import InputError
from auditbook.progress import Progress
from auditbook.project import digest_text, project_file, runs_folder
from auditbook.results import Run, read_run
from auditbook.run.folder import fresh_folder, hash_results, publish, read_hashes, remove, write_json
from auditbook.run.plan import Plan, Request, audit_key, load_planned, locked, plan_run
from auditbook.run.steps import Steps, find_pockets
from auditbook.run.tables import describe_cohort
from auditbook.settings import PROFILES


def run_pockets(request: Request, progress: Progress) -> Path:
    """Make the pocket audit of a cohort and nothing else: ``auditbook pockets audit``.

    It takes continuous outcomes too, which the other parts of an audit do not.

    Parameters
    ----------
    request : Request
        What was asked; the folder is ``runs/<name>-pockets`` where none is named.
    progress : Progress
        Is told of every step.

    Returns
    -------
    Path
        The run's folder.

    Raises
    ------
    InputError
        If the cohort file or the call is wrong, or the cohort cannot be audited in pockets.
    """
    plan = plan_run(request)
    if request.run_dir is None:
        plan = replace(plan, folder=plan.folder.with_name(f"{plan.file.name}-pockets"))
    key = digest_text("pockets", audit_key(plan))
    with locked(plan.folder):
        if not request.force and _is_kept(plan.folder, key):
            progress.say("pockets: nothing has changed, results kept")
            return plan.folder
        info = _audit(plan, key, progress)
        publish(plan.next, plan.folder, info, ("results",))
    return plan.folder


def _is_kept(folder: Path, key: str) -> bool:
    """Tell whether results with this key lie in a folder, as they were made."""
    hashes = read_hashes(folder)
    return hashes.get("audit") == key and hashes.get("results") == hash_results(folder / "results")


def _audit(plan: Plan, key: str, progress: Progress) -> dict[str, Any]:
    """Make the results in ``next``, and return the content of run.json."""
    timing: dict[str, Any] = {"steps": []}
    steps = Steps(plan, timing, progress)
    fresh_folder(plan.next / "results")
    cohort = steps.do("cohort", f"reading {plan.file.title}", lambda: load_planned(plan))
    pockets = find_pockets(steps, cohort)
    if pockets["status"] != "done":
        remove(plan.next)
        raise InputError(f"{plan.file.path.name}: no pocket audit can be made: {pockets['reason']}")
    info = describe_cohort(plan, cohort) | {
        "models": pockets["models"],
        "partition": pockets["partition"],
        "pockets": pockets,
    }
    info |= timing
    info["hashes"] |= {"audit": key, "results": hash_results(plan.next / "results")}
    write_json(plan.next / "run.json", info)
    return info


def open_application(cohorts: Sequence[str], run: Run) -> Run:
    """Open the pocket audit that an application chapter shows; make it where it is not there yet.

    The run itself is taken when it is one of the cohorts; else the first one whose data are there. The last
    one named is synthetic, so that there always is one. Results are kept from run to run.
    """
    if run.info["name"] in cohorts and run.info.get("pockets", {}).get("status") == "done":
        return run
    profile = PROFILES[run.info["profile"]["name"]]
    for name in cohorts:
        path = project_file("data", "cohorts", f"{name}.toml")
        file = read_cohort_file(path)
        if file.data.path is None or file.data.path.is_file():
            break
    folder = runs_folder() / ".cache" / "pockets" / f"{file.name}-{profile.name}"
    request = Request(path, profile=profile, jobs=1, run_dir=folder)
    with Progress(total=2, stream=io.StringIO()) as silent:
        return read_run(run_pockets(request, silent))
