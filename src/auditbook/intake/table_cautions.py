"""What in a table as it was read deserves a second look, whether or not the cohort file has faults?"""

from auditbook.cohort import CohortFile
from auditbook.intake.caution import Caution
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
    return []
