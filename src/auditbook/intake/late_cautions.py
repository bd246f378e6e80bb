"""Which columns that anything learns from are named like what is known too late?"""

from collections.abc import Iterator, Sequence

import numpy as np

from auditbook.cohort import Cohort
from auditbook.intake.caution import Caution
from auditbook.intake.cure_lines import exclude_line, late_line, list_names
from auditbook.intake.leak_cautions import list_figures
from auditbook.intake.single_areas import CHECKED_ROWS, rank_correlation, single_area
from auditbook.intake.stay_ends import ends_a_stay, find_known_late


def warn_late(cohort: Cohort, learned: Sequence[str]) -> Iterator[Caution]:
    """Point out columns that a known layout has after the outcome, and those named like ends of stays."""
    after, late = find_known_late(cohort.table.columns)
    beyond = [name for name in learned if name in after]
    if beyond:
        yield Caution(
            "[features]",
            f"{after[beyond[0]]} has {list_names(beyond)} only after the outcome",
            f"if so: {exclude_line(cohort.file, beyond)}",
        )
    told = {*after, *cohort.late_columns}
    named = [name for name in learned if name not in told and (name in late or ends_a_stay(name))]
    if named:
        yield _warn_late(cohort, named)


def _warn_late(cohort: Cohort, named: Sequence[str]) -> Caution:
    """Tell the columns with names of what is known at the end, the strongest first, with their figure."""
    step = -(-len(cohort.table) // CHECKED_ROWS)
    outcome, measure = np.asarray(cohort.outcome, float)[::step], "AUC"
    if cohort.continuous:
        measure, strength = (
            "rank correlation",
            {name: rank_correlation(cohort.table[name].iloc[::step], outcome) for name in named},
        )
    else:
        strength = {name: single_area(cohort.table[name].iloc[::step], outcome) for name in named}
    ranked = sorted(named, key=lambda name: (-strength[name], name))
    is_one = len(ranked) == 1
    many = "1 column is named like what is" if is_one else f"{len(ranked):,} columns are named like what is"
    told = list_figures([(name, f"{measure} {strength[name]:.2f} on its own") for name in ranked])
    return Caution(
        "[features]",
        f"{many} known only at the end of a stay: {told}",
        f"if so: {late_line(cohort.file, ranked)}",
    )
