"""How is a pocket audit run on its own?"""

from dataclasses import replace
from pathlib import Path

from auditbook.progress import Progress
from auditbook.run.folder import publish
from auditbook.run.ledger import LEDGER
from auditbook.run.plan import Request, locked, plan_run
from auditbook.run.report import REPORT, make_report
from auditbook.run.steps import make_results


def run_pockets(request: Request, progress: Progress, *, report: bool = True) -> Path:
    """Make the pocket audit of a cohort, and its report if wanted: ``auditbook pockets audit``.

    It takes continuous outcomes too, which the other parts of an audit do not. The folder is
    ``runs/<name>-pockets`` where none is named.

    Raises
    ------
    InputError
        If the cohort file or the call is wrong, or the cohort cannot be audited in pockets.
    """
    plan = plan_run(request)
    if request.run_dir is None:
        plan = replace(plan, folder=plan.folder.with_name(f"{plan.file.name}-pockets"))
    with locked(plan.folder):
        info = make_results(plan, progress, ("cohort", "pockets"))
        if report:
            make_report(plan, info, progress)
        publish(plan.next, plan.folder, info, ("results", LEDGER, *[REPORT] * report))
    return plan.folder
