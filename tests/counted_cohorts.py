"""A cohort with every oddity that a table can have, and how two counts of it are compared."""

import json
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd

from auditbook.cohort import read_cohort_file

COHORT = """
name = "odd"
[data]
path = {path}
drop = [
  {{ column = "ward", values = ["Hospice"], reason = "hospice" }},
  {{ column = "ward", values = [""], reason = "no ward" }},
]
[outcome]
column = "days"
event = "> 3"
numbers = {{ "30 +" = 31 }}
[site]
column = "hospital"
groups = {{ "Zürich Süd" = "Zürich" }}
{unit}
[attributes.race]
column = "race"
reference = "Weiß"
groups = {{ "white" = "Weiß" }}
missing = "group"
[attributes.sex]
column = "sex"
missing = "drop"
[attributes.age]
column = "age"
bins = [0, 40, 65]
labels = ["0-39", "40-64", "65+"]
numbers = {{ "> 89" = 90 }}
missing = "drop"
[attributes.race_sex]
cross = ["race", "sex"]
missing = "group"
[missing]
values = ["unknown"]
[scores.risk]
column = "risk"
kind = "probability"
threshold = 0.3
[scores.grade]
column = "grade"
kind = "rank"
threshold = 4
[scores.alive]
column = "alive"
kind = "probability"
event_is = "low"
threshold = 0.6
[scores.flag]
column = "flag"
kind = "decision"
[pockets]
run = false
"""


def odd_table(rows=700):
    rng = np.random.default_rng(7)
    risk = rng.random(rows)
    days = np.minimum(rng.poisson(1 + 5 * risk), 30).astype(str).astype(object)
    days[days == "30"] = "30 +"
    days[rng.random(rows) < 0.03] = ""
    frame = pd.DataFrame(
        {
            "patient": rng.integers(0, rows // 3, rows).astype(str),
            "hospital": rng.choice(["Genève, Nord", "Zürich", "Zürich Süd", "007"], rows),
            "ward": rng.choice(["A", "B", "Hospice", ""], rows, p=[0.6, 0.3, 0.05, 0.05]),
            "race": rng.choice(
                ["Weiß", "white", "Black", "", "unknown"], rows, p=[0.4, 0.2, 0.3, 0.05, 0.05]
            ),
            "sex": rng.choice(["F", "M", ""], rows, p=[0.5, 0.46, 0.04]),
            "age": rng.choice(["30", "50", "70", "> 89", ""], rows, p=[0.3, 0.3, 0.3, 0.05, 0.05]),
            "days": days,
            "risk": np.round(risk, 6),
            "grade": rng.integers(0, 9, rows),
            "alive": 1 - np.round(risk, 4),
            "flag": (risk > 0.5).astype(int),
            "notes": "text that nobody needs",
        }
    )
    frame.loc[rows - 1, "sex"] = "X"  # a group that one part alone holds
    return frame


def write_cohort(folder, *, kind="csv", unit="", files=1, frame=None):
    frame = odd_table() if frame is None else frame
    names = []
    for number, places in enumerate(np.array_split(np.arange(len(frame)), files)):
        part, name = frame.iloc[places], f"part{number}.{kind}"
        names.append(name)
        if kind == "csv":
            part.to_csv(folder / name, index=False)
        else:
            part.replace("", None).to_parquet(folder / name, row_group_size=90)
    path = folder / "odd.toml"
    path.write_text(COHORT.format(path=json.dumps(names), unit=unit), encoding="utf-8")
    return read_cohort_file(path)


def assert_equal(found, expected, where=""):
    """Compare two tallies field by field, to the last byte."""
    if is_dataclass(found):
        assert type(found) is type(expected), where
        for item in fields(found):
            if item.name != "site_key":
                assert_equal(getattr(found, item.name), getattr(expected, item.name), f"{where}.{item.name}")
    elif isinstance(found, tuple):
        assert len(found) == len(expected), where
        for place, pair in enumerate(zip(found, expected, strict=True)):
            assert_equal(*pair, f"{where}[{place}]")
    elif isinstance(found, np.ndarray):
        assert found.dtype == expected.dtype, where
        np.testing.assert_array_equal(found, expected, err_msg=where)
    else:
        assert found == expected, where
