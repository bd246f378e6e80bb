"""How well does the score order the records of each group, here and in other audits?"""

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.area_sums import AreaCells, AreaSums, HeldCells, cut_steps, find_areas
from auditbook.evidence.areas import group_auc
from auditbook.evidence.counts import Counts
from auditbook.evidence.kinds import Subsamples, each_model
from auditbook.evidence.model_scores import ModelScores
from auditbook.evidence.resample import draw_alike, draw_areas, open_stream
from auditbook.evidence.subsample import subsample_areas
from auditbook.records import Attribute

Array = NDArray[np.float64]


class AreaSource(typing.Protocol):
    """Where the areas of one attribute come from, by models that give more than decisions."""

    @property
    def cells(self) -> Mapping[str, HeldCells]:
        """What resamples draw from, by model."""

    def alike(self, model: str) -> HeldCells:
        """Take all groups for one."""

    def areas_at_sites(self, model: str, site: NDArray[np.integer], n_sites: int) -> Array:
        """Find the areas at each site, shape (n_sites, n_groups)."""

    def cells_at_sites(self, model: str, site: NDArray[np.integer], n_sites: int) -> tuple[HeldCells, Counts]:
        """Count each site by group, label and stretch, and give what holds of all sites."""


@dataclass(frozen=True)
class RecordAreas:
    """The areas of records."""

    scores: ModelScores
    attribute: Attribute  # From `settle_groups`

    @cached_property
    def cells(self) -> dict[str, AreaCells]:
        """The records by group, label and stretch of score, by model."""
        codes, n_groups = self.attribute.codes, len(self.attribute.groups)
        ranked = self.scores.ranked
        cells = each_model(lambda levels: cut_steps(levels, codes, n_groups), list(ranked.values()))
        return dict(zip(ranked, cells, strict=True))

    def alike(self, model: str) -> AreaCells:
        """Cut the scores of all records as of one group."""
        return cut_steps(self.scores.ranked[model], np.zeros_like(self.attribute.codes), 1)

    def areas_at_sites(self, model: str, site: NDArray[np.integer], n_sites: int) -> Array:
        """Find the areas among the records of each site."""
        n_groups = len(self.attribute.groups)
        together = site * n_groups + self.attribute.codes
        score = next(one for one in self.scores.records.scores if one.model == model)
        areas = group_auc(self.scores.records.outcome, score.values, together, n_sites * n_groups)
        return areas.reshape(n_sites, n_groups)

    def cells_at_sites(self, model: str, site: NDArray[np.integer], n_sites: int) -> tuple[AreaCells, Counts]:
        """Count the records of each site."""
        return self.cells[model], self.cells[model].at_sites(site, n_sites)


@dataclass(frozen=True)
class GroupAreas:
    """Areas under the ROC curve of shape (..., n_groups); nan for a model that only decides."""

    source: AreaSource
    models: Sequence[str]
    given: tuple[str, ...]  # Those of them that order records
    name: str  # Of the attribute
    n_groups: int

    def whole(self) -> Array:
        """Find the areas of the audited records."""
        return self._find(lambda model: find_areas(self.source.cells[model].total()))

    def drawn(self, size: int, *, resamples: int, seed: int) -> Array:
        """Draw the areas of resamples."""

        def draw(model: str) -> Array:
            stream = open_stream(seed, "areas", model, self.name, str(size))
            return find_areas(
                draw_areas(self.source.cells[model], size=size, resamples=resamples, rng=stream)
            )

        return self._find(draw, resamples)

    def equal_groups(self, strata: Array, *, resamples: int, seed: int) -> Array:
        """Draw areas as if all groups were one, shape (n_models, resamples, n_groups).

        `strata`, shape (n_models, n_groups, 2): how many events and non-events each group draws.
        """
        sizes = dict(zip(self.models, strata, strict=True))

        def draw(model: str) -> Array:
            stream = open_stream(seed, "equal areas", model, self.name)
            cells = self.source.alike(model)
            return find_areas(draw_alike(cells, sizes[model], resamples=resamples, rng=stream))

        return self._find(draw, resamples)

    def subsampled(self, sizes: Sequence[int], *, repeats: int, seed: int) -> Subsamples:
        """Draw the areas of subsamples."""

        def draw(model: str, size: int) -> AreaSums:
            stream = open_stream(seed, "size areas", model, self.name, str(size))
            return subsample_areas(self.source.cells[model], size=size, repeats=repeats, rng=stream)

        shape = (len(sizes), repeats, self.n_groups)
        blank = np.full(shape, np.nan), np.zeros((*shape, 2))

        def measure(model: str) -> tuple[Array, Array]:
            if model not in self.given:
                return blank
            sums = [draw(model, size) for size in sizes]
            return np.stack([find_areas(one) for one in sums]), np.stack([one.strata() for one in sums])

        drawn, strata = zip(*each_model(measure, self.models), strict=True)
        return Subsamples(np.stack(drawn), np.stack(strata))

    def by_site(
        self, site: NDArray[np.integer], n_sites: int, times: NDArray[np.int64] | None = None
    ) -> Array:
        """Find the areas at each site, or in resamples of whole sites."""
        if times is None:
            return self._find(lambda model: self.source.areas_at_sites(model, site, n_sites), n_sites)
        weights = times.astype(float)

        def draw(model: str) -> Array:
            cells, at_site = self.source.cells_at_sites(model, site, n_sites)
            return find_areas(cells.sums(np.tensordot(weights, at_site.astype(float), axes=1)))

        return self._find(draw, len(times))

    def _find(self, work: Callable[[str], Array], *shape: int) -> Array:
        """Stack what is found for every model; nan of some shape where scores only decide."""
        blank = np.full((*shape, self.n_groups), np.nan)
        return np.stack(each_model(lambda one: work(one) if one in self.given else blank, self.models))
