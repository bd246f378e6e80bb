"""Would the audit have ended the same at other sites?"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import TABLES, empty_table
from auditbook.evidence import Audited, AuditedGroups, Counts, Evidence, stratum_sizes
from auditbook.settings import Protocol
from auditbook.verdicts.flips import resample_values
from auditbook.verdicts.metrics import Metric, find_metric
from auditbook.verdicts.site_folds import Folds
from auditbook.verdicts.support import find_obstacles, lack_support, weigh_selected, write_obstacles

CELL = ["model", "metric", "attribute"]


def judge_sites(
    prepared: Audited, verdicts: pd.DataFrame, folds: Folds | None, protocol: Protocol
) -> pd.DataFrame:
    """Judge every cell in every fold of sites: ``site_verdicts.csv``.

    No row without folds. In a fold where a group of the audit lacks support the verdict is ``inconclusive``
    and `reason` says why: a missing rating. Of `verdicts` (from `judge_cells`) the order of the rows is read.
    """
    if folds is None or not len(verdicts):
        return empty_table("site_verdicts")
    metrics = [find_metric(name) for name in protocol.metrics]
    frames = []
    for groups in prepared.groups:
        context = _Context(prepared, groups, folds, protocol)
        by_fold = {
            kind: context.counts
            if kind == "counts"
            else groups.evidence[kind].by_site(folds.of_record, folds.count)
            for kind in {metric.evidence for metric in metrics}
        }
        frames += [_judge_cells(metric, by_fold[metric.evidence], context) for metric in metrics]
    table = verdicts[CELL].merge(pd.concat(frames, ignore_index=True), on=CELL, how="left")
    return table[TABLES["site_verdicts"].names()]


@dataclass(frozen=True)
class _Context:
    """What the cells of one attribute have in common."""

    prepared: Audited
    groups: AuditedGroups
    folds: Folds
    protocol: Protocol

    @cached_property
    def counts(self) -> Counts:
        """Counts of each fold's groups under every model, shape (n_models, n_folds, n_groups, 4)."""
        return self.groups.counts.by_site(self.folds.of_record, self.folds.count)

    @cached_property
    def worth(self) -> NDArray[np.float64] | None:
        """Equal records that events, non-events and records are worth, shape (n_folds, n_groups, 3)."""
        weighted = self.groups.weighted
        if weighted is None:
            return None
        return weighted.counts.worth_by_site(self.folds.of_record, self.folds.count)


def _judge_cells(metric: Metric, by_fold: Evidence, context: _Context) -> pd.DataFrame:
    """Judge one metric and attribute under every model and in every fold."""
    folds, scores = context.folds, context.prepared.rules
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
            "attribute": context.groups.settled.name,
            "fold": np.tile(np.arange(1, folds.count + 1), len(scores)),
            "sites": np.tile(sites, len(scores)),
            "n": np.tile(context.counts[0].sum(axis=(-2, -1)), len(scores)),
            "estimate": estimate.ravel(),
            "verdict": np.where(is_open, "inconclusive", np.where(passed, "pass", "fail")).ravel(),
            "reason": [reason for line in reasons for reason in line],
        }
    )


def _list_reasons(metric: Metric, parts: NDArray[np.float64], context: _Context) -> list[list[str]]:
    """Say for every model and fold why it is a missing rating; blank where it is not."""
    strata, worth = stratum_sizes(context.counts), context.worth
    selected = context.counts[..., :2].sum(axis=-1)
    held = strata if worth is None else np.broadcast_to(worth[..., :2], strata.shape)
    chosen = selected if worth is None else weigh_selected(selected, strata, worth)
    bare = lack_support(metric, held, protocol=context.protocol, selected=chosen)
    bare |= np.isnan(metric.combine(parts)) | np.isnan(parts).any(axis=(-2, -1))
    reasons = [[""] * bare.shape[1] for _ in bare]
    for model, score in enumerate(context.prepared.rules):
        wrong_kind = metric.evidence == "score sums" and score.kind != "probability"
        wrong_kind |= metric.evidence == "areas" and score.kind == "decision"
        alone = len(context.groups.settled.groups) < 2
        for fold in np.flatnonzero(bare[model] | wrong_kind | alone):
            obstacles = find_obstacles(
                metric,
                kind=score.kind,
                groups=context.groups.settled.groups,
                strata=strata[model, fold],
                parts=parts[model, fold],
                selected=selected[model, fold],
                protocol=context.protocol,
                worth=None if worth is None else worth[fold],
            )
            reasons[model][fold] = "; ".join(write_obstacles(metric, score.kind, obstacles))
    return reasons
