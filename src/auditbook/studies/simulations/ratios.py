"""Which ratio keeps its level where errors are skewed or units few: the published one, or the corrected?

Both are held against draws with the same seed, in worlds chosen to break them. Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.simulations.ratios --replicates 200
"""

import argparse
import json
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from auditbook.evidence import wilson_interval
from auditbook.pocket_settings import PocketSettings, Ratios
from auditbook.pockets import OVERALL, audit_map, declare_contrasts
from auditbook.project import project_file, runs_folder
from auditbook.studies.simulations.fixed_map import fix_map
from auditbook.studies.simulations.hard_worlds import WORLDS, HardWorld, draw_world

SEED, DRAWS, REPLICATES = 4_026, 499, 200
KINDS: tuple[Ratios, ...] = ("published", "corrected")
KEYS = ["world", "quantity", "ratios"]
COLUMNS = ["world", "quantity", "ratios", "level", "replicate", "seed", "tested", "flagged", "over", "found"]
LIBRARIES = ("numpy", "pandas", "scipy")


def run_replicate(world: HardWorld, *, place: int, replicate: int, draws: int, seed: int) -> pd.DataFrame:
    """Draw one audit, test it with both ratios, and say which families hold a flag that is false.

    `found` counts a flag of the first pocket in the direction of the planted error, which is no false one;
    where an error is planted, the overall comparison and the first pocket are not false either.
    """
    own = seed + 10_000 * place + replicate
    audit = draw_world(world, np.random.default_rng(own))
    rows = []
    for kind in KINDS:
        errors = audit_map(
            fix_map(world.pockets),
            audit,
            contrasts=declare_contrasts(audit.attributes),
            settings=PocketSettings(draws=draws, ratios=kind),
            seed=own,
        ).errors
        for quantity, family in errors.groupby("quantity", sort=False):
            row = {
                "world": world.name,
                "quantity": quantity,
                "ratios": kind,
                "level": family["level"].iloc[0],
            }
            row |= {"replicate": replicate, "seed": own}
            rows.append(row | _count_flags(family, planted=world.shift > 0))
    return pd.DataFrame(rows, columns=COLUMNS)


def _count_flags(family: pd.DataFrame, *, planted: bool) -> dict[str, int]:
    """Say how many quantities were tested, and whether any flag is false, too high, or a find."""
    flagged = family["flagged"].astype(bool)
    over = flagged & (family["direction"] == "over")
    touched = family["pocket"].isin([OVERALL, fix_map(1).pockets[0]]) & planted
    return {
        "tested": int((family["status"] == "tested").sum()),
        "flagged": int((flagged & ~touched).any()),
        "over": int((over & ~touched).any()),
        "found": int((over & touched & (family["pocket"] != OVERALL)).any()),
    }


_Task = tuple[int, int, int, int]


def simulate_ratios(
    *,
    replicates: int = REPLICATES,
    draws: int = DRAWS,
    seed: int = SEED,
    store: Path | None = None,
    worlds: Sequence[HardWorld] = WORLDS,
) -> pd.DataFrame:
    """Run all replicates of all worlds, going on where an earlier call stopped."""
    done = _read_store(store)
    tasks = [(WORLDS.index(world), each, draws, seed) for world in worlds for each in range(replicates)]
    for task in tasks:
        if task not in done:
            done[task] = _run_task(task)
            if store is not None:
                _keep(store, task, done[task])
    return pd.DataFrame([row for task in tasks for row in done[task]], columns=COLUMNS)


def _run_task(task: _Task) -> list[list[Any]]:
    """Run one replicate and return its rows as plain values."""
    place, replicate, draws, seed = task
    rows = run_replicate(WORLDS[place], place=place, replicate=replicate, draws=draws, seed=seed)
    return [list(row.values()) for row in rows.to_dict("records")]


def _keep(store: Path, task: _Task, rows: list[list[Any]]) -> None:
    """Write one replicate down at once."""
    store.parent.mkdir(parents=True, exist_ok=True)
    with store.open("a", encoding="utf-8") as file:
        about = {"world": asdict(WORLDS[task[0]]), "task": task[1:]}
        file.write(json.dumps(about | {"rows": rows}) + "\n")


def _read_store(store: Path | None) -> dict[_Task, list[list[Any]]]:
    """Read the replicates that are done; a line that was cut off counts as not done."""
    done: dict[_Task, list[list[Any]]] = {}
    if store is None or not store.exists():
        return done
    known = [asdict(world) for world in WORLDS]
    for line in store.read_text(encoding="utf-8").splitlines():
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            continue
        if found["world"] in known:
            replicate, draws, seed = found["task"]
            done[known.index(found["world"]), replicate, draws, seed] = found["rows"]
    return done


def summarise_ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Count false flags and finds of each ratio among the replicates in which anything could be tested."""
    tested = rows[rows["tested"] > 0]
    counted = tested.groupby(KEYS, sort=False, as_index=False).agg(
        level=("level", "first"),
        replicates=("flagged", "size"),
        flagged=("flagged", "sum"),
        over=("over", "sum"),
        found=("found", "sum"),
    )
    interval = wilson_interval(counted["flagged"], counted["replicates"])
    planted = counted["world"].map({world.name: world.shift > 0 for world in WORLDS})
    return counted.assign(
        share=counted["flagged"] / counted["replicates"],
        share_low=interval.low,
        share_high=interval.high,
        power=(counted["found"] / counted["replicates"]).where(planted),
    )


def set_beside(summary: pd.DataFrame) -> pd.DataFrame:
    """Set the shares and powers of the two ratios beside each other, a row a world and quantity."""
    keys = ["world", "quantity", "level"]
    parts = [
        summary.loc[summary["ratios"] == kind, [*keys, "share", "power"]].reset_index(drop=True)
        for kind in KINDS
    ]
    return parts[0].merge(parts[1], on=keys, suffixes=("_published", "_corrected"))


def write_ratios(folder: Path, rows: pd.DataFrame, *, replicates: int, draws: int, seed: int) -> None:
    """Write replicates, summary and provenance."""
    folder.mkdir(parents=True, exist_ok=True)
    rows.to_csv(folder / "pocket_ratios.csv", index=False, lineterminator="\n")
    summary = summarise_ratios(rows)
    summary.to_csv(
        folder / "pocket_ratios_summary.csv", index=False, lineterminator="\n", float_format="%.6g"
    )
    about = {
        "made_by": "python -m auditbook.studies.simulations.ratios",
        "date": datetime.now(UTC).date().isoformat(),
        "replicates": replicates,
        "draws": draws,
        "seed": seed,
        "seeds": "of a replicate: seed + 10000 * position of the world + number of the replicate",
        "versions": {"python": platform.python_version()}
        | {name: metadata.version(name) for name in LIBRARIES},
    }
    (folder / "pocket_ratios.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Simulate two ratios where errors are skewed or units few.")
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    settings = {"replicates": given.replicates, "draws": given.draws, "seed": given.seed}
    rows = simulate_ratios(**settings, store=runs_folder() / "simulations" / "pocket_ratios.jsonl")
    write_ratios(project_file("data") / "simulations", rows, **settings)


if __name__ == "__main__":
    main()
