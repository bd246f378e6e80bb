"""How is work done side by side: processes of their own, which end with the run that started them."""

import os
import socket
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from joblib.externals.loky import ProcessPoolExecutor

from auditbook.surroundings import CHILDREN, set_variables

Result = TypeVar("Result")

PATIENCE = 0.5
"""Seconds between two looks at whether the run is still there."""
STOPPED = "its process was stopped from outside; is there enough memory? --jobs 1 needs less"
"""What to tell when a worker died."""


@contextmanager
def open_workers(jobs: int) -> Iterator[Executor]:
    """Open a pool of fresh processes.

    They are started anew and not copied from this one, whose threads a copy would not have. They may be
    opened inside a worker, and by a script that does not guard its own lines with ``if __name__ ==
    "__main__"``, since it is not read again. When one of them dies, whatever waits for the pool fails with
    BrokenProcessPool. (The pool of Python 3.11 itself waits for ever when a process dies before it has taken
    its work, if there is much of it.) When the run is interrupted, what they do is given up at once.
    """
    # a worker whose memory has grown is replaced between two pieces of work, which concerns nobody
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    others = active_children()
    start = {"initializer": end_with_parent, "initargs": (os.getpid(),)}
    with set_variables(CHILDREN), ProcessPoolExecutor(jobs, **start) as pool:
        try:
            yield pool
        except Exception:
            raise
        except BaseException:
            for worker in set(active_children()).difference(others):
                worker.terminate()
            raise


def do_beside(
    work: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], *, jobs: int
) -> Generator[tuple[int, Result], None, None]:
    """Do pieces of work side by side; yield the place and the result of each when it is done, in any order.

    What has not begun is given up when one fails, or when the caller stops. (joblib's own loop keeps its
    processes after the work, lets them outlive a run that is killed, and changes their number of threads.)
    """
    with open_workers(max(min(jobs, len(tasks)), 1)) as pool:
        waiting = {pool.submit(work, *task): place for place, task in enumerate(tasks)}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            for future in waiting:
                future.cancel()


def end_with_parent(parent: int) -> None:
    """Let this worker end when the run that started it is gone: it is then given another parent."""

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(PATIENCE)
        os._exit(1)

    Thread(target=wait, daemon=True).start()


@dataclass(frozen=True)
class Voice:
    """Says from a worker how far it is; may be sent to it."""

    ear: Path  # Socket of the run that listens

    def say(self, text: str) -> None:
        """Say one thing; a run that is gone is not told."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as mouth:
            try:
                mouth.sendto(text.encode(), str(self.ear))
            except OSError:
                return


@contextmanager
def hear_workers(say: Callable[[str], None]) -> Iterator[Voice]:
    """Pass on what workers say, in the order in which they say it, until all of it was heard."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
        voice = Voice(Path(folder) / "ear")
        ear.bind(str(voice.ear))

        def listen() -> None:
            while text := ear.recv(2**16).decode(errors="replace"):
                say(text)

        listener = Thread(target=listen, daemon=True)
        listener.start()
        try:
            yield voice
        finally:
            voice.say("")
            listener.join()
