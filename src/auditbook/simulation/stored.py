"""What does the project keep of its simulations: every replicate's counts, their scores, and their origin."""

import gzip
import json
from dataclasses import asdict
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from auditbook.simulation.provenance import describe_makers
from auditbook.simulation.scoring import compare_methods, count_false_flags, count_verdicts, score_methods
from auditbook.simulation.tasks import Task, collect, read_sizes

REPLICATES = "pockets_replicates.csv.gz"
SCORES, COMPARED = "pockets_scores.csv", "pockets_compared.csv"
VERDICTS, QUIET = "pockets_verdicts.csv", "pockets_quiet.csv"
ORIGIN = "pockets_simulation.json"


def store(rows: Path, target: Path) -> dict[str, Any]:
    """Store finished replicates, what follows from them, and how they were made.

    Parameters
    ----------
    rows : Path
        Folder of the replicates.
    target : Path
        Receives the files; those of an earlier call are replaced.

    Returns
    -------
    dict
        The provenance, as it is written: replicates and quiet audits of each world, sizes, seeds, the code
        that made them with its commit and versions, and what a replicate cost.

    Raises
    ------
    InputError
        If there is nothing to store.
    """
    found = collect(rows)
    target.mkdir(parents=True, exist_ok=True)
    (target / REPLICATES).write_bytes(gzip.compress(_as_csv(found).encode(), mtime=0))
    compared = compare_methods(found)
    tables = {
        SCORES: score_methods(found),
        COMPARED: compared,
        VERDICTS: count_verdicts(compared),
        QUIET: count_false_flags(found),
    }
    for name, table in tables.items():
        (target / name).write_text(_as_csv(table), encoding="utf-8")
    origin = describe_origin(found, rows)
    (target / ORIGIN).write_text(json.dumps(origin, indent=1) + "\n", encoding="utf-8")
    return origin


def describe_origin(found: pd.DataFrame, rows: Path) -> dict[str, Any]:
    """Say how replicates were made.

    Parameters
    ----------
    found : DataFrame
        From `collect`.
    rows : Path
        Their folder.

    Returns
    -------
    dict
        Plain values.
    """
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


def read_stored(target: Path) -> pd.DataFrame:
    """Read the stored counts of every replicate.

    Parameters
    ----------
    target : Path
        Folder that `store` has written.

    Returns
    -------
    DataFrame
        As from `collect`.
    """
    return pd.read_csv(target / REPLICATES, keep_default_na=False)


def _as_csv(table: pd.DataFrame) -> str:
    text = StringIO()
    table.to_csv(text, index=False, lineterminator="\n", float_format="%.6g")
    return text.getvalue()
