"""What are the kernels of many chapters copied from: one process that has imported what all of them need."""

import ast
import importlib
import json
import os
import select
import socket
import sys
from contextlib import suppress
from threading import Thread

from auditbook.run.contents import chapter_code


def _serve(door: socket.socket) -> None:
    """Become one kernel after the other for whoever knocks, until standard input closes."""
    while True:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # let go of copies that have ended
                pass
        ready, _, _ = select.select([door, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        line, _ = door.accept()
        with line:
            if os.fork() == 0:
                door.close()
                _become_kernel(line)


def _become_kernel(line: socket.socket) -> None:
    """Take on folder, environment, input and outputs of the client, and be its kernel while it lives."""
    try:
        text, files, _, _ = socket.recv_fds(line, 1 << 16, 3)
        while not text.endswith(b"\n"):
            text += line.recv(1 << 16)
        order = json.loads(text)
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        os.environ.pop("JPY_PARENT_PID", None)  # the client is watched in its place
        line.sendall(str(os.getpid()).encode())
        Thread(target=_end_with, args=(line,), daemon=True).start()
        from ipykernel import kernelapp

        kernelapp.launch_new_instance(argv=order["arguments"])
    finally:
        os._exit(0)


def _end_with(line: socket.socket) -> None:
    """End this kernel when its client is gone."""
    line.recv(1)
    os._exit(1)


def import_for(code: str) -> None:
    """Import what the cells of a chapter import; what cannot be imported fails in the chapter itself."""
    for node in ast.parse(code).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            with suppress(Exception):
                exec(compile(ast.Module([node], []), "chapter", "exec"), {})


def main() -> None:
    """Import what chapters need and be copied for each: called with a socket and their names."""
    importlib.import_module("ipykernel.kernelapp")
    for name in sys.argv[2:]:
        import_for(chapter_code(name))
    with socket.socket(fileno=int(sys.argv[1])) as door:
        _serve(door)


if __name__ == "__main__":
    main()
