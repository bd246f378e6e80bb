"""A hospital's own table, with every key that reads it in its own way, goes through a whole audit."""

import numpy as np
import pandas as pd
import pytest

from auditbook.cli import main

TEXT = """
name = "heart-failure"
[data]
path = "stays-*.parquet"
[outcome]
column = "died"
event = 1
[site]
column = "hospital"
[unit]
columns = ["hospital", "patient"]
[time]
column = "admitted"
[attributes.race]
column = "race"
within_unit = "last"
[attributes.age]
column = "age"
numbers = { "> 89" = 90 }
bins = [0, 65, 120]
labels = ["0-64", "65 and over"]
[missing]
values = ["NA"]
columns = { race = ["U"] }
attributes = "group"
[features]
include = ["lab_*", "ward"]
categories = ["ward"]
numbers.lab_1 = { "<0.2" = 0.1 }
[scores.survival]
column = "survival"
kind = "probability"
event_is = "low"
[protocol]
metrics = ["DI", "EOD"]
audit_sizes = [300]
"""


@pytest.mark.slow
def test_every_key_goes_through_a_whole_audit(tmp_path):
    rng, rows = np.random.default_rng(4), 900
    risk = rng.random(rows)
    table = pd.DataFrame(
        {
            "died": (rng.random(rows) < risk).astype(int),
            "hospital": rng.choice(["a", "b|", "c"], rows),
            "patient": rng.integers(0, 150, rows),
            "admitted": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, rows), unit="D"),
            "race": rng.choice(["NA", "White", "U"], rows),
            "age": rng.choice(["> 89", "40", "70"], rows),
            "lab_1": rng.choice(["<0.2", "0.5", "0.9"], rows),
            "ward": rng.integers(1, 4, rows),
            "survival": 1 - risk,
        }
    )
    for month, part in enumerate(np.array_split(np.arange(rows), 3)):
        table.iloc[part].to_parquet(tmp_path / f"stays-{month}.parquet")
    (tmp_path / "c.toml").write_text(TEXT, encoding="utf-8")
    run = tmp_path / "run"
    call = [str(tmp_path / "c.toml"), "--profile", "smoke", "--jobs", "1", "--run-dir", str(run)]
    assert main(["audit", *call]) == 0
    groups = pd.read_csv(run / "results" / "groups.csv", keep_default_na=False)
    assert {"NA", "White"} <= set(groups["group"])
    assert groups.loc[groups["attribute"] == "age", "n"].astype(int).sum() == rows
