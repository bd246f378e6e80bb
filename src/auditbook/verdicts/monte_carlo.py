"""How much do flip rates differ between runs that differ in nothing but their random numbers?"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import Audited, AuditedGroups, each_model, flip_interval, open_stream
from auditbook.settings import Protocol
from auditbook.verdicts.flips import resample_values
from auditbook.verdicts.metrics import Metric, find_metric

REPEATS = 20
"""Runs at each number of resamples (ours)."""
SURE = 8.0
"""A cell so many standard deviations from its threshold is not drawn again (ours)."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Repeats:
    """How many resamples passed, in several runs and among their first K resamples."""

    rows: NDArray[np.intp]  # shape (n_cells,): Rows of the verdicts that have one, in their order
    # shape (n_cells, n_runs, n_values): Resamples that pass, and those in which the metric is defined,
    # among the first K of a run
    passes: NDArray[np.int64]
    defined: NDArray[np.int64]

    @property
    def runs(self) -> int:
        """Number of runs."""
        return self.passes.shape[1]

    @property
    def pass_share(self) -> Array:
        """Share of the defined resamples that pass; nan when none is defined."""
        known = np.where(self.defined > 0, self.defined, np.nan)
        return self.passes / known

    def flip_rates(self, place: int) -> tuple[Array, Array, Array]:
        """Return flip rate and its Wilson bounds in every run, each of shape (n_runs, n_cells)."""
        passes, defined, share = (
            np.ascontiguousarray(part[:, :, place].T) for part in (self.passes, self.defined, self.pass_share)
        )
        bounds = flip_interval(passes, defined)
        return np.minimum(share, 1 - share), bounds.low, bounds.high

    def spread(self, place: int) -> float:
        """Return the standard deviation of a cell's pass share between runs (root mean square over cells)."""
        share = self.pass_share[:, :, place]
        known = ~np.isnan(share).any(axis=1)
        return float(np.sqrt(share[known].var(axis=1, ddof=1).mean())) if known.any() else np.nan

    def predict_spread(self, place: int) -> float:
        r"""Return what the binomial distribution predicts for `spread`.

        .. math:: \sqrt{\tfrac{1}{C}\sum_c p_c (1 - p_c)/K}

        with the pass share of all resamples of all runs for :math:`p_c`.
        """
        passes, defined = (part[:, :, -1].sum(axis=1) for part in (self.passes, self.defined))
        known = ~np.isnan(self.pass_share[:, :, place]).any(axis=1)
        share = passes[known] / defined[known]
        tried = self.defined[known, :, place].mean(axis=1)
        return float(np.sqrt((share * (1 - share) / tried).mean())) if known.any() else np.nan


def repeat_passes(
    prepared: Audited, verdicts: pd.DataFrame, values: Sequence[int], protocol: Protocol
) -> Repeats:
    """Draw the resamples of one model's cells many times over.

    Each run has a seed of its own, and its first K resamples stand for a run of K. A cell whose resamples all
    agreed in the audit, with their mean more than eight standard deviations from the threshold, is taken to
    agree always.
    """
    rows = np.flatnonzero(verdicts["verdict"] != "inconclusive")
    judged = verdicts.iloc[rows].reset_index(drop=True)
    sure = ((judged["margin"] > SURE) & (judged["vfr"] == 0)).to_numpy()
    agreed = sure & (judged["dominant_verdict"] == "pass").to_numpy()
    defined = np.where(sure[:, None, None], np.asarray(values), np.zeros((1, REPEATS, 1), np.int64))
    passes = np.where(agreed[:, None, None], defined, 0)
    seeds = open_stream(protocol.seed, "repeats").integers(2**32, size=REPEATS)
    for groups in prepared.groups:
        size = min(protocol.resample_size, groups.rows)
        cells = np.flatnonzero((judged["attribute"] == groups.settled.name) & ~sure)
        metrics = [find_metric(name) for name in judged["metric"].iloc[cells]]
        if not metrics:
            continue
        draw = partial(_count_run, groups, metrics, size, values, protocol)
        for turn, found in enumerate(each_model(draw, [int(seed) for seed in seeds])):
            for cell, (passed, known) in zip(cells, found, strict=True):
                passes[cell, turn], defined[cell, turn] = passed, known
    return Repeats(rows, passes, defined)


def _count_run(
    groups: AuditedGroups,
    metrics: Sequence[Metric],
    size: int,
    values: Sequence[int],
    protocol: Protocol,
    seed: int,
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Draw one run of an attribute's cells; count what passes, and is defined, among the first K of each."""
    counts = []
    drawn = _draw_values(groups, metrics, size, max(values), seed)
    for metric, found in zip(metrics, drawn, strict=True):
        passed = metric.passes(found, threshold=protocol.thresholds.get(metric.name))
        known = ~np.isnan(found)
        counts.append((_count_first(passed & known, values), _count_first(known, values)))
    return counts


def _count_first(found: NDArray[np.bool_], values: Sequence[int]) -> NDArray[np.int64]:
    """Count what holds among the first K, for every K."""
    return np.cumsum(found)[np.asarray(values) - 1]


def _draw_values(
    groups: AuditedGroups, metrics: Sequence[Metric], size: int, resamples: int, seed: int
) -> list[Array]:
    """Draw the resamples of one attribute's cells, each of shape (resamples,)."""
    drawn = {
        kind: groups.evidence[kind].drawn(size, resamples=resamples, seed=seed)
        for kind in {metric.evidence for metric in metrics}
    }
    found = []
    for metric in metrics:
        required = ~np.isnan(metric.by_group(groups.evidence[metric.evidence].whole()))[:, None]
        found.append(resample_values(metric, drawn[metric.evidence], required=required)[0])
    return found
