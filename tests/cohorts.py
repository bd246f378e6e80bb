"""Strange synthetic cohorts to test with: a table and its cohort file, of any size and shape."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

NAMES = (
    "Ærø, nord",
    "Mixed (two or more)",
    'O\'Brien "B"',
    "<b>bold</b>",
    "None",
    "NA",
    " blank at both ends ",
    "日本 🙂",
    "1",
    "=1+1",
)


def group_names(number: int) -> list[str]:
    """Name groups strangely: commas, quotes, HTML, words that look missing."""
    return [NAMES[i] if i < len(NAMES) else f"group {i}" for i in range(number)]


def make_table(*, rows, groups=3, sites=3, event_rate=0.3, missing=0.0, scores=1, seed=0) -> pd.DataFrame:
    """Draw a table: outcome, race, sex, age, site, patient, three features and score columns."""
    rng = np.random.default_rng(seed)
    names = np.array(group_names(groups), dtype=object)
    age, sex = rng.integers(0, 95, rows), rng.choice(["f", "m"], rows)
    weights = 1 / np.arange(1, groups + 1)
    race = names[rng.choice(groups, rows, p=weights / weights.sum())]
    logit = np.log(event_rate / (1 - event_rate)) + 0.03 * (age - 47) + rng.normal(0, 1, rows)
    risk = 1 / (1 + np.exp(-logit))
    table = pd.DataFrame(
        {
            "visit": [f"{i:07d}" for i in range(rows)],
            "patient": [f"{i // 2:06d}" for i in range(rows)],
            "hospital": [f"{i:03d} Hôpital" for i in rng.integers(0, max(sites, 1), rows)],
            "race": race,
            "sex": sex,
            "age": age,
            "pulse, at rest": rng.normal(75, 12, rows).round(1),
            "ward": rng.choice(["A", "B", "C"], rows),
            "outcome": np.where(rng.random(rows) < risk, "Yes", "No"),
        }
    )
    for number in range(scores):
        table[f"p{number}"] = np.clip(risk + rng.normal(0, 0.05, rows), 0, 1)
    for column in ("race", "ward", "outcome"):
        table.loc[rng.random(rows) < missing, column] = None
    return table if sites else table.drop(columns="hospital")


def write_cohort(
    folder: Path,
    *,
    rows=2000,
    groups=3,
    sites=3,
    event_rate=0.3,
    missing=0.0,
    scores=1,
    panel=(),
    suffix=".csv",
    rule="group",
    seed=0,
    extra="",
) -> Path:
    """Write a strange cohort (table and cohort file) and return the cohort file's path."""
    table = make_table(
        rows=rows,
        groups=groups,
        sites=sites,
        event_rate=event_rate,
        missing=missing,
        scores=scores,
        seed=seed,
    )
    write_table(table, folder / f"strange{suffix}")
    site = '[site]\ncolumn = "hospital"\n' if sites else ""
    given = "".join(
        f'[scores.given_{i}]\ncolumn = "p{i}"\nkind = "probability"\nthreshold = 0.5\n' for i in range(scores)
    )
    text = f"""
name = "strange"
title = "A strange cohort: é, <b>bold</b>, 🙂"
[data]
path = "strange{suffix}"
[outcome]
column = "outcome"
event = "Yes"
harm = "harm, in \\"quotes\\" and <i>italics</i>"
{site}
[unit]
column = "patient"
[attributes.race]
column = "race"
[attributes.sex]
column = "sex"
groups = {{ f = "female", m = "male" }}
reference = "male"
[attributes."age band"]
column = "age"
bins = [0, 18, 40, 65]
[missing]
attributes = "{rule}"
[features]
exclude = ["visit"]
{given}
[panel]
models = {json.dumps(list(panel))}
{extra}
"""
    path = folder / "strange.toml"
    path.write_text(text, encoding="utf-8")
    return path


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as csv, csv.gz, tsv or parquet, by its name."""
    if path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",", encoding="utf-8")


def write_pair(folder: Path, table: pd.DataFrame, text: str, *, suffix=".csv") -> Path:
    """Write a table and a cohort file of the given text; ``[data]`` and ``name`` are put in front."""
    write_table(table, folder / f"data{suffix}")
    path = folder / "cohort.toml"
    path.write_text(f'name = "test"\ndata.path = "data{suffix}"\n{text}', encoding="utf-8")
    return path
