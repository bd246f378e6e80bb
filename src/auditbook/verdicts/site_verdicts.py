"""Would the audit have ended the same at other sites?"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import (
    THREADS,
    OrderedScores,
    ScoreSums,
    blank_sums,
    count_sites,
    group_auc,
    order_probabilities,
    settle_groups,
    stack_sums,
    stratum_sizes,
    sum_site_scores,
)
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts.flips import resample_values
from auditbook.verdicts.metrics import Metric, find_metric
from auditbook.verdicts.site_folds import Folds
from auditbook.verdicts.support import find_obstacles, lack_support

SITE_COLUMNS = "model metric attribute fold sites n estimate verdict reason".split()
CELL = ["model", "metric", "attribute"]


def judge_sites(
    records: AuditRecords,
    verdicts: pd.DataFrame,
    folds: Folds | None,
    *,
    protocol: Protocol,
    ordered: Mapping[str, OrderedScores] | None = None,
) -> pd.DataFrame:
    """Judge every cell in every fold of sites: ``site_verdicts.csv``.

    Parameters
    ----------
    records : AuditRecords
        What is audited.
    verdicts : DataFrame
        From `judge`: the order of the rows.
    folds : Folds or None
        From `plan_folds`.
    protocol : Protocol
        Gives thresholds and minimum support.
    ordered : mapping of str to OrderedScores, optional
        From `order_probabilities`, when that is at hand.

    Returns
    -------
    DataFrame
        One row a cell and fold, with the columns `SITE_COLUMNS`; none without folds. Folds are counted from
        1; `sites` and `n` are the fold's sites and records. In a fold where a group of the audit lacks
        support the verdict is ``inconclusive`` and `reason` says why: a missing rating.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846

    Examples
    --------
    >>> from auditbook.verdicts.site_folds import plan_folds
    >>> from auditbook.records import Score
    >>> from auditbook.verdicts.judgement import judge
    >>> sex = Attribute("sex", ("F", "M"), np.repeat([0, 1], 100))
    >>> scores = (Score("m", "decision", 0.5, np.tile([1.0, 0.0], 100)),)
    >>> outcome, site = np.tile(np.array([1, 1, 0, 0], np.int8), 50), np.tile([0, 0, 1, 1], 50)
    >>> records, protocol = AuditRecords(outcome, (sex,), scores, site), Protocol(metrics=("SPD",))
    >>> verdicts = judge(records, protocol=protocol, seed=1)
    >>> judge_sites(records, verdicts, plan_folds(records, n_folds=20), protocol=protocol)["verdict"].tolist()
    ['pass', 'pass']
    """
    if folds is None or not len(verdicts):
        return pd.DataFrame(columns=SITE_COLUMNS)
    metrics = [find_metric(name) for name in protocol.metrics]
    read = {metric.evidence for metric in metrics}
    known = ordered if ordered is not None or "score sums" not in read else order_probabilities(records)
    found = []
    for attribute in records.attributes:
        settled = settle_groups(attribute, records.outcome)
        by_fold: dict[str, Any] = {"counts": _count_folds(records, settled, folds)}
        if "score sums" in read:
            by_fold["score sums"] = _sum_folds(records, settled, folds, known or {})
        if "areas" in read:
            by_fold["areas"] = _find_areas(records, settled, folds)
        context = _Context(records, settled, folds, by_fold["counts"], protocol)
        found += [_judge_cells(metric, by_fold[metric.evidence], context) for metric in metrics]
    return verdicts[CELL].merge(pd.concat(found, ignore_index=True), on=CELL, how="left")[SITE_COLUMNS]


@dataclass(frozen=True)
class _Context:
    """What the cells of one attribute have in common."""

    records: AuditRecords
    settled: Attribute
    folds: Folds
    counts: NDArray[np.int64]
    protocol: Protocol


def _count_folds(records: AuditRecords, attribute: Attribute, folds: Folds) -> NDArray[np.int64]:
    """Count each fold's groups under every model, shape (n_models, n_folds, n_groups, 4)."""
    decisions = np.stack([score.decisions for score in records.scores])
    groups = attribute.codes, len(attribute.groups)
    return count_sites(records.outcome, decisions, *groups, site=folds.of_record, n_sites=folds.count)


