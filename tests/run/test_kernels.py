"""Kernels that are copied from one process: the same notebooks, and none outlives its caller."""

import subprocess
import sys
import time
from pathlib import Path

import nbformat

from auditbook.notebooks import execute_notebook
from auditbook.run.kernels import copied_kernel, own_kernel

NAMES = ("cohort", "metrics")
CELLS = (
    "import os, sys\nprint(os.getcwd(), sys.executable, sys.path, os.environ['MPLBACKEND'])",
    "print(sys.stdin.read())",
    "from auditbook.book.draw.style import new_axes\n_ = new_axes()",
    "import random, numpy\nprint(random.__name__, sorted({'a', 'b'}), numpy.random.default_rng(1).random())",
    "import subprocess\nprint(subprocess.run(['false']).returncode)",
    "1 + 1",
)


def notebook(*sources):
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{place}") for place, source in enumerate(sources)]
    made = nbformat.v4.new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def alive(pid):
    """Whether a process is there and not merely waiting to be let go."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid, *, seconds=30):
    until = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.1)
    return not alive(pid)


def run_in(kernels, folder, *sources):
    with kernels:
        execute_notebook("metrics", notebook(*sources), {}, folder / "metrics.ipynb")
    return (folder / "metrics.ipynb").read_bytes()


def test_a_copied_kernel_makes_the_same_notebook_as_one_of_its_own(tmp_path):
    assert run_in(copied_kernel(NAMES), tmp_path, *CELLS) == run_in(own_kernel(), tmp_path, *CELLS)


def test_what_one_chapter_does_is_unknown_to_the_next(tmp_path):
    told = ("import numpy\nprint(hasattr(numpy, 'left_behind'))\nnumpy.left_behind = 1",)
    with copied_kernel(NAMES):
        for name in NAMES:
            execute_notebook(name, notebook(*told), {}, tmp_path / f"{name}.ipynb")
    for name in NAMES:
        made = nbformat.read(tmp_path / f"{name}.ipynb", as_version=4)
        assert made.cells[-1].outputs[0].text == "False\n"


WRITE = "import os; open('pid', 'w').write(f'{os.getpid()}\\n')"
HELD = f"""
from jupyter_client.manager import start_new_kernel
from auditbook.run.kernels import copied_kernel
with copied_kernel(("cohort", "metrics")):
    manager, client = start_new_kernel(kernel_name="python3")
    client.execute({WRITE!r})
    client.execute("import time; time.sleep(600)")
    client.get_shell_msg(timeout=600)
    client.get_shell_msg(timeout=600)
"""


def read_pid(folder, *, seconds=120):
    """Wait for the number that a kernel writes: what it prints may be lost before anybody listens."""
    file, until = folder / "pid", time.monotonic() + seconds
    while not (file.is_file() and file.read_text(encoding="utf-8").endswith("\n")):
        assert time.monotonic() < until, "no kernel said its number"
        time.sleep(0.1)
    return int(file.read_text(encoding="utf-8"))


def test_a_copied_kernel_ends_with_the_caller(tmp_path):
    caller = subprocess.Popen([sys.executable, "-c", HELD], cwd=tmp_path)
    try:
        kernel = read_pid(tmp_path)
        assert alive(kernel)
    finally:
        caller.kill()
        caller.communicate()
    assert ends(kernel)


def test_a_copied_kernel_can_be_interrupted(tmp_path, monkeypatch):
    from jupyter_client.manager import start_new_kernel

    monkeypatch.chdir(tmp_path)
    with copied_kernel(NAMES):
        manager, client = start_new_kernel(kernel_name="python3")
        client.execute(WRITE)
        kernel = read_pid(tmp_path)
        asked = client.execute("import time; time.sleep(600)")
        time.sleep(1)
        manager.interrupt_kernel()
        reply = client.get_shell_msg(timeout=60)
        while reply["parent_header"].get("msg_id") != asked:
            reply = client.get_shell_msg(timeout=60)
        assert reply["content"]["ename"] == "KeyboardInterrupt"
        client.stop_channels()
        manager.shutdown_kernel()
    assert ends(kernel)
