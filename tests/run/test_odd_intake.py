"""Whatever a table and its cohort file hold: a result or one clear message, and never a traceback."""

import contextlib
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from auditbook.cli import DONE, WRONG, main
from odd_cohorts import OddCohort, odd_cohorts

LIMITS = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def call(*arguments: str) -> tuple[int, str]:
    """Run a command; return its code and what it says on the error stream."""
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        code = main(arguments)
    return code, said.getvalue()


def hold(code: int, said: str) -> None:
    """Hold a finished command to what is promised of every one."""
    assert code in (DONE, WRONG), said
    assert "Traceback" not in said
    if code == WRONG:
        lines = [line for line in said.splitlines() if line.startswith("auditbook: ")]
        assert lines, said
        assert all(line.isprintable() for line in said.splitlines()), said
        assert not any(word in said for word in ("None of", "KeyError", "ValueError", "TypeError")), said


def try_commands(cohort: OddCohort, *, audits: bool) -> None:
    """Draft, check and audit a cohort."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, target = cohort.write(folder)
        hold(*call("new", str(data), "--yes", "--output", str(folder / "draft.toml")))
        code, said = call("check", str(target))
        hold(code, said)
        if (folder / "draft.toml").is_file():
            hold(*call("check", str(folder / "draft.toml")))
        if audits:
            run = ("--run-dir", str(folder / "run"), "--profile", "smoke", "--jobs", "1")
            hold(*call("audit", str(target), *run))


@given(cohort=odd_cohorts())
@settings(LIMITS, max_examples=15)
def test_new_and_check_end_in_a_result_or_a_message(cohort):
    try_commands(cohort, audits=False)


@pytest.mark.slow
@given(cohort=odd_cohorts())
@settings(LIMITS, max_examples=200)
def test_two_hundred_odd_cohorts_end_in_a_result_or_a_message(cohort):
    try_commands(cohort, audits=True)
