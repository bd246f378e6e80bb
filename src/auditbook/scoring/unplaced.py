"""How were records judged that were left out because they lack an attribute?"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import Cohort, ScoreTable, Unplaced
from auditbook.evidence import count_groups
from auditbook.records import Score
from auditbook.scoring.score import ScoredCohort
from auditbook.tables import as_numbers


def count_unplaced(cohort: Cohort, scored: ScoredCohort) -> dict[str, NDArray[np.int64]]:
    """Count by attribute the records that were left out for lack of it, shape (n_models, 4).

    They are judged as the audited ones are, by the same threshold; one without a score is not counted. Empty
    where models are trained here: these have no score of a record that was left out.
    """
    if len(scored.train):
        return {}
    return count_lacking(cohort.unplaced, cohort.file.scores, scored.records.scores)


def count_lacking(
    unplaced: Sequence[Unplaced], tables: Sequence[ScoreTable], scores: Sequence[Score]
) -> dict[str, NDArray[np.int64]]:
    """Count by attribute the records that lack it, those of a part of a cohort too, shape (n_models, 4)."""
    pairs = list(zip(tables, scores, strict=True))
    return {
        part.attribute: np.stack([_count(part.scores, part.outcome, *pair) for pair in pairs])
        for part in unplaced
    }


def _count(
    scores: pd.DataFrame, outcome: NDArray[np.int8], table: ScoreTable, score: Score
) -> NDArray[np.int64]:
    """Count tp, fp, fn and tn of one model."""
    values = as_numbers(scores[table.column]).cells
    held = ~np.isnan(values)
    chosen = table.turn(values[held]) >= score.threshold
    return count_groups(outcome[held], chosen, np.zeros(int(held.sum()), np.intp), 1)[0]
