"""Processes side by side: started from anywhere, never waited for in vain, and gone with their run.

Every script here lacks ``if __name__ == "__main__"``, as a user's may, and is given up after a minute.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE = 60
"""Seconds after which a script counts as hanging."""

INSIDE = """
import numpy as np
from auditbook.workers import open_workers
def add(numbers):
    with open_workers(1) as pool:
        return pool.submit(np.sum, numbers).result()
with open_workers(2) as pool:
    print(*pool.map(add, [np.ones(1_000_000), np.ones(2_000_000)]))
"""

INSIDE_JOBLIB = """
import numpy as np
from joblib import Parallel, delayed
from auditbook.workers import open_workers
def add(numbers):
    with open_workers(1) as pool:
        return pool.submit(np.sum, numbers).result()
print(*Parallel(2)(delayed(add)(np.ones(n)) for n in (1_000_000, 2_000_000)))
"""

DYING = """
import os
from concurrent.futures.process import BrokenProcessPool
import numpy as np
from auditbook.workers import open_workers
try:
    with open_workers(1) as pool:
        dead = pool.submit(os._exit, 1)
        waiting = [pool.submit(np.sum, np.ones(1_000_000)) for _ in range(3)]
        dead.result()
except BrokenProcessPool:
    print("told")
"""

LONG = """
import os, signal, time
from auditbook.workers import open_workers
signal.signal(signal.SIGINT, signal.default_int_handler)
def inside():
    with open_workers(1) as pool:
        print(os.getpid(), pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 600).result()
with open_workers(1) as pool:
    pool.submit(inside).result()
"""


@pytest.mark.parametrize("script", [INSIDE, INSIDE_JOBLIB], ids=["ours", "joblib's"])
def test_workers_open_workers_in_a_script_without_a_main_guard(tmp_path, script):
    assert run(tmp_path, script) == "1000000.0 2000000.0"


def test_a_worker_that_dies_is_told_however_much_work_is_on_its_way(tmp_path):
    assert run(tmp_path, DYING) == "told"


OTHER_ENDS = [pytest.param(how, marks=pytest.mark.slow) for how in (signal.SIGKILL, signal.SIGTERM)]


@pytest.mark.parametrize("how", [*OTHER_ENDS, signal.SIGINT])
def test_workers_and_their_workers_end_with_the_run(tmp_path, how):
    (tmp_path / "script.py").write_text(LONG)
    call = [sys.executable, str(tmp_path / "script.py")]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        workers = [int(number) for number in parent.stdout.readline().split()]
        os.kill(parent.pid, how)
        parent.wait(PATIENCE)
    ends = time.monotonic() + PATIENCE
    while any(is_running(worker) for worker in workers) and time.monotonic() < ends:
        time.sleep(0.1)
    assert len(workers) == 2
    assert not any(is_running(worker) for worker in workers)


def run(folder: Path, script: str) -> str:
    """Run a script as a user does, and return what it prints."""
    (folder / "script.py").write_text(script)
    call = [sys.executable, str(folder / "script.py")]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True, start_new_session=True) as script:
        try:
            return script.communicate(timeout=PATIENCE)[0].strip()
        finally:
            if script.poll() is None:
                os.killpg(script.pid, signal.SIGKILL)


def is_running(process: int) -> bool:
    """Say whether a process is there and not only waiting to be buried."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
