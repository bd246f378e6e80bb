"""In which order do records stand, whatever the order of rows and columns in the file?

A record is known by what the columns that anything uses say of it. What is known at admission decides
first, so that a model which sees no more meets its records in the same order whatever other columns hold.
Records of which all columns say the same are interchangeable: their order changes nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort.cohort import Cohort
from auditbook.records import take_survey
from auditbook.tables import Hashes, as_numbers, hash_cells, hash_numbers, hash_text, mix


def order_cohort(cohort: Cohort) -> Cohort:
    """Put records into the order of what they hold and columns into the order of their names."""
    early = _combine(_hash_features(cohort, late=False), len(cohort.outcome))
    rest = _combine(chain(_hash_features(cohort, late=True), _hash_roles(cohort)), len(cohort.outcome))
    ordered = take_cohort(cohort, np.lexsort((rest, early)))
    unit = number_rows(len(ordered.table)) if is_own_unit(cohort) else ordered.unit
    return replace(ordered, table=ordered.table[sorted(ordered.table.columns)], unit=unit)


def take_cohort(cohort: Cohort, positions: NDArray[np.integer]) -> Cohort:
    """Take some of a cohort's records, in the order of `positions`."""
    site = None if cohort.site is None else cohort.site[positions]
    return replace(
        cohort,
        table=cohort.table.iloc[positions].reset_index(drop=True),
        outcome=cohort.outcome[positions],
        site=site,
        unit=site if site is not None and cohort.unit is cohort.site else cohort.unit[positions],
        attributes=tuple(replace(item, codes=item.codes[positions]) for item in cohort.attributes),
        survey=None if cohort.survey is None else take_survey(cohort.survey, positions),
        other_outcomes=tuple(replace(item, cells=item.cells[positions]) for item in cohort.other_outcomes),
        predictions=None if cohort.predictions is None else cohort.predictions.take(positions),
    )


def number_rows(rows: int) -> NDArray[np.object_]:
    """Name each of some records by its number, for units of one record."""
    return np.arange(rows).astype(str).astype(object)


def _combine(parts: Iterable[Hashes], rows: int) -> Hashes:
    """Make one hash a record of those of its cells."""
    found = np.zeros(rows, dtype=np.uint64)
    for part in parts:
        found = mix(found ^ part)
    return found


def _hash_features(cohort: Cohort, *, late: bool) -> Iterator[Hashes]:
    """Hash the cells of the late features, or of the others, in the order of their names."""
    names = (name for name in sorted(cohort.feature_columns) if (name in cohort.late_columns) == late)
    yield from (hash_cells(cohort.table[name]) for name in names)


def _hash_roles(cohort: Cohort) -> Iterator[Hashes]:
    """Hash what each role says of each record."""
    yield hash_numbers(cohort.outcome)
    yield from (hash_numbers(item.cells) for item in cohort.other_outcomes)
    if cohort.site is not None:
        yield hash_text(cohort.site)
    if not is_own_unit(cohort):
        yield hash_text(cohort.unit)
    for item in cohort.attributes:
        yield hash_text(np.array(item.groups, dtype=object))[item.codes]
    for score in cohort.file.scores:
        yield hash_numbers(score.turn(as_numbers(cohort.table[score.column]).cells))
    if cohort.survey is not None:
        parts = (cohort.survey.weight, cohort.survey.stratum, cohort.survey.cluster)
        yield from (hash_numbers(part) for part in parts if part is not None)


def is_own_unit(cohort: Cohort) -> bool:
    """Tell whether each record is a unit of its own."""
    return not cohort.file.unit.names and cohort.site is None
