r"""How far is an estimate from zero, and how much did each unit contribute to that?

An estimate is a signed sum of cell means of the error, prediction minus outcome. What unit u contributes is

.. math:: \psi_u = \sum_k \frac{s_k}{n_k} \sum_{i \in u, k} (e_i - \bar e_k), \qquad
          \mathrm{SE}^2 = \frac{U}{U - 1} \sum_u \psi_u^2,

with U the units that hold a record of the cells compared. That is the cluster-robust error of a regression of
e on a constant or on the focal group's indicator, without the factor (n - 1)/(n - k) that some programs add.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from auditbook.pockets.cell_support import Cell

Array = NDArray[np.float64]

SIGNS = (1.0, -1.0)
"""A mean error has one cell; a gap has two, the focal group's and the reference's."""
STILL = 1e-12
"""Scatter below this part of a cell's largest error is rounding."""


@dataclass(frozen=True)
class ThirdMoments:
    r"""What the corrected ratios of a family need beyond the published ones.

    Its columns in `Contributions.sums` follow the others of each quantity: :math:`A_u^3`,
    :math:`A_u^2 p_{uk}` for each cell, and :math:`A_u p_{uk} p_{ul}` for each pair of cells.
    """

    degrees: Array  # shape (Q,): Effective units of the cell that has the fewest, less one
    cube: Array  # shape (Q,): :math:`\sum_u A_u^3`
    mixed: Array  # shape (Q, J): :math:`\sum_u A_u^2 p_{uk}`
    overlap: Array  # shape (Q, J, J, J): :math:`\sum_u p_{uk} p_{ul} p_{um}`


@dataclass(frozen=True)
class Contributions:
    r"""Estimates of one family, and the unit sums from which every draw of its bootstrap follows.

    With :math:`a_{uk} = s_k \sum (e - \bar e_k) / n_k`, :math:`A_u = \sum_k a_{uk}` and the shares
    :math:`p_{uk} = n_{uk}/n_k`, the columns of each quantity are :math:`a_{uk}` for each cell, :math:`A_u^2`,
    and :math:`A_u p_{uk}` for each cell.
    """

    estimate: Array  # shape (Q,): The quantities
    se: Array  # shape (Q,): Their standard errors, no less than the floor
    floor: Array  # shape (Q,)
    units: Array  # shape (Q,): Units that hold a record of the cells
    sums: sparse.csr_matrix  # shape (n_units, Q * width): The columns, quantity by quantity
    overlap: Array  # shape (Q, J, J): :math:`\sum_u p_{uk} p_{ul}`
    square: Array  # shape (Q,): :math:`\sum_u A_u^2`
    third: ThirdMoments | None = None  # None: ratios as published

    @property
    def width(self) -> int:
        """Columns of one quantity: 2 J + 1, and 1 + J + J * J more where ratios are corrected."""
        cells = self.overlap.shape[1]
        return 2 * cells + 1 + (0 if self.third is None else 1 + cells + cells**2)


def lacks_variation(errors: Array, cell: Cell) -> bool:
    """Tell whether a cell's errors do not vary from unit to unit, so that no standard error can be had."""
    values = errors[cell.positions]
    residual = np.bincount(cell.member, values - values.mean(), minlength=len(cell.units))
    return len(cell.units) < 2 or bool(
        np.sqrt(np.sum(residual**2)) <= STILL * cell.n * np.max(np.abs(values))
    )


def expected_floor(predictions: Array, cells: Sequence[Cell]) -> float:
    r"""Find the standard error that probabilities imply when nothing is wrong with them.

    .. math:: \sqrt{\sum_k \sum_{i \in k} s_i (1 - s_i) / n_k^2}

    Parameters
    ----------
    predictions : float64 array, shape (n_records,)
        Probabilities; what lies outside [0, 1] adds nothing.
    cells : sequence of Cell
        Of one quantity.

    Returns
    -------
    float
        The outcome plays no part in it.

    Examples
    --------
    >>> from auditbook.pockets.cell_support import gather_cell
    >>> expected_floor(np.full(4, 0.5), [gather_cell(np.arange(4), np.arange(4))])
    0.25
    """
    parts = [predictions[cell.positions] for cell in cells]
    return float(np.sqrt(sum(np.sum(np.maximum(part * (1 - part), 0)) / len(part) ** 2 for part in parts)))


