"""Stored simulations of whole audits as tests need them: drawn counts, of all worlds, of some, or none."""

import gzip
import json
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

from auditbook.studies.simulations import scoring
from auditbook.studies.simulations.replicates import COLUMNS, METHODS, OWN
from auditbook.studies.simulations.scenarios import WORLDS
from auditbook.studies.simulations.scoring import compare_methods, count_false_flags, score_methods
from auditbook.studies.simulations.stored import COMPARED, ORIGIN, QUIET, REPLICATES, SCORES

KINDS = {
    "all": ([world.name for world in WORLDS], 4),
    "continuous": ([world.name for world in WORLDS if world.continuous], 4),
    "one": (["linear"], 1),
    "none": ([], 0),
}
"""Worlds and replicates of each."""
SKILL = {"ridge": 0.8, "combined": 0.75, "forest": 0.6, "targeted": 0.7, "cem": 0.0, "oracle": 1.0}
"""Share of the affected records that a method flags here."""


def make_rows(names, replicates, *, seed=5, worlds=WORLDS):
    """Draw the counts of some replicates; `cem` has no pocket, and targeted plain only numbers."""
    rng = np.random.default_rng(seed)
    found = []
    for world in worlds:
        for replicate in range(replicates if world.name in names else 0):
            for plant in world.plants:
                for method in METHODS:
                    if method == "targeted plain" and not world.continuous:
                        continue
                    if method == "oracle" and not plant.region:
                        continue
                    audits = 2 if plant.shift == "none" and method in OWN else 1
                    for audit in range(audits):
                        keys = (world.name, replicate, 2026, audit, plant.question, plant.region, plant.shift)
                        found.append(
                            dict(zip(COLUMNS, (*keys, method), strict=False)) | draw(plant, method, rng)
                        )
    return pd.DataFrame(found, columns=COLUMNS)


def draw(plant, method, rng):
    """Draw the counts of one audit of 1,000 records, 200 of them affected."""
    affected = 0 if plant.shift == "none" else 200
    hits = int(rng.binomial(affected, SKILL.get(method, 0.4)))
    false = 0 if method == "cem" else int(rng.binomial(800, 0.1)) if affected else 0
    ring = int(rng.random() < 0.05) if not affected else int(hits > 0)
    return {
        "records": 1_000,
        "affected": affected,
        "tp": hits,
        "fp": false,
        "fn": affected - hits,
        "conflicts": int(rng.integers(0, 3)) if method == "combined" else 0,
        "pockets": 0 if method == "cem" else 7,
        "tested": 0 if method == "cem" else int(rng.integers(2, 8)),
        "flagged": ring,
        "overall": 0,
        "covered": 1 - ring if not affected else int(rng.random() < 0.9),
    }


@cache
def make_tables(kind):
    """Draw the counts of one kind and score them, once for all tests."""
    if kind == "continuous":
        names = KINDS[kind][0]
        return {name: table[table["world"].isin(names)] for name, table in make_tables("all").items()}
    table = make_rows(*KINDS[kind])
    made = {SCORES: score_methods, COMPARED: compare_methods, QUIET: count_false_flags}
    with patch.object(scoring, "RESAMPLES", 100):
        return {name: function(table) for name, function in made.items()} | {REPLICATES: table}


def store_simulations(folder: Path, kind: str) -> Path:
    """Write the files of one kind, as the project stores them; none are written for "none"."""
    worlds, replicates = KINDS[kind]
    if not worlds:
        return folder
    for name, table in make_tables(kind).items():
        text = table.to_csv(index=False)
        (folder / name).write_bytes(gzip.compress(text.encode()) if name == REPLICATES else text.encode())
    origin = {"date": "2026-11-30", "replicates": dict.fromkeys(worlds, replicates)}
    (folder / ORIGIN).write_text(json.dumps(origin), encoding="utf-8")
    return folder
