"""Where does each event stand among the non-events of every group, and each non-event among the events?"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError
from auditbook.evidence.counts import check_binary

BLOCK, LEVELS = 1 << 20, 1 << 15
"""Numbers held at once in a table of score levels by groups, and the least number of levels in it."""

Array = NDArray[np.float64]
Ints = NDArray[np.integer]


@dataclass(frozen=True)
class ScoreLevels:
    """One model's records by rising score; made once and used for every attribute."""

    order: NDArray[np.intp]  # shape (n,): Position of each record before it was ordered
    level: NDArray[np.int64]  # shape (n,): Which distinct score the ordered record has, from 0
    outcome: NDArray[np.int8]  # shape (n,): 0 or 1, in that order

    @property
    def count(self) -> int:
        """Number of distinct scores."""
        return int(self.level[-1]) + 1 if len(self.level) else 0


def rank_levels(outcome: ArrayLike, values: ArrayLike) -> ScoreLevels:
    """Order the records of one model by their score, a probability or a rank; equal scores share a level.

    Raises
    ------
    InputError
        If lengths differ, a score is missing, or an outcome is neither 0 nor 1.

    Examples
    --------
    >>> rank_levels([1, 0, 0], [0.4, 0.9, 0.4]).level.tolist()
    [0, 0, 1]
    """
    events, scores = np.asarray(outcome), np.asarray(values, float)
    check_binary(events, what="outcomes")
    if events.shape != scores.shape:
        raise InputError(f"{events.size} outcomes and {scores.size} scores: each record needs one of each")
    if np.isnan(scores).any():
        raise InputError(f"{int(np.isnan(scores).sum())} of {scores.size} scores are missing")
    order = np.argsort(scores)
    ranked = scores[order]
    level = np.zeros(len(order), np.int64)
    np.cumsum(ranked[1:] != ranked[:-1], out=level[1:])
    return ScoreLevels(order, level, events[order].astype(np.int8))


@dataclass(frozen=True)
class SiteSums:
    """The same sums, site by site."""

    events: Array  # shape (n_sites, n_groups): Events of each group
    others: Array  # Non-events likewise
    event_sum: Array  # shape (n_sites, n_groups, n_groups): As in `PlacementSums`
    other_sum: Array


@dataclass(frozen=True)
class PlacementSums:
    """Sums of placements over the events and the non-events of each group.

    The placement of an event among the non-events of h is twice the number of these below it, plus the number
    tied with it. That of a non-event among the events of g is twice the number of these above it, plus the
    number tied. Placements are whole numbers, and so are the sums.
    """

    events: Array  # shape (n_groups,): Events of each group
    others: Array  # Non-events likewise
    event_sum: Array  # [g, h]: over the events of g, placements among the non-events of h
    # [g, h, k]: over the events of g, products of the placements among the non-events of h and of k
    event_cross: Array
    # [h, g]: over the non-events of h, placements among the events of g; the transpose of `event_sum`
    other_sum: Array
    # [h, g, k]: over the non-events of h, products of the placements among the events of g and of k
    other_cross: Array
    by_site: SiteSums | None = None


def sum_placements(
    levels: ScoreLevels, codes: ArrayLike, n_groups: int, *, site: ArrayLike | None = None, n_sites: int = 0
) -> PlacementSums:
    """Sum the placements of all records within and across groups, in one pass over the ordered scores.

    `codes` and `site` are the positions of each record's group and site, in the records' own order. The sums
    are of size n_groups cubed (and n_sites times n_groups squared), whatever the number of records.

    Raises
    ------
    InputError
        If there is not one group (and site) for every record, or a position is out of bounds.

    Examples
    --------
    >>> levels = rank_levels([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.3])
    >>> sum_placements(levels, [0, 0, 1, 1], 2).event_sum.tolist()
    [[2.0, 0.0], [2.0, 1.0]]
    """
    group = _reorder(levels, codes, n_groups, what="group")
    places = None if site is None else _reorder(levels, site, n_sites, what="site")
    cells = _merge_ties(levels, group, places, n_groups, n_sites)
    label = 2 * group.astype(np.int64) + levels.outcome
    held = np.bincount(label, minlength=2 * n_groups).reshape(n_groups, 2).astype(float)
    return _sum_cells(cells, held, 0 if site is None else n_sites)


