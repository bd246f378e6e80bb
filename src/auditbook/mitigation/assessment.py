"""What does the instrument say of one baseline on one part?"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from auditbook.evidence import accuracy, count_groups, estimate_auroc, prepare, rate, selection_rate
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.verdicts import DEFINED, Folds, find_metric, judge

CELL = ["metric", "attribute"]


@dataclass(frozen=True)
class Assessment:
    """Verdicts of one baseline, by records and by folds of sites."""

    records: AuditRecords  # What was judged, with the baseline's decisions
    verdicts: pd.DataFrame  # One row a metric and attribute, as `judge` gives it
    agreement: pd.DataFrame  # One row a metric, as `rate_agreement` gives it
    parity: pd.DataFrame  # The verdicts on disparate impact, whether or not the protocol asks for that metric
    auroc: float  # Area under the ROC curve of the scores; nan for decisions


def assess(
    records: AuditRecords, *, protocol: Protocol, folds: Folds | None, unshifted: Assessment | None = None
) -> Assessment:
    """Judge one baseline with the audit's own instrument."""
    if unshifted is None:
        found = judge(prepare(records), protocol, axes=("sites",), folds=folds)
        parity = found.verdicts[found.verdicts["metric"] == "DI"]
        if "DI" not in protocol.metrics:
            parity = judge(prepare(records), replace(protocol, metrics=("DI",)), axes=()).verdicts
        return Assessment(records, found.verdicts, found.site_agreement, parity, _auroc(records))
    counted = tuple(name for name in protocol.metrics if find_metric(name).evidence == "counts")
    parity_only = ("DI",) if "DI" not in counted else ()
    again = replace(protocol, metrics=(*counted, *parity_only))
    fresh = judge(prepare(records), again, axes=("sites",), folds=folds)
    verdicts = _merge(unshifted.verdicts, fresh.verdicts, CELL)
    agreement = _merge(unshifted.agreement, fresh.site_agreement, ["metric"])
    parity = fresh.verdicts[fresh.verdicts["metric"] == "DI"]
    return Assessment(records, verdicts, agreement, parity, unshifted.auroc)


def _auroc(records: AuditRecords) -> float:
    score = records.scores[0]
    return np.nan if score.kind == "decision" else estimate_auroc(records.outcome, score.values).auroc


def _merge(old: pd.DataFrame, new: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Put new rows in the place of the old ones with the same key; the order stays."""
    place = {name: row for row, name in enumerate(zip(*(old[part] for part in key), strict=True))}
    fresh = list(zip(*(new[part] for part in key), strict=True))
    both = pd.concat([old, new.astype(old.dtypes.to_dict())], ignore_index=True)
    rows = np.arange(len(old))
    for row, name in enumerate(fresh):
        if name in place:
            rows[place[name]] = len(old) + row
    return both.iloc[rows].reset_index(drop=True)


def summarise(found: Assessment, reference: Assessment, *, protocol: Protocol) -> dict[str, object]:
    """Sum one baseline up in one row."""
    score, outcome = found.records.scores[0], found.records.outcome
    counts = _count_all(found.records)
    judged = found.verdicts[found.verdicts["verdict"] != "inconclusive"]
    flips = judged["vfr"].dropna()
    parity = found.parity
    kappas = found.agreement.loc[found.agreement["status"] == DEFINED, "kappa"]
    cost = 100 * (accuracy(_count_all(reference.records)) - accuracy(counts))
    changed = np.mean(score.decisions != reference.records.scores[0].decisions)
    tp, fp, fn, _ = counts
    return {
        "n": len(outcome),
        "accuracy": float(accuracy(counts)),
        "auroc": found.auroc,
        "f1": float(rate(2 * tp, 2 * tp + fp + fn)),
        "selection_rate": float(selection_rate(counts)),
        **{
            di_column(name): value
            for name, value in zip(parity["attribute"], parity["estimate"], strict=True)
        },
        "di_passes": int((parity["verdict"] == "pass").sum()),
        "di_judged": int((parity["verdict"] != "inconclusive").sum()),
        "cells": len(judged),
        "passes": int((judged["verdict"] == "pass").sum()),
        "mean_vfr": _mean(flips),
        "max_vfr": float(flips.max()) if len(flips) else np.nan,
        "flipped": int((flips > 0).sum()),
        "unstable": int((flips > protocol.vfr_stable).sum()),
        "mean_vfr_own_size": _mean(judged["vfr_own_size"].dropna()),
        "mean_kappa": _mean(kappas),
        "kappa_metrics": len(kappas),
        **{
            kappa_column(str(name)): kappa
            for name, kappa in zip(found.agreement["metric"], found.agreement["kappa"], strict=True)
        },
        "accuracy_cost": float(cost),
        "changed": float(changed),
    }


def _count_all(records: AuditRecords) -> np.ndarray:
    """Count all records as one group, shape (4,)."""
    one = np.zeros(len(records.outcome), dtype=np.intp)
    return count_groups(records.outcome, records.scores[0].decisions, one, 1)[0]


def _mean(numbers: pd.Series) -> float:
    return float(numbers.mean()) if len(numbers) else np.nan


def di_column(attribute: str) -> str:
    """Name the column of baselines.csv with an attribute's disparate impact; `_` is added if it is taken.

    Examples
    --------
    >>> di_column("race"), di_column("passes")
    ('di_race', 'di_passes_')
    """
    return f"di_{attribute}_" if attribute in ("passes", "judged") else f"di_{attribute}"


def kappa_column(metric: str) -> str:
    """Name the column of baselines.csv that holds a metric's kappa."""
    return f"kappa_{metric}"
