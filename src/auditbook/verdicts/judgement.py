"""Does each cell pass, fail, or stay open, and how far can its verdict be trusted?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import (
    Draws,
    Evidence,
    OrderedScores,
    check_records,
    gather_areas,
    gather_counts,
    gather_scores,
    order_probabilities,
    plan_draws,
    rank_scores,
    settle_groups,
    stratum_sizes,
)
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts.flips import Stability, resample_values, summarise_resamples
from auditbook.verdicts.group_table import GROUP_COLUMNS, tabulate_groups
from auditbook.verdicts.metrics import Metric, find_metric
from auditbook.verdicts.support import find_obstacles

__all__ = ["GROUP_COLUMNS", "VERDICT_COLUMNS", "judge", "tabulate_groups"]

VERDICT_COLUMNS = (
    "model metric attribute estimate threshold verdict reason lowest_group highest_group smallest_n "
    "dominant_verdict vfr vfr_low vfr_high vfr_own_size vfr_site resample_mean resample_sd margin "
    "ci_low ci_high undefined_share n_star kappa tier tier_reasons vfr_own_size_low vfr_own_size_high "
    "vfr_site_low vfr_site_high site_count agrees resample_size undefined_share_own_size undefined_share_site"
).split()


def judge(
    records: AuditRecords,
    *,
    protocol: Protocol,
    seed: int,
    ordered: Mapping[str, OrderedScores] | None = None,
) -> pd.DataFrame:
    """Give every cell (model, metric, attribute) its verdict and its three flip rates.

    A verdict is ``pass``, ``fail`` or ``inconclusive``. Inconclusive cells say why, keep their estimate where
    it is defined, and have no flip rate and no interval.

    Parameters
    ----------
    records : AuditRecords
        What is audited.
    protocol : Protocol
        Metrics, thresholds, minimum support, number and size of the resamples.
    seed : int
        Seed of the run. Each cell draws from a stream of its own, named by its model and attribute, so its
        numbers depend neither on the other cells nor on the order of records and groups.
    ordered : mapping of str to OrderedScores, optional
        From `order_probabilities`, when that is at hand.

    Returns
    -------
    DataFrame
        One row a cell, by model, metric and attribute, with the columns `VERDICT_COLUMNS`:

        - `lowest_group`, `highest_group`: the groups with the least and the largest value (of EOD: in the
          larger of its two gaps); ties go to the smaller group; blank for a whole-sample metric;
        - `reason`: why a cell is inconclusive, and what else a reader has to know, such as a group without a
          record;
        - `vfr`: over resamples of `resample_size` records; `vfr_own_size`: of as many as the audit has;
          `vfr_site`: of whole sites; each with the bounds of its Monte Carlo error (`_low`, `_high`);
        - `undefined_share`, `undefined_share_own_size`, `undefined_share_site`: share of those resamples in
          which the metric is undefined; they count neither as a pass nor as a fail;
        - `ci_low`, `ci_high`: middle 95 % of the resamples, blank where they would coincide. A range is never
          below zero and hardly ever zero, so this is no test of equality;
        - `agrees`: 1 when the dominant verdict of the resamples is the verdict, 0 when not;
        - `n_star`, `kappa`, `tier`, `tier_reasons`: blank until the other axes are judged.

    Raises
    ------
    InputError
        If the records cannot be audited, or a resample is too small to keep every label and group.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846

    Examples
    --------
    >>> sex = Attribute("sex", ("F", "M"), np.repeat([0, 1], 100))
    >>> scores = (Score("m", "decision", 0.5, np.tile([1.0, 0.0], 100)),)
    >>> records = AuditRecords(np.tile(np.array([1, 1, 0, 0], np.int8), 50), (sex,), scores)
    >>> judge(records, protocol=Protocol(metrics=("SPD",)), seed=1)["verdict"].tolist()
    ['pass']
    """
    check_records(records)
    metrics = [find_metric(name) for name in protocol.metrics]
    draws = plan_draws(records, protocol=protocol, seed=seed)
    read = {metric.evidence for metric in metrics}
    known = ordered if ordered is not None or "score sums" not in read else order_probabilities(records)
    ranked = rank_scores(records) if "areas" in read else {}
    found = []
    for attribute in records.attributes:
        settled = settle_groups(attribute, records.outcome)
        evidence = {"counts": gather_counts(records, settled, draws)}
        if "score sums" in read:
            evidence["score sums"] = gather_scores(records, settled, draws, known or {})
        if "areas" in read:
            evidence["areas"] = gather_areas(records, settled, draws, ranked)
        context = _Context(records.scores, attribute, settled, evidence["counts"].whole, draws, protocol)
        found += [_judge_cells(metric, evidence[metric.evidence], context) for metric in metrics]
    return _arrange(found, [score.model for score in records.scores], records.attributes, protocol.metrics)


@dataclass(frozen=True)
class _Context:
    """What the cells of one attribute have in common."""

    scores: tuple[Score, ...]
    declared: Attribute
    settled: Attribute
    counts: NDArray[np.int64]
    draws: Draws
    protocol: Protocol

    @property
    def empty_groups(self) -> list[str]:
        """Groups that were declared but hold no record, by name."""
        return sorted(set(self.declared.groups) - set(self.settled.groups))


def _judge_cells(metric: Metric, evidence: Evidence, context: _Context) -> pd.DataFrame:
    """Judge one metric and attribute under every model."""
    threshold = float(context.protocol.thresholds.get(metric.name, metric.threshold))
    parts = metric.by_group(evidence.whole)
    estimate = metric.combine(parts)
    obstacles = _find_obstacles(metric, parts, context)
    is_open = np.array([bool(found) for found in obstacles])
    passed = np.where(metric.passes(estimate, threshold=threshold), "pass", "fail")
    found = _stability(metric, evidence.resampled, parts, threshold)
    own = _stability(metric, evidence.own_size, parts, threshold)
    by_site = None if evidence.by_site is None else _stability(metric, evidence.by_site, parts, threshold)
    columns: dict[str, Any] = {
        **_fixed_columns(metric, context),
        "estimate": estimate,
        "threshold": threshold,
        "verdict": np.where(is_open, "inconclusive", passed),
        "reason": _write_reasons(metric, obstacles, found, context),
        **_name_extremes(parts, context.settled.groups),
        **_main_columns(found, is_open),
        **_flip_columns("vfr_own_size", own, is_open),
        **_flip_columns("vfr_site", by_site, is_open),
    }
    dominant = columns["dominant_verdict"]
    columns["agrees"] = np.where(dominant == "", np.nan, (dominant == columns["verdict"]).astype(float))
    return pd.DataFrame(columns, columns=VERDICT_COLUMNS)


def _fixed_columns(metric: Metric, context: _Context) -> dict[str, Any]:
    """Give the columns that need no resample, and those that other axes will fill."""
    return {
        "model": [score.model for score in context.scores],
        "metric": metric.name,
        "attribute": context.declared.name,
        "smallest_n": int(context.counts[0].sum(axis=-1).min()),
        "site_count": context.draws.n_sites or np.nan,
        "resample_size": context.draws.size,
        "n_star": np.nan,
        "kappa": np.nan,
        "tier": "",
        "tier_reasons": "",
    }


def _stability(metric: Metric, resampled: Any, parts: NDArray[np.float64], threshold: float) -> Stability:
    """Summarise the resamples of every model; groups with a value in the whole sample must keep one."""
    values = resample_values(metric, resampled, required=~np.isnan(parts)[:, None])
    return summarise_resamples(metric, values, threshold=threshold)


def _main_columns(found: Stability, is_open: NDArray[np.bool_]) -> dict[str, Any]:
    """Columns from the resamples of the protocol's size; blank in inconclusive cells."""
    numbers = {
        "resample_mean": found.mean,
        "resample_sd": found.sd,
        "margin": found.margin,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
    }
    return {
        "dominant_verdict": np.where(is_open, "", found.dominant),
        **{name: np.where(is_open, np.nan, part) for name, part in numbers.items()},
        **_flip_columns("vfr", found, is_open),
    }