def sum_contributions(
    errors: Array,
    quantities: Sequence[Sequence[Cell]],
    floor: Array,
    *,
    n_units: int,
    corrected: bool = False,
) -> Contributions:
    r"""Estimate the quantities of a family and sum what each unit contributes.

    .. math:: \psi_u = \sum_k \frac{s_k}{n_k} \sum_{i \in u,\, k} (e_i - \bar e_k), \qquad
              \mathrm{SE}^2 = \frac{U}{U - 1} \sum_u \psi_u^2

    over the cells k of a quantity, with sign s: +1 for the first and -1 for the second.

    Parameters
    ----------
    errors : float64 array, shape (n_records,)
        Prediction minus outcome, or one prediction minus another.
    quantities : sequence of Q sequences of J cells
        What each quantity compares: one cell, or the focal and the reference cell. None is empty.
    floor : float64 array, shape (Q,)
        Least standard error; 0 for none.
    n_units : int
        Units of the audit; cells hold their numbers, from 0.
    corrected : bool
        True sums third moments too, for ratios that are corrected for skewness and few units.

    Returns
    -------
    Contributions
        Of the family.

    References
    ----------
    Hansen, B. E. and Lee, S. (2019). Asymptotic theory for clustered samples.
    doi:10.1016/j.jeconom.2019.02.001

    Examples
    --------
    >>> from auditbook.pockets.cell_support import gather_cell
    >>> found = sum_contributions(np.array([0.0, 1.0]), [[gather_cell(np.arange(2), np.arange(2))]],
    ...                           np.zeros(1), n_units=2)
    >>> found.estimate.tolist(), found.se.tolist()
    ([0.5], [0.5])
    """
    parts = [_sum_quantity(errors, cells, corrected) for cells in quantities]
    width = len(parts[0].columns)
    columns = [
        (rows, np.full(len(rows), width * place + column), values)
        for place, part in enumerate(parts)
        for column, (rows, values) in enumerate(part.columns)
    ]
    rows, cols, values = (np.concatenate(each) for each in zip(*columns, strict=True))
    square = np.array([part.square for part in parts])
    units = np.array([part.units for part in parts])
    return Contributions(
        np.array([part.estimate for part in parts]),
        np.maximum(np.sqrt(units / (units - 1) * square), floor),
        floor,
        units,
        sparse.csr_matrix((values, (rows, cols)), shape=(n_units, width * len(parts))),
        np.stack([part.overlap for part in parts]),
        square,
        _stack_third(parts, quantities) if corrected else None,
    )


def _stack_third(parts: Sequence["_Part"], quantities: Sequence[Sequence[Cell]]) -> ThirdMoments:
    """Gather the third moments of all quantities."""
    fewest = [min(cell.effective_units for cell in cells) for cells in quantities]
    return ThirdMoments(
        np.array(fewest, dtype=np.float64) - 1.0,
        np.array([np.sum(part.both**3) for part in parts]),
        np.stack([part.shares @ part.both**2 for part in parts]),
        np.stack([np.einsum("ku,lu,mu->klm", *[part.shares] * 3) for part in parts]),
    )


@dataclass(frozen=True)
class _Part:
    """One quantity of a family: its columns as (units, values)."""

    estimate: float
    units: float
    columns: list[tuple[NDArray[np.int64], Array]]
    overlap: Array
    square: float
    both: Array  # shape (m,): What each unit contributes
    shares: Array  # shape (J, m): Share of each cell's records


def _sum_quantity(errors: Array, cells: Sequence[Cell], corrected: bool) -> _Part:
    """Sum the columns of one quantity over the units that hold a record of its cells."""
    units = np.unique(np.concatenate([cell.units for cell in cells]))
    estimate = 0.0
    signed, shares = np.zeros((2, len(cells), len(units)))
    places = [np.searchsorted(units, cell.units) for cell in cells]
    for k, (cell, sign, place) in enumerate(zip(cells, SIGNS, places, strict=False)):
        values = errors[cell.positions]
        mean = values.mean()
        estimate += sign * float(mean)
        signed[k, place] = sign / cell.n * np.bincount(cell.member, values - mean)
        shares[k, place] = cell.counts / cell.n
    both = signed.sum(axis=0)
    columns = [(cell.units, row[place]) for cell, row, place in zip(cells, signed, places, strict=True)]
    columns.append((units, both**2))
    columns += [
        (cell.units, (both * row)[place]) for cell, row, place in zip(cells, shares, places, strict=True)
    ]
    if corrected:
        columns.append((units, both**3))
        columns += [(units, both**2 * share) for share in shares]
        columns += [(units, both * one * other) for one in shares for other in shares]
    square = float(np.sum(both**2))
    return _Part(estimate, float(len(units)), columns, shares @ shares.T, square, both, shares)
