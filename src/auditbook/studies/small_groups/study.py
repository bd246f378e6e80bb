"""How small may a group be before a figure of the audit says nothing? All designs, run and stored.

Every design is a known population with a smallest group of a given size. Each of its replicates is one
audit, read through the same functions as a cohort's. What is kept of a design: its figures measured over
all replicates, and the first few replicates as they are. A replicate draws from a stream that is named by
its design and number, so any one can be made again alone.

What the stored replicates (400 of each design, 200 of calibration, 1,000 of areas) show, for two groups and
20 % events unless said:

- Intervals of EOPP and EOD cover where groups differ, from 60 and 250 records on. Those of DI cover in
  about 90 % and those of PP in 82 to 89 % of the audits, in groups of thousands as well: resamples keep the
  number of events. No interval of a gap holds a true gap of zero, and none of CAL the truth.
- At the threshold one half of all audits flip, and estimated flip rates are one quarter on average, at any
  size. The printed interval of a flip rate is of Monte Carlo error and holds the true one in a quarter of
  the audits.
- Verdicts called stable are all wrong where EOPP passes and the smallest group has 125 records or fewer (25
  events). From 500 records on nearly all are right, 0.05 from the threshold.
- Kappa's interval covers in about 90 %; the coefficient of variation of subsamples of half of an audit is
  three quarters of that of fresh audits.
- Intervals of areas cover at any size, simultaneous ones too. With sites that differ, those of the overall
  area that take records as units cover in 55 to 90 %, those by sites in 95 %.

Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.small_groups.study

It goes on where it was stopped; a design is lost at the most.
"""

import argparse
import gzip
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from auditbook.project import project_file, runs_folder
from auditbook.studies.small_groups import areas as small_groups_auc
from auditbook.studies.small_groups import sites as small_groups_sites
from auditbook.studies.small_groups import sizes as small_groups_sizes
from auditbook.studies.small_groups import verdicts as small_groups_verdicts
from auditbook.studies.small_groups.measures import (
    READING_COLUMNS,
    Reading,
    Truths,
    frame_readings,
    measure_figures,
)

SEED, REPLICATES, SLOW_REPLICATES, QUICK_TIMES = 2_026, 400, 200, 2.5
KEPT = 2
"""Replicates of a design that are stored as they are."""
LIBRARIES = ("numpy", "pandas", "scipy", "statsmodels")
REPLICATE_FILE, ORIGIN = "small_groups_replicates.csv.gz", "small_groups.json"


@dataclass(frozen=True)
class Family:
    """Designs of one kind, and how one of their audits is drawn and read."""

    designs: tuple[Any, ...]  # Frozen dataclasses with a `name`
    find_truth: Callable[[Any, int], Truths]  # Of design and seed
    run_replicate: Callable[..., list[Reading]]  # Of design; `replicate` and `seed` by name


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        name: Family(module.DESIGNS, module.find_truth, module.run_replicate)
        for name, module in (
            ("verdicts", small_groups_verdicts),
            ("sizes", small_groups_sizes),
            ("sites", small_groups_sites),
            ("auc", small_groups_auc),
        )
    }
)


def count_replicates(design: Any, wanted: int) -> int:
    """Say how many replicates a design gets: fewer where scores are resampled, more where nothing is."""
    if isinstance(design, small_groups_auc.AucDesign):
        return round(QUICK_TIMES * wanted)
    return min(wanted, SLOW_REPLICATES) if getattr(design, "metric", "") == "CAL" else wanted


def run_design(family: Family, design: Any, *, replicates: int, seed: int) -> dict[str, pd.DataFrame]:
    """Run all replicates of one design."""
    found = [
        family.run_replicate(design, replicate=replicate, seed=seed)
        for replicate in range(count_replicates(design, replicates))
    ]
    readings = frame_readings(found)
    return {
        "measured": measure_figures(readings, family.find_truth(design, seed)),
        "kept": readings[readings["replicate"] < KEPT],
    }


