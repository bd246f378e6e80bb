"""The standing of a cell follows from what was shown, and asks for one action."""

import numpy as np
import pandas as pd
import pytest

from auditbook.evidence import prepare
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import STANDINGS, judge
from auditbook.verdicts.standing import name_standings

CELL = {"metric": "SPD", "threshold": 0.1, "shown": "open", "p_pass": 0.5, "gap": 0.02, "left_out": ""}


@pytest.mark.parametrize(
    ("columns", "standing"),
    [
        ({"shown": "fail"}, "shown to fail"),
        ({"shown": "pass", "p_pass": 0.01}, "shown to pass"),
        ({"shown": "none", "gap": np.nan, "p_pass": np.nan}, "cannot be judged"),
        ({}, "open, passes so far"),
        ({"gap": 0.1}, "open, passes so far"),
        ({"gap": 0.11}, "open, fails so far"),
        ({"metric": "CAL", "threshold": 0.05, "gap": -0.2}, "open, fails so far"),
        ({"metric": "DI", "threshold": 0.8, "gap": 0.7}, "open, fails so far"),
        ({"metric": "DI", "threshold": 0.8, "gap": 0.9}, "open, passes so far"),
        ({"p_pass": 0.01, "left_out": "X: 3 records, 30 needed"}, "passes for those compared"),
        ({"p_pass": 0.2, "left_out": "X: 3 records, 30 needed"}, "open, passes so far"),
    ],
)
def test_standing_follows_from_what_was_shown(columns, standing):
    assert name_standings(pd.DataFrame([CELL | columns]), protocol=Protocol()).tolist() == [standing]


def test_every_cell_of_an_audit_has_a_standing_and_each_asks_for_an_action():
    rng = np.random.default_rng(7)
    group, score = rng.integers(0, 3, 900), rng.random(900)
    outcome = (rng.random(900) < score).astype(np.int8)
    records = AuditRecords(
        outcome, (Attribute("g", ("a", "b", "c"), group),), (Score("m", "rank", 0.5, score),)
    )
    found = judge(prepare(records), Protocol(resamples=20)).verdicts
    assert set(found["standing"]) <= set(STANDINGS)
    assert ((found["standing"] == "cannot be judged") == (found["shown"] == "none")).all()
    assert set(found.loc[found["metric"].isin(["TI", "CAL"]), "standing"]) == {"cannot be judged"}
    assert len({standing.action for standing in STANDINGS.values()}) == len(STANDINGS)
