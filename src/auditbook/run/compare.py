"""How are two finished audits compared: their folders read, records paired where they are shared?"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.months import Comparison, Paired, compare_runs, pair_models, same_data, write_comparison_page
from auditbook.progress import Progress
from auditbook.records import AuditRecords, Score
from auditbook.results import Run, read_run, write_table
from auditbook.run.folder import mark_internal, private_files
from auditbook.run.plan import Request, load_planned, plan_run
from auditbook.scoring import score_cohort
from auditbook.settings import PROFILES

PAGE = "compare.md"


@dataclass(frozen=True)
class CompareRequest:
    """What a call of ``auditbook compare`` asks for."""

    first: Path  # Folder of the earlier audit
    second: Path
    cohorts: tuple[Path, ...] = ()  # Both cohort files, to pair the records that the audits share
    output: Path | None = None  # Folder; by default ``compare`` in that of the second


@dataclass(frozen=True)
class ComparedFolder:
    """A comparison, and where it lies."""

    folder: Path
    comparison: Comparison


def compare_folders(asked: CompareRequest, progress: Progress) -> ComparedFolder:
    """Compare two finished audits and write what was found: ``auditbook compare``.

    Raises
    ------
    InputError
        If a folder holds no finished audit, the two have no model in common, or the cohort files are not
        those of the audits.
    """
    first, second = read_run(asked.first), read_run(asked.second)
    progress.say(f"comparing {first.info['title']} with {second.info['title']}")
    records = _pair_records(asked, first, second, progress) if asked.cohorts else {}
    comparison = compare_runs(first, second, records=records)
    progress.done()
    folder = asked.output if asked.output is not None else asked.second / "compare"
    with private_files():
        folder.mkdir(parents=True, exist_ok=True)
        write_table(comparison.differences, folder / "compare.csv")
        write_table(comparison.cells, folder / "compare_cells.csv")
        mark_internal(folder)
        (folder / PAGE).write_text(write_comparison_page(comparison), encoding="utf-8")
    progress.done()
    return ComparedFolder(folder, comparison)


def _pair_records(asked: CompareRequest, first: Run, second: Run, progress: Progress) -> dict[str, Paired]:
    """Read the decisions of both audits on the records that they share."""
    if not same_data(first, second):
        raise InputError(
            "--cohorts: the two audits are of other data, so that there are no records to pair; leave it out"
        )
    before, after = (
        _read_records(path, run, progress) for path, run in zip(asked.cohorts, (first, second), strict=True)
    )
    orders = _align(before.table, after.table)
    if orders is None:
        raise InputError(
            "--cohorts: the two cohort files do not keep the same rows of the data, so that there are no "
            "records to pair; leave it out"
        )
    _refuse_other_groups(before.records, after.records, orders)
    return {
        pair.after: Paired(
            _take(before.records, pair.before, orders[0]), _take(after.records, pair.after, orders[1])
        )
        for pair in pair_models(first, second)
    }


@dataclass(frozen=True)
class _Audited:
    """The audited records of a run, and their rows in the data."""

    records: AuditRecords
    table: pd.DataFrame


def _read_records(path: Path, run: Run, progress: Progress) -> _Audited:
    """Read the audited records of a run again."""
    profile = PROFILES[run.info["profile"]["name"]]
    request = Request(path, profile=profile, seed=run.info["seed"], jobs=1, run_dir=run.folder)
    plan = replace(plan_run(request), counted=False)  # Records are paired, each of them
    progress.say(f"reading {plan.file.title}")
    cohort = load_planned(plan)
    if cohort.data_hash != run.info["hashes"]["data"]:
        raise InputError(
            f"{path}: its data are not those of {run.folder}; name the cohort file of that audit"
        )
    if cohort.survey is not None:
        raise InputError(f"{path}: [weight]: weighted records cannot be paired; leave --cohorts out")
    scored = score_cohort(cohort, protocol=plan.protocol, cache_dir=plan.cache, jobs=1)
    return _Audited(scored.records, cohort.table.iloc[scored.audit])


Order = NDArray[np.intp]


def _align(before: pd.DataFrame, after: pd.DataFrame) -> tuple[Order, Order] | None:
    """Find orders in which both tables hold the same rows; None where they hold others.

    Rows are told by all columns that both cohort files read alike; rows that say the same are one another's.
    """
    alike = [name for name in before if name in after and before[name].dtype == after[name].dtype]
    if not alike:
        return None
    first, second = (
        pd.util.hash_pandas_object(table[alike], index=False).to_numpy() for table in (before, after)
    )
    orders = np.argsort(first, kind="stable"), np.argsort(second, kind="stable")
    return orders if np.array_equal(first[orders[0]], second[orders[1]]) else None


def _refuse_other_groups(before: AuditRecords, after: AuditRecords, orders: tuple[Order, Order]) -> None:
    """Refuse records whose outcome or groups the two cohort files read in another way."""
    sides = list(zip((before, after), orders, strict=True))
    outcomes = [records.outcome[order] for records, order in sides]
    groups = [
        [
            (item.name, np.array(item.groups, object)[item.codes[order]].tolist())
            for item in records.attributes
        ]
        for records, order in sides
    ]
    if not np.array_equal(outcomes[0], outcomes[1]) or groups[0] != groups[1]:
        raise InputError(
            "--cohorts: the two cohort files read outcome or groups in another way, so that the records "
            "cannot be paired; leave it out"
        )


def _take(records: AuditRecords, model: str, order: Order) -> AuditRecords:
    """Keep the decisions of one model, in an order."""
    kept = [score for score in records.scores if score.model == model]
    if not kept:
        known = ", ".join(score.model for score in records.scores)
        raise InputError(f"--cohorts: the cohort file has no model '{model}'; it has {known}")
    decisions = kept[0].decisions[order].astype(float)
    return AuditRecords(
        records.outcome[order],
        tuple(replace(item, codes=item.codes[order]) for item in records.attributes),
        (Score(model, "decision", 0.5, decisions),),
        unit=None if records.unit is None else records.unit[order],
    )
