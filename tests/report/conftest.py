"""Runs and their reports to fill forms from."""

import pytest

from auditbook.report import Report, build_report
from auditbook.results import Run, read_run
from form_runs import audit_unequal, make_continuous


@pytest.fixture(scope="session")
def reported(run_folders, tmp_path_factory) -> dict[str, tuple[Run, Report]]:
    """Finished runs and what their reports say: the small ones, an unequal one, a continuous outcome."""
    folders = run_folders | {
        "unequal": audit_unequal(tmp_path_factory.mktemp("unequal")),
        "continuous": make_continuous(tmp_path_factory.mktemp("continuous")),
    }
    made = {kind: read_run(folder) for kind, folder in folders.items()}
    return {kind: (run, build_report(run)) for kind, run in made.items()}
