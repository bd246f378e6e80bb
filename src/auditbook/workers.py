"""How is work done side by side: processes of their own, which end with the run that started them."""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from threading import Thread


def open_workers(jobs: int) -> ProcessPoolExecutor:
    """Open a pool of fresh processes.

    They are started anew and not copied from this one, whose threads a copy would not have.

    Parameters
    ----------
    jobs : int
        How many.

    Returns
    -------
    ProcessPoolExecutor
        To be used in a ``with`` statement.
    """
    return ProcessPoolExecutor(jobs, get_context("spawn"), end_with_parent)


def end_with_parent() -> None:
    """Let this worker end when the run that started it is gone, in whichever way that ended."""

    def wait() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()
