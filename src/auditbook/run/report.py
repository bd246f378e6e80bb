"""How does a run get its report: written when something that it reads has changed, and kept otherwise?"""

import json
import shutil
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from auditbook.progress import Progress
from auditbook.project import digest_files, digest_text
from auditbook.run.folder import fresh_folder, hash_results, note_step
from auditbook.run.keys import digest_makers
from auditbook.run.ledger import list_held, note_done
from auditbook.run.plan import Plan
from auditbook.run.steps import Timed, time_work

REPORT = "report"
"""The step, and the folder that it leaves."""


def make_report(plan: Plan, info: dict[str, Any], progress: Progress) -> None:
    """Leave the report of the results in ``next``: page, PDF and data, or those of the last run."""
    # Imported here since who asks for help, or is told of a fault in the cohort file, does not need it.
    from auditbook.report import write_report

    made, key = plan.next / REPORT, digest_report(info, plan.next / "results")
    fresh_folder(made)
    if _is_kept(plan, key):
        progress.say("report: nothing has changed, report kept")
        for name in list_held(plan.folder, {REPORT: key}, place=REPORT)[REPORT]["files"]:
            shutil.copyfile(plan.folder / REPORT / name, made / name)
        status, timed = "kept", Timed("", 0.0)
    else:
        progress.say("report: one page a model, an annex, and a PDF")
        status, timed = "done", time_work(lambda: write_report(plan.next))
    if timed.made:
        progress.say(timed.made)
    left = sorted(path.name for path in made.iterdir())
    note_done(plan.next, REPORT, key=key, files=left, notes={"lacking": timed.made}, place=REPORT)
    note_step(info, REPORT, status, timed.seconds)
    progress.done()


def _is_kept(plan: Plan, key: str) -> bool:
    """Tell whether the last run left a whole report that was made from the same; one without PDF is not."""
    held = list_held(plan.folder, {REPORT: key}, place=REPORT)
    return REPORT in held and not plan.request.force and not held[REPORT]["notes"].get("lacking")


def digest_report(info: Mapping[str, Any], results: Path) -> str:
    """Hash what a report depends on: results, what run.json says of them, code and templates."""
    from auditbook.report import write_report

    told = {part: value for part, value in info.items() if part not in ("steps", "worked")}
    folder = Path(str(files("auditbook.report")))
    templates = sorted(path for path in (folder / "templates").rglob("*") if path.is_file())
    code = digest_makers({REPORT: (write_report,)})[REPORT]
    said = json.dumps(told, sort_keys=True, default=repr)
    return digest_text(hash_results(results), said, code, digest_files(templates))
