"""Audit the fairness of clinical prediction models, and say what each audit has shown."""

import os
import sys

# Threads that wait for work give up the core; where they spin instead, a busy machine trains many times
# slower. The libraries read this when they are imported, which is after this package.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _leave_out_relative_places() -> None:
    """Import nothing from where a blank or relative entry of PYTHONPATH points: in the working folder.

    Done here, before anything else is imported, and with what Python has imported by itself. What else of
    PYTHONPATH is left out is said in `surroundings`.
    """
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    listed = (os.environ.get("PYTHONPATH") or source).split(os.pathsep)
    places = {os.path.abspath(entry) for entry in listed if not os.path.isabs(entry)} - {source}
    sys.path[:] = [entry for entry in sys.path if entry not in places]


_leave_out_relative_places()
