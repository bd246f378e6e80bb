"""Which kernels execute the chapters: this interpreter's own, and for many chapters copies of one process."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from auditbook.notebooks import KERNEL
from auditbook.surroundings import CHILDREN, PYTHON, set_variables

ALONE_IN_FOLDER = ("--InteractiveShellApp.ignore_cwd=True", "--InteractiveShellApp.exec_PYTHONSTARTUP=False")
"""Lets a kernel neither import from its folder nor run what is meant for people at a prompt."""
CONNECTION = ("-f", "{connection_file}", "--log-level=CRITICAL", *ALONE_IN_FOLDER)
"""Arguments of every kernel; the first two name the file that says where it listens."""
ALONE = (*PYTHON, "-m", "ipykernel_launcher")
CLIENT = (sys.executable, "-I", "-S", str(Path(__file__).with_name("kernel_client.py")))
"""Runs without the packages of the environment, so that it starts in no time."""
FIGURES = {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "MATPLOTLIBRC": os.devnull}
"""What a kernel tells matplotlib, which reads it once, when it is imported."""
QUEUE = 64
"""Kernels that may wait until the process that they are copied from is ready."""


@contextmanager
def own_kernel(start: Sequence[str] = ALONE) -> Iterator[None]:
    """Make ``python3`` mean the running interpreter, whatever kernels and settings the user has."""
    before = os.environ.get("JUPYTER_PATH")
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "kernels" / KERNEL
        spec.mkdir(parents=True)
        told = {"argv": [*start, *CONNECTION], "display_name": "Python 3", "language": "python"}
        (spec / "kernel.json").write_text(json.dumps(told), encoding="utf-8")
        path = folder if before is None else folder + os.pathsep + before
        with set_variables({"JUPYTER_PATH": path, **_name_empty(folder), **CHILDREN, **FIGURES}):
            yield


def _name_empty(folder: str) -> dict[str, str | None]:
    """Name an empty folder where IPython and Jupyter look for a user's settings and start-up files."""
    places = {"IPYTHONDIR": "ipython", "JUPYTER_CONFIG_DIR": "jupyter"}
    for place in places.values():
        (Path(folder) / place).mkdir()
    return {name: str(Path(folder) / place) for name, place in places.items()} | {"JUPYTER_CONFIG_PATH": None}


@contextmanager
def copied_kernel(names: Sequence[str]) -> Iterator[None]:
    """Make ``python3`` mean a copy of one process that has imported what these chapters import.

    Importing takes a chapter longer than most of what it computes. Where processes are not copied safely
    (macOS), and for one chapter alone, a kernel starts by itself.
    """
    if sys.platform != "linux" or len(names) < 2:
        with own_kernel():
            yield
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "door"
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(str(place))
            door.listen(QUEUE)
            call = [*PYTHON, "-m", "auditbook.run.kernel_copies", str(door.fileno()), *names]
            with set_variables({**CHILDREN, **FIGURES}):
                original = subprocess.Popen(
                    call, stdin=subprocess.PIPE, pass_fds=[door.fileno()], start_new_session=True, cwd=folder
                )
        try:
            with own_kernel([*CLIENT, str(place)]):
                yield
        finally:
            original.communicate()  # its standard input closes, and it ends
