"""Runs and their reports to fill forms from."""

import pytest

from form_runs import ReportedRuns


@pytest.fixture(scope="session")
def reported(run_folders, tmp_path_factory) -> ReportedRuns:
    """Finished runs and what their reports say, by kind, each made when first asked for."""
    return ReportedRuns(run_folders, tmp_path_factory)
