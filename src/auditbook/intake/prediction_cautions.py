"""Is a unit scored several times, do some have many more predictions, and does one come after its event?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import Cohort, Predictions
from auditbook.intake.caution import Caution
from auditbook.tables import count_of

UNEVEN = 1.5
"""Mean predictions of one group over those of another from which a maximum is not comparable (ours)."""


def warn_predictions(cohort: Cohort) -> Iterator[Caution]:
    """Point out units scored several times, maxima of unequal numbers, and predictions after the event."""
    found = cohort.predictions
    if cohort.merged is None:
        yield from _warn_several(cohort)
    elif cohort.merged.rule == "max" and found is not None:
        yield from _warn_uneven(cohort, found.count)
    if found is not None and found.timed and not cohort.continuous:
        yield from _warn_late(cohort, found)


def _warn_several(cohort: Cohort) -> Iterator[Caution]:
    """Count the units that have several given scores, where no rule says which one is audited."""
    if not cohort.file.scores or not cohort.file.unit.names or cohort.file.unit_is_site:
        return
    sizes = np.bincount(pd.factorize(cohort.unit)[0])
    several = int((sizes > 1).sum())
    if several:
        yield Caution(
            "[unit]",
            f"{several:,} of {len(sizes):,} units {'has' if several == 1 else 'have'} several records (up "
            f"to {sizes.max():,}), each audited as a prediction of its own: right where each has an event of "
            "its own, as stays of a patient have; where they predict one event, long stays count more",
            'to audit one a unit: score_per_unit = "max", or "first" or "last" with [time] column',
        )


def _warn_uneven(cohort: Cohort, counts: NDArray[np.intp]) -> Iterator[Caution]:
    """Point out groups, or events, whose units have many more predictions than others."""
    parts = [(item.name, item.groups, item.codes) for item in cohort.attributes if not item.parts]
    if not cohort.continuous:
        parts.append(("event", ("without the event", "with the event"), cohort.outcome.astype(np.intp)))
    for name, groups, codes in parts:
        sizes = np.bincount(codes, minlength=len(groups))
        held = np.flatnonzero(sizes)
        means = np.bincount(codes, counts, len(groups))[held] / sizes[held]
        if means.max() < UNEVEN * means.min():
            continue
        most, least = (groups[held[place]] for place in (means.argmax(), means.argmin()))
        who = f"those {most} {means.max():.1f} and those {least} {means.min():.1f}"
        if name != "event":
            who = f"{most!r} of {name} {means.max():.1f} and {least!r} {means.min():.1f}"
        yield Caution(
            "[unit] score_per_unit",
            f"the largest of more predictions is larger, and units have unequally many on average: {who}; "
            "rates then differ without any difference in care or model",
            'compare with "first" or "last", or keep as many predictions of each unit',
        )


def _warn_late(cohort: Cohort, found: Predictions) -> Iterator[Caution]:
    """Count predictions that were made after the event, and events of which nobody knows when they were."""
    event = np.asarray(cohort.outcome == 1)
    late = (found.lead < 0) & event[found.record]
    if late.any():
        number, whose = int(late.sum()), len(np.unique(found.record[late]))
        yield Caution(
            "[outcome] time",
            f"{count_of(number, 'prediction')} of {count_of(whose, 'record')} with the event "
            f"{'was' if number == 1 else 'were'} made after it: what is known then is no prediction",
            "leave these rows out of the table, or look whether the two columns follow one clock",
        )
    known = np.zeros(found.n_records, bool)
    known[found.record[~np.isnan(found.lead)]] = True
    lacking = int((event & ~known).sum())
    if lacking:
        yield Caution(
            "[outcome] time",
            f"of {lacking:,} of {count_of(int(event.sum()), 'record')} with the event no time before it is "
            "known, so that lead times leave them out",
        )
