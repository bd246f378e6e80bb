"""What lies about a process that could change what it does, and how is it shut out?

Python imports modules from the working folder when it is started with ``-m`` or ``-c``, and from wherever
PYTHONPATH says. Jupyter and IPython run what a user's configuration holds. Whoever can write to such a place
would decide what an audit does, and two people would get two books.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
"""Where this package is imported from."""
PYTHON = (sys.executable, "-P")
"""Starts this Python without the working folder among the places that it imports from."""
CHILDREN: Mapping[str, str | None] = {
    "PYTHONSAFEPATH": "1",  # as -P does, in processes whose command is not ours: workers and their watchers
    "PYTHONUTF8": "1",  # texts are read and written alike whatever the locale says
    "PYTHONSTARTUP": None,  # a kernel would run it
}
"""Variables of processes that are started; None takes one away."""


def shut_out() -> None:
    """Import nothing from where PYTHONPATH says, and let later processes import nothing from there.

    Its entries stay that hold this package or lie in its environment. A blank entry is the working folder.
    """
    told = os.environ.get("PYTHONPATH")
    listed = [os.path.abspath(entry or os.curdir) for entry in told.split(os.pathsep)] if told else []
    kept = [entry for entry in listed if _belongs(entry)]
    foreign = set(listed).difference(kept)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) not in foreign]
    _set({**CHILDREN, "PYTHONPATH": os.pathsep.join(kept) or None})


def _belongs(entry: str) -> bool:
    """Tell whether a place holds this package, or lies in the environment that it runs in."""
    place = Path(entry).resolve()
    return place == SOURCE or place.is_relative_to(Path(sys.prefix).resolve())


@contextmanager
def set_variables(values: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables of the environment, or take them away where there is no value; put them back after."""
    before = {name: os.environ.get(name) for name in values}
    _set(values)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
