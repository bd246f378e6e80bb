"""What can go wrong, and whose mistake is it: the caller's, or the run's?"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class InputError(Exception):
    """A fault in what the user gave: the cohort file, its data, or the call.

    Parameters
    ----------
    *faults : str
        One sentence a fault: what was found where, what is allowed, what to do.
    """

    def __init__(self, *faults: str) -> None:
        self.faults = faults
        super().__init__("\n".join(faults))

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, ...]]:
        """Keep the faults apart on the way from a worker."""
        return type(self), self.faults


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Put the name of a file in front of every fault that is found inside the block."""
    try:
        yield
    except InputError as wrong:
        raise InputError(*(f"{file}: {fault}" for fault in wrong.faults)) from wrong


class RunError(Exception):
    """A run that could not be finished for a reason other than the user's input."""


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Name the allowed word closest to a mistyped one, as the end of a sentence; blank if none is near.

    Examples
    --------
    >>> nearest("colum", ["column", "event"])
    " (did you mean 'column'?)"
    """
    match = difflib.get_close_matches(name.lower(), {word.lower(): word for word in allowed}, n=1, cutoff=0.6)
    words = {word.lower(): word for word in allowed}
    return f" (did you mean '{words[match[0]]}'?)" if match else ""


def printable(text: str) -> str:
    r"""Escape what a terminal would act on instead of printing.

    Examples
    --------
    >>> printable("a\x1b[31m")
    'a\\x1b[31m'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
