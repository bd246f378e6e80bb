"""What lies in the folder of a learner who begins the capstone?"""

import os
from pathlib import Path

from auditbook.errors import InputError
from auditbook.studies.capstone.answers import write_blank
from auditbook.studies.capstone.table import write_table

TABLE, ANSWERS = "network.csv", "answers.toml"


def write_capstone(folder: Path) -> list[Path]:
    """Write the table of the capstone and the blank file of answers into a folder; nothing is overwritten.

    Raises
    ------
    InputError
        If one of the files is there already, or the folder cannot be written to.
    """
    table, answers = folder / TABLE, folder / ANSWERS
    taken = [path.name for path in (table, answers) if os.path.lexists(path)]
    if taken:
        raise InputError(f"{folder} holds {' and '.join(taken)} already; name another folder with --to")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_table(table)
        answers.write_text(write_blank(), encoding="utf-8")
    except OSError as fault:
        raise InputError(
            f"{folder} cannot be written to: {fault.strerror}; name another with --to"
        ) from fault
    return [table, answers]
