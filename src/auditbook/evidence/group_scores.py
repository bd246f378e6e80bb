"""What do the scores of each group add up to, here and in other audits?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.benefit_moments import BenefitMoments, add_benefits
from auditbook.evidence.kinds import Subsamples, each_model
from auditbook.evidence.model_scores import ModelScores
from auditbook.evidence.resample import draw_scores, open_stream
from auditbook.evidence.score_cells import ScoreCells, sort_cells
from auditbook.evidence.score_sums import (
    OrderedScores,
    ScoreSums,
    blank_sums,
    stack_sums,
    sum_scores,
    sum_site_scores,
)
from auditbook.evidence.subsample import subsample_scores
from auditbook.records import Attribute


@dataclass(frozen=True)
class GroupScores:
    """Score sums; those of a model that gives no probabilities are zero."""

    scores: ModelScores
    attribute: Attribute  # From `settle_groups`

    @cached_property
    def cells(self) -> dict[str, ScoreCells]:
        """The records by group, label and score bin, by model."""
        codes, n_groups = self.attribute.codes, len(self.attribute.groups)
        ordered = self.scores.ordered
        cells = each_model(lambda one: sort_cells(one, codes, n_groups), list(ordered.values()))
        return dict(zip(ordered, cells, strict=True))

    def whole(self) -> ScoreSums:
        """Add up the audited records."""
        codes, n_groups = self.attribute.codes, len(self.attribute.groups)
        return self._add(lambda _, scores: sum_scores(scores, codes, n_groups))

    def benefit_moments(self) -> BenefitMoments:
        """Add up benefits and their squares, shape (n_models, n_groups); zeros without probabilities."""
        blank = np.zeros((len(self.attribute.groups), 6))
        cells = self.cells
        found = [add_benefits(cells[model]) if model in cells else blank for model in self.scores.models]
        return BenefitMoments(np.stack(found))

    def drawn(self, size: int, *, resamples: int, seed: int) -> ScoreSums:
        """Draw the sums of resamples."""

        def draw(model: str, _: OrderedScores) -> ScoreSums:
            stream = open_stream(seed, "scores", model, self.attribute.name, str(size))
            return draw_scores(self.cells[model], size=size, resamples=resamples, rng=stream)

        return self._add(draw, resamples)

    def subsampled(self, sizes: Sequence[int], *, repeats: int, seed: int) -> Subsamples:
        """Draw the sums of subsamples."""

        def draw(model: str, size: int) -> ScoreSums:
            stream = open_stream(seed, "size scores", model, self.attribute.name, str(size))
            return subsample_scores(self.cells[model], size=size, repeats=repeats, rng=stream)

        drawn = self._add(
            lambda model, _: stack_sums([draw(model, size) for size in sizes]), len(sizes), repeats
        )
        records, events = drawn.records.sum(axis=-1), drawn.events.sum(axis=-1)
        return Subsamples(drawn, np.stack([events, records - events], axis=-1))

    def by_site(
        self, site: NDArray[np.integer], n_sites: int, times: NDArray[np.int64] | None = None
    ) -> ScoreSums:
        """Add up each site, or resamples of whole sites."""
        codes, n_groups = self.attribute.codes, len(self.attribute.groups)

        def add(_: str, scores: OrderedScores) -> ScoreSums:
            at_site = sum_site_scores(scores, codes, n_groups, site=site, n_sites=n_sites)
            return at_site if times is None else at_site.weigh(times)

        return self._add(add, n_sites if times is None else len(times))

    def _add(self, work: Callable[[str, OrderedScores], ScoreSums], *shape: int) -> ScoreSums:
        """Stack what is found for every model; zeros of some shape where there are no probabilities."""
        blank = blank_sums(*shape, len(self.attribute.groups))

        def add(model: str) -> ScoreSums:
            scores = self.scores.ordered.get(model)
            return blank if scores is None else work(model, scores)

        return stack_sums(each_model(add, self.scores.models))
