"""What becomes of areas where only the bin of each score is known, and how far off can they be?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence.placements import SiteSums

Array = NDArray[np.float64]

Ints = NDArray[np.integer]

ROUNDED = 2.0**-32
"""Sums of scores are kept in this unit."""
WIDE = 2.0**-10
"""In bins at least this wide, scores that vary by no more than such sums show are taken for equal."""


@dataclass(frozen=True)
class BinnedLabel:
    """What is known of the scores of one label, by group and bin; all of shape (n_groups, n_bins)."""

    held: Array  # Records
    score: Array  # Sum of their scores
    square: Array  # Sum of the squares of their scores

    @property
    def mean(self) -> Array:
        """Mean score; 0 without a record."""
        return self.score / np.maximum(self.held, 1)

    def equal(self, width: Array) -> NDArray[np.bool_]:
        """Tell where all scores are equal: a single one, all at an end, or without a spread above 2^-15."""
        variance = self.square / np.maximum(self.held, 1) - self.mean**2
        flat = (variance <= ROUNDED * (1 + np.abs(self.mean))) & (width >= WIDE) & (width < np.inf)
        return (self.held <= 1) | (self.score == 0) | (self.score == self.held) | flat


@dataclass(frozen=True)
class BinError:
    """How areas that were read from bins differ from those of the records; all [g, h], as the areas are."""

    lean: Array  # To be added to an area in which the records of a bin tie
    bound: Array  # The most by which the area with `lean` can be off, however the records of a bin stand
    # Standard deviation of an area if events and non-events of a bin stand in random order: what to expect
    spread: Array


def measure_bin_error(events: BinnedLabel, others: BinnedLabel, width: ArrayLike) -> BinError:
    r"""Find what areas within and across groups lose where only the bin of each score is known.

    In bin b the :math:`e_b` events lie above the :math:`o_b` non-events in a share :math:`a_b` of pairs that
    the bins do not tell. It is taken for

    .. math:: \hat a_b = \tfrac12 + \frac{\bar s^1_b - \bar s^0_b}{w_b}

    kept within 0 and 1, with the mean scores of the two and the width of the bin; for densities that rise
    or fall evenly within a bin this is exact. Whatever the order, the area is off by at most

    .. math:: \frac{1}{mn} \sum_b e_b o_b \max(\hat a_b, 1 - \hat a_b),

    half the share of pairs within a bin where the means are equal. In random order its standard deviation is
    that of the Mann-Whitney statistic, :math:`e_b o_b (e_b + o_b + 1)/12` in each bin. Where all events of a
    bin have one score, and all non-events one, their order is known and nothing is lost (scores that differ
    by less than the rounding of their sums, 2^-32, count as tied).

    Parameters
    ----------
    events, others : BinnedLabel
        Events and non-events, by group and bin.
    width : float array, shape (n_bins,)
        Widths of the bins, in units of the score; infinite for a bin without an end.

    Returns
    -------
    BinError
        nan without events of g or non-events of h.

    References
    ----------
    Mann, H. B. and Whitney, D. R. (1947). doi:10.1214/aoms/1177730491

    Examples
    --------
    >>> held, sums, squares = np.array([[2]]), np.array([[[1.2]], [[0.8]]]), np.array([[[0.8]], [[0.4]]])
    >>> one, other = (BinnedLabel(held, *part) for part in zip(sums, squares))
    >>> found = measure_bin_error(one, other, [1.0])
    >>> found.lean.round(2).tolist(), found.bound.round(2).tolist()
    ([[0.2]], [[0.7]])
    """
    found = [_compare(events, others, group, np.asarray(width, float)) for group in range(len(events.held))]
    lean, bound, square = (np.array(part).reshape(-1, len(others.held)) for part in zip(*found, strict=True))
    pairs = events.held.sum(axis=1)[:, None] * others.held.sum(axis=1)
    pairs = np.where(pairs > 0, pairs, np.nan)
    return BinError(lean / pairs, bound / pairs, np.sqrt(square) / pairs)


def _compare(
    events: BinnedLabel, others: BinnedLabel, group: int, width: Array
) -> tuple[Array, Array, Array]:
    """Compare the events of one group with the non-events of every group, in pairs of records."""
    mine, pairs = events.held[group], events.held[group] * others.held
    known = events.equal(width)[group] & others.equal(width)
    lean = _find_lean(events.mean[group] - others.mean, known, width)
    unsure = np.where(known, 0.0, pairs)
    bound = unsure * (0.5 + np.abs(lean))
    square = unsure * (mine + others.held + 1) / 12
    return (pairs * lean).sum(axis=1), bound.sum(axis=1), square.sum(axis=1)


def _find_lean(apart: Array, known: NDArray[np.bool_], width: Array) -> Array:
    """Find by how much the area in a bin lies above half, from how far the means are apart."""
    same = np.abs(apart) <= 2 * ROUNDED
    return np.where(known, np.where(same, 0.0, np.sign(apart) / 2), np.clip(apart / width, -0.5, 0.5))


def lean_within(events: BinnedLabel, others: BinnedLabel, width: Array) -> Array:
    """Find the same within each group, shape (n_groups, n_bins); see `measure_bin_error`.

    >>> held = np.array([[1.0]])
    >>> one, other = (BinnedLabel(held, score, score**2) for score in (np.array([[0.6]]), np.array([[0.4]])))
    >>> lean_within(one, other, np.array([1.0])).tolist()
    [[0.5]]
    """
    known = events.equal(width) & others.equal(width)
    lean = _find_lean(events.mean - others.mean, known, width)
    return np.where((events.held > 0) & (others.held > 0), lean, 0.0)


def place_parts(held: Ints, steps: Ints, runs: Ints) -> SiteSums:
    r"""Sum the placements of the records of each part of a cohort, such as a site, from runs of bins.

    Records of one group, label and run are given the mean placement of all such records, so that the sums
    of all parts together are those of the bins.

    Parameters
    ----------
    held : int array, shape (n_groups, 2, n_bins)
        Records of each group, label and bin, over all parts.
    steps : int array, shape (n_parts, n_groups, 2, n_runs)
        Records of each part, group, label and run.
    runs : int array, shape (n_bins,)
        Run of each bin.

    Returns
    -------
    SiteSums
        Of the parts in their order.

    Examples
    --------
    >>> held = np.array([[[2, 0, 1], [0, 2, 1]]])
    >>> place_parts(held, held[None], np.arange(3)).event_sum.tolist()
    [[[13.0]]]
    """
    others, events = (np.asarray(held)[:, label].astype(float) for label in (0, 1))
    below = 2 * np.cumsum(others, axis=1) - others
    above = 2 * (events.sum(axis=1)[:, None] - np.cumsum(events, axis=1)) + events
    n_runs = steps.shape[-1]
    at = np.zeros((len(runs), n_runs))
    at[np.arange(len(runs)), runs] = 1
    sums = []
    for mine, placed, label in ((events, below, 1), (others, above, 0)):
        size = mine @ at
        mean = np.stack([(mine * row) @ at for row in placed], axis=1) / np.maximum(size, 1)[:, None]
        sums.append(np.einsum("sgk,ghk->sgh", steps[:, :, label].astype(float), mean, optimize=True))
    parts = steps.sum(axis=-1).astype(float)
    return SiteSums(parts[..., 1], parts[..., 0], sums[0], sums[1])
