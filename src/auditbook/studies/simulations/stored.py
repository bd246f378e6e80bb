"""What does the project keep of its simulations: every replicate's counts, their scores, and their origin."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from auditbook.errors import InputError
from auditbook.studies.simulations.provenance import describe_makers
from auditbook.studies.simulations.scenarios import VARIANT_WORLDS, VARIATIONS, WORLDS
from auditbook.studies.simulations.scoring import (
    compare_methods,
    count_false_flags,
    count_verdicts,
    score_methods,
)
from auditbook.studies.simulations.tasks import Task, collect, read_sizes
from auditbook.studies.simulations.worlds import World

REPLICATES = "pockets_replicates.csv.gz"
SCORES, COMPARED = "pockets_scores.csv", "pockets_compared.csv"
VERDICTS, QUIET = "pockets_verdicts.csv", "pockets_quiet.csv"
ORIGIN = "pockets_simulation.json"
VARIANT_REPLICATES, VARIANT_SCORES = "variants_replicates.csv.gz", "variants_scores.csv"
VARIANT_ORIGIN = "variants.json"


def store(rows: Path, target: Path) -> dict[str, Any]:
    """Store finished replicates, what follows from them, and how they were made."""
    found = _take(rows, WORLDS)
    compared = compare_methods(found)
    tables = {
        SCORES: score_methods(found),
        COMPARED: compared,
        VERDICTS: count_verdicts(compared),
        QUIET: count_false_flags(found),
    }
    origin = describe_origin(found, rows)
    _write(target, {REPLICATES: found, **tables}, ORIGIN, origin)
    return origin


def store_variants(rows: Path, target: Path) -> dict[str, Any]:
    """Store replicates of the worlds in which one thing was changed, and their scores."""
    found = _take(rows, VARIANT_WORLDS)
    scores = score_methods(found, [each.scenario for each in VARIATIONS])
    origin = describe_origin(found, rows)
    _write(target, {VARIANT_REPLICATES: found, VARIANT_SCORES: scores}, VARIANT_ORIGIN, origin)
    return origin


def _take(rows: Path, worlds: Sequence[World]) -> pd.DataFrame:
    """Read the replicates of some worlds from a folder that may hold others too."""
    found = collect(rows)
    part = found[found["world"].isin([world.name for world in worlds])].reset_index(drop=True)
    if part.empty:
        raise InputError(f"{rows} holds no finished replicate of the worlds that are stored here")
    return part


def _write(target: Path, tables: dict[str, pd.DataFrame], about: str, origin: dict[str, Any]) -> None:
    """Write tables, packed where their name says so, and how they were made."""
    target.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        text = _as_csv(table).encode()
        (target / name).write_bytes(gzip.compress(text, mtime=0) if name.endswith(".gz") else text)
    (target / about).write_text(json.dumps(origin, indent=1) + "\n", encoding="utf-8")


def describe_origin(found: pd.DataFrame, rows: Path) -> dict[str, Any]:
    """Say how replicates were made."""
    sizes = read_sizes(rows)
    keys = found[["world", "seed", "replicate"]].drop_duplicates()
    counts = keys.groupby("world", sort=False).size()
    files = {
        Task(int(replicate), str(world), int(seed)).file: str(world)
        for world, seed, replicate in keys.itertuples(index=False, name=None)
    }
    return {
        "made_by": "auditbook simulate",
        "date": datetime.now(UTC).date().isoformat(),
        **describe_makers(rows, files),
        "seeds": sorted(int(seed) for seed in found["seed"].unique()),
        "streams": "of a replicate: seed, name of the world, number of the replicate",
        "replicates": {str(name): int(count) for name, count in counts.items()},
        "quiet_audits": {str(name): int(count) * sizes.quiet_audits for name, count in counts.items()},
        "sizes": asdict(sizes),
    }


def read_stored(target: Path, name: str = REPLICATES) -> pd.DataFrame:
    """Read the stored counts of every replicate."""
    return pd.read_csv(target / name, keep_default_na=False)


def _as_csv(table: pd.DataFrame) -> str:
    text = StringIO()
    table.to_csv(text, index=False, lineterminator="\n", float_format="%.6g")
    return text.getvalue()
