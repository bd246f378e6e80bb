"""How many records of each group were selected, rightly and wrongly?

The rates below read counts of shape (..., 4), in the order tp, fp, fn, tn, and have shape (...).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError

TP, FP, FN, TN = range(4)

Counts = NDArray[np.int64]
Rates = NDArray[np.float64]


def count_groups(outcome: ArrayLike, decisions: ArrayLike, codes: ArrayLike, n_groups: int) -> Counts:
    """Count true and false positives and negatives of each group.

    Parameters
    ----------
    outcome : array of 0 and 1, shape (n,)
        1 where the event happened.
    decisions : array of 0 and 1 (or bool), shape (n,) or (n_models, n)
        1 where the record is selected, by one model or by several.
    codes : int array, shape (n,)
        Position of each record's group; a group without a record counts 0 everywhere.

    Returns
    -------
    int array, shape (n_groups, 4) or (n_models, n_groups, 4)
        Records in the order tp, fp, fn, tn.

    Raises
    ------
    InputError
        If lengths differ, a code names no group, or an outcome or decision is neither 0 nor 1.

    Examples
    --------
    >>> count_groups([1, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], 2).tolist()
    [[1, 1, 0, 0], [0, 0, 1, 1]]
    """
    cell, chosen = _cells(outcome, decisions, codes, n_groups)
    counts = [np.bincount(cell - 2 * row, minlength=4 * n_groups) for row in np.atleast_2d(chosen)]
    return np.reshape(counts, (*chosen.shape[:-1], n_groups, 4)).astype(np.int64)


def weigh_groups(
    outcome: ArrayLike, decisions: ArrayLike, codes: ArrayLike, n_groups: int, *, weight: ArrayLike
) -> Rates:
    """Add up the weights of each group's true and false positives and negatives, as `count_groups` counts.

    >>> weigh_groups([1, 0, 0], [1, 1, 0], [0, 0, 0], 1, weight=[2.0, 0.5, 1.0]).tolist()
    [[2.0, 0.5, 0.0, 1.0]]
    """
    cell, chosen = _cells(outcome, decisions, codes, n_groups)
    heavy = np.asarray(weight, float)
    sums = [np.bincount(cell - 2 * row, heavy, 4 * n_groups) for row in np.atleast_2d(chosen)]
    return np.reshape(sums, (*chosen.shape[:-1], n_groups, 4))


def count_sites(
    outcome: ArrayLike,
    decisions: ArrayLike,
    codes: ArrayLike,
    n_groups: int,
    *,
    site: ArrayLike,
    n_sites: int,
) -> Counts:
    """Count true and false positives and negatives of each group at each site.

    The first four arguments are those of `count_groups`; `site` is the position of each record's site. The
    result has shape (n_sites, n_groups, 4) or (n_models, n_sites, n_groups, 4), and its sum over sites is
    `count_groups`.

    Raises
    ------
    InputError
        As `count_groups`, and if a site's position is out of bounds.

    Examples
    --------
    >>> count_sites([1, 0], [1, 1], [0, 0], 1, site=[0, 1], n_sites=2).tolist()
    [[[1, 0, 0, 0]], [[0, 1, 0, 0]]]
    """
    groups, sites = np.asarray(codes), np.asarray(site)
    _check_codes(groups, n_groups, what="group")
    _check_codes(sites, n_sites, what="site")
    if groups.shape != sites.shape:
        raise InputError(f"{sites.size} sites for {groups.size} records")
    counts = count_groups(outcome, decisions, sites.astype(np.intp) * n_groups + groups, n_sites * n_groups)
    return counts.reshape(*counts.shape[:-2], n_sites, n_groups, 4)


def _cells(
    outcome: ArrayLike, decisions: ArrayLike, codes: ArrayLike, n_groups: int
) -> tuple[NDArray[np.intp], NDArray[np.int8]]:
    """Find each record's cell as if it were not selected; selecting it lowers the number by two."""
    events, chosen, groups = np.asarray(outcome), np.asarray(decisions), np.asarray(codes)
    if not events.shape == groups.shape == chosen.shape[-1:]:
        found = f"{events.size} outcomes, decisions of shape {chosen.shape} and {groups.size} groups"
        raise InputError(f"{found}: each record needs one of each")
    check_binary(events, what="outcomes")
    check_binary(chosen, what="decisions")
    _check_codes(groups, n_groups, what="group")
    return 4 * groups.astype(np.intp) + 3 - events.astype(np.intp), chosen.astype(np.int8)


