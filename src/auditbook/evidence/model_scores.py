"""In which orders are the scores of every model needed?"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from numpy.typing import NDArray

from auditbook.evidence.kinds import T, each_model
from auditbook.evidence.placements import ScoreLevels, rank_levels
from auditbook.evidence.score_sums import OrderedScores, order_scores
from auditbook.records import AuditRecords, ScoreKind


@dataclass(frozen=True)
class ModelScores:
    """The scores of every model, ordered when first asked for and then kept."""

    records: AuditRecords

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return [score.model for score in self.records.scores]

    @property
    def probable(self) -> tuple[str, ...]:
        """Names of those whose scores are probabilities."""
        return tuple(score.model for score in self.records.scores if score.kind == "probability")

    @property
    def orderly(self) -> tuple[str, ...]:
        """Names of those whose scores are more than decisions."""
        return tuple(one.model for one in self.records.scores if one.kind in ("probability", "rank"))

    @cached_property
    def ordered(self) -> dict[str, OrderedScores]:
        """By model; only models that give probabilities."""
        return self._prepare(order_scores, ("probability",))

    @cached_property
    def ranked(self) -> dict[str, ScoreLevels]:
        """By model; only models whose scores are more than decisions."""
        return self._prepare(rank_levels, ("probability", "rank"))

    def _prepare(
        self, prepare: Callable[[NDArray, NDArray], T], kinds: tuple[ScoreKind, ...]
    ) -> dict[str, T]:
        scores = [score for score in self.records.scores if score.kind in kinds]
        prepared = each_model(lambda score: prepare(self.records.outcome, score.values), scores)
        return {score.model: one for score, one in zip(scores, prepared, strict=True)}
