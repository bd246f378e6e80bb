"""Which columns of a cohort does anything learn from: models trained here, and maps of pockets?"""

from auditbook.cohort.cohort import Cohort
from auditbook.pocket_settings import PocketSettings


def list_learned(cohort: Cohort) -> tuple[str, ...]:
    """List the columns that models trained here or maps of pockets may use; none where nothing learns.

    Parameters
    ----------
    cohort : Cohort
        What `load_cohort` returned.

    Returns
    -------
    tuple of str
        In the order of the features. Late ones are among them where a model may see them.
    """
    if cohort.file.panel.models:
        return cohort.feature_columns
    return map_columns(cohort, cohort.file.pockets) if cohort.file.pockets.run else ()


def map_columns(cohort: Cohort, settings: PocketSettings) -> tuple[str, ...]:
    """Name the columns that maps may use: features but compared attributes, sites, units, late ones."""
    file = cohort.file
    barred = compared_columns(cohort, settings) | {file.site.column, *file.unit.names}
    barred |= set(settings.exclude) | (set() if settings.late else set(cohort.late_columns))
    return tuple(name for name in cohort.feature_columns if name not in barred)


def compared_columns(cohort: Cohort, settings: PocketSettings) -> set[str]:
    """Name the columns of the attributes whose groups are compared."""
    compared = settings.attributes or tuple(item.name for item in cohort.file.attributes)
    return set().union(*(cohort.file.list_columns(name) for name in compared))
