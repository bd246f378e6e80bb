"""How often does the testing step flag a pocket when no prediction is wrong?

The pockets are fixed here: the simulation is of the testing step alone, not of the learning of maps. What the
stored replicates (600 of each design) show:

- Independent records: 1.7 % for mean errors and for gaps at the level 0.025 (published 2.9 and 1.6 %; a
  trial beforehand 2.0 and 1.5 %). A continuous outcome: 5.3 and 4.2 % at 0.05 (published 3.6-6.0 and
  5.0-5.9 %).
- Gaps with dependent units: 1.0-2.3 % at 0.0125, whatever the unit effects and their number (published
  1.3 %, trial 2.0 %). Some of these lie above the level, none above 5 %, which the level was chosen to
  keep.
- Mean errors with 150 units whose effects have SD 0 to 0.5: 0.8-1.8 % at 0.0125 (trial 1.3-1.9 %). With
  SD 1, 4.2 % (trial 3.5 %); with 45 units 2.8 % at SD 0.5 and 7.3 % at SD 1. The published share is
  8.9 %. If its 150 units are those of the whole data, of which an audit takes 30 %, the design of 45 units is
  the one to compare.
- That excess is no chance: nearly all of these flags say that predictions are too high. Units of high
  risk are rare and weigh much. An audit that happens to hold few of them sees few events and little
  scatter, so that the estimate is off and its standard error too small at once. The stricter level 0.0025
  brings SD 1 down to 2.2 % (150 units) and 3.3 % (45): below 5 %, though far above 0.0025.
- The conditional risk is another matter. At SD 1 it is flagged in 38 % of the replicates (trial 32 %), at
  SD 0.5 in 4.7 %, always as too low: it *is* too low, so these flags are not false.

Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.simulations.null_pockets --replicates 600 --jobs 1
"""

import argparse
import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from auditbook.evidence import wilson_interval
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets import audit_map, declare_contrasts
from auditbook.project import project_file, runs_folder
from auditbook.studies.simulations.fixed_map import fix_map
from auditbook.studies.simulations.null_worlds import DESIGNS, POCKETS, NullDesign, draw_null
from auditbook.workers import open_workers

SEED, DRAWS, REPLICATES = 2_026, 1_999, 600
KEYS = ["design", "sd", "prediction", "quantity", "level"]
COLUMNS = [*KEYS, "replicate", "seed", "tested", "flagged", "over"]
LIBRARIES = ("numpy", "pandas", "scipy")
PUBLISHED = {
    "independent": "binary, independent records",
    "dependent": "binary, 150 dependent units",
    "few": "binary, 150 dependent units",
    "continuous": "continuous, 7 specifications",
}
"""Rows of the published table that come nearest; their whole pipeline was run anew in each replicate."""


def run_replicate(design: NullDesign, *, place: int, replicate: int, draws: int, seed: int) -> pd.DataFrame:
    """Draw one audit without any error, test it, and say which families hold a flag."""
    own = seed + 10_000 * place + replicate
    audit = draw_null(design, np.random.default_rng(own))
    errors = audit_map(
        fix_map(POCKETS),
        audit,
        contrasts=declare_contrasts(audit.attributes),
        settings=PocketSettings(draws=draws, ratios="published"),
        seed=own,
    ).errors
    rows = []
    for (model, quantity), family in errors.groupby(["model", "quantity"], sort=False):
        common = {"design": design.name, "sd": design.sd, "prediction": model, "quantity": quantity}
        common |= {"replicate": replicate, "seed": own, "tested": int((family["status"] == "tested").sum())}
        rows.append(common | {"level": family["level"].iloc[0]} | _count_flags(family, "flagged"))
        if quantity == "mu" and audit.unit_kind == "site":
            level = PocketSettings().strict_level
            rows.append(common | {"level": level} | _count_flags(family, "flagged_strict"))
    return pd.DataFrame(rows, columns=COLUMNS)


def _count_flags(family: pd.DataFrame, column: str) -> dict[str, int]:
    """Say whether a family holds any flag, and any for predictions that are too high."""
    flagged = family[column].fillna(False).astype(bool)
    return {"flagged": int(flagged.any()), "over": int((flagged & (family["estimate"] > 0)).any())}


