"""Simulations in processes: the same bytes for any number, and nothing but what was running is lost."""

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from auditbook.studies.simulations.provenance import describe_makers
from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.synthetic_worlds import LINEAR
from auditbook.studies.simulations.tasks import Task, collect, plan_tasks, run_tasks

TINY = Sizes(
    continuous=200,
    binary=200,
    binary_audit=600,
    continuous_trees=5,
    binary_trees=5,
    draws=99,
    quiet_audits=1,
    rounds=5,
)
LINEARS = plan_tasks([LINEAR], replicates=3, seed=1)
BINARY = Task(0, "binary", 1)
"""Its fits are processes of a worker."""
WITH_BINARY = [pytest.mark.slow, pytest.mark.skipif(not find_spec("graph_tool"), reason="no graph-tool")]
PATIENCE = 300
"""Seconds after which a command counts as hanging."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    run_tasks(LINEARS, folder, sizes=TINY)
    return folder


SCRIPT = """
import sys
from pathlib import Path
from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.tasks import Task, run_tasks
tasks, sizes, folder, jobs = {tasks}, {sizes}, Path({folder!r}), {jobs}
run_tasks(tasks, folder, sizes=sizes, jobs=jobs, say=lambda text: print(text, flush=True))
"""


def start(folder, jobs, tasks=LINEARS):
    """Start a script that runs tasks, in a session of its own, without a main guard, as users do."""
    text = SCRIPT.format(tasks=tasks, sizes=TINY, folder=str(folder), jobs=jobs)
    call = [sys.executable, "-c", "import signal; signal.signal(2, signal.default_int_handler)" + text]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(call, **quiet, text=True, start_new_session=True)


@pytest.mark.parametrize(
    ("jobs", "tasks"),
    [
        pytest.param(2, LINEARS, marks=pytest.mark.slow),
        pytest.param(4, LINEARS, marks=pytest.mark.slow),
        *(pytest.param(jobs, [BINARY, *LINEARS], marks=WITH_BINARY) for jobs in (2, 4)),
    ],
)
def test_the_number_of_workers_changes_no_byte(finished, tmp_path, jobs, tasks):
    run_tasks(tasks, finished, sizes=TINY)
    with start(tmp_path, jobs, tasks) as command:
        try:
            command.communicate(timeout=PATIENCE)
        finally:
            end_session(command.pid)
    for task in tasks:
        assert (tmp_path / task.file).read_bytes() == (finished / task.file).read_bytes()
    costs = describe_makers(tmp_path, {task.file: task.world for task in tasks})["cost"]
    assert all(50 < cost["memory"] < 2_000 for cost in costs.values())


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_command_keeps_what_is_done_and_leaves_no_process(finished, tmp_path, how):
    jobs, done = 2, ""
    many = plan_tasks([LINEAR], replicates=60, seed=1)
    with start(tmp_path, jobs, many) as command:
        try:
            while not done.startswith("2/"):
                done = command.stdout.readline()
            os.kill(command.pid, how)
            command.wait(PATIENCE)
            wait_for(lambda: not session_of(command.pid))
        finally:
            end_session(command.pid)
    kept = sorted(path.name for path in tmp_path.glob("*.csv"))
    assert len(kept) in (2, 3)
    name = LINEARS[0].file
    assert (tmp_path / name).read_bytes() == (finished / name).read_bytes()
    assert len(collect(tmp_path)["replicate"].unique()) == len(kept)


def session_of(leader):
    """List the processes that a command has started, and the command, as long as they do anything."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = path.read_text().rsplit(")", 1)[1].split()[:4]
        except OSError:
            continue
        if int(session) == leader and state != "Z":
            found.append(int(path.parent.name))
    return found


def end_session(leader):
    for process in session_of(leader):
        os.kill(process, signal.SIGKILL)


def wait_for(condition):
    """Wait until something holds; give up after a minute."""
    ends = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.1)
