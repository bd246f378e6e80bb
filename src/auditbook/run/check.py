"""What is wrong with a cohort file and with its data, all at once?"""

from dataclasses import dataclass

from auditbook.cohort import (
    Cohort,
    CohortFile,
    SoundPart,
    Source,
    list_data_faults,
    load_cohort,
    read_sound_part,
    read_source,
)
from auditbook.errors import InputError
from auditbook.project import runs_folder
from auditbook.run.plan import Request, check_call, size_file


@dataclass(frozen=True)
class Checked:
    """What was found of a cohort file and its data."""

    file: CohortFile  # Without the parts that have faults
    faults: tuple[str, ...]  # Of the file, then of the data; empty where there are none
    source: Source | None = None  # The table as read; None where it cannot be read
    cohort: Cohort | None = None  # What it comes to; None where the data or the outcome have a fault


def check_request(request: Request) -> Checked:
    """Read the cohort file and the data of a call, and tell the faults of both at once.

    Where parts of the file have faults, the data are held against the others, as far as no fault would
    follow from one that is told already.

    Parameters
    ----------
    request : Request
        What `auditbook check` was asked.

    Raises
    ------
    InputError
        If the cohort file cannot be read, or is no TOML.
    """
    part = read_sound_part(request.cohort)
    faults = part.faults
    try:
        check_call(part.file, request)
    except InputError as wrong:
        faults += wrong.faults
    if not part.readable and request.data is None:
        return Checked(part.file, faults)
    file = size_file(part.file, request.profile)
    try:
        source = read_source(file, data=request.data, cache_dir=runs_folder() / ".cache")
    except InputError as wrong:
        return Checked(file, (*faults, *wrong.faults))
    return _check_data(part, file, faults, source, request)


def _check_data(
    part: SoundPart, file: CohortFile, faults: tuple[str, ...], source: Source, request: Request
) -> Checked:
    """Hold the data against the sound part of the file."""
    if not (part.judges_cells and file.outcome.column and file.attributes):
        found = list_data_faults(file, source, cells=part.judges_cells)
        return Checked(file, (*faults, *found), source)
    try:
        cohort = load_cohort(
            file,
            max_rows=request.profile.max_rows,
            seed=file.protocol.seed if request.seed is None else request.seed,
            cache_dir=runs_folder() / ".cache",
            source=source,
        )
    except InputError as wrong:
        return Checked(file, (*faults, *wrong.faults), source)
    return Checked(file, faults, source, cohort)
