"""What does each pair of site (or bundle of units) and group hold, read from a tally?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.area_limits import AreaInfluence, ClusteredAreas, cluster_areas
from auditbook.evidence.clusters import Clusters
from auditbook.evidence.counts import FN, FP, TN, TP, rate
from auditbook.evidence.group_clusters import PairedGroups
from auditbook.evidence.kinds import each_model
from auditbook.evidence.score_sums import ScoreSums
from auditbook.evidence.tally import BinnedScores, TalliedParts

Array = NDArray[np.float64]

NONE = np.zeros(0, np.intp)


@dataclass(frozen=True)
class TalliedPairs:
    """The parts of a tally."""

    parts: TalliedParts
    models: Sequence[str]
    probable: tuple[str, ...]  # Those of them that give probabilities
    fine: Mapping[str, BinnedScores]  # By model that orders records

    def count(self, pairs: Clusters) -> NDArray[np.int64]:
        """Read the counts of each pair, shape (n_models, n_pairs, 4)."""
        return self.parts.counts[:, pairs.cluster, pairs.group]

    def add_scores(self, pairs: Clusters) -> Mapping[str, ScoreSums]:
        """Read the score sums of each pair, by model."""
        sums = self.parts.sums()
        return {
            model: ScoreSums(*(part[place, pairs.cluster, pairs.group] for part in sums.parts()))
            for place, model in enumerate(self.models)
            if model in self.probable
        }

    def count_together(self, pairs: Clusters) -> tuple[Clusters, NDArray[np.int64]]:
        """Read the counts of each part, all groups as one."""
        counts = self.parts.counts.sum(axis=2)
        held = np.flatnonzero(counts[0].sum(axis=-1))
        return Clusters(NONE, held, np.zeros(len(held), np.intp), 1), counts[:, held]

    def hold(self, pairs: Clusters, label: int) -> Array:
        """Read the records of each pair that have an outcome."""
        cells = [TP, FN] if label else [FP, TN]
        return self.count(pairs)[0][:, cells].sum(axis=-1).astype(float)

    def spread_areas(self, pairs: Clusters, found: Mapping[str, AreaInfluence]) -> dict[str, ClusteredAreas]:
        """Measure how areas vary: the records of a run move them by its mean."""
        places = {model: place for place, model in enumerate(self.models)}

        def measure(model: str) -> ClusteredAreas:
            rows, cluster = spread_runs(found[model], self.fine[model], self.parts.steps[places[model]])
            return cluster_areas(rows, cluster)

        return dict(zip(found, each_model(measure, list(found)), strict=True))


def spread_runs(
    found: AreaInfluence, fine: BinnedScores, steps: NDArray[np.int64]
) -> tuple[AreaInfluence, NDArray[np.intp]]:
    """Take each part's run of fine bins for a row, with the mean influence of the run's records."""
    count, n_runs = fine.count, steps.shape[-1]
    member = (fine.runs[:, None] == np.arange(n_runs)).astype(float)
    held = count @ member
    influence = found.influence.reshape(count.shape)
    mean, square = (
        np.nan_to_num(rate(1.0, held) * ((count * part) @ member)) for part in (influence, influence**2)
    )
    part, group, label, run = np.nonzero(steps)
    times = steps[part, group, label, run].astype(float)
    where = (group, label, run)
    rows = AreaInfluence(
        found.areas,
        mean[where],
        label.astype(np.int8),
        group,
        found.events,
        found.others,
        times,
        times * square[where],
    )
    return rows, part


def pair_parts(source: TalliedPairs) -> PairedGroups:
    """Find the pairs of part and group that hold records."""
    held = source.parts.counts[0].sum(axis=-1)
    cluster, group = np.nonzero(held)
    return PairedGroups(Clusters(NONE, cluster, group, held.shape[1]), source)