def check_binary(values: NDArray[np.generic], *, what: str) -> None:
    """Refuse anything but 0 and 1 (and True and False); `what` names the values in the message."""
    if values.dtype == bool:
        return
    wrong = ~((values == 0) | (values == 1))
    if wrong.any():
        raise InputError(f"{what} must be 0 or 1; found {values[wrong].flat[0]}")


def _check_codes(codes: NDArray[np.generic], count: int, *, what: str) -> None:
    """Refuse positions that name nothing."""
    if not np.issubdtype(codes.dtype, np.integer) and codes.size:
        raise InputError(f"{what} positions must be whole numbers; found {codes.dtype}")
    if codes.size and (codes.min() < 0 or codes.max() >= count):
        raise InputError(f"{what} positions run from {codes.min()} to {codes.max()}, but there are {count}")


def rate(numerator: ArrayLike, denominator: ArrayLike) -> Rates:
    """Divide non-negative numbers, and leave nan where there is nothing to divide by.

    >>> rate([1, 0], [4, 0]).tolist()
    [0.25, nan]
    """
    top, bottom = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)


def selection_rate(counts: ArrayLike) -> Rates:
    """Share of records that are selected, :math:`(tp + fp)/n`.

    0 when none is selected, 1 when all are, nan without records.

    >>> float(selection_rate([3, 1, 2, 4]))
    0.4
    """
    table = np.asarray(counts)
    return rate(table[..., TP] + table[..., FP], table.sum(axis=-1))


def true_positive_rate(counts: ArrayLike) -> Rates:
    """Share of events that are selected, :math:`tp/(tp + fn)`.

    0 when every event is missed, 1 when none is, nan without events.

    >>> float(true_positive_rate([3, 1, 1, 5]))
    0.75
    """
    table = np.asarray(counts)
    return rate(table[..., TP], table[..., TP] + table[..., FN])


def false_positive_rate(counts: ArrayLike) -> Rates:
    """Share of non-events that are selected, :math:`fp/(fp + tn)`.

    0 when no non-event is selected, 1 when all are, nan without non-events.

    >>> float(false_positive_rate([3, 1, 1, 3]))
    0.25
    """
    table = np.asarray(counts)
    return rate(table[..., FP], table[..., FP] + table[..., TN])


def positive_predictive_value(counts: ArrayLike) -> Rates:
    """Share of selected records that are events, :math:`tp/(tp + fp)`.

    0 when no selected record is an event, 1 when all are, nan when none is selected.

    >>> float(positive_predictive_value([3, 1, 0, 0]))
    0.75
    """
    table = np.asarray(counts)
    return rate(table[..., TP], table[..., TP] + table[..., FP])


def accuracy(counts: ArrayLike) -> Rates:
    """Share of records whose decision equals the outcome, :math:`(tp + tn)/n`.

    0 when every decision is wrong, 1 when none is, nan without records.

    >>> float(accuracy([3, 1, 0, 4]))
    0.875
    """
    table = np.asarray(counts)
    return rate(table[..., TP] + table[..., TN], table.sum(axis=-1))


def event_rate(counts: ArrayLike) -> Rates:
    """Share of records that are events, :math:`(tp + fn)/n`.

    0 without an event, 1 when all are events, nan without records.

    >>> float(event_rate([3, 1, 1, 3]))
    0.5
    """
    table = np.asarray(counts)
    return rate(table[..., TP] + table[..., FN], table.sum(axis=-1))


def stratum_sizes(counts: ArrayLike) -> Counts:
    """Count events and non-events, shape (..., 2): the strata that a resample keeps.

    >>> stratum_sizes([3, 1, 2, 4]).tolist()
    [5, 5]
    """
    table = np.asarray(counts)
    return np.stack([table[..., TP] + table[..., FN], table[..., FP] + table[..., TN]], axis=-1)
