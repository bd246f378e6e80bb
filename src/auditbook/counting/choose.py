"""Is a cohort counted part by part, or held in memory as a table?"""

from contextlib import suppress
from pathlib import Path

from auditbook.cohort import CohortFile, find_database, find_query
from auditbook.counting.obstacles import find_obstacles
from auditbook.errors import InputError
from auditbook.settings import Profile
from auditbook.tables import count_rows, estimate_rows

FROM_ROWS = 2_000_000
"""Rows from which a table is counted in parts unless its cohort file says otherwise (ours): so many are held
in two gigabytes."""


def is_counted(file: CohortFile, *, data: Path | None = None, profile: Profile | None = None) -> bool:
    """Tell whether a cohort is counted part by part.

    Parameters
    ----------
    file : CohortFile
        Its ``[data] read`` decides; ``auto`` asks how many rows the files or the query hold, as far as
        that is known without reading them.
    data : Path or None
        Data file used in place of the one that the cohort file names.
    profile : Profile, optional
        The run's, which may ask for a number of records.

    Raises
    ------
    InputError
        If it shall be, and something in the file needs all records at once.
    """
    if file.data.read == "whole":
        return False
    obstacles = find_obstacles(file, profile)
    if file.data.read == "in parts":
        if obstacles:
            raise InputError(*obstacles)
        return True
    return not obstacles and estimate_length(file, data) >= FROM_ROWS


def estimate_length(file: CohortFile, data: Path | None = None) -> int:
    """Estimate how many rows a cohort's table has without reading it; 0 where nobody says.

    A database counts them. One that cannot, or is not reached, says why when its rows are asked for.
    """
    if file.data.connection is None or data is not None:
        return sum(map(estimate_rows, file.find_data(data)))
    with suppress(InputError):
        return count_rows(find_database(file), find_query(file))
    return 0
