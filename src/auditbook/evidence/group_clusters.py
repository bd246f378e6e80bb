"""How do rates, benefits and areas of groups vary between clusters, such as patients or sites?"""

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from auditbook.evidence.area_limits import AreaInfluence, ClusteredAreas
from auditbook.evidence.clusters import Clusters, ClusterSpread, interleave_spreads, measure_spread
from auditbook.evidence.counts import rate
from auditbook.evidence.score_sums import N_BINS, ScoreSums, blank_sums

Array = NDArray[np.float64]
Cells = tuple[int, ...]

BENEFITS = np.array([1.0, 2.0, 0.0, 1.0])
"""Benefit b = d - y + 1 of tp, fp, fn, tn."""


class GroupClusters(typing.Protocol):
    """The groups of one attribute, cluster by cluster; a list holds one spread a model."""

    def spread_rates(self, top: Cells, bottom: Cells, share: Array) -> list[ClusterSpread]:
        """Measure how rates vary: sums of some counts over sums of others; shares (n_models, n_groups)."""

    def spread_theil(self) -> list[ClusterSpread]:
        """Measure how the Theil index of each group varies; without probabilities all is 0."""

    def spread_benefit(self) -> list[ClusterSpread]:
        """Measure how the Theil index of b = d - y + 1 over all records varies."""

    def spread_bins(self, off: Array) -> list[ClusterSpread]:
        """Measure how event rate less mean score varies in each group and bin (or in each group).

        `off`, shape (n_models, n_groups, n_bins): the differences; one bin stands for the whole group.
        """

    def spread_areas(self, found: Mapping[str, AreaInfluence]) -> dict[str, ClusteredAreas]:
        """Measure how areas vary, by model."""

    def holds_both(self) -> NDArray[np.bool_]:
        """Tell which groups have both outcomes in clusters enough to speak of others, shape (n_groups,)."""


class PairSource(typing.Protocol):
    """Where the sums of each pair of cluster and group come from: records, or a tally."""

    @property
    def models(self) -> Sequence[str]:
        """Names of the models."""

    def count(self, pairs: Clusters) -> NDArray[np.int64] | Array:
        """Count (or weigh) each pair, shape (n_models, n_pairs, 4)."""

    def add_scores(self, pairs: Clusters) -> Mapping[str, ScoreSums]:
        """Add up the scores of each pair, by model that gives probabilities."""

    def count_together(self, pairs: Clusters) -> tuple[Clusters, NDArray[np.int64] | Array]:
        """Count each cluster, all groups as one."""

    def hold(self, pairs: Clusters, label: int) -> Array:
        """Count (or weigh) the records of each pair that have an outcome, shape (n_pairs,)."""

    def spread_areas(self, pairs: Clusters, found: Mapping[str, AreaInfluence]) -> dict[str, ClusteredAreas]:
        """Measure how areas vary, by model."""


@dataclass(frozen=True)
class PairedGroups:
    """Groups by cluster, where each pair of the two is at hand."""

    pairs: Clusters
    source: PairSource

    @cached_property
    def counts(self) -> NDArray[np.int64] | Array:
        """Counts of each pair, shape (n_models, n_pairs, 4)."""
        return self.source.count(self.pairs)

    @cached_property
    def sums(self) -> Mapping[str, ScoreSums]:
        """Score sums of each pair, by model."""
        return self.source.add_scores(self.pairs)

    def spread_rates(self, top: Cells, bottom: Cells, share: Array) -> list[ClusterSpread]:
        """Measure how rates vary."""
        hits, trials = (self.counts[..., list(part)].sum(axis=-1).astype(float) for part in (top, bottom))
        pairs = self.pairs
        return [
            measure_spread(pairs, k - p[pairs.group] * n, n)
            for k, n, p in zip(hits, trials, np.nan_to_num(share), strict=True)
        ]

    def spread_theil(self) -> list[ClusterSpread]:
        """Measure how the Theil index of each group varies."""
        blank = np.zeros(len(self.pairs.group))
        none = measure_spread(self.pairs, blank, blank)
        return [
            _spread_benefit(self.pairs, part.benefit, part.benefit_log, part.records.sum(axis=-1))
            if part is not None
            else none
            for part in map(self.sums.get, self.source.models)
        ]

    def spread_benefit(self) -> list[ClusterSpread]:
        """Measure how the Theil index of all records varies."""
        pairs, tables = self.source.count_together(self.pairs)
        logs = xlogy(BENEFITS, BENEFITS)
        return [
            _spread_benefit(pairs, table @ BENEFITS, table @ logs, table.sum(axis=-1).astype(float))
            for table in tables
        ]

    def spread_bins(self, off: Array) -> list[ClusterSpread]:
        """Measure how event rate less mean score varies."""
        blank = blank_sums(len(self.pairs.group))
        found = []
        for model, differs in zip(self.source.models, off, strict=True):
            parts = join_bins(self.sums.get(model, blank), in_bins=differs.shape[-1] == N_BINS)
            found.append(_spread_bins(self.pairs, parts, differs))
        return found

    def spread_areas(self, found: Mapping[str, AreaInfluence]) -> dict[str, ClusteredAreas]:
        """Measure how areas vary."""
        return self.source.spread_areas(self.pairs, found)

    def holds_both(self) -> NDArray[np.bool_]:
        """Tell which groups have both outcomes in clusters enough."""
        speaks = np.ones(self.pairs.n_groups, bool)
        for label in (0, 1):
            held = self.source.hold(self.pairs, label)
            speaks &= measure_spread(self.pairs, np.zeros(len(held)), held).speaks_of_others
        return speaks


def _spread_benefit(pairs: Clusters, benefit: Array, logs: Array, n: Array) -> ClusterSpread:
    r"""Measure the spread between clusters of the Theil index of each group, by its influence function.

    .. math:: \psi_i = \frac{b_i \ln b_i - S}{m} - \Bigl(\frac{S}{m} + 1\Bigr)\frac{b_i - m}{m},
              \qquad S = \overline{b \ln b},\ m = \bar b
    """
    whole = pairs.total(n)
    m, s = (rate(pairs.total(part), whole)[pairs.group] for part in (benefit, logs))
    m = np.where(m > 0, m, np.nan)
    return measure_spread(pairs, np.nan_to_num((logs - s * n) / m - (s / m + 1) * (benefit - m * n) / m), n)


def join_bins(sums: ScoreSums, in_bins: bool) -> list[Array]:
    """Give records, events and sum of scores by bin, or over all bins as one."""
    return [part if in_bins else part.sum(axis=-1, keepdims=True) for part in sums.parts()[:3]]


def _spread_bins(pairs: Clusters, parts: list[Array], off: Array) -> ClusterSpread:
    """Measure how far event rate less mean score varies between clusters, group by group and bin by bin."""
    n, events, score = parts
    spreads = [
        measure_spread(
            pairs, events[:, k] - score[:, k] - off[pairs.group, k] * n[:, k], n[:, k], joint=False
        )
        for k in range(n.shape[1])
    ]
    return interleave_spreads(spreads)