def sum_bin_placements(held: Ints) -> PlacementSums:
    """Sum the placements of records of which only the bin of the score is known; those of a bin tie.

    `held` counts the records of each group, label and bin, shape (n_groups, 2, n_bins).

    >>> sum_bin_placements(np.array([[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]]])).event_sum.tolist()
    [[2.0, 0.0], [2.0, 1.0]]
    """
    by_bin = np.moveaxis(np.asarray(held), 2, 0)
    level, group, outcome = np.nonzero(by_bin)
    cells = _Cells(level, group, outcome, None, by_bin[level, group, outcome].astype(float))
    return _sum_cells(cells, by_bin.sum(axis=0).astype(float), 0)


def _sum_cells(cells: "_Cells", held: Array, n_sites: int) -> PlacementSums:
    """Sum the placements of cells that stand by rising score, of `held` non-events and events by group."""
    sums = _Running(held[:, 1], held[:, 0], n_sites)
    for block in _blocks(cells, len(held)):
        sums.add(block)
    return sums.close()


def _reorder(levels: ScoreLevels, codes: ArrayLike, count: int, *, what: str) -> Ints:
    """Put positions in the order of the scores, in as few bytes as hold them."""
    found = np.asarray(codes)
    if found.shape != levels.order.shape:
        raise InputError(f"{found.size} {what}s for {levels.order.size} records")
    if found.size and (found.min() < 0 or found.max() >= count):
        raise InputError(f"{what} positions run from {found.min()} to {found.max()}, but there are {count}")
    small = np.uint8 if count <= 256 else np.uint16 if count <= 65_536 else np.int64
    return np.take(found.astype(small), levels.order)


@dataclass(frozen=True)
class _Cells:
    """Records that are alike in score, group, outcome and site, by rising score; `weight` None: one each."""

    level: NDArray[np.int64]
    group: Ints
    outcome: Ints
    site: Ints | None
    weight: Array | None

    def cut(self, start: int, stop: int, first_level: int) -> "_Cells":
        """Take some of them, their levels counted from `first_level`."""
        part = slice(start, stop)
        return _Cells(
            self.level[part] - first_level,
            self.group[part],
            self.outcome[part],
            None if self.site is None else self.site[part],
            None if self.weight is None else self.weight[part],
        )

    def pick(self, chosen: NDArray[np.intp]) -> "_Cells":
        """Take those at some positions."""
        return _Cells(
            self.level[chosen],
            self.group[chosen],
            self.outcome[chosen],
            None if self.site is None else self.site[chosen],
            None if self.weight is None else self.weight[chosen],
        )


def _merge_ties(levels: ScoreLevels, group: Ints, site: Ints | None, n_groups: int, n_sites: int) -> _Cells:
    """Count records that are alike; without ties every record stays by itself."""
    if levels.count == len(levels.order):
        return _Cells(levels.level, group, levels.outcome, site, None)
    key = (levels.level * n_groups + group) * 2 + levels.outcome
    if site is not None:
        key = key * n_sites + site
    cell, weight = np.unique(key, return_counts=True)
    where = None
    if site is not None:
        cell, where = np.divmod(cell, n_sites)
    cell, outcome = np.divmod(cell, 2)
    level, of_group = np.divmod(cell, n_groups)
    return _Cells(level, of_group.astype(group.dtype), outcome.astype(np.int8), where, weight.astype(float))


