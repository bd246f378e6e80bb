"""What do the audited records, and resamples of them, say about the groups of one attribute?"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence.area_sums import cut_steps, find_areas
from auditbook.evidence.counts import count_groups, count_sites
from auditbook.evidence.placements import ScoreLevels, rank_levels
from auditbook.evidence.resample import draw_areas, draw_counts, draw_scores, draw_sites, open_stream
from auditbook.evidence.score_cells import sort_cells
from auditbook.evidence.score_sums import (
    OrderedScores,
    ScoreSums,
    blank_sums,
    order_scores,
    stack_sums,
    sum_scores,
    sum_site_scores,
)
from auditbook.records import Attribute, AuditRecords, ScoreKind
from auditbook.settings import Protocol

T = TypeVar("T")
THREADS = 2
"""Models whose scores are summed at the same time; each has its own stream, so their order is no matter."""


@dataclass(frozen=True)
class Evidence:
    """Counts, score sums or areas of one attribute's groups under every model.

    Attributes
    ----------
    whole : int array, shape (n_models, n_groups, 4), ScoreSums, or float array, shape (n_models, n_groups)
        The audited records as they are.
    resampled : the same, with leading shape (n_models, n_resamples)
        Resamples of the protocol's size.
    own_size : the same
        Resamples as large as the audit itself.
    by_site : the same, or None
        Resamples of whole sites; None with fewer than two sites.
    """

    whole: Any
    resampled: Any
    own_size: Any
    by_site: Any


@dataclass(frozen=True)
class Draws:
    """How an audit is resampled.

    Attributes
    ----------
    seed : int
        The run's seed.
    resamples : int
        K.
    size, own_size : int
        Records a resample: by the protocol, and in the audit.
    site : int array, shape (n,), or None
        Position of each record's site among the sites that hold audited records.
    n_sites : int
        Number of these; 0 without a site column.
    site_times : int array, shape (n_resamples, n_sites), or None
        How often each resample draws each site; the same for every model and attribute.
    """

    seed: int
    resamples: int
    size: int
    own_size: int
    site: NDArray[np.integer] | None
    n_sites: int
    site_times: NDArray[np.int64] | None


def plan_draws(records: AuditRecords, *, protocol: Protocol, seed: int) -> Draws:
    """Fix sizes, sites and seed of the resamples.

    Parameters
    ----------
    records : AuditRecords
        What is audited.
    protocol : Protocol
        Gives K and the size of a resample.
    seed : int
        The run's seed.

    Returns
    -------
    Draws
        The same for all attributes.

    Examples
    --------
    >>> records = AuditRecords(np.zeros(9, np.int8), (), (), site=np.repeat([0, 4, 7], 3))
    >>> plan_draws(records, protocol=Protocol(), seed=1).n_sites
    3
    """
    own = len(records.outcome)
    site, count, times = None, 0, None
    if records.site is not None:
        site, count = settle_sites(records.site, records.outcome)
    if count >= 2:
        times = draw_sites(count, resamples=protocol.resamples, rng=open_stream(seed, "sites"))
    return Draws(seed, protocol.resamples, min(protocol.resample_size, own), own, site, count, times)


def settle_sites(site: NDArray[np.integer], outcome: NDArray[np.int8]) -> tuple[NDArray[np.intp], int]:
    """Give each site that holds records a number by its size and events, whatever it is called.

    Parameters
    ----------
    site : int array, shape (n,)
        Position of each record's site.
    outcome : int8 array, shape (n,)
        1 where the event happened, else 0.

    Returns
    -------
    tuple of int array, shape (n,), and int
        The number of each record's site, and how many sites there are.

    Examples
    --------
    >>> settle_sites(np.array([7, 7, 2]), np.array([0, 1, 1], np.int8))
    (array([1, 1, 0]), 2)
    """
    names, place = np.unique(site, return_inverse=True)
    order = np.lexsort((np.bincount(place, weights=outcome), np.bincount(place)))
    rank = np.empty(len(names), np.intp)
    rank[order] = np.arange(len(names))
    return rank[place], len(names)


def settle_groups(attribute: Attribute, outcome: NDArray[np.int8]) -> Attribute:
    """Keep the groups that hold records, the smallest first.

    Everything random and every tie follows this order, so what the groups are called and in which order they
    were declared is of no consequence. Groups of one size stand by events, then by name.

    Parameters
    ----------
    attribute : Attribute
        As declared.
    outcome : int8 array, shape (n,)
        1 where the event happened, else 0.

    Returns
    -------
    Attribute
        Without empty groups.

    Examples
    --------
    >>> sex = Attribute("sex", ("M", "X", "F"), np.array([0, 0, 2]))
    >>> settle_groups(sex, np.array([0, 1, 1], np.int8)).groups
    ('F', 'M')
    """
    count = len(attribute.groups)
    held = np.bincount(attribute.codes, minlength=count)
    events = np.bincount(attribute.codes, weights=outcome, minlength=count)
    kept = sorted(np.flatnonzero(held).tolist(), key=lambda g: (held[g], events[g], attribute.groups[g]))
    place = np.full(count, -1)
    place[kept] = np.arange(len(kept))
    names = tuple(attribute.groups[old] for old in kept)
    return Attribute(attribute.name, names, place[attribute.codes], attribute.reference)


def order_probabilities(records: AuditRecords) -> dict[str, OrderedScores]:
    """Order the records of every model that gives probabilities.

    Parameters
    ----------
    records : AuditRecords
        What is audited.

    Returns
    -------
    dict of str to OrderedScores
        By model; models of another kind are left out.

    Examples
    --------
    >>> order_probabilities(AuditRecords(np.array([0, 1], np.int8), (), ()))
    {}
    """
    return _prepare_scores(records, order_scores, ("probability",))


def _prepare_scores(
    records: AuditRecords, prepare: Callable[[NDArray, NDArray], T], kinds: tuple[ScoreKind, ...]
) -> dict[str, T]:
    """Prepare the scores of every model of some kinds, in threads; by model."""
    scores = [score for score in records.scores if score.kind in kinds]
    with ThreadPoolExecutor(THREADS) as pool:
        made = list(pool.map(lambda score: prepare(records.outcome, score.values), scores))
    return {score.model: one for score, one in zip(scores, made, strict=True)}


def gather_counts(records: AuditRecords, attribute: Attribute, draws: Draws) -> Evidence:
    """Count one attribute's groups under every model, and draw resamples of the counts.

    Parameters
    ----------
    records : AuditRecords
        What is audited.
    attribute : Attribute
        From `settle_groups`.
    draws : Draws
        From `plan_draws`.

    Returns
    -------
    Evidence
        Of counts.

    Examples
    --------
    >>> from auditbook.records import Score
    >>> scores = (Score("m", "decision", 0.5, np.array([1.0, 0, 1, 0])),)
    >>> sex = Attribute("sex", ("F", "M"), np.array([0, 0, 1, 1]))
    >>> records = AuditRecords(np.array([1, 0, 1, 0], np.int8), (sex,), scores)
    >>> plan = plan_draws(records, protocol=Protocol(resamples=5), seed=1)
    >>> gather_counts(records, sex, plan).resampled.shape
    (1, 5, 2, 4)
    """
    decisions = np.stack([score.decisions for score in records.scores])
    n_groups = len(attribute.groups)
    whole = count_groups(records.outcome, decisions, attribute.codes, n_groups)

    def resample(size: int) -> NDArray[np.int64]:
        return np.stack(
            [
                draw_counts(
                    table,
                    size=size,
                    resamples=draws.resamples,
                    rng=open_stream(draws.seed, "counts", score.model, attribute.name, str(size)),
                )
                for score, table in zip(records.scores, whole, strict=True)
            ]
        )

    resampled = resample(draws.size)
    own_size = resampled if draws.own_size == draws.size else resample(draws.own_size)
    by_site = None
    if draws.site is not None and draws.site_times is not None:
        at_site = count_sites(
            records.outcome, decisions, attribute.codes, n_groups, site=draws.site, n_sites=draws.n_sites
        )
        drawn = np.tensordot(draws.site_times.astype(float), at_site.astype(float), axes=(1, 1))
        by_site = np.rint(np.moveaxis(drawn, 0, 1)).astype(np.int64)
    return Evidence(whole, resampled, own_size, by_site)


def gather_scores(
    records: AuditRecords, attribute: Attribute, draws: Draws, ordered: Mapping[str, OrderedScores]
) -> Evidence:
    """Sum one attribute's scores under every model, and draw resamples of the sums.

    Parameters
    ----------
    records : AuditRecords
        What is audited.
    attribute : Attribute
        From `settle_groups`.
    draws : Draws
        From `plan_draws`.
    ordered : mapping of str to OrderedScores
        From `order_probabilities`; the sums of a model that is not there are zero.

    Returns
    -------
    Evidence
        Of score sums.

    Examples
    --------
    >>> from auditbook.records import Score
    >>> scores = (Score("m", "probability", 0.5, np.array([0.9, 0.2, 0.8, 0.1])),)
    >>> sex = Attribute("sex", ("F", "M"), np.array([0, 0, 1, 1]))
    >>> records = AuditRecords(np.array([1, 0, 1, 0], np.int8), (sex,), scores)
    >>> plan = plan_draws(records, protocol=Protocol(resamples=5), seed=1)
    >>> gather_scores(records, sex, plan, order_probabilities(records)).resampled.benefit.shape
    (1, 5, 2)
    """
    with ThreadPoolExecutor(THREADS) as pool:
        models = [score.model for score in records.scores]
        found = list(pool.map(lambda model: _gather_model(model, attribute, draws, ordered), models))
    by_site = None if draws.site_times is None else stack_sums([one.by_site for one in found])
    whole, resampled = (stack_sums([getattr(one, part) for one in found]) for part in ("whole", "resampled"))
    same = draws.own_size == draws.size
    return Evidence(
        whole, resampled, resampled if same else stack_sums([one.own_size for one in found]), by_site
    )


def _gather_model(
    model: str, attribute: Attribute, draws: Draws, ordered: Mapping[str, OrderedScores]
) -> Evidence:
    """Sum and resample the scores of one model."""
    n_groups = len(attribute.groups)
    if model not in ordered:
        blank = blank_sums(draws.resamples, n_groups)
        return Evidence(blank_sums(n_groups), blank, blank, blank)
    scores = ordered[model]
    cells = sort_cells(scores, attribute.codes, n_groups)

    def resample(size: int) -> ScoreSums:
        stream = open_stream(draws.seed, "scores", model, attribute.name, str(size))
        return draw_scores(cells, size=size, resamples=draws.resamples, rng=stream)

    by_site = None
    if draws.site is not None and draws.site_times is not None:
        at_site = sum_site_scores(scores, attribute.codes, n_groups, site=draws.site, n_sites=draws.n_sites)
        by_site = at_site.weigh(draws.site_times)
    resampled = resample(draws.size)
    own_size = resampled if draws.own_size == draws.size else resample(draws.own_size)
    return Evidence(sum_scores(scores, attribute.codes, n_groups), resampled, own_size, by_site)


def rank_scores(records: AuditRecords) -> dict[str, ScoreLevels]:
    """Rank the records of every model whose scores are more than decisions.

    Parameters
    ----------
    records : AuditRecords
        What is audited.

    Returns
    -------
    dict of str to ScoreLevels
        By model; models that only decide are left out.

    Examples
    --------
    >>> rank_scores(AuditRecords(np.array([0, 1], np.int8), (), ()))
    {}
    """
    return _prepare_scores(records, rank_levels, ("probability", "rank"))


def gather_areas(
    records: AuditRecords, attribute: Attribute, draws: Draws, ranked: Mapping[str, ScoreLevels]
) -> Evidence:
    """Find the area within each group of one attribute under every model, and in resamples.

    Parameters
    ----------
    records : AuditRecords
        What is audited.
    attribute : Attribute
        From `settle_groups`.
    draws : Draws
        From `plan_draws`.
    ranked : mapping of str to ScoreLevels
        From `rank_scores`; the areas of a model that is not there are nan.

    Returns
    -------
    Evidence
        Of areas.

    Examples
    --------
    >>> from auditbook.records import Score
    >>> scores = (Score("m", "rank", 0.5, np.array([0.9, 0.2, 0.8, 0.1])),)
    >>> sex = Attribute("sex", ("F", "M"), np.array([0, 0, 1, 1]))
    >>> records = AuditRecords(np.array([1, 0, 1, 0], np.int8), (sex,), scores)
    >>> plan = plan_draws(records, protocol=Protocol(resamples=5), seed=1)
    >>> gather_areas(records, sex, plan, rank_scores(records)).resampled.shape
    (1, 5, 2)
    """
    with ThreadPoolExecutor(THREADS) as pool:
        models = [score.model for score in records.scores]
        found = list(pool.map(lambda model: _gather_ranked(model, attribute, draws, ranked), models))
    by_site = None if draws.site_times is None else np.stack([one.by_site for one in found])
    return Evidence(
        np.stack([one.whole for one in found]),
        np.stack([one.resampled for one in found]),
        np.stack([one.own_size for one in found]),
        by_site,
    )


def _gather_ranked(
    model: str, attribute: Attribute, draws: Draws, ranked: Mapping[str, ScoreLevels]
) -> Evidence:
    """Find and resample the areas of one model."""
    n_groups = len(attribute.groups)
    if model not in ranked:
        blank = np.full((draws.resamples, n_groups), np.nan)
        return Evidence(np.full(n_groups, np.nan), blank, blank, blank)
    cells = cut_steps(ranked[model], attribute.codes, n_groups)

    def resample(size: int) -> NDArray[np.float64]:
        stream = open_stream(draws.seed, "areas", model, attribute.name, str(size))
        return find_areas(draw_areas(cells, size=size, resamples=draws.resamples, rng=stream))

    by_site = None
    if draws.site is not None and draws.site_times is not None:
        at_site = cells.at_sites(draws.site, draws.n_sites).astype(float)
        by_site = find_areas(cells.sums(np.tensordot(draws.site_times.astype(float), at_site, axes=1)))
    resampled = resample(draws.size)
    own_size = resampled if draws.own_size == draws.size else resample(draws.own_size)
    return Evidence(find_areas(cells.total()), resampled, own_size, by_site)
