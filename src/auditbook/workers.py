"""How is work done side by side: processes of their own, which end with the run that started them."""

import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from multiprocessing import active_children
from threading import Thread

from joblib.externals.loky import ProcessPoolExecutor

PATIENCE = 0.5
"""Seconds between two looks at whether the run is still there."""


@contextmanager
def open_workers(jobs: int) -> Iterator[Executor]:
    """Open a pool of fresh processes.

    They are started anew and not copied from this one, whose threads a copy would not have. They may be
    opened inside a worker, and by a script that does not guard its own lines with ``if __name__ ==
    "__main__"``, since it is not read again. When one of them dies, whatever waits for the pool fails with
    BrokenProcessPool. (The pool of Python 3.11 itself waits for ever when a process dies before it has taken
    its work, if there is much of it.) When the run is interrupted, what they do is given up at once.

    Parameters
    ----------
    jobs : int
        How many.

    Yields
    ------
    Executor
        Its work must be functions of modules.
    """
    # a worker whose memory has grown is replaced between two pieces of work, which concerns nobody
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    others = active_children()
    with ProcessPoolExecutor(jobs, initializer=end_with_parent, initargs=(os.getpid(),)) as pool:
        try:
            yield pool
        except Exception:
            raise
        except BaseException:
            for worker in set(active_children()).difference(others):
                worker.terminate()
            raise


def end_with_parent(parent: int) -> None:
    """Let this worker end when the run that started it is gone, in whichever way that ended.

    Parameters
    ----------
    parent : int
        Process of the run: a worker is given another parent when it ends.
    """

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(PATIENCE)
        os._exit(1)

    Thread(target=wait, daemon=True).start()