def simulate(
    *,
    replicates: int = REPLICATES,
    seed: int = SEED,
    store: Path | None = None,
    families: Mapping[str, Family] = FAMILIES,
) -> dict[str, dict[str, pd.DataFrame]]:
    """Run all designs of all families, going on where an earlier call stopped."""
    return {
        name: _run_family(name, family, replicates=replicates, seed=seed, store=store)
        for name, family in families.items()
    }


def _run_family(
    name: str, family: Family, *, replicates: int, seed: int, store: Path | None
) -> dict[str, pd.DataFrame]:
    """Run what is missing of one family, and put it together in the order of its designs."""
    path = None if store is None else store / f"{name}.jsonl"
    done = _read_store(path, replicates=replicates, seed=seed)
    tables: dict[str, list[pd.DataFrame]] = {"measured": [], "kept": []}
    for design in family.designs:
        if design.name not in done:
            found = run_design(family, design, replicates=replicates, seed=seed)
            done[design.name] = {part: table.to_dict("list") for part, table in found.items()}
            _add_to_store(path, design.name, done[design.name], replicates=replicates, seed=seed)
        measured, kept = (pd.DataFrame(done[design.name][part]) for part in tables)
        tables["measured"].append(_put_before(measured, asdict(design)))
        tables["kept"].append(_put_before(kept, {"design": design.name}))
    return {part: pd.concat(frames, ignore_index=True) for part, frames in tables.items()}


def _put_before(table: pd.DataFrame, fixed: Mapping[str, Any]) -> pd.DataFrame:
    """Put the same values before every row."""
    return pd.concat([pd.DataFrame([fixed] * len(table)), table], axis=1)


def _read_store(path: Path | None, *, replicates: int, seed: int) -> dict[str, Any]:
    """Read the designs that are done; a line that was cut off counts as not done."""
    done: dict[str, Any] = {}
    if path is None or not path.exists():
        return done
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            continue
        if (found["replicates"], found["seed"]) == (replicates, seed):
            done[found["design"]] = found["tables"]
    return done


def _add_to_store(path: Path | None, design: str, tables: Any, *, replicates: int, seed: int) -> None:
    """Add one design to the store."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        about = {"design": design, "replicates": replicates, "seed": seed, "tables": tables}
        file.write(json.dumps(about) + "\n")


def write_results(
    folder: Path, results: Mapping[str, Mapping[str, pd.DataFrame]], *, replicates: int, seed: int
) -> None:
    """Write measures, kept replicates and provenance."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, tables in results.items():
        text = tables["measured"].to_csv(index=False, lineterminator="\n", float_format="%.6g")
        (folder / f"small_groups_{name}.csv").write_text(text, encoding="utf-8")
    kept = pd.concat([_put_before(tables["kept"], {"family": name}) for name, tables in results.items()])
    columns = ["family", "design", "replicate", *READING_COLUMNS]
    text = kept[columns].to_csv(index=False, lineterminator="\n", float_format="%.10g")
    (folder / REPLICATE_FILE).write_bytes(gzip.compress(text.encode(), mtime=0))
    about = {
        "made_by": "python -m auditbook.studies.small_groups.study",
        "date": datetime.now(UTC).date().isoformat(),
        "replicates": replicates,
        "slow_replicates": min(replicates, SLOW_REPLICATES),
        "quick_replicates": round(QUICK_TIMES * replicates),
        "designs": {name: len(family.designs) for name, family in FAMILIES.items()},
        "seed": seed,
        "seeds": "of a replicate: the stream of the seed, the family, the name of the design and the number",
        "versions": {"python": platform.python_version()}
        | {name: metadata.version(name) for name in LIBRARIES},
    }
    (folder / ORIGIN).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Simulate audits whose smallest group is of a known size.")
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    settings = {"replicates": given.replicates, "seed": given.seed}
    results = simulate(**settings, store=runs_folder() / "simulations" / "small_groups")
    write_results(project_file("data") / "simulations", results, **settings)


if __name__ == "__main__":
    main()
