"""What does each pair of cluster and group hold, counted from records?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.area_limits import AreaInfluence, ClusteredAreas, cluster_areas
from auditbook.evidence.clusters import Clusters, pair_clusters
from auditbook.evidence.counts import count_groups, weigh_groups
from auditbook.evidence.kinds import each_model
from auditbook.evidence.model_scores import ModelScores
from auditbook.evidence.score_sums import ScoreSums, sum_scores
from auditbook.evidence.weighted_areas import survey_areas

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RecordPairs:
    """The audited records, with weights where they have any."""

    scores: ModelScores
    cluster: NDArray[np.integer]  # shape (n,): Cluster of each record
    stratum: NDArray[np.intp] | None  # shape (n_clusters,): As in `Clusters`
    weight: Array | None  # shape (n,); None where each stands for itself

    @property
    def models(self) -> Sequence[str]:
        """Names of the models."""
        return self.scores.models

    def count(self, pairs: Clusters) -> NDArray[np.int64] | Array:
        """Count (or weigh) each pair, shape (n_models, n_pairs, 4)."""
        records = self.scores.records
        decisions = np.stack([score.decisions for score in records.scores])
        if self.weight is None:
            return count_groups(records.outcome, decisions, pairs.place, len(pairs.group))
        return weigh_groups(records.outcome, decisions, pairs.place, len(pairs.group), weight=self.weight)

    def add_scores(self, pairs: Clusters) -> Mapping[str, ScoreSums]:
        """Add up the scores of each pair, by model."""
        ordered, count = self.scores.ordered, len(pairs.group)
        found = each_model(
            lambda one: sum_scores(one, pairs.place, count, weight=self.weight), list(ordered.values())
        )
        return dict(zip(ordered, found, strict=True))

    def count_together(self, pairs: Clusters) -> tuple[Clusters, NDArray[np.int64] | Array]:
        """Count each cluster, all groups as one."""
        whole = pair_clusters(self.cluster, np.zeros(len(self.cluster), np.intp), 1, self.stratum)
        return whole, self.count(whole)

    def hold(self, pairs: Clusters, label: int) -> Array:
        """Count (or weigh) the records of each pair that have an outcome."""
        mine = self.scores.records.outcome == label
        heavy = mine if self.weight is None else self.weight * mine
        return np.bincount(pairs.place, heavy, len(pairs.group)).astype(float)

    def spread_areas(self, pairs: Clusters, found: Mapping[str, AreaInfluence]) -> dict[str, ClusteredAreas]:
        """Measure how areas vary, by model."""
        weight = self.weight
        if weight is not None:
            areas = each_model(lambda one: survey_areas(one, pairs, weight), list(found.values()))
        else:
            cluster = pairs.cluster[pairs.place]
            areas = each_model(lambda one: cluster_areas(one, cluster), list(found.values()))
        return dict(zip(found, areas, strict=True))