def simulate_null(
    *,
    replicates: int = REPLICATES,
    draws: int = DRAWS,
    seed: int = SEED,
    jobs: int = 1,
    store: Path | None = None,
    designs: Sequence[NullDesign] = DESIGNS,
) -> pd.DataFrame:
    """Run all replicates of all designs, going on where an earlier call stopped."""
    wanted = [
        (DESIGNS.index(design), replicate, draws, seed)
        for design in designs
        for replicate in range(replicates)
    ]
    done = _read_store(store)
    missing = [task for task in wanted if task not in done]
    for task, rows in _run_tasks(missing, jobs):
        done[task] = rows
        if store is not None:
            store.parent.mkdir(parents=True, exist_ok=True)
            with store.open("a", encoding="utf-8") as file:
                about = {"design": asdict(DESIGNS[task[0]]), "task": task[1:]}
                file.write(json.dumps(about | {"rows": rows}) + "\n")
    return pd.DataFrame([row for task in wanted for row in done[task]], columns=COLUMNS)


_Task = tuple[int, int, int, int]


def _run_tasks(tasks: Sequence[_Task], jobs: int) -> Iterator[tuple[_Task, list[list[Any]]]]:
    """Run replicates one after the other, or in processes of their own."""
    if jobs == 1:
        yield from ((task, _run_task(task)) for task in tasks)
        return
    with open_workers(jobs) as pool:
        yield from zip(tasks, pool.map(_run_task, tasks, chunksize=10), strict=True)


def _run_task(task: _Task) -> list[list[Any]]:
    """Run one replicate and return its rows as plain values."""
    place, replicate, draws, seed = task
    rows = run_replicate(DESIGNS[place], place=place, replicate=replicate, draws=draws, seed=seed)
    return [list(row.values()) for row in rows.to_dict("records")]


def _read_store(store: Path | None) -> dict[_Task, list[list[Any]]]:
    """Read the replicates that are done; a line that was cut off counts as not done."""
    done: dict[_Task, list[list[Any]]] = {}
    if store is None or not store.exists():
        return done
    known = [json.loads(json.dumps(asdict(design))) for design in DESIGNS]
    for line in store.read_text(encoding="utf-8").splitlines():
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            continue
        if found["design"] in known:
            replicate, draws, seed = found["task"]
            done[known.index(found["design"]), replicate, draws, seed] = found["rows"]
    return done


def summarise_null(rows: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Count false flags."""
    counted = rows.groupby(KEYS, sort=False, as_index=False).agg(
        replicates=("flagged", "size"),
        untested=("tested", lambda tested: int((tested == 0).sum())),
        flagged=("flagged", "sum"),
        over=("over", "sum"),
    )
    interval = wilson_interval(counted["flagged"], counted["replicates"])
    counted["share"] = counted["flagged"] / counted["replicates"]
    counted["share_low"], counted["share_high"] = interval.low, interval.high
    wording = {"mu": "local error", "delta": "gap"}
    keys = pd.DataFrame(
        {
            "quantity": counted["quantity"].map(wording),
            "design": counted["design"].map(PUBLISHED),
            "single_map_alpha": counted["level"],
        }
    )
    known = keys.merge(published, how="left", on=list(keys.columns))
    return counted.assign(published_low=known["forest_low"], published_high=known["forest_high"])


def write_null(folder: Path, rows: pd.DataFrame, *, replicates: int, draws: int, seed: int) -> None:
    """Write replicates, summary and provenance."""
    folder.mkdir(parents=True, exist_ok=True)
    published = pd.read_csv(project_file("data", "reference", "pocket_error_control_published.csv"))
    rows.to_csv(folder / "pocket_null.csv", index=False, lineterminator="\n")
    summary = summarise_null(rows, published)
    summary.to_csv(folder / "pocket_null_summary.csv", index=False, lineterminator="\n", float_format="%.6g")
    about = {
        "made_by": "python -m auditbook.studies.simulations.null_pockets",
        "date": datetime.now(UTC).date().isoformat(),
        "replicates": replicates,
        "draws": draws,
        "seed": seed,
        "seeds": "of a replicate: seed + 10000 * position of the design + number of the replicate",
        "versions": {"python": platform.python_version()}
        | {name: metadata.version(name) for name in LIBRARIES},
    }
    (folder / "pocket_null.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Simulate the testing of pockets when nothing is wrong.")
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    settings = {"replicates": given.replicates, "draws": given.draws, "seed": given.seed}
    store = runs_folder() / "simulations" / "pocket_null.jsonl"
    rows = simulate_null(**settings, jobs=given.jobs, store=store)
    write_null(project_file("data") / "simulations", rows, **settings)


if __name__ == "__main__":
    main()
