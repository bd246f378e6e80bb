"""How is a pocket audit run on its own?"""

from dataclasses import replace
from pathlib import Path

from auditbook.progress import Progress
from auditbook.run.folder import is_published, publish, remove
from auditbook.run.ledger import LEDGER
from auditbook.run.plan import Request, locked, plan_run
from auditbook.run.report import REPORT, make_report
from auditbook.run.steps import forget_scores, make_results


def run_pockets(request: Request, progress: Progress, *, report: bool = True, shared: bool = False) -> Path:
    """Make the pocket audit of a cohort, and its report if wanted: ``auditbook pockets audit``.

    It takes continuous outcomes too, which the other parts of an audit do not. The folder is
    ``runs/<name>-pockets`` where none is named. One that runs share waits for another run that is making it,
    and is left as it is where nothing has changed, since others may be reading it.

    Raises
    ------
    InputError
        If the cohort file or the call is wrong, or the cohort cannot be audited in pockets.
    """
    plan = plan_run(request)
    if request.run_dir is None:
        plan = replace(plan, folder=plan.folder.with_name(f"{plan.file.name}-pockets"))
    with locked(plan.folder, wait=progress.say if shared else None):
        info = make_results(plan, progress, ("cohort", "pockets"))
        if shared and is_published(plan.folder, info):
            remove(plan.next)
            return plan.folder
        if report:
            make_report(plan, info, progress)
        publish(plan.next, plan.folder, info, ("results", LEDGER, *[REPORT] * report))
        forget_scores(plan, progress)
    return plan.folder