def _sum_folds(
    records: AuditRecords, attribute: Attribute, folds: Folds, ordered: Mapping[str, OrderedScores]
) -> ScoreSums:
    """Sum each fold's scores under every model, leading shape (n_models, n_folds)."""
    groups = attribute.codes, len(attribute.groups)

    def add(model: str) -> ScoreSums:
        if model not in ordered:
            return blank_sums(folds.count, groups[1])
        return sum_site_scores(ordered[model], *groups, site=folds.of_record, n_sites=folds.count)

    with ThreadPoolExecutor(THREADS) as pool:
        return stack_sums(list(pool.map(add, [score.model for score in records.scores])))


def _find_areas(records: AuditRecords, attribute: Attribute, folds: Folds) -> NDArray[np.float64]:
    """Find each fold's areas within groups under every model, shape (n_models, n_folds, n_groups)."""
    n_groups = len(attribute.groups)
    together = folds.of_record * n_groups + attribute.codes

    def find(score: Score) -> NDArray[np.float64]:
        if score.kind == "decision":
            return np.full((folds.count, n_groups), np.nan)
        areas = group_auc(records.outcome, score.values, together, folds.count * n_groups)
        return areas.reshape(folds.count, n_groups)

    with ThreadPoolExecutor(THREADS) as pool:
        return np.stack(list(pool.map(find, records.scores)))


def _judge_cells(metric: Metric, by_fold: Any, context: _Context) -> pd.DataFrame:
    """Judge one metric and attribute under every model and in every fold."""
    folds, scores = context.folds, context.records.scores
    parts = metric.by_group(by_fold)
    required = ~np.isnan(parts).all(axis=1, keepdims=True)
    estimate = resample_values(metric, by_fold, required=required)
    passed = metric.passes(estimate, threshold=context.protocol.thresholds.get(metric.name))
    reasons = _list_reasons(metric, parts, context)
    is_open = np.array([[bool(reason) for reason in line] for line in reasons])
    sites = np.bincount(list(folds.of_site.values()), minlength=folds.count)
    return pd.DataFrame(
        {
            "model": np.repeat(np.array([score.model for score in scores], dtype=object), folds.count),
            "metric": metric.name,
            "attribute": context.settled.name,
            "fold": np.tile(np.arange(1, folds.count + 1), len(scores)),
            "sites": np.tile(sites, len(scores)),
            "n": np.tile(np.bincount(folds.of_record, minlength=folds.count), len(scores)),
            "estimate": estimate.ravel(),
            "verdict": np.where(is_open, "inconclusive", np.where(passed, "pass", "fail")).ravel(),
            "reason": [reason for line in reasons for reason in line],
        }
    )


def _list_reasons(metric: Metric, parts: NDArray[np.float64], context: _Context) -> list[list[str]]:
    """Say for every model and fold why it is a missing rating; blank where it is not."""
    strata = stratum_sizes(context.counts)
    bare = lack_support(metric, strata, protocol=context.protocol)
    bare |= np.isnan(metric.combine(parts)) | np.isnan(parts).any(axis=(-2, -1))
    reasons = [[""] * bare.shape[1] for _ in bare]
    for model, score in enumerate(context.records.scores):
        wrong_kind = metric.evidence == "score sums" and score.kind != "probability"
        wrong_kind |= metric.evidence == "areas" and score.kind == "decision"
        alone = len(context.settled.groups) < 2
        for fold in np.flatnonzero(bare[model] | wrong_kind | alone):
            obstacles = find_obstacles(
                metric,
                kind=score.kind,
                groups=context.settled.groups,
                strata=strata[model, fold],
                parts=parts[model, fold],
                n_selected=int(context.counts[model, fold, :, :2].sum()),
                protocol=context.protocol,
            )
            reasons[model][fold] = "; ".join(obstacles)
    return reasons
