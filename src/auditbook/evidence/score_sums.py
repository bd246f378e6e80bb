"""Which sums of a score does a metric need, by group and score bin?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from auditbook.errors import InputError
from auditbook.evidence.counts import check_binary

N_BINS = 10

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ScoreSums:
    """Sums over the records of each group; what TI and CAL are computed from.

    The benefit of a record is :math:`b = 1 - |y - s|`.
    """

    records: Array  # shape (..., n_groups, 10): Number of records in each of ten equal-width score bins
    events: Array  # Number of events likewise
    score: Array  # Sum of the scores likewise
    benefit: Array  # shape (..., n_groups): Sum of b
    benefit_log: Array  # shape (..., n_groups): Sum of b ln b, which is 0 where b = 0

    def weigh(self, weights: ArrayLike) -> "ScoreSums":
        """Add up the first axis with weights, such as how often each site was drawn."""
        times = np.asarray(weights, float)
        return ScoreSums(*(np.tensordot(times, part, axes=1) for part in self.parts()))

    def parts(self) -> tuple[Array, Array, Array, Array, Array]:
        """Return the five sums in the order of the attributes."""
        return self.records, self.events, self.score, self.benefit, self.benefit_log


def stack_sums(sums: Sequence[ScoreSums]) -> ScoreSums:
    """Put the sums of several models side by side, with one more axis in front."""
    return ScoreSums(*(np.stack(part) for part in zip(*(one.parts() for one in sums), strict=True)))


def blank_sums(*shape: int) -> ScoreSums:
    """Write down the sums over no record: zeros of some leading shape, then n_groups."""
    by_bin, by_group = np.zeros((*shape, N_BINS)), np.zeros(shape)
    return ScoreSums(by_bin, by_bin, by_bin, by_group, by_group)


def assign_bins(values: ArrayLike) -> NDArray[np.int8]:
    """Give each score its bin, 0 to 9: [0, 0.1), [0.1, 0.2), ..., [0.9, 1].

    >>> assign_bins([0.0, 0.3, 0.99, 1.0]).tolist()
    [0, 3, 9, 9]
    """
    return np.minimum((np.asarray(values, float) * N_BINS).astype(np.int8), N_BINS - 1)


@dataclass(frozen=True)
class OrderedScores:
    """One model's scores in an order that does not depend on how the records came.

    Non-events come first, then events, each by rising score. Records that tie in both are alike in every sum
    within a group, so sums taken in this order are equal to the last bit however the records were shuffled.
    """

    order: NDArray[np.intp]  # shape (n,), as all but the last two: Position before it was ordered
    outcome: NDArray[np.int8]  # 0 or 1
    values: Array  # Score s
    benefit: Array  # b = 1 - abs(y - s)
    benefit_log: Array  # b ln b
    bins: NDArray[np.int8]  # Score bin, 0 to 9
    slot: NDArray[np.int8]  # Outcome and bin in one: 10 y + bin
    centres: Array  # shape (2, 20): s and b ln b in the middle of each slot
    # shape (5, n): With u and v for s and b ln b, less those in the middle of the record's slot: u, v, uu,
    # uv, vv
    moments: Array


def order_scores(outcome: ArrayLike, values: ArrayLike) -> OrderedScores:
    """Order the records of one model by outcome and score, a probability.

    Raises
    ------
    InputError
        If a score is missing or lies outside [0, 1], or an outcome is neither 0 nor 1.

    Examples
    --------
    >>> order_scores([1, 0, 0], [0.2, 0.9, 0.1]).order.tolist()
    [2, 1, 0]
    """
    events, scores = np.asarray(outcome), np.asarray(values, float)
    check_binary(events, what="outcomes")
    check_probabilities(scores)
    others, happened = np.flatnonzero(events == 0), np.flatnonzero(events == 1)
    order = np.concatenate([rows[np.argsort(scores[rows])] for rows in (others, happened)])
    ranked, label = scores[order], events[order].astype(np.int8)
    benefit = np.where(label == 1, ranked, 1 - ranked)
    logs, bins = xlogy(benefit, benefit), assign_bins(ranked)
    slot = label * np.int8(N_BINS) + bins
    middle = (np.arange(N_BINS) + 0.5) / N_BINS
    likely = np.concatenate([1 - middle, middle])
    centres = np.stack([np.tile(middle, 2), xlogy(likely, likely)])
    moments = np.empty((5, len(order)))
    np.subtract(ranked, centres[0, slot], out=moments[0])
    np.subtract(logs, centres[1, slot], out=moments[1])
    for place, (one, other) in enumerate(((0, 0), (0, 1), (1, 1)), start=2):
        np.multiply(moments[one], moments[other], out=moments[place])
    return OrderedScores(order, label, ranked, benefit, logs, bins, slot, centres, moments)


def check_probabilities(scores: Array) -> None:
    """Refuse scores that cannot be probabilities."""
    if np.isnan(scores).any():
        raise InputError(f"{int(np.isnan(scores).sum())} scores are missing")
    if scores.size and not 0 <= scores.min() <= scores.max() <= 1:
        raise InputError(f"scores run from {scores.min():.4g} to {scores.max():.4g}: not probabilities")


def sum_scores(
    ordered: OrderedScores, codes: ArrayLike, n_groups: int, *, weight: Array | None = None
) -> ScoreSums:
    """Sum one model's scores over groups and bins; `codes` (and weights) are in the records' own order.

    >>> sums = sum_scores(order_scores([1, 0], [0.95, 0.25]), [0, 0], 1)
    >>> sums.records[0, [2, 9]].tolist(), round(float(sums.benefit[0]), 2)
    ([1.0, 1.0], 1.7)
    """
    group = np.asarray(codes)[ordered.order].astype(np.intp)
    cell, cells = group * N_BINS + ordered.bins, n_groups * N_BINS
    first_event = int(np.searchsorted(ordered.outcome, 1))
    if weight is not None:
        return _weigh_scores(ordered, group, n_groups, weight[ordered.order])
    by_bin = [
        np.bincount(cell, minlength=cells),
        np.bincount(cell[first_event:], minlength=cells),
        np.bincount(cell, ordered.values, cells),
    ]
    by_group = [np.bincount(group, part, n_groups) for part in (ordered.benefit, ordered.benefit_log)]
    return ScoreSums(*(part.reshape(n_groups, N_BINS).astype(float) for part in by_bin), *by_group)


def _weigh_scores(ordered: OrderedScores, group: NDArray[np.intp], n_groups: int, weight: Array) -> ScoreSums:
    """Do the same with weights; group and weight in the order of the scores."""
    cell, cells = group * N_BINS + ordered.bins, n_groups * N_BINS
    parts = (weight, weight * ordered.outcome, weight * ordered.values)
    by_bin = (np.bincount(cell, part, cells).reshape(n_groups, N_BINS) for part in parts)
    sides = (ordered.benefit, ordered.benefit_log)
    by_group = (np.bincount(group, weight * part, n_groups) for part in sides)
    return ScoreSums(*(np.asarray(part, float) for part in (*by_bin, *by_group)))


def sum_site_scores(
    ordered: OrderedScores,
    codes: ArrayLike,
    n_groups: int,
    *,
    site: ArrayLike,
    n_sites: int,
    weight: Array | None = None,
) -> ScoreSums:
    """Sum one model's scores over sites, groups and bins, leading shape (n_sites,); see `sum_scores`."""
    together = np.asarray(site).astype(np.intp) * n_groups + np.asarray(codes)
    sums = sum_scores(ordered, together, n_sites * n_groups, weight=weight)
    return ScoreSums(*(part.reshape(n_sites, n_groups, *part.shape[1:]) for part in sums.parts()))
