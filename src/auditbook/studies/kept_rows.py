"""How does a study go on where it was stopped, and what says how its rows were made?

A study runs replicates of some worlds, each from random numbers of its own. Every replicate is written down
at once, with the seed and the code that made it; rows of other code are made again.
"""

import argparse
import gzip
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, TypeVar

import pandas as pd

from auditbook.code import digest_reach, name_module
from auditbook.project import project_file, runs_folder

World = TypeVar("World")
Row = dict[str, Any]
LIBRARIES = ("numpy", "pandas", "scipy")


def _want_all(world: object, replicate: int) -> bool:
    """Want every replicate of every world."""
    return True


@dataclass(frozen=True)
class Study(Generic[World]):
    """What is run of every world, and what becomes of the rows."""

    name: str  # Of its files: NAME_replicates.csv.gz, NAME.csv, NAME.json
    worlds: Sequence[World]  # Frozen dataclasses, told apart by their `repr`
    run: Callable[..., list[Row]]  # Of world and replicate; `seed` by name
    columns: Sequence[str]
    summarise: Callable[[pd.DataFrame], pd.DataFrame]
    seeds: str  # What names the random numbers of a replicate
    about: Mapping[str, Any] = field(default_factory=dict)  # Further settings to be written down
    wants: Callable[[World, int], bool] = _want_all
    summary: str = ""  # Name of the summary, if not that of the study
    libraries: Sequence[str] = LIBRARIES

    @property
    def replicates_file(self) -> str:
        """Name of the file with the rows."""
        return f"{self.name}_replicates.csv.gz"

    @property
    def summary_file(self) -> str:
        """Name of the file with what follows from them."""
        return f"{self.summary or self.name}.csv"


def run_study(study: Study[World], *, replicates: int, seed: int, store: Path | None = None) -> pd.DataFrame:
    """Run all replicates, the first of every world first, going on where an earlier call stopped."""
    code = digest_reach(study.run)
    done = _read_store(store, seed, code)
    for replicate in range(replicates):
        for world in study.worlds:
            key = repr(world), replicate
            if key not in done and study.wants(world, replicate):
                done[key] = study.run(world, replicate, seed=seed)
                _keep(store, {"seed": seed, "code": code, "key": key, "rows": done[key]})
    keys = [(repr(world), replicate) for world in study.worlds for replicate in range(replicates)]
    return pd.DataFrame([row for key in keys for row in done.get(key, [])], columns=list(study.columns))


def _read_store(store: Path | None, seed: int, code: str) -> dict[tuple[str, int], list[Row]]:
    """Read the replicates that this code has made; a line that was cut off counts as not done."""
    done: dict[tuple[str, int], list[Row]] = {}
    if store is None or not store.exists():
        return done
    for line in store.read_text(encoding="utf-8").splitlines():
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            continue
        if (found["seed"], found["code"]) == (seed, code):
            world, replicate = found["key"]
            done[world, replicate] = found["rows"]
    return done


def _keep(store: Path | None, line: Mapping[str, Any]) -> None:
    """Write one replicate down."""
    if store is None:
        return
    store.parent.mkdir(parents=True, exist_ok=True)
    with store.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def write_study(study: Study[World], folder: Path, rows: pd.DataFrame, *, replicates: int, seed: int) -> None:
    """Write replicates, summary and provenance."""
    folder.mkdir(parents=True, exist_ok=True)
    text = rows.to_csv(index=False, lineterminator="\n", float_format="%.10g")
    (folder / study.replicates_file).write_bytes(gzip.compress(text.encode(), mtime=0))
    summary = study.summarise(rows)
    summary.to_csv(folder / study.summary_file, index=False, lineterminator="\n", float_format="%.6g")
    about = describe_making(study, replicates=replicates, seed=seed)
    (folder / f"{study.name}.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def describe_making(study: Study[World], *, replicates: int, seed: int) -> dict[str, Any]:
    """Say by what, when, from which seeds, by which code and with which versions rows were made."""
    return {
        "made_by": f"python -m {name_module(study.run)}",
        "date": datetime.now(UTC).date().isoformat(),
        "replicates": replicates,
        **study.about,
        "seed": seed,
        "seeds": study.seeds,
        "code": digest_reach(study.run),
        "versions": {"python": platform.python_version()}
        | {name: metadata.version(name) for name in study.libraries},
    }


def read_rows(study: Study[World], folder: Path | None = None) -> pd.DataFrame:
    """Read the stored rows of a study; words such as "none" stay words."""
    folder = project_file("data") / "simulations" if folder is None else folder
    return pd.read_csv(folder / study.replicates_file, keep_default_na=False, na_values=[""])


def call_study(study: Study[World], *, replicates: int, seed: int, store: Path | None = None) -> None:
    """Run a study from the command line and store it with the project."""
    parser = argparse.ArgumentParser(description=f"Run the study of {study.name}, and store it.")
    parser.add_argument("--replicates", type=int, default=replicates)
    parser.add_argument("--seed", type=int, default=seed)
    given = parser.parse_args()
    settings = {"replicates": given.replicates, "seed": given.seed}
    path = runs_folder() / "simulations" / f"{study.name}.jsonl" if store is None else store
    rows = run_study(study, **settings, store=path)
    write_study(study, project_file("data") / "simulations", rows, **settings)
