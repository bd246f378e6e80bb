"""Records that were left out for lack of an attribute are judged as the audited ones are."""

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.run.tables import make_tables
from auditbook.scoring import count_unplaced, score_cohort
from auditbook.settings import Protocol

FILE = """name = "c"
[data]
path = "c.csv"
[outcome]
column = "y"
event = 1
[attributes.race]
column = "race"
[attributes.sex]
column = "sex"
[missing]
attributes = "{rule}"
[scores.m]
column = "s"
kind = "rank"
percentile = 70
[panel]
models = []
"""


@pytest.fixture
def frame():
    rng = np.random.default_rng(2)
    n = 900
    s = rng.random(n)
    table = {
        "y": (rng.random(n) < s).astype(int),
        "race": np.where(rng.random(n) < 0.1, "", rng.choice(["A", "B", "C"], n)),
        "sex": np.where(rng.random(n) < 0.05, "", rng.choice(["F", "M"], n)),
        "s": s.round(3),
    }
    return pd.DataFrame(table)


def read(tmp_path, frame, rule, **how):
    frame.to_csv(tmp_path / "c.csv", index=False)
    (tmp_path / "c.toml").write_text(FILE.format(rule=rule), encoding="utf-8")
    cohort = load_cohort(read_cohort_file(tmp_path / "c.toml"), cache_dir=tmp_path, **how)
    return cohort, score_cohort(cohort, protocol=Protocol(), cache_dir=tmp_path)


def test_records_left_out_are_counted_under_the_threshold_of_the_audited_ones(tmp_path, frame):
    cohort, scored = read(tmp_path, frame, "drop")
    found = count_unplaced(cohort, scored)
    threshold = scored.records.scores[0].threshold
    for name, other in (("race", "sex"), ("sex", "race")):
        lost = frame[(frame[name] == "") & (frame[other] != "")]
        y, d = lost["y"] == 1, lost["s"] >= threshold
        told = [int(part.sum()) for part in (y & d, ~y & d, y & ~d, ~y & ~d)]
        assert found[name].tolist() == [told]


def test_left_out_or_a_group_of_their_own_the_bounds_are_near(tmp_path, frame):
    protocol = Protocol(resamples=2, halvings=2, metrics=("SPD", "EOPP"))
    frame = frame.assign(sex=frame["sex"].replace("", "F"))
    tables = [
        make_tables(*read(tmp_path, frame, rule), protocol)["missing_attribute"] for rule in ("drop", "group")
    ]
    assert [len(table) for table in tables] == [2, 2]
    assert tables[0]["missing"].tolist() == tables[1]["missing"].tolist()
    # The threshold is a percentile of the audited records, of whom there are a few more in the second
    for column in ("estimate", "low", "high", "at_random"):
        assert np.allclose(tables[0][column], tables[1][column], atol=0.03)


def test_fewer_records_than_there_are_bound_nothing(tmp_path, frame):
    cohort, scored = read(tmp_path, frame, "drop", max_rows=300)
    assert count_unplaced(cohort, scored) == {}


def test_a_record_without_a_score_is_not_counted(tmp_path, frame):
    lacking = frame["race"] == ""
    some = frame.assign(s=frame["s"].where(~lacking | (frame.index % 2 == 0)))
    cohort, scored = read(tmp_path, some, "drop")
    both = lacking & (frame["sex"] != "") & (frame.index % 2 == 0)
    assert count_unplaced(cohort, scored)["race"].sum() == both.sum()
