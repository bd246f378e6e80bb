"""Of what one half of a cohort shows, how often does the other half show the opposite?

A cohort's audited records are halved many times: by whole sites, or by whole patients where it has no sites.
Each half is judged as a cohort is. Of every answer in one half, *shown*, the published *verdict*, and the
rules of other tools (see `boards.peers`), is counted how often the other half gives the opposite answer, and
how often its estimate lies on the other side of the threshold. A rule of another tool has no estimate of its
own beside its answer: there the two are one.

The halves of one cohort are no independent audits: what one has more than the whole, the other has less. Near
a threshold they therefore contradict each other more often than audits of other patients would.

Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.halves FOLDER

where FOLDER holds the tables of the real cohorts (see README). It goes on where it was stopped.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import load_cohort, read_cohort_file
from auditbook.evidence import open_stream, prepare
from auditbook.project import project_file, runs_folder
from auditbook.records import AuditRecords, select_records
from auditbook.scoring import score_cohort
from auditbook.settings import Protocol
from auditbook.studies.boards.peers import MEASURES, flag_board
from auditbook.studies.kept_rows import Row, Study, run_study, write_study
from auditbook.verdicts import METRICS, judge

SEED, REPLICATES, RESAMPLES = 2_026, 40, 20
MODEL = "logistic"
"""Of every panel the model that is trained in seconds."""
OPPOSITE = {"fail": "pass", "pass": "fail"}
PEERS = ("gap", "band", "flags")
COLUMNS = ("cohort", "model", "by", "replicate", "rule", "said", "cells", "opposite", "other_side")


@dataclass(frozen=True)
class HalvedCohort:
    """A cohort that comes with the project, and what stays together when it is halved."""

    name: str  # Of its file in data/cohorts
    by: str  # "sites", "patients" or "records"
    table: str = ""  # File of its data; blank where they are made here
    folder: Path | None = field(default=None, repr=False)  # Where that file lies


COHORTS = (
    HalvedCohort("sparcs-heart-failure", "sites", "sparcs_hf_2024.parquet"),
    HalvedCohort("diabetes-130", "patients", "diabetes130.parquet"),
    HalvedCohort("texas-twin", "sites"),
)


@dataclass(frozen=True)
class _Audited:
    """The audited records of a cohort with one model, and its constants."""

    records: AuditRecords
    protocol: Protocol


@cache
def _load(cohort: HalvedCohort) -> _Audited:
    """Read a cohort, and score it with a model, which is trained where nothing is kept."""
    file = read_cohort_file(project_file("data", "cohorts", f"{cohort.name}.toml"))
    file = replace(file, panel=replace(file.panel, models=(MODEL,), lean=()))
    data = cohort.folder / cohort.table if cohort.folder and cohort.table else None
    loaded = load_cohort(file, data=data, seed=file.protocol.seed, cache_dir=runs_folder() / ".cache")
    kept = runs_folder() / "halves" / cohort.name / "scores"
    scored = score_cohort(loaded, protocol=file.protocol, cache_dir=kept, jobs=1)
    return _Audited(scored.records, replace(file.protocol, resamples=RESAMPLES))


def halve(records: AuditRecords, by: str, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Put whole sites, patients or records, in random order, into a first half until it holds half of all."""
    n = len(records.outcome)
    kept = {"sites": records.site, "patients": records.unit, "records": np.arange(n)}[by]
    _, place, sizes = np.unique(
        np.zeros(n) if kept is None else kept, return_inverse=True, return_counts=True
    )
    order = rng.permutation(len(sizes))
    reached = np.cumsum(sizes[order])
    first = np.zeros(len(sizes), bool)
    first[order[: 1 + int(np.argmin(abs(2 * reached - n)))]] = True
    return first[place]


