"""What do the scores of each group add up to, here and in other audits?"""

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.benefit_moments import BenefitMoments, add_benefits
from auditbook.evidence.kinds import Subsamples, each_model
from auditbook.evidence.model_scores import ModelScores
from auditbook.evidence.resample import draw_scores, open_stream
from auditbook.evidence.score_cells import ScoreCells, sort_cells
from auditbook.evidence.score_sums import ScoreSums, blank_sums, stack_sums, sum_scores, sum_site_scores
from auditbook.evidence.subsample import subsample_scores
from auditbook.records import Attribute


class ScoreSource(typing.Protocol):
    """Where the score sums of one attribute come from: records, or a tally."""

    @property
    def cells(self) -> Mapping[str, ScoreCells]:
        """What resamples draw from, by model that gives probabilities."""

    def whole(self, model: str) -> ScoreSums:
        """Add up everything of such a model."""

    def at_sites(self, model: str, site: NDArray[np.integer], n_sites: int) -> ScoreSums:
        """Add up each site, leading shape (n_sites,)."""


@dataclass(frozen=True)
class RecordScores:
    """The score sums of records."""

    scores: ModelScores
    attribute: Attribute  # From `settle_groups`

    @cached_property
    def cells(self) -> dict[str, ScoreCells]:
        """The records by group, label and score bin, by model."""
        codes, n_groups = self.attribute.codes, len(self.attribute.groups)
        ordered = self.scores.ordered
        cells = each_model(lambda one: sort_cells(one, codes, n_groups), list(ordered.values()))
        return dict(zip(ordered, cells, strict=True))

    def whole(self, model: str) -> ScoreSums:
        """Add up the audited records."""
        return sum_scores(self.scores.ordered[model], self.attribute.codes, len(self.attribute.groups))

    def at_sites(self, model: str, site: NDArray[np.integer], n_sites: int) -> ScoreSums:
        """Add up the records of each site."""
        codes, n_groups = self.attribute.codes, len(self.attribute.groups)
        return sum_site_scores(self.scores.ordered[model], codes, n_groups, site=site, n_sites=n_sites)


@dataclass(frozen=True)
class GroupScores:
    """Score sums; those of a model that gives no probabilities are zero."""

    source: ScoreSource
    models: Sequence[str]
    given: tuple[str, ...]  # Those of them that give probabilities
    name: str  # Of the attribute
    n_groups: int

    @property
    def cells(self) -> Mapping[str, ScoreCells]:
        """What resamples draw from: records by group, label and score bin, by model."""
        return self.source.cells

    def whole(self) -> ScoreSums:
        """Add up the audited records."""
        return self._add(self.source.whole)

    def benefit_moments(self) -> BenefitMoments:
        """Add up benefits and their squares, shape (n_models, n_groups); zeros without probabilities."""
        blank = np.zeros((self.n_groups, 6))
        cells = self.cells
        found = [add_benefits(cells[model]) if model in cells else blank for model in self.models]
        return BenefitMoments(np.stack(found))

    def drawn(self, size: int, *, resamples: int, seed: int) -> ScoreSums:
        """Draw the sums of resamples."""

        def draw(model: str) -> ScoreSums:
            stream = open_stream(seed, "scores", model, self.name, str(size))
            return draw_scores(self.cells[model], size=size, resamples=resamples, rng=stream)

        return self._add(draw, resamples)

    def subsampled(self, sizes: Sequence[int], *, repeats: int, seed: int) -> Subsamples:
        """Draw the sums of subsamples."""

        def draw(model: str, size: int) -> ScoreSums:
            stream = open_stream(seed, "size scores", model, self.name, str(size))
            return subsample_scores(self.cells[model], size=size, repeats=repeats, rng=stream)

        drawn = self._add(
            lambda model: stack_sums([draw(model, size) for size in sizes]), len(sizes), repeats
        )
        records, events = drawn.records.sum(axis=-1), drawn.events.sum(axis=-1)
        return Subsamples(drawn, np.stack([events, records - events], axis=-1))

    def by_site(
        self, site: NDArray[np.integer], n_sites: int, times: NDArray[np.int64] | None = None
    ) -> ScoreSums:
        """Add up each site, or resamples of whole sites."""

        def add(model: str) -> ScoreSums:
            at_site = self.source.at_sites(model, site, n_sites)
            return at_site if times is None else at_site.weigh(times)

        return self._add(add, n_sites if times is None else len(times))

    def _add(self, work: Callable[[str], ScoreSums], *shape: int) -> ScoreSums:
        """Stack what is found for every model; zeros of some shape where there are no probabilities."""
        blank = blank_sums(*shape, self.n_groups)
        return stack_sums(each_model(lambda one: work(one) if one in self.given else blank, self.models))
