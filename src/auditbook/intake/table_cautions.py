"""What in a table as it was read deserves a second look, whether or not the cohort file has faults?"""

from collections.abc import Iterator

from auditbook.cohort import CohortFile
from auditbook.intake.bin_cautions import warn_bins
from auditbook.intake.caution import Caution
from auditbook.intake.missing_cautions import warn_missing_words, warn_named_missing
from auditbook.intake.number_cautions import warn_numbers_as_missing, warn_text_in_numbers
from auditbook.intake.outcome_values import warn_outcomes
from auditbook.intake.rule_cautions import warn_numbers
from auditbook.intake.stand_ins import warn_stand_in_days, warn_stand_in_units, warn_stand_ins
from auditbook.intake.text_cautions import (
    warn_dates,
    warn_lists,
    warn_mojibake,
    warn_repeated_header,
    warn_scientific,
)
from auditbook.intake.used_columns import keep_rows, list_used
from auditbook.tables import PlainTable


def warn_table(file: CohortFile, table: PlainTable) -> list[Caution]:
    """List what an auditor should look at in the values of the columns that a cohort file uses.

    Parameters
    ----------
    file : CohortFile
        What `read_cohort_file` returned.
    table : PlainTable
        The table as read, before the cohort file's rules about missing values and dropped records.
    """
    return list(dict.fromkeys(_warn(file, table)))


def _warn(file: CohortFile, table: PlainTable) -> Iterator[Caution]:
    """Go through the kinds of caution, each once."""
    used = list_used(file, table)
    yield from warn_numbers(file, table.frame)
    yield from warn_repeated_header(table.frame)
    kept = keep_rows(file, table.frame)
    yield from warn_missing_words(file, kept)
    yield from warn_numbers_as_missing(file, kept)
    yield from warn_outcomes(file, used)
    yield from warn_bins(used)
    yield from warn_stand_ins(used)
    yield from warn_text_in_numbers(used)
    yield from warn_named_missing(used)
    yield from warn_stand_in_units(used)
    yield from warn_stand_in_days(file.time.column, table.frame)
    yield from warn_dates(used)
    yield from warn_lists(used)
    yield from warn_scientific(used)
    yield from warn_mojibake(used)
