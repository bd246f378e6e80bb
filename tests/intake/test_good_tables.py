"""Good tables: nothing is said of their values, whatever they are called and however skewed they are."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditbook.cohort import read_cohort_file, read_source
from auditbook.intake import warn_table
from auditbook.tables import plain_table
from warned_tables import read_file

TEXT = """\
[outcome]
column = "los"
event = "> 3"
[outcomes.readmitted]
column = "back"
event = "Y"
[site]
column = "ward"
[unit]
column = "person"
[attributes.race]
column = "race"
[attributes.payer]
column = "payer"
[attributes.age]
column = "age"
bins = [18, 40, 65]
[attributes.deprivation]
column = "decile"
bins = [1, 4, 8]
labels = ["least", "middle", "most"]
[scores.m]
column = "risk"
kind = "probability"
"""


def draw_good(seed, rows):
    """Draw a table as hospitals have them, with nothing wrong in it."""
    rng = np.random.default_rng(seed)
    blank = rng.random(rows) < 0.1
    codes = np.array(["I50.9", "E11", "J44.1", "V57", "250", "401.9", "1E10"])
    return pd.DataFrame(
        {
            "los": np.ceil(rng.lognormal(1, 0.9, rows)),
            "back": rng.choice(["Y", "N"], rows, p=[0.1, 0.9]),
            "ward": rng.choice(["A1", "2E", "Medicine", "North-East", "3E4F"], rows),
            "person": [f"{key:07d}" for key in rng.integers(0, rows, rows)],
            "race": rng.choice(["White", "Black", "Asian", "Other Race", "Multi-racial"], rows),
            "payer": rng.choice(["None", "Medicare", "Medicaid", "Medicare, Part B", "Self pay"], rows),
            "age": rng.integers(18, 100, rows),
            "decile": rng.integers(1, 11, rows),
            "risk": rng.random(rows).round(3),
            "charges": rng.lognormal(9, 1.3, rows).round(2),
            "base_excess": rng.normal(0, 4, rows).round(1),
            "creatinine": np.where(blank, np.nan, rng.lognormal(0, 0.5, rows).round(2)),
            "prior_visits": rng.negative_binomial(0.4, 0.2, rows),
            "diagnosis": rng.choice(codes, rows),
            "admission_type": rng.choice([1, 2, 3, 4, 5, 9], rows),
            "discharged_to": rng.choice([1, 2, 3, 6, 20, 21, 62, 66], rows),
            "zip3": rng.integers(100, 150, rows),
            "smoker": rng.choice(["never", "former", "current", None], rows),
            "fio2": rng.choice([21, 40, 60, 100], rows),
            "admitted": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 360, rows), "D"),
            "month": rng.choice(["Jan-24", "Feb-24", "Mar-24"], rows),
            "lab_flag": rng.choice(["normal", "high", "not done"], rows),
            "band": rng.choice(["[0-10)", "[10-20)", "[20-30)"], rows),
            "born_in": rng.choice(["México", "Österreich", "Curaçao", "日本"], rows),
            "flag": rng.integers(0, 2, rows).astype(bool),
        }
    )


@pytest.mark.parametrize("rows", [60, 600, 3_000])
@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_said_of_a_good_table(tmp_path, seed, rows):
    said = warn_table(read_file(tmp_path, TEXT), plain_table(draw_good(seed, rows)))
    assert [str(each) for each in said] == []


def warn_shipped(root, name, **source):
    file = read_cohort_file(root / "data" / "cohorts" / f"{name}.toml")
    if file.data.synthetic is not None:
        file = replace(file, data=replace(file.data, rows=3_000))
    return [str(each) for each in warn_table(file, read_source(file, **source).table)]


@pytest.mark.parametrize("name", ["texas-twin", "care-twin", "icu-twin", "readmission-twin"])
def test_nothing_is_said_of_the_synthetic_cohorts(name, root, tmp_path):
    assert warn_shipped(root, name, cache_dir=tmp_path) == []


@pytest.mark.parametrize(
    ("name", "table"),
    [
        pytest.param("diabetes-130", "diabetes130.parquet", marks=pytest.mark.slow),
        ("obermeyer", "obermeyer_holdout.parquet"),
    ],
)
def test_nothing_is_said_of_the_real_cohorts(name, table, root, shared_dir, tmp_path):
    assert warn_shipped(root, name, data=shared_dir / "cohorts" / table, cache_dir=tmp_path) == []


def test_of_new_york_only_the_unknown_ethnicity_is_said(root, shared_dir, tmp_path):
    data = shared_dir / "cohorts" / "sparcs_hf_2024.parquet"
    (told,) = warn_shipped(root, "sparcs-heart-failure", data=data, cache_dir=tmp_path)
    assert told.startswith("[attributes.ethnicity] column: 'Unknown' (3,139) says that nothing is known")
