"""How does a chapter open a finished run?"""

import subprocess
import sys
from pathlib import Path

from auditbook.errors import RunError
from auditbook.project import DEFAULT_COHORT, runs_folder
from auditbook.results import Run, read_run


def open_run(run_dir: str = "") -> Run:
    """Open a run for reading, as the setup cell of every chapter does.

    A blank folder means the default cohort's run, whose results are made first where there are none.

    Raises
    ------
    RunError
        If there is no such run, or the default one cannot be made.
    """
    if run_dir:
        return read_run(Path(run_dir))
    folder = runs_folder() / DEFAULT_COHORT.stem
    if not (folder / "run.json").is_file():
        # A process of its own, since the audit stands above the book and imports what takes seconds.
        call = [sys.executable, "-m", "auditbook", "audit", str(DEFAULT_COHORT)]
        if subprocess.run(call, check=False).returncode:
            raise RunError("the default cohort could not be audited: see what the command says above")
    return read_run(folder)
