"""Which features deserve a second look?"""

from collections.abc import Iterator

from auditbook.cohort import ID_SHARE, Cohort
from auditbook.intake.caution import Caution


def warn_identifiers(cohort: Cohort) -> Iterator[Caution]:
    """Point out features that are like an identifier."""
    for name in (name for name in cohort.feature_columns if name not in cohort.late_columns):
        column = cohort.table[name]
        present = int(column.notna().sum())
        if column.dtype.kind != "f" and present > 100 and column.nunique() > ID_SHARE * present:
            kind = "text" if column.dtype == object else "whole numbers"
            yield Caution(
                "[features]",
                f"'{name}' is {kind} with hardly a value twice, like an identifier; "
                "unless it is not one, exclude it",
            )
