"""Which given scores tell nobody apart, or everybody?"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from auditbook.cohort import Cohort, ScoreTable
from auditbook.intake.caution import Caution
from auditbook.intake.single_areas import CHECKED_ROWS, LEAK_AREA, area_under
from auditbook.tables import as_numbers

Array = NDArray[np.float64]

TIED_EXCESS = 0.1
"""Part by which more records than asked for are selected before ties at a percentile are told (ours)."""

LEAK_EVENTS = 10
"""Events and non-events from which a given score is held against the outcome."""


def warn_scores(cohort: Cohort) -> Iterator[Caution]:
    """Point out given scores that tell nobody apart, or tell everybody apart."""
    for score in cohort.file.scores:
        given = as_numbers(cohort.table[score.column]).cells
        if given.min() == given.max():
            yield Caution(f"[scores.{score.name}]", f"every record has the same score, {given.min():g}")
            continue
        values, threshold = score.turn(given), score.turned.threshold
        if score.percentile is not None:
            yield from _warn_ties(score, given, values)
        if cohort.continuous:
            continue
        yield from _warn_outcome_as_score(score, values, np.asarray(cohort.outcome, float))
        if threshold is not None and not 0 < (values >= threshold).sum() < len(values):
            who = "every record" if values.min() >= threshold else "no record"
            side = "reaches" if score.event_is == "high" else "is at or below"
            yield Caution(
                f"[scores.{score.name}] threshold",
                f"{who} {side} {score.threshold:g} (scores run from "
                f"{given.min():g} to {given.max():g}), so that most verdicts have nothing to judge",
            )


def _warn_ties(score: ScoreTable, given: Array, values: Array) -> Iterator[Caution]:
    """Point out equal scores at a percentile, with which clearly more records are selected than asked for."""
    percentile = score.turned.percentile
    if percentile is None:
        return
    cut, n = float(np.percentile(values, percentile, method="higher")), len(values)
    tied, selected, asked = int((values == cut).sum()), int((values >= cut).sum()), 1 - percentile / 100
    if tied < 2 or selected <= (1 + TIED_EXCESS) * asked * n:
        return
    shared, beyond = given[values == cut][0], selected - tied
    without = f"; without them {beyond:,} ({beyond / n:.1%}) would be" if beyond else ""
    yield Caution(
        f"[scores.{score.name}] percentile",
        f"{tied:,} records share the score {shared:g} at which the percentile cuts, so that {selected:,} of "
        f"{n:,} ({selected / n:.1%}) are selected and not {asked:.1%}{without}",
        f"to say it as it is: threshold = {shared:g} in place of percentile",
    )


def _warn_outcome_as_score(score: ScoreTable, values: Array, outcome: Array) -> Iterator[Caution]:
    """Point out a score that is the outcome or its negation, or ranks the records almost as these do."""
    if min(outcome.sum(), (1 - outcome).sum()) < LEAK_EVENTS:
        return
    step = -(-len(values) // CHECKED_ROWS)
    area = area_under(values[::step], outcome[::step])
    if area > LEAK_AREA:
        yield Caution(
            f"[scores.{score.name}]",
            f"AUC {area:.3f}: this may be the outcome in disguise, or made when it was "
            "known; if so, there is no prediction to audit",
        )
    elif area < 1 - LEAK_AREA:
        side, other = ("lower", "low") if score.event_is == "high" else ("higher", "high")
        yield Caution(
            f"[scores.{score.name}]",
            f"AUC {area:.3f}: this may be the outcome turned round",
            f'where a {side} score speaks for the event, write event_is = "{other}"',
        )
