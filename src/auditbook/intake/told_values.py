"""Which values does each bin hold, and which count as an event or as none?"""

from collections.abc import Iterator, Mapping

from auditbook.cohort import Cohort, OutcomeTable
from auditbook.errors import printable
from auditbook.intake.bin_cautions import hold_bins
from auditbook.intake.outcome_values import split_values
from auditbook.intake.used_columns import write_counts
from auditbook.tables import as_numbers, is_missing

_LISTED = 8


def tell_values(cohort: Cohort) -> list[str]:
    """Tell the smallest and largest value of each bin, and what counts as no event where several values do.

    Parameters
    ----------
    cohort : Cohort
        The kept records.

    Returns
    -------
    list of str
        Lines for a terminal, indented like those of `Cohort.summary`.
    """
    lines = [*_tell_outcomes(cohort), *_tell_bins(cohort)]
    return [printable(f"  {line}") for line in lines]


def _tell_bins(cohort: Cohort) -> Iterator[str]:
    """Tell what each bin of each attribute holds."""
    for item in (item for item in cohort.file.attributes if item.bins):
        cells = cohort.table[item.column]
        numbers = as_numbers(cells.mask(is_missing(cells, item.missing_values))).cells
        yield f"bins of {item.name}: {'; '.join(held.text for held in hold_bins(item, numbers))}"


def _tell_outcomes(cohort: Cohort) -> Iterator[str]:
    """Tell what counts as an event, and as none, of each outcome with more than two values."""
    tables = [("", cohort.file.outcome)]
    tables += [(f" of {other.name}", other.as_outcome) for other in cohort.file.outcomes]
    for whose, table in tables:
        values = split_values(table, cohort.table[table.column])
        if values is not None and len(values.events) + len(values.others) > 2:
            yield f"event{whose}: {_tell(table, values.events)}; no event: {_tell(table, values.others)}"


def _tell(table: OutcomeTable, counts: Mapping[str, int]) -> str:
    """List a few values with their counts; of many that are compared the smallest and the largest."""
    event = table.rule
    if event is None or event.comparison in ("==", "!=") or len(counts) <= _LISTED:
        return write_counts(counts.items(), most=_LISTED)
    numbers = sorted(float(value) for value in counts)
    return f"{numbers[0]:g} to {numbers[-1]:g} ({sum(counts.values()):,})"
