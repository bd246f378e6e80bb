"""Which weights make outcome and group independent in the training records, and how strongly?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.errors import InputError
from auditbook.evidence import check_binary, rate

LEAST, MOST = 0.1, 10.0
"""Weights are clipped to this range (published)."""

Array = NDArray[np.float64]


def weigh_cells(counts: ArrayLike, *, strength: float) -> Array:
    r"""Find the weight of the non-events and of the events of each cell.

    .. math:: w(g, y) = 1 + \lambda \left(\frac{P(g) P(y)}{P(g, y)} - 1\right)

    clipped to [0.1, 10]. At strength 0 all weights are 1. At 1 they are those of Kamiran and Calders: the
    weighted event rate is the same in all cells, as long as no weight was clipped. Beyond 1 a cell with few
    events weighs more than one with many.

    Parameters
    ----------
    counts : int array, shape (n_cells, 2)
        Training records of each cell: non-events, events.
    strength : float
        The published :math:`\lambda`; not negative.

    Returns
    -------
    float array, shape (n_cells, 2)
        1 where a cell has no such record.

    Raises
    ------
    InputError
        If the strength is negative.

    References
    ----------
    Kamiran, F. and Calders, T. (2012). Data preprocessing techniques for classification without
    discrimination. doi:10.1007/s10115-011-0463-8

    Examples
    --------
    >>> weigh_cells([[60, 40], [80, 20]], strength=1.0).round(3).tolist()
    [[1.167, 0.75], [0.875, 1.5]]
    """
    if strength < 0:
        raise InputError(f"a strength of reweighing is not negative; found {strength:g}")
    table = np.asarray(counts, dtype=np.float64)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / max(table.sum(), 1)
    quotient = np.where(table > 0, rate(expected, table), 1.0)
    return np.clip(1 + strength * (quotient - 1), LEAST, MOST)


def weigh_records(outcome: ArrayLike, codes: ArrayLike, n_cells: int, *, strength: float) -> Array:
    """Give each training record the weight of its cell and outcome."""
    events, cells = np.asarray(outcome), np.asarray(codes)
    check_binary(events, what="outcomes")
    if events.shape != cells.shape:
        raise InputError(f"{events.size} outcomes for {cells.size} cells: each record needs one of each")
    label = events.astype(np.intp)
    return weigh_cells(count_labels(label, cells, n_cells), strength=strength)[cells, label]


def count_labels(outcome: ArrayLike, codes: ArrayLike, n_cells: int) -> NDArray[np.int64]:
    """Count the non-events and events of each cell."""
    place = 2 * np.asarray(codes, dtype=np.intp) + np.asarray(outcome, dtype=np.intp)
    return np.bincount(place, minlength=2 * n_cells).reshape(n_cells, 2)


def weighted_event_rates(counts: ArrayLike, weights: ArrayLike) -> Array:
    """Find the weighted event rate of each cell: what a weighted model is told about the cells."""
    mass = np.asarray(weights, dtype=np.float64) * np.asarray(counts)
    return rate(mass[:, 1], mass.sum(axis=1))
