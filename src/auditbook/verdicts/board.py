"""What does each contrast of a board say, for whoever follows a board through time?"""

from dataclasses import dataclass
from math import comb

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from auditbook.evidence import MEAN, Audited, Bounded, mover_bounds
from auditbook.settings import Protocol
from auditbook.verdicts.contrasts import bound_contrasts, find_z
from auditbook.verdicts.quantities import RATE_CELLS, Grouped, Quantity, measure_rates
from auditbook.verdicts.shown import METRIC_QUANTITIES, Cell, CellContrasts, find_contrasts, has_scores

Array = NDArray[np.float64]
CONTRAST = ["model", "metric", "attribute", "rate", "bin", "group", "other"]
"""What names a contrast."""


@dataclass(frozen=True)
class Board:
    """The contrasts of a board at one moment, and what could ever be compared on it."""

    # One row a contrast: `CONTRAST` (the two groups by name, the first by alphabet standing first), `flipped`
    # (whether the other group has the larger value, of a ratio the smaller), estimate, n and n_other
    contrasts: pd.DataFrame
    beyond: Array  # shape (n,): Normal quantile of "beyond the threshold", positive where it lies there
    opposite: Array  # shape (n,): The same of "beyond it in the other direction"
    information: Array  # shape (n,): 1 over the squared standard error
    cells: pd.DataFrame  # One row a model and cell: model, metric, attribute, possible, whole, left_out
    found: CellContrasts

    def bound(self, z: Array) -> tuple[Array, Array]:
        """Bound the contrasts at normal quantiles, in the direction of the larger value."""
        return bound_contrasts(self.found.contrasts, ndtr(-z))


def find_board(prepared: Audited, protocol: Protocol) -> Board | None:
    r"""Find what every contrast of a board says of its threshold; None where no metric is asked for.

    The information is :math:`1/s^2`, with s half the width of the MOVER interval at one standard error.

    Parameters
    ----------
    prepared : Prepared
        The records up to now.
    protocol : Protocol
        Metrics, thresholds and minimum support.

    Returns
    -------
    Board
        `possible` counts the contrasts that a cell would have were every declared group judged: 0 where the
        model's scores are of another kind than the metric needs.
    """
    found = find_contrasts(prepared, protocol)
    if found is None:
        return None
    contrasts = found.contrasts
    one = np.ones(len(contrasts))
    factor = np.where(contrasts.is_ratio, contrasts.threshold, one)
    low, high = mover_bounds(contrasts.first, contrasts.second, factor, contrasts.correlation, one)
    half = (high - low) / 2
    information = np.divide(1.0, half**2, out=np.zeros(len(half)), where=half > 0)
    return Board(
        _name_contrasts(found), found.tests.z, -found.tests.far, information, _count_cells(found), found
    )


def _name_contrasts(found: CellContrasts) -> pd.DataFrame:
    """Name the contrasts so that the order of their two groups does not follow from today's values."""
    table = found.list_contrasts().astype({name: object for name in CONTRAST if name != "bin"})
    flip = (table["other"] != "") & (table["group"] > table["other"])
    names = table["group"].where(~flip, table["other"]), table["other"].where(~flip, table["group"])
    ahead = flip if len(table) else np.zeros(0, bool)
    return table.assign(group=names[0], other=names[1], flipped=ahead)


def _count_cells(found: CellContrasts) -> pd.DataFrame:
    """Count what could ever be compared in each cell of each model."""
    declared = {each.settled.name: len(each.declared.groups) for each in found.prepared.groups}
    left_out = found.list_left_out()
    rows = [
        {
            "model": score.model,
            "metric": cell.metric.name,
            "attribute": cell.attribute,
            "threshold": cell.threshold,
            "possible": _count_possible(cell, declared[cell.attribute])
            if has_scores(cell.metric, score.kind)
            else 0,
            "left_out": "; ".join(left_out[place * len(found.cells) + number]),
        }
        for place, score in enumerate(found.prepared.rules)
        for number, cell in enumerate(found.cells)
    ]
    complete = found.is_complete(len(rows))
    return pd.DataFrame(rows).assign(whole=lambda one: complete & (one["left_out"] == ""))