def _flip_columns(name: str, found: Stability | None, is_open: NDArray[np.bool_]) -> dict[str, Any]:
    """Give a flip rate, its bounds and the share of undefined resamples; blank where there is none."""
    keys = (name, f"{name}_low", f"{name}_high", name.replace("vfr", "undefined_share"))
    if found is None:
        return dict.fromkeys(keys, np.nan)
    parts = (found.vfr, found.vfr_low, found.vfr_high, found.undefined_share)
    return {key: np.where(is_open, np.nan, part) for key, part in zip(keys, parts, strict=True)}


def _name_extremes(parts: NDArray[np.float64], groups: Sequence[str]) -> dict[str, list[str]]:
    """Name the groups with the least and the largest value, in the part with the larger gap."""
    names: dict[str, list[str]] = {"lowest_group": [], "highest_group": []}
    for table in parts:
        comparable = (
            table.shape[-1] == len(groups) and (np.count_nonzero(~np.isnan(table), axis=-1) >= 2).all()
        )
        if comparable:
            part = table[np.argmax(np.fmax.reduce(table, axis=-1) - np.fmin.reduce(table, axis=-1))]
            names["lowest_group"].append(groups[int(np.nanargmin(part))])
            names["highest_group"].append(groups[int(np.nanargmax(part))])
        else:
            names["lowest_group"].append("")
            names["highest_group"].append("")
    return names


def _find_obstacles(metric: Metric, parts: NDArray[np.float64], context: _Context) -> list[list[str]]:
    """List what is in the way of a verdict, for every model."""
    return [
        find_obstacles(
            metric,
            kind=score.kind,
            groups=context.settled.groups,
            strata=stratum_sizes(table),
            parts=values,
            n_selected=int(table[:, :2].sum()),
            protocol=context.protocol,
        )
        for score, table, values in zip(context.scores, context.counts, parts, strict=True)
    ]


def _write_reasons(
    metric: Metric, obstacles: list[list[str]], found: Stability, context: _Context
) -> list[str]:
    """Join obstacles and notes into one sentence a model."""
    empty = [f"{name}: no records" for name in context.empty_groups]
    reasons = []
    for place, in_the_way in enumerate(obstacles):
        selected, everyone = int(context.counts[place, :, :2].sum()), int(context.counts[place].sum())
        notes = list(in_the_way)
        if metric.evidence == "counts" and selected in (0, everyone):
            which = "no" if not selected else "every"
            note = f"{which} record is selected"
            notes += [] if any(note in said for said in notes) else [note]
        if not in_the_way and found.undefined_share[place] == 1:
            notes.append("undefined in every resample")
        elif not in_the_way and np.isnan(found.ci_low[place]):
            notes.append("the resamples hardly vary, so there is no interval")
        reasons.append("; ".join(notes + empty))
    return reasons


def _arrange(
    found: list[pd.DataFrame], models: list[str], attributes: tuple[Attribute, ...], metrics: tuple[str, ...]
) -> pd.DataFrame:
    """Order cells by model, metric and attribute, each in its declared order."""
    if not found:
        return pd.DataFrame(columns=VERDICT_COLUMNS)
    n_metrics, n_attributes = len(metrics), len(attributes)
    rows = np.arange(len(found) * len(models)).reshape(n_attributes, n_metrics, len(models))
    return pd.concat(found, ignore_index=True).iloc[rows.transpose(2, 1, 0).ravel()].reset_index(drop=True)
