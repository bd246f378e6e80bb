"""Which score bins are withheld, so that neither their people nor a withheld count of their group follows?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.privacy.complements import Array, Cells, Mask, withhold
from auditbook.privacy.groups import Group, Layout, is_small

ALL = ("all", "all")
Bin = tuple[str, str, str, int]
"""Model, attribute, group, and number of the bin from 1."""


@dataclass(frozen=True)
class GroupTotals:
    """What the bins of a group sum to under one model, and what of it is withheld; shape (n_groups,)."""

    whole: Array
    selected: Array
    whole_hidden: Mask
    selected_hidden: Mask


@dataclass(frozen=True)
class BinTable:
    """The bins of one model, shape (n_groups, n_bins); the last row holds all records."""

    model: str
    keys: tuple[Group, ...]
    records: Array
    events: Array
    above: NDArray[np.bool_]  # shape (n_bins,): Wholly selected; none where the threshold cuts a bin


def read_bins(table: pd.DataFrame, layout: Layout, threshold: float) -> BinTable:
    """Lay the bins of one model out, a row a group."""
    keys = (*layout.keys, ALL)
    wide = table.pivot_table(index=["attribute", "group"], columns="bin", values=["n", "events"], sort=True)
    whole = wide.reindex(pd.MultiIndex.from_tuples(keys)).fillna(0.0)
    low = table.groupby("bin")["bin_low"].min().to_numpy(float)
    cut = bool(np.isclose(low, threshold).any())
    above = (low > threshold) | np.isclose(low, threshold)
    return BinTable(
        str(table["model"].iloc[0]),
        keys,
        whole["n"].to_numpy(float),
        whole["events"].to_numpy(float),
        above if cut else np.zeros(len(low), bool),
    )


def hide_bins(
    table: BinTable, layout: Layout, records: GroupTotals, events: GroupTotals, smallest: int
) -> tuple[frozenset[Bin], frozenset[Bin]]:
    """Withhold the records of bins, and then the events of bins."""
    left = table.records - table.events
    thin = is_small(table.records, smallest) | records.whole_hidden[:, None]
    hidden = _settle(table, layout, table.records, thin, records, smallest)
    few = hidden | is_small(table.events, smallest) | is_small(left, smallest) | events.whole_hidden[:, None]
    movable = np.where(hidden, table.events, np.minimum(table.events, left))
    hidden_events = _settle(table, layout, movable, few, events, smallest)
    return _name(table, hidden), _name(table, hidden_events)


def _settle(
    table: BinTable, layout: Layout, values: Array, small: Mask, totals: GroupTotals, smallest: int
) -> Mask:
    """Withhold the bins of one count, with the withheld totals of groups among the unknowns."""
    cells = Cells(
        np.concatenate([values.ravel(), totals.whole, totals.selected]),
        _relate(table, layout),
        np.append(np.ones(values.size, bool), np.zeros(2 * len(values), bool)),
    )
    first = np.concatenate([small.ravel(), totals.whole_hidden, totals.selected_hidden])
    return withhold(cells, first, smallest)[: values.size].reshape(values.shape)


def _relate(table: BinTable, layout: Layout) -> Array:
    """Write down what bins sum to: over bins their group and its selected part, over groups all records."""
    n_groups, n_bins = table.records.shape
    ones, none = np.ones(n_bins), np.zeros((n_groups, n_groups))
    over_bins = np.hstack([np.kron(np.eye(n_groups), ones), -np.eye(n_groups), none])
    selected = np.hstack([np.kron(np.eye(n_groups), table.above.astype(float)), none, -np.eye(n_groups)])
    sums = np.hstack([layout.relations, np.zeros((len(layout.relations), 1))])
    sums[: len(layout.attributes), -1] = -1.0
    over_groups = np.hstack([np.kron(sums, np.eye(n_bins)), np.zeros((len(sums) * n_bins, 2 * n_groups))])
    return np.vstack([over_bins, selected if table.above.any() else selected[:0], over_groups])


def _name(table: BinTable, hidden: Mask) -> frozenset[Bin]:
    """Name the bins of a mask."""
    places = zip(*np.nonzero(hidden), strict=True)
    return frozenset((table.model, *table.keys[group], int(place) + 1) for group, place in places)
