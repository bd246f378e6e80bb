"""Models and score bins from counts and sums, beside those of the records."""

import numpy as np
import pandas as pd
import pytest

from auditbook.evidence import tally_records
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.scoring.score import ModelInfo, ScoredCohort, bin_scores, summarise_models
from auditbook.scoring.tallied import bin_tallied_scores, summarise_tallied_models


def draw_scored(*, units=0, n=3_000, separate=False):
    rng = np.random.default_rng(8)
    values = rng.beta(1, 3, n)
    outcome = (rng.random(n) < values).astype(np.int8)
    if separate:
        outcome = (values > 0.6).astype(np.int8)
    scores = (
        Score("risk", "probability", 0.3, values),
        Score("news", "rank", 5.0, np.rint(20 * values)),
        Score("flag", "decision", 0.5, (values > 0.4).astype(float)),
    )
    unit = np.arange(n) // -(-n // units) if units else None
    attributes = tuple(Attribute(name, ("a", "b"), rng.integers(0, 2, n)) for name in ("sex", "race"))
    records = AuditRecords(outcome, attributes, scores, None, unit)
    infos = tuple(ModelInfo(score.model, score.model, "given") for score in scores)
    every = np.arange(n)
    return ScoredCohort(records=records, models=infos, train=every[:0], audit=every)


@pytest.mark.parametrize(("units", "separate"), [(0, False), (700, False), (0, True)])
def test_models_of_a_tally_are_those_of_the_records(units, separate):
    scored = draw_scored(units=units, separate=separate)
    exact = summarise_models(scored)
    found = summarise_tallied_models(tally_records(scored.records), {one.name: one for one in scored.models})
    areas = ["auroc", "auroc_low", "auroc_high"]
    pd.testing.assert_frame_equal(exact.drop(columns=areas), found.drop(columns=areas), rtol=1e-8)
    assert np.allclose(exact[areas], found[areas], atol=5e-4, equal_nan=True)


def test_score_bins_of_a_tally_are_those_of_the_records():
    scored = draw_scored()
    exact = bin_scores(scored)
    exact = exact[exact["model"] != "news"].reset_index(drop=True)
    found = bin_tallied_scores(tally_records(scored.records))
    pd.testing.assert_frame_equal(exact, found, rtol=1e-8)