def _blocks(cells: _Cells, n_groups: int) -> Iterator[_Cells]:
    """Cut the cells into stretches of whole levels that need bounded memory."""
    if not len(cells.level):
        return
    wide = max(BLOCK // n_groups, LEVELS)
    for first in range(0, int(cells.level[-1]) + 1, wide):
        start, stop = np.searchsorted(cells.level, [first, first + wide])
        yield cells.cut(int(start), int(stop), first)


class _Running:
    """Sums under way; knows how many events and non-events lie below the present stretch of scores."""

    def __init__(self, events: Array, others: Array, n_sites: int) -> None:
        count = len(events)
        self.totals = (others, events)
        self.below = [np.zeros(count), np.zeros(count)]
        self.sums = [np.zeros((count, count)) for _ in range(2)]
        self.crosses = [np.zeros((count, count, count)) for _ in range(2)]
        self.site_sums = [np.zeros((n_sites, count, count)) for _ in range(2)]
        self.site_held = [np.zeros((n_sites, count)) for _ in range(2)]

    def add(self, block: _Cells) -> None:
        """Add a stretch of scores."""
        parts = [block.pick(np.flatnonzero(block.outcome == label)) for label in (0, 1)]
        n_levels, count = int(block.level[-1]) + 1, len(self.below[0])
        twice = [self._place(part, label, n_levels) for label, part in enumerate(parts)]
        twice[1] = 2 * self.totals[1][:, None] - twice[1]
        for label, part in enumerate(parts):
            order = np.argsort(part.group, kind="stable")
            wide = max(BLOCK // count, LEVELS)
            for first in range(0, len(order), wide):
                self._sum(label, part.pick(order[first : first + wide]), twice[1 - label])

    def _place(self, part: _Cells, label: int, n_levels: int) -> Array:
        """Twice the records below each level, and those at it, by group; shape (n_groups, n_levels)."""
        count = len(self.below[label])
        cell = part.group.astype(np.int64) * n_levels + part.level
        weight = np.ones(len(cell)) if part.weight is None else part.weight
        at = np.bincount(cell, weight, count * n_levels).astype(float, copy=False).reshape(count, n_levels)
        upto = np.cumsum(at, axis=1)
        upto += self.below[label][:, None]
        self.below[label] = upto[:, -1].copy()
        upto *= 2
        upto -= at
        return upto

    def _sum(self, label: int, part: _Cells, twice: Array) -> None:
        """Add the placements of records that stand group by group."""
        placed = np.take(twice, part.level, axis=1)
        weighted = placed if part.weight is None else placed * part.weight
        bounds = np.searchsorted(part.group, np.arange(len(twice) + 1))
        for group in np.flatnonzero(np.diff(bounds)):
            mine = slice(bounds[group], bounds[group + 1])
            self.sums[label][group] += weighted[:, mine].sum(axis=1)
            self.crosses[label][group] += weighted[:, mine] @ placed[:, mine].T
        if part.site is not None:
            self._sum_sites(label, part, weighted)

    def _sum_sites(self, label: int, part: _Cells, weighted: Array) -> None:
        """Add the placements of records site by site."""
        n_sites, count = self.site_held[label].shape
        cell = np.asarray(part.site).astype(np.int64) * count + part.group
        held = np.bincount(cell, part.weight, n_sites * count)
        self.site_held[label] += held.reshape(n_sites, count)
        for other, placed in enumerate(weighted):
            found = np.bincount(cell, placed, n_sites * count)
            self.site_sums[label][:, :, other] += found.reshape(n_sites, count)

    def close(self) -> PlacementSums:
        """Name the sums."""
        by_site = None
        if len(self.site_held[0]):
            by_site = SiteSums(self.site_held[1], self.site_held[0], self.site_sums[1], self.site_sums[0])
        return PlacementSums(
            events=self.totals[1],
            others=self.totals[0],
            event_sum=self.sums[1],
            event_cross=self.crosses[1],
            other_sum=self.sums[0],
            other_cross=self.crosses[0],
            by_site=by_site,
        )
