"""What do the groups of one attribute show when each record stands for many people?

The three kinds of evidence answer with weighted sums; other samples are made of whole clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.area_sums import AreaCells, AreaSums, cut_steps, find_areas
from auditbook.evidence.counts import FN, FP, TN, TP, weigh_groups
from auditbook.evidence.kinds import Subsamples, each_model
from auditbook.evidence.model_scores import ModelScores
from auditbook.evidence.resample import open_stream
from auditbook.evidence.score_sums import ScoreSums, blank_sums, stack_sums, sum_scores, sum_site_scores
from auditbook.evidence.survey import Design, Replicates, count_effective, draw_replicates
from auditbook.evidence.weighted_areas import weigh_areas
from auditbook.records import Attribute

Array = NDArray[np.float64]


def _replicate(design: Design, resamples: int, seed: int) -> Replicates:
    return draw_replicates(design, resamples=resamples, rng=open_stream(seed, "survey"))


@dataclass(frozen=True)
class WeightedCounts:
    """Sums of weights of shape (..., n_groups, 4), in the order tp, fp, fn, tn."""

    scores: ModelScores
    attribute: Attribute  # From `settle_groups`
    design: Design

    @cached_property
    def _decisions(self) -> NDArray[np.bool_]:
        return np.stack([score.decisions for score in self.scores.records.scores])

    def _sum(self, codes: NDArray[np.integer], n_codes: int, weight: Array) -> Array:
        return weigh_groups(self.scores.records.outcome, self._decisions, codes, n_codes, weight=weight)

    @cached_property
    def _whole(self) -> Array:
        return self._sum(self.attribute.codes, len(self.attribute.groups), self.design.weight)

    @cached_property
    def squares(self) -> Array:
        """Sums of squared weights likewise."""
        return self._sum(self.attribute.codes, len(self.attribute.groups), self.design.weight**2)

    @cached_property
    def worth(self) -> Array:
        """Equal records that events, non-events and records of each group are worth, shape (n_groups, 3)."""
        return _count_strata(self._whole[0], self.squares[0])

    def worth_by_site(self, site: NDArray[np.integer], n_sites: int) -> Array:
        """Count the same at each site, shape (n_sites, n_groups, 3)."""
        sums = (self._split(site, n_sites, self.design.weight**power)[0] for power in (1, 2))
        return _count_strata(*sums)

    def whole(self) -> Array:
        """Weigh the audited records."""
        return self._whole

    def drawn(self, size: int, *, resamples: int, seed: int) -> Array:
        """Draw other samples of as many clusters, whatever the size."""
        made = _replicate(self.design, resamples, seed)
        return self._draw(made.bundle, made.n_bundles, made.factors)

    def subsampled(self, sizes: Sequence[int], *, repeats: int, seed: int) -> Subsamples:
        """Say nothing of smaller audits: some of a weighted sample is no smaller one of its kind."""
        shape = (len(self.scores.models), len(sizes), repeats, len(self.attribute.groups))
        return Subsamples(np.full((*shape, 4), np.nan), np.zeros((*shape, 2)))

    def by_site(
        self, site: NDArray[np.integer], n_sites: int, times: NDArray[np.int64] | None = None
    ) -> Array:
        """Weigh each site, or resamples of whole sites."""
        return self._draw(site, n_sites, None if times is None else times.astype(float))

    def _draw(self, site: NDArray[np.integer], n_sites: int, factors: Array | None) -> Array:
        at_site = self._split(site, n_sites, self.design.weight)
        return at_site if factors is None else np.moveaxis(np.tensordot(factors, at_site, axes=(1, 1)), 0, 1)

    def _split(self, site: NDArray[np.integer], n_sites: int, weight: Array) -> Array:
        """Add up weights at each site, shape (n_models, n_sites, n_groups, 4)."""
        n_groups = len(self.attribute.groups)
        together = site.astype(np.intp) * n_groups + self.attribute.codes
        sums = self._sum(together, n_sites * n_groups, weight)
        return sums.reshape(len(sums), n_sites, n_groups, 4)


def _count_strata(sums: Array, squares: Array) -> Array:
    """Count the equal records that events, non-events and all records are worth, shape (..., 3)."""
    cells = ((TP, FN), (FP, TN), (TP, FP, FN, TN))
    parts = [[part[..., list(each)].sum(axis=-1) for each in cells] for part in (sums, squares)]
    return np.stack([count_effective(*pair) for pair in zip(*parts, strict=True)], axis=-1)


@dataclass(frozen=True)
class WeightedScores:
    """Weighted score sums; those of a model that gives no probabilities are zero."""

    scores: ModelScores
    attribute: Attribute  # From `settle_groups`
    design: Design

    @cached_property
    def _whole(self) -> ScoreSums:
        return self._add(self.design.weight)

    @cached_property
    def squares(self) -> Array:
        """Sums of squared weights by bin, shape (n_models, n_groups, 10)."""
        return self._add(self.design.weight**2).records

    def _add(self, weight: Array) -> ScoreSums:
        codes, n_groups = self.attribute.codes, len(self.attribute.groups)
        ordered, blank = self.scores.ordered, blank_sums(n_groups)

        def add(model: str) -> ScoreSums:
            return sum_scores(ordered[model], codes, n_groups, weight=weight) if model in ordered else blank

        return stack_sums(each_model(add, self.scores.models))

    def whole(self) -> ScoreSums:
        """Add up the audited records."""
        return self._whole

    def drawn(self, size: int, *, resamples: int, seed: int) -> ScoreSums:
        """Draw other samples of as many clusters, whatever the size."""
        made = _replicate(self.design, resamples, seed)
        return self._draw(made.bundle, made.n_bundles, made.factors)

    def subsampled(self, sizes: Sequence[int], *, repeats: int, seed: int) -> Subsamples:
        """Say nothing of smaller audits."""
        shape = (len(self.scores.models), len(sizes), repeats, len(self.attribute.groups))
        blank = blank_sums(*shape)
        return Subsamples(
            ScoreSums(*(np.full_like(part, np.nan) for part in blank.parts())), np.zeros((*shape, 2))
        )

    def by_site(
        self, site: NDArray[np.integer], n_sites: int, times: NDArray[np.int64] | None = None
    ) -> ScoreSums:
        """Add up each site, or resamples of whole sites."""
        return self._draw(site, n_sites, None if times is None else times.astype(float))

    def _draw(self, site: NDArray[np.integer], n_sites: int, factors: Array | None) -> ScoreSums:
        codes, n_groups, ordered = self.attribute.codes, len(self.attribute.groups), self.scores.ordered
        blank = blank_sums(n_sites if factors is None else len(factors), n_groups)

        def add(model: str) -> ScoreSums:
            if model not in ordered:
                return blank
            at_site = sum_site_scores(
                ordered[model], codes, n_groups, site=site, n_sites=n_sites, weight=self.design.weight
            )
            return at_site if factors is None else at_site.weigh(factors)

        return stack_sums(each_model(add, self.scores.models))


@dataclass(frozen=True)
class WeightedAreas:
    """Weighted areas under the ROC curve of shape (..., n_groups); nan for a model that only decides."""

    scores: ModelScores
    attribute: Attribute  # From `settle_groups`
    design: Design

    @cached_property
    def _whole(self) -> Array:
        return self._measure(self.attribute.codes, len(self.attribute.groups))

    def _measure(self, codes: NDArray[np.integer], n_codes: int) -> Array:
        ranked, blank = self.scores.ranked, np.full(n_codes, np.nan)

        def measure(model: str) -> Array:
            if model not in ranked:
                return blank
            return weigh_areas(ranked[model], codes, n_codes, self.design.weight).areas

        return np.stack(each_model(measure, self.scores.models))

    def whole(self) -> Array:
        """Find the areas of the audited records."""
        return self._whole

    def drawn(self, size: int, *, resamples: int, seed: int) -> Array:
        """Draw other samples of as many clusters, whatever the size."""
        made = _replicate(self.design, resamples, seed)
        return self._draw(made.bundle, made.n_bundles, made.factors)

    def subsampled(self, sizes: Sequence[int], *, repeats: int, seed: int) -> Subsamples:
        """Say nothing of smaller audits."""
        shape = (len(self.scores.models), len(sizes), repeats, len(self.attribute.groups))
        return Subsamples(np.full(shape, np.nan), np.zeros((*shape, 2)))

    def by_site(
        self, site: NDArray[np.integer], n_sites: int, times: NDArray[np.int64] | None = None
    ) -> Array:
        """Find the areas at each site, or in resamples of whole sites."""
        if times is not None:
            return self._draw(site, n_sites, times.astype(float))
        n_groups = len(self.attribute.groups)
        areas = self._measure(site.astype(np.intp) * n_groups + self.attribute.codes, n_sites * n_groups)
        return areas.reshape(len(areas), n_sites, n_groups)

    def _draw(self, site: NDArray[np.integer], n_sites: int, factors: Array) -> Array:
        """Find the areas of resamples; within a stretch of scores they are kept, as in `draw_areas`."""
        codes, n_groups, ranked = self.attribute.codes, len(self.attribute.groups), self.scores.ranked
        blank = np.full((len(factors), n_groups), np.nan)

        def draw(model: str) -> Array:
            if model not in ranked:
                return blank
            cells = cut_steps(ranked[model], codes, n_groups)
            return find_areas(_weigh_steps(cells, self.design.weight, site, n_sites, factors))

        return np.stack(each_model(draw, self.scores.models))


def _weigh_steps(
    cells: AreaCells, weight: Array, site: NDArray[np.integer], n_sites: int, factors: Array
) -> AreaSums:
    """Weigh events and non-events of resamples by stretch of score."""
    n_groups, _, n_steps = cells.held.shape
    levels, shape = cells.levels, (n_sites, *cells.held.shape)
    where = np.asarray(site)[levels.order].astype(np.intp)
    cell = ((where * n_groups + cells.group) * 2 + levels.outcome) * n_steps + cells.step
    held = np.bincount(cell, weight[levels.order], int(np.prod(shape))).reshape(shape)
    stretch = np.empty(len(where), np.intp)
    stretch[levels.order] = cells.group * n_steps + cells.step
    inside = weigh_areas(levels, stretch, n_groups * n_steps, weight).areas.reshape(n_groups, n_steps)
    drawn = np.tensordot(factors, held, axes=(1, 0))
    return AreaSums(drawn[..., 1, :], drawn[..., 0, :], np.where(np.isnan(inside), 0.5, inside))


@dataclass(frozen=True)
class WeightedGroups:
    """The weighted evidence of one attribute."""

    design: Design
    counts: WeightedCounts
    scores: WeightedScores
    areas: WeightedAreas


def weigh_attribute(scores: ModelScores, attribute: Attribute, design: Design) -> WeightedGroups:
    """Weigh the groups of one attribute, from `settle_groups`."""
    parts = scores, attribute, design
    return WeightedGroups(design, WeightedCounts(*parts), WeightedScores(*parts), WeightedAreas(*parts))
