"""Standing: settled or not by every doubt alone, and the same in an audit as in the cells of its tables."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditbook.evidence import prepare
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts.judgement import judge
from auditbook.verdicts.standing import DOUBTS, STANDINGS, find_doubts, name_standings

CELL = {
    "metric": "CAL",
    "verdict": "fail",
    "vfr_own_size": 0.0,
    "vfr_site": np.nan,
    "agrees": 1.0,
    "ci_low": 0.1,
    "threshold": 0.05,
    "supported": 0.2,
}


@pytest.mark.parametrize(
    ("columns", "doubts"),
    [
        ({}, []),
        ({"vfr_own_size": np.nan, "ci_low": np.nan, "agrees": np.nan}, ["no flip rate"]),
        ({"vfr_own_size": 0.11}, ["own size"]),
        ({"vfr_site": 0.11}, ["sites"]),
        ({"vfr_own_size": 0.10, "vfr_site": 0.10}, []),
        ({"agrees": 0.0}, ["opposite"]),
        ({"supported": 0.05}, ["thin bins"]),
        ({"supported": np.nan, "ci_low": np.nan}, ["thin bins"]),
        ({"ci_low": np.nan}, ["no variation"]),
        ({"metric": "DI", "supported": 0.0}, []),
        ({"vfr_own_size": 0.3, "verdict": "inconclusive"}, []),
    ],
)
def test_each_doubt_alone_keeps_a_verdict_from_being_settled(columns, doubts):
    cells = pd.DataFrame([CELL | columns])
    found = find_doubts(cells, protocol=Protocol())
    assert tuple(found) == DOUBTS
    assert [name for name, part in found.items() if part[0]] == doubts
    judged = columns.get("verdict") != "inconclusive"
    expected = "fails" + ", not settled" * bool(doubts) if judged else "cannot be judged"
    assert name_standings(cells, protocol=Protocol()).tolist() == [expected]


def calibration(n_thin):
    """Judge CAL where all but some records are calibrated; those score 0.95, and a quarter has the event."""
    values = np.r_[np.full(400, 0.25), np.full(n_thin, 0.95)]
    outcome = (np.arange(400 + n_thin) % 4 == 0).astype(np.int8)
    sex = Attribute("sex", ("f", "m"), np.arange(400 + n_thin) // 8 % 2)
    records = AuditRecords(outcome, (sex,), (Score("m", "probability", 0.5, values),))
    return judge(prepare(records), Protocol(metrics=("CAL", "DI"), resamples=50)).verdicts.iloc[0]


def test_calibration_that_fails_on_a_bin_of_few_records_only_is_not_settled():
    assert calibration(16)["standing"] == "fails, not settled"
    assert calibration(80)["standing"] == "fails"


def test_every_cell_of_an_audit_has_a_standing_and_each_asks_for_an_action():
    rng = np.random.default_rng(1)
    attribute = Attribute("race", ("a", "b", "c"), rng.choice(3, 600, p=[0.7, 0.295, 0.005]))
    score = Score("m", "rank", 0.5, rng.random(600))
    records = AuditRecords((rng.random(600) < 0.4).astype(np.int8), (attribute,), (score,))
    protocol = Protocol(resamples=20)
    assert set(judge(prepare(records), protocol).verdicts["standing"]) == {"cannot be judged"}
    free = replace(protocol, min_records=1, min_events=0, min_non_events=0)
    found = judge(prepare(records), free).verdicts
    assert set(found["standing"]) <= set(STANDINGS)
    assert ((found["standing"] == "cannot be judged") == (found["verdict"] == "inconclusive")).all()
    assert len({standing.action for standing in STANDINGS.values()}) == len(STANDINGS)
