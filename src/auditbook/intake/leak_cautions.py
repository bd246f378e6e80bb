"""Which columns that anything learns from may give the outcome away?"""

from collections.abc import Iterator, Sequence

import numpy as np

from auditbook.cohort import Cohort
from auditbook.intake.caution import Caution
from auditbook.intake.cure_lines import exclude_line
from auditbook.intake.leaks import Leak, find_leaks
from auditbook.intake.single_areas import LEAK_AREA

SHOWN = 12
"""Columns of one caution that are told with their figure; the line that cures names all."""


def warn_leaks(cohort: Cohort, learned: Sequence[str]) -> Iterator[Caution]:
    """Point out columns that may be the outcome in disguise, in one caution with the line that cures."""
    outcome = np.asarray(cohort.outcome, dtype=float)
    leaks = find_leaks(cohort.table, learned, outcome, continuous=cohort.continuous)
    if leaks:
        yield _warn_disguise(cohort, leaks)


def _warn_disguise(cohort: Cohort, leaks: Sequence[Leak]) -> Caution:
    """Tell the leaks, the strongest first, with figure and bound."""
    bound = "rank correlation" if cohort.continuous else "AUC"
    decides = "" if cohort.continuous else ", or a value or blank that decides it"
    many, them = ("1 column", "it is") if len(leaks) == 1 else (f"{len(leaks):,} columns", "they are")
    told = list_figures([(leak.column, leak.figure) for leak in leaks])
    return Caution(
        "[features]",
        f"{many} may be the outcome in disguise (told from {bound} {LEAK_AREA:g}{decides}): {told}",
        f"if {them}: {exclude_line(cohort.file, [leak.column for leak in leaks])}",
    )


def list_figures(told: Sequence[tuple[str, str]]) -> str:
    """List columns with what is told of each, up to a dozen."""
    listed = ", ".join(f"'{name}' ({figure})" for name, figure in told[:SHOWN])
    return listed + (f" and {len(told) - SHOWN:,} more" if len(told) > SHOWN else "")