def _count_possible(cell: Cell, declared: int) -> int:
    """Count the contrasts of a cell in which every declared group is judged."""
    held = max(len(cell.groups), 1)
    return sum(
        comb(declared, 2) if each.expected is None else declared * len(each.group) // held
        for each in cell.quantities
    )


@dataclass(frozen=True)
class GroupRates:
    """The rates of the groups of one attribute in one stretch of time, groups in their declared order."""

    attribute: str
    rates: tuple[str, ...]
    groups: tuple[str, ...]
    bounded: Bounded  # Arrays of shape (n_rates, n_models, n_groups)
    correlation: Array  # shape (n_rates, n_models, n_groups, n_groups)
    judged: NDArray[np.bool_]  # shape (n_rates, n_models, n_groups)
    held: Array  # shape (n_rates, n_models, n_groups): What each rests on


def list_watched_rates(protocol: Protocol) -> tuple[str, ...]:
    """Name the rates of groups that the metrics of a protocol compare."""
    asked = {name for metric in protocol.metrics for name in METRIC_QUANTITIES[metric]}
    return tuple(name for name in RATE_CELLS if name in asked)


def measure_group_rates(prepared: Audited, protocol: Protocol) -> list[GroupRates]:
    """Measure the rates that metrics compare, by record or by unit, attribute by attribute."""
    names = list_watched_rates(protocol)
    return [_lay_out(Grouped(prepared, groups, protocol), names) for groups in prepared.groups]


def _lay_out(grouped: Grouped, names: tuple[str, ...]) -> GroupRates:
    """Put the groups into their declared order; one without a record has no value."""
    declared = grouped.groups.declared.groups
    settled = {name: place for place, name in enumerate(grouped.groups.settled.groups)}
    place = np.array([settled.get(name, -1) for name in declared], np.intp)
    found = measure_rates(grouped, names)
    quantities: list[Quantity] = [found[name] for name in names]

    def lay(parts: list[NDArray]) -> NDArray:
        return np.stack(parts)[..., place]

    held = place >= 0
    parts = zip(*(each.own.bounded.parts() for each in quantities), strict=True)
    bounded = Bounded(*(lay(list(part)) for part in parts))
    correlation = np.stack([each.own.correlation for each in quantities])[..., place, :][..., place]
    return GroupRates(
        grouped.groups.declared.name,
        names,
        declared,
        bounded,
        correlation,
        lay([each.judged for each in quantities]) & held,
        np.where(held, lay([each.held for each in quantities]), 0.0),
    )


@dataclass(frozen=True)
class Change:
    """How far two stretches of time differ, shape (n,)."""

    before: Array
    after: Array
    z: Array  # Normal quantile of the difference, signed: positive where the later value is larger
    error: Array  # Half the width of its interval at one standard error


def compare_bounded(before: Bounded, after: Bounded, correlation: Array | None = None) -> Change:
    """Compare estimates of two stretches of time, or of two audits, shape (n,); independent by default."""
    one = np.ones(len(before.value))
    shared = 0 * one if correlation is None else correlation
    z = find_z(after, before, one, shared, 0 * one)
    low, high = mover_bounds(after, before, one, shared, one)
    return Change(before.value, after.value, z, (high - low) / 2)


def difference_bounded(first: Bounded, second: Bounded, correlation: Array) -> Bounded:
    r"""Take the difference of two estimates as one, with half its MOVER interval as its standard error."""
    one = np.ones(len(first.value))
    low, high = mover_bounds(first, second, one, correlation, one)
    none = np.zeros(len(one))
    kind = np.full(len(one), MEAN, np.int8)
    return Bounded(kind, first.value - second.value, none, (high - low) / 2, np.full(len(one), np.inf))


def standard_error(bounded: Bounded) -> Array:
    """Find half the width between the limits of each estimate at one standard error."""
    low, high = bounded.limits(np.ones(len(bounded.value)))
    return np.asarray((high - low) / 2)