def judge_half(records: AuditRecords, protocol: Protocol) -> pd.DataFrame:
    """Say of each rule and cell what it says ("fail" or "pass"), and the side on which the estimate lies."""
    prepared = prepare(records)
    cells = judge(prepared, protocol, axes=("shown",)).verdicts
    names = cells["metric"].astype(str) + " " + cells["attribute"].astype(str)
    side = [
        "" if np.isnan(value) else "pass" if METRICS[metric].passes(value) else "fail"
        for metric, value in zip(cells["metric"], cells["estimate"], strict=True)
    ]
    rules = [
        pd.DataFrame({"rule": rule, "cell": names, "said": cells[column], "side": side})
        for rule, column in (("shown", "shown"), ("verdict", "verdict"))
    ]
    attributes = [groups.declared.name for groups in prepared.groups]
    for rule, flags in flag_board(prepared).items():
        if rule in PEERS:
            said = np.where(flags, "fail", "pass").ravel()
            told = [f"{measure} {attribute}" for attribute in attributes for measure in MEASURES[rule]]
            rules.append(pd.DataFrame({"rule": rule, "cell": told, "said": said, "side": said}))
    return pd.concat(rules).set_index(["rule", "cell"])


def compare_halves(first: pd.DataFrame, second: pd.DataFrame) -> Iterator[Row]:
    """Count, of each rule and answer in either half, what the other half says of the same cells."""
    pairs = [one.join(other, rsuffix="_other") for one, other in ((first, second), (second, first))]
    both = pd.concat(pairs).reset_index()
    for rule in ("shown", "verdict", *PEERS):
        for said, opposite in OPPOSITE.items():
            told = both[(both["rule"] == rule) & (both["said"] == said)]
            yield {
                "rule": rule,
                "said": said,
                "cells": len(told),
                "opposite": int((told["said_other"] == opposite).sum()),
                "other_side": int((told["side_other"] == opposite).sum()),
            }


def run_replicate(cohort: HalvedCohort, replicate: int, *, seed: int = SEED) -> list[Row]:
    """Halve a cohort once, judge both halves, and compare."""
    audited = _load(cohort)
    taken = halve(audited.records, cohort.by, open_stream(seed, "halves", cohort.name, str(replicate)))
    halves = [
        judge_half(select_records(audited.records, part), replace(audited.protocol, seed=replicate))
        for part in (taken, ~taken)
    ]
    head = {"cohort": cohort.name, "model": audited.records.scores[0].model, "by": cohort.by}
    return [head | {"replicate": replicate} | row for row in compare_halves(*halves)]


def summarise_halves(rows: pd.DataFrame) -> pd.DataFrame:
    """Add up over halvings, by cohort and over all; shares have no interval, as halvings share records."""
    every = pd.concat([rows, rows.assign(cohort="all")])
    found = every.groupby(["cohort", "rule", "said"], sort=False, as_index=False)[
        ["cells", "opposite", "other_side"]
    ].sum()
    halvings = rows.drop_duplicates(["cohort", "replicate"])["cohort"].value_counts()
    halvings["all"] = halvings.sum()
    found.insert(3, "halvings", found["cohort"].map(halvings))
    for name in ("opposite", "other_side"):
        found[f"{name}_share"] = found[name] / found["cells"]
    return found


HALVES = Study(
    name="halves",
    worlds=COHORTS,
    run=run_replicate,
    columns=COLUMNS,
    summarise=summarise_halves,
    seeds="of a halving: the stream of the seed, 'halves', the name of the cohort and the number",
    about={"resamples": RESAMPLES},
    libraries=("numpy", "pandas", "scipy", "scikit-learn", "xgboost"),
)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description="Judge both halves of the cohorts that come with the project."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    study = replace(HALVES, worlds=[replace(cohort, folder=given.folder) for cohort in COHORTS])
    settings = {"replicates": given.replicates, "seed": given.seed}
    rows = run_study(study, **settings, store=runs_folder() / "simulations" / "halves.jsonl")
    write_study(study, project_file("data") / "simulations", rows, **settings)


if __name__ == "__main__":
    main()
