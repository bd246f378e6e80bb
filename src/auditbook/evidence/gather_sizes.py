"""What would audits of other sizes say about the groups of one attribute?"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.area_sums import cut_steps, find_areas
from auditbook.evidence.counts import count_groups, stratum_sizes
from auditbook.evidence.gather import THREADS
from auditbook.evidence.placements import ScoreLevels
from auditbook.evidence.resample import open_stream
from auditbook.evidence.score_cells import sort_cells
from auditbook.evidence.score_sums import OrderedScores, ScoreSums, blank_sums, stack_sums
from auditbook.evidence.subsample import subsample_areas, subsample_counts, subsample_scores
from auditbook.records import Attribute, AuditRecords
from auditbook.settings import Protocol


@dataclass(frozen=True)
class SizePlan:
    """What the draws of one attribute have in common.

    Attributes
    ----------
    records : AuditRecords
        What is audited.
    attribute : Attribute
        From `settle_groups`.
    sizes : list of int
        Records a subsample.
    protocol : Protocol
        Gives R.
    seed : int
        The run's seed.
    """

    records: AuditRecords
    attribute: Attribute
    sizes: list[int]
    protocol: Protocol
    seed: int

    def stream(self, what: str, model: str, size: int) -> np.random.Generator:
        """Open the stream of one model and size."""
        return open_stream(self.seed, f"size {what}", model, self.attribute.name, str(size))


@dataclass(frozen=True)
class SizeDraws:
    """Counts, score sums or areas of one attribute's groups under every model.

    Attributes
    ----------
    whole : int array, shape (n_models, n_groups, 4), ScoreSums, or float array, shape (n_models, n_groups)
        The audited records as they are.
    drawn : the same, with leading shape (n_models, n_sizes, R)
        Subsamples.
    strata : array, shape (n_models, n_sizes, R, n_groups, 2)
        Events and non-events of the subsamples.
    """

    whole: Any
    drawn: Any
    strata: NDArray[Any]


def draw_size_counts(plan: SizePlan) -> SizeDraws:
    """Draw the counts of every model's subsamples.

    Parameters
    ----------
    plan : SizePlan
        Records, attribute and sizes.

    Returns
    -------
    SizeDraws
        Of counts.
    """
    records, attribute = plan.records, plan.attribute
    decisions = np.stack([score.decisions for score in records.scores])
    whole = count_groups(records.outcome, decisions, attribute.codes, len(attribute.groups))

    def draw(size: int, model: str, table: NDArray[np.int64]) -> NDArray[np.int64]:
        stream = plan.stream("counts", model, size)
        return subsample_counts(table, size=size, repeats=plan.protocol.size_repeats, rng=stream)

    drawn = np.stack(
        [
            np.stack([draw(size, score.model, table) for size in plan.sizes])
            for score, table in zip(records.scores, whole, strict=True)
        ]
    )
    return SizeDraws(whole, drawn, stratum_sizes(drawn))


def draw_size_scores(plan: SizePlan, ordered: Mapping[str, OrderedScores]) -> SizeDraws:
    """Draw the score sums of every model's subsamples.

    Parameters
    ----------
    plan : SizePlan
        Records, attribute and sizes.
    ordered : mapping of str to OrderedScores
        From `order_probabilities`; the sums of a model that is not there are zero.

    Returns
    -------
    SizeDraws
        Of score sums.
    """
    codes, n_groups = plan.attribute.codes, len(plan.attribute.groups)
    repeats = plan.protocol.size_repeats

    def draw(model: str) -> tuple[ScoreSums, ScoreSums]:
        if model not in ordered:
            return blank_sums(n_groups), blank_sums(len(plan.sizes), repeats, n_groups)
        cells = sort_cells(ordered[model], codes, n_groups)
        sizes = [
            subsample_scores(cells, size=size, repeats=repeats, rng=plan.stream("scores", model, size))
            for size in plan.sizes
        ]
        return cells.total(), stack_sums(sizes)

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(draw, [score.model for score in plan.records.scores]))
    whole, drawn = (stack_sums(part) for part in zip(*found, strict=True))
    records, events = drawn.records.sum(axis=-1), drawn.events.sum(axis=-1)
    return SizeDraws(whole, drawn, np.stack([events, records - events], axis=-1))


def draw_size_areas(plan: SizePlan, ranked: Mapping[str, ScoreLevels]) -> SizeDraws:
    """Draw the areas within the groups of every model's subsamples.

    Parameters
    ----------
    plan : SizePlan
        Records, attribute and sizes.
    ranked : mapping of str to ScoreLevels
        From `rank_scores`; the areas of a model that is not there are nan.

    Returns
    -------
    SizeDraws
        Of areas.
    """
    codes, n_groups = plan.attribute.codes, len(plan.attribute.groups)
    shape = (len(plan.sizes), plan.protocol.size_repeats, n_groups)

    def draw(model: str) -> SizeDraws:
        if model not in ranked:
            return SizeDraws(np.full(n_groups, np.nan), np.full(shape, np.nan), np.zeros((*shape, 2)))
        cells = cut_steps(ranked[model], codes, n_groups)
        sums = [
            subsample_areas(cells, size=size, repeats=shape[1], rng=plan.stream("areas", model, size))
            for size in plan.sizes
        ]
        drawn, strata = (
            np.stack(part) for part in ([find_areas(one) for one in sums], [one.strata() for one in sums])
        )
        return SizeDraws(find_areas(cells.total()), drawn, strata)

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(draw, [score.model for score in plan.records.scores]))
    return SizeDraws(
        *(np.stack([getattr(one, part) for one in found]) for part in ("whole", "drawn", "strata"))
    )
