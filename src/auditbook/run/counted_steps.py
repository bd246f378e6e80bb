"""Which steps has the audit of a cohort that is counted part by part, and which have no counts to rest on?"""

from dataclasses import replace
from typing import Any

from auditbook.errors import naming
from auditbook.pockets import leave_pockets_out, make_pockets
from auditbook.progress import Progress
from auditbook.run.counted import count_planned, describe_counted, make_counted_tables
from auditbook.run.plan import Plan, load_planned
from auditbook.run.steps import TEXTS, Steps, write_info

COUNTED_STEPS = ("counted", "pockets")


def make_counted_results(plan: Plan, progress: Progress) -> dict[str, Any]:
    """Leave the results of a cohort that is counted in ``next``, a step kept where nothing has changed."""
    steps = Steps(plan, progress)
    due = steps.begin(COUNTED_STEPS)
    if "counted" in due:
        _count(steps)
    if "pockets" in due:
        _learn_pockets(steps)
    return write_info(steps, steps.notes["counted"])


def _count(steps: Steps) -> None:
    """Count the cohort and judge it by its counts."""
    plan = steps.plan

    def make() -> None:
        counted = count_planned(plan)
        with naming(plan.file.path.name):
            tables = make_counted_tables(counted, plan.protocol)
        steps.keep("counted", tables, describe_counted(counted) | {"data_hash": steps.data_hash})

    steps.do("counted", f"reading {plan.file.title} part by part; {TEXTS['verdicts']}", make)


def _learn_pockets(steps: Steps) -> None:
    """Audit pockets on a sample of the records."""
    plan, request = steps.plan, steps.plan.request
    settings = request.profile.apply_to_pockets(plan.file.pockets)

    def make() -> None:
        if not settings.run:
            steps.keep_pockets(leave_pockets_out())
            return
        cohort = load_planned(plan)
        found = make_pockets(
            cohort,
            settings=settings,
            seed=plan.protocol.seed,
            cache_dir=plan.cache,
            jobs=request.jobs,
            force=request.force,
            progress=steps.progress.say,
        )
        sample = {"rows": len(cohort.outcome), "of": cohort.rows_read}
        steps.keep_pockets(replace(found, status=found.status | {"sample": sample}))

    steps.do("pockets", TEXTS["pockets"], make)
