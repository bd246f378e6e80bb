"""How does whoever starts a kernel get a copy of the process that is ready: it knocks, and waits for its end.

Runs by its path and imports nothing of the project: ``python -S kernel_client.py <socket> <arguments>``.
"""

import json
import os
import select
import signal
import socket
import sys

PATIENCE = 0.5
"""Seconds between two looks at whether the caller is still there."""


def main() -> None:
    """Ask for a kernel with this folder, environment and output; pass interrupts on; end when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    caller = os.getppid()
    order = {"folder": os.getcwd(), "environment": dict(os.environ), "arguments": sys.argv[2:]}
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(sys.argv[1])
        text = json.dumps(order).encode() + b"\n"
        sent = socket.send_fds(line, [text], [0, 1, 2])
        line.sendall(text[sent:])
        kernel = int(line.recv(32) or sys.exit("there is no process to copy a kernel from"))
        signal.signal(signal.SIGINT, lambda *_: os.kill(kernel, signal.SIGINT))
        while os.getppid() == caller:
            if select.select([line], [], [], PATIENCE)[0]:
                return


if __name__ == "__main__":
    main()
