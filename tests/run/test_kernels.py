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


HELD = """
import sys
from jupyter_client.manager import start_new_kernel
from auditbook.run.kernels import copied_kernel
with copied_kernel(("cohort", "metrics")):
    manager, client = start_new_kernel(kernel_name="python3")
    client.execute_interactive("import os; print(os.getpid(), flush=True)")
    client.execute_interactive("import time; time.sleep(600)")
"""


def test_a_copied_kernel_ends_with_the_caller(tmp_path):
    caller = subprocess.Popen([sys.executable, "-c", HELD], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    kernel = int(caller.stdout.readline())
    assert alive(kernel)
    caller.kill()
    caller.communicate()
    assert ends(kernel)


def test_a_copied_kernel_can_be_interrupted(tmp_path):
    from jupyter_client.manager import start_new_kernel

    with copied_kernel(NAMES):
        manager, client = start_new_kernel(kernel_name="python3")
        said = []
        client.execute_interactive(
            "import os; print(os.getpid())", output_hook=lambda message: said.append(message["content"])
        )
        kernel = next(int(content["text"]) for content in said if "text" in content)
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
