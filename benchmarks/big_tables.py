"""How does a table of any number of records come onto the disk in little memory?

It has four scores, four attributes and four hundred sites; a hundred million records take four gigabytes as
parquet, which is written a million records at a time.
Each record draws from the same distributions, so that its risks do not depend on the size of the table.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

STEP = 1 << 20
SITES = 400
GROUPS = {
    "race": ("White", "Black", "Asian", "Hispanic", "Other"),
    "sex": ("Female", "Male"),
    "payer": ("Medicare", "Medicaid", "Private", "Self-pay"),
}
SHARES = {"race": (0.60, 0.15, 0.08, 0.12, 0.05), "sex": (0.5, 0.5), "payer": (0.4, 0.2, 0.3, 0.1)}
SHIFT = np.array([0.0, 0.25, -0.1, 0.1, 0.0])
"""What is added to the log odds of the event, and unknown to the scores, by race."""

COHORT = """name = "big-table"
title = "A generated table of four scores"

[data]
path = "{path}"
read = "in parts"

[outcome]
column = "died"
event = 1

[site]
column = "hospital"

[attributes.race]
column = "race"
reference = "White"

[attributes.sex]
column = "sex"

[attributes.payer]
column = "payer"

[attributes.age]
column = "age"
bins = [18, 40, 65, 80]
labels = ["18-39", "40-64", "65-79", "80+"]

[pockets]
run = false
"""


def draw_parts(rows: int, *, seed: int = 42) -> Iterator[pa.Table]:
    """Draw a table part by part; the parts of a longer table begin with those of a shorter one."""
    for number, begin in enumerate(range(0, rows, STEP)):
        yield _draw_part(min(STEP, rows - begin), np.random.default_rng([seed, number]))


def _draw_part(rows: int, rng: np.random.Generator) -> pa.Table:
    codes = {
        name: np.searchsorted(np.cumsum(shares[:-1]), rng.random(rows, np.float32), side="right")
        for name, shares in SHARES.items()
    }
    site = rng.integers(0, SITES, rows, np.int32)
    age = rng.integers(18, 96, rows, np.int16)
    seen = rng.standard_normal(rows, np.float32) - 2 + (age - 57) * np.float32(0.02)
    died = rng.random(rows, np.float32) < 1 / (1 + np.exp(-seen - SHIFT[codes["race"]]))
    hospitals = [f"H{number:03d}" for number in range(SITES)]
    columns = {"hospital": pa.DictionaryArray.from_arrays(site, hospitals)}
    columns |= {
        name: pa.DictionaryArray.from_arrays(codes[name].astype(np.int32), GROUPS[name]) for name in GROUPS
    }
    columns |= {"age": pa.array(age), "died": pa.array(died.astype(np.int8))}
    for number in range(4):
        noise = rng.standard_normal(rows, np.float32) * np.float32(0.4 * number)
        columns[f"score_{number + 1}"] = pa.array(1 / (1 + np.exp(-(seen + noise).astype(float))))
    return pa.table(columns)


def write_table(path: Path, rows: int, *, seed: int = 42) -> None:
    """Write a generated table as parquet or, by its name, as csv."""
    writer = None
    for part in draw_parts(rows, seed=seed):
        names = [name for name in part.column_names if pa.types.is_dictionary(part.schema.field(name).type)]
        if path.suffix == ".csv":
            part = part.cast(_plain(part.schema))
            writer = writer or arrow_csv.CSVWriter(path, part.schema)
        else:
            writer = writer or pq.ParquetWriter(
                path, part.schema, use_dictionary=[*names, "age", "died"], store_schema=False
            )
        writer.write_table(part)
    if writer is not None:
        writer.close()


def _plain(schema: pa.Schema) -> pa.Schema:
    """Write names where a dictionary holds them."""
    return pa.schema(
        [pa.field(item.name, pa.string()) if pa.types.is_dictionary(item.type) else item for item in schema]
    )


def write_cohort(folder: Path, path: Path) -> Path:
    """Write the cohort file of a generated table."""
    scores = "".join(
        f'\n[scores.score_{number}]\ncolumn = "score_{number}"\nkind = "probability"\nthreshold = 0.2\n'
        for number in range(1, 5)
    )
    cohort = folder / f"{path.stem}.toml"
    cohort.write_text(COHORT.format(path=path.name) + scores, encoding="utf-8")
    return cohort
