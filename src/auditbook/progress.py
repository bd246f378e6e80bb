"""How far is the run: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from tqdm import tqdm

from auditbook.errors import printable


class Progress:
    """Tell a run's steps to who waits for it: on standard error, on `stream`, or through `tell`."""

    def __init__(
        self, total: int, stream: TextIO | None = None, tell: Callable[[str], None] | None = None
    ) -> None:
        self.tell = tell
        self.stream = stream if stream is not None else sys.stderr
        self.started = time.monotonic()
        self.bar = None
        if tell is None and self.stream.isatty():
            layout = "{bar:24} {n_fmt}/{total_fmt} {elapsed} {desc}"
            self.bar = tqdm(total=total, file=self.stream, bar_format=layout)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.close()

    def say(self, text: str) -> None:
        """Say what is being done now; what a terminal would act on is escaped."""
        text = printable(text)
        if self.tell is not None:
            self.tell(text)
        elif self.bar is not None:
            self.bar.set_description_str(text)
        else:
            seconds = time.monotonic() - self.started
            self.stream.write(f"[{seconds:6.1f} s] {text}\n")
            self.stream.flush()

    def done(self) -> None:
        """Count one step as finished."""
        if self.bar is not None:
            self.bar.update()
