"""How does a chapter open a finished run?"""

import subprocess
from pathlib import Path

from auditbook.errors import RunError
from auditbook.privacy import protect_run
from auditbook.project import DEFAULT_COHORT, runs_folder
from auditbook.results import Run, read_run
from auditbook.surroundings import PYTHON


def open_run(run_dir: str = "") -> Run:
    """Open a run for reading, as the setup cell of every chapter does.

    Counts of too few people are blank in it, and what they would follow from (see `auditbook.privacy`). A
    blank folder means the default cohort's run, whose results are made first where there are none.

    Raises
    ------
    RunError
        If there is no such run, or the default one cannot be made.
    """
    if run_dir:
        return protect_run(read_run(Path(run_dir)))
    folder = runs_folder() / DEFAULT_COHORT.stem
    if not (folder / "run.json").is_file():
        # A process of its own, since the audit stands above the book and imports what takes seconds.
        call = [*PYTHON, "-m", "auditbook", "audit", str(DEFAULT_COHORT)]
        if subprocess.run(call, check=False).returncode:
            raise RunError("the default cohort could not be audited: see what the command says above")
    return protect_run(read_run(folder))
