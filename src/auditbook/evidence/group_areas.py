"""How well does the score order the records of each group, here and in other audits?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.area_sums import AreaCells, AreaSums, cut_steps, find_areas
from auditbook.evidence.areas import group_auc
from auditbook.evidence.kinds import Subsamples, each_model
from auditbook.evidence.model_scores import ModelScores
from auditbook.evidence.resample import draw_alike, draw_areas, open_stream
from auditbook.evidence.subsample import subsample_areas
from auditbook.records import Attribute, Score

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GroupAreas:
    """Areas under the ROC curve of shape (..., n_groups); nan for a model that only decides."""

    scores: ModelScores
    attribute: Attribute  # From `settle_groups`

    @cached_property
    def _cells(self) -> dict[str, AreaCells]:
        codes, n_groups = self.attribute.codes, len(self.attribute.groups)
        ranked = self.scores.ranked
        cells = each_model(lambda levels: cut_steps(levels, codes, n_groups), list(ranked.values()))
        return dict(zip(ranked, cells, strict=True))

    def whole(self) -> Array:
        """Find the areas of the audited records."""
        return self._find(lambda _, cells: find_areas(cells.total()))

    def drawn(self, size: int, *, resamples: int, seed: int) -> Array:
        """Draw the areas of resamples."""

        def draw(model: str, cells: AreaCells) -> Array:
            stream = open_stream(seed, "areas", model, self.attribute.name, str(size))
            return find_areas(draw_areas(cells, size=size, resamples=resamples, rng=stream))

        return self._find(draw, resamples)

    def equal_groups(self, strata: Array, *, resamples: int, seed: int) -> Array:
        """Draw areas as if all groups were one, shape (n_models, resamples, n_groups).

        `strata`, shape (n_models, n_groups, 2): how many events and non-events each group draws.
        """
        alike = np.zeros_like(self.attribute.codes)
        sizes = dict(zip(self.scores.models, strata, strict=True))

        def draw(model: str, _: AreaCells) -> Array:
            stream = open_stream(seed, "equal areas", model, self.attribute.name)
            cells = cut_steps(self.scores.ranked[model], alike, 1)
            return find_areas(draw_alike(cells, sizes[model], resamples=resamples, rng=stream))

        return self._find(draw, resamples)

    def subsampled(self, sizes: Sequence[int], *, repeats: int, seed: int) -> Subsamples:
        """Draw the areas of subsamples."""

        def draw(model: str, size: int) -> AreaSums:
            stream = open_stream(seed, "size areas", model, self.attribute.name, str(size))
            return subsample_areas(self._cells[model], size=size, repeats=repeats, rng=stream)

        shape = (len(sizes), repeats, len(self.attribute.groups))
        blank = np.full(shape, np.nan), np.zeros((*shape, 2))

        def measure(model: str) -> tuple[Array, Array]:
            if model not in self._cells:
                return blank
            sums = [draw(model, size) for size in sizes]
            return np.stack([find_areas(one) for one in sums]), np.stack([one.strata() for one in sums])

        drawn, strata = zip(*each_model(measure, self.scores.models), strict=True)
        return Subsamples(np.stack(drawn), np.stack(strata))

    def by_site(
        self, site: NDArray[np.integer], n_sites: int, times: NDArray[np.int64] | None = None
    ) -> Array:
        """Find the areas at each site, or in resamples of whole sites."""
        n_groups = len(self.attribute.groups)
        if times is None:
            together = site * n_groups + self.attribute.codes

            def measure(score: Score) -> Array:
                if score.model not in self.scores.ranked:
                    return np.full((n_sites, n_groups), np.nan)
                areas = group_auc(self.scores.records.outcome, score.values, together, n_sites * n_groups)
                return areas.reshape(n_sites, n_groups)

            return np.stack(each_model(measure, self.scores.records.scores))
        weights = times.astype(float)

        def draw(_: str, cells: AreaCells) -> Array:
            at_site = cells.at_sites(site, n_sites).astype(float)
            return find_areas(cells.sums(np.tensordot(weights, at_site, axes=1)))

        return self._find(draw, len(times))

    def _find(self, work: Callable[[str, AreaCells], Array], *shape: int) -> Array:
        """Stack what is found for every model; nan of some shape where scores only decide."""
        blank = np.full((*shape, len(self.attribute.groups)), np.nan)

        def find(model: str) -> Array:
            cells = self._cells.get(model)
            return blank if cells is None else work(model, cells)

        return np.stack(each_model(find, self.scores.models))
