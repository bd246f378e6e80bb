"""At which level do pockets localise an error and still hold enough records to be tested?

The answer comes from discovery records alone: groups, predictions and numbers of the calibration records,
and, where there are no predictions, the mean outcome of the graph records.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.data import Contrast, PocketData
from auditbook.pockets.profiles import count_profiles, mean_similarity, nearest_pocket

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Partitions:
    """Ways to part the graph records, among which one is chosen."""

    kind: str  # Name of what parted them
    # shape (n,): Pocket of each record, numbered from 0; the finest first, one pocket last
    levels: tuple[Labels, ...]
    description_length: float = float("nan")  # Of the hierarchy; nan where there is none
    lengths: tuple[float, ...] = ()  # Of all fits


@dataclass(frozen=True)
class Projection:
    """What calibration records say of the audit to come."""

    # shape (m, n_cells): 1 where a calibration record belongs to a cell: all records, or a group
    cells: NDArray[np.float64]
    # shape (n_models, m): Its predictions; no rows for a continuous outcome or without a model
    expected: NDArray[np.float64]
    # Cells that every quantity needs: one, or the focal and the reference group
    pairs: tuple[tuple[int, ...], ...]
    scale: float  # Audit records for each calibration record
    records: float  # Records that a cell must be projected to have
    events: float  # Expected events, and non-events, that it must be projected to have


def project_calibration(
    data: PocketData, *, n_audit: int, contrasts: Sequence[Contrast], settings: PocketSettings
) -> Projection:
    """Prepare the projection of calibration records to the size of the audit, for `count_supported`.

    The outcomes of the calibration records are not read. Without contrasts, all records of a pocket are asked
    for.
    """
    codes = {item.name: item.codes for item in data.attributes}
    wanted = [(pair.attribute, code) for pair in contrasts for code in (pair.focal_code, pair.reference_code)]
    groups = list(dict.fromkeys(wanted))
    columns = [codes[name] == code for name, code in groups] or [np.ones(len(data.outcome), dtype=bool)]
    pairs = [
        (groups.index((pair.attribute, pair.focal_code)), groups.index((pair.attribute, pair.reference_code)))
        for pair in contrasts
    ]
    models = [] if data.continuous else list(data.predictions.values())
    return Projection(
        np.column_stack(columns).astype(np.float64),
        np.array(models, dtype=np.float64).reshape(len(models), len(data.outcome)),
        tuple(pairs) or ((0,),),
        n_audit / len(data.outcome),
        settings.choice_of(continuous=data.continuous),
        0 if data.continuous else settings.support_events,
    )


def count_supported(
    codes: NDArray[np.integer], rates: NDArray[np.float64], projection: Projection
) -> NDArray[np.int64]:
    """Count the quantities of each pocket that are projected to have support.

    Parameters
    ----------
    codes : int array, shape (m,)
        Pocket of each calibration record; -1 where it abstains.
    rates : float array, shape (C,)
        Mean outcome of each pocket's graph records, which stands in where there are no predictions.
    projection : Projection
        From `project_calibration`.

    Returns
    -------
    int64 array, shape (C,)
        Number of pairs (or 0 or 1) with support in both cells.

    Examples
    --------
    >>> ones = np.ones((100, 1))
    >>> projection = Projection(ones, np.full((1, 100), 0.1), ((0,),), scale=2.0, records=150, events=10)
    >>> count_supported(np.repeat([0, 1], [80, 20]), np.array([0.1, 0.1]), projection).tolist()
    [1, 0]
    """
    taken = codes >= 0
    pocket = np.zeros((len(codes), len(rates)))
    pocket[np.flatnonzero(taken), codes[taken]] = projection.scale
    held = pocket.T @ projection.cells  # (C, n_cells)
    enough = held >= projection.records
    if projection.events > 0:
        weighted = [(pocket * values[:, None]).T @ projection.cells for values in projection.expected]
        for events in weighted or [held * rates[:, None]]:
            enough &= np.minimum(events, held - events) >= projection.events
    return np.sum([enough[:, list(pair)].all(axis=1) for pair in projection.pairs], axis=0, dtype=np.int64)


def tidy_partitions(levels: Sequence[NDArray[np.integer]]) -> tuple[Labels, ...]:
    """Renumber pockets by size, drop levels that repeat, and end with one pocket.

    The finest level is the first. In each the largest pocket is 0; equally large ones stand in the order of
    their first members.

    Examples
    --------
    >>> [level.tolist() for level in tidy_partitions([np.array([3, 1, 1]), np.array([5, 2, 2])])]
    [[1, 0, 0], [0, 0, 0]]
    """
    found: list[Labels] = []
    for labels in [*levels, np.zeros_like(levels[0])]:
        numbered = number_by_size(labels)
        if not any(np.array_equal(numbered, other) for other in found):
            found.append(numbered)
    return tuple(found)


def number_by_size(labels: NDArray[np.integer]) -> Labels:
    """Renumber pockets from 0, the largest first; equally large ones by their first members."""
    _, first, codes, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[codes].astype(np.int64)


def place_loose(
    labels: NDArray[np.integer], leaves: NDArray[np.int32], *, n_leaves: int, fewest: int
) -> Labels:
    """Move records of communities smaller than `fewest` to the most similar larger one, if there is one.

    Parameters
    ----------
    labels : int array, shape (n,)
        Community of each graph record, from 0.
    leaves : int32 array, shape (n, n_trees)
        Their leaves, numbered over all trees.

    Examples
    --------
    >>> place_loose(np.array([0, 0, 1]), np.zeros((3, 1), dtype=np.int32), n_leaves=1, fewest=2).tolist()
    [0, 0, 0]
    """
    placed = labels.astype(np.int64)
    loose = np.bincount(labels)[labels] < fewest
    if not loose.any() or loose.all():
        return placed
    kept, codes = np.unique(labels[~loose], return_inverse=True)
    counts = count_profiles(leaves[~loose], codes, n_leaves=n_leaves)
    nearest = nearest_pocket(mean_similarity(leaves[loose], counts, np.bincount(codes)))
    placed[loose] = kept[nearest.codes]
    return placed


def cut_tree(levels: Sequence[Labels], supported: Sequence[NDArray[np.int64]]) -> Labels:
    """Cut a hierarchy at different depths in different branches.

    A pocket is split only when its children (or theirs) hold more supported quantities than it does.
    """
    best, cut = supported[0].copy(), levels[0].copy()
    for below, here, own in zip(levels[:-1], levels[1:], supported[1:], strict=True):
        parent = np.zeros(below.max() + 1, dtype=np.int64)
        parent[below] = here
        children = np.bincount(parent, weights=best, minlength=len(own)).astype(np.int64)
        joined = children <= own
        cut = np.where(joined[here], len(here) + cut.max() + 1 + here, cut)
        cut = np.unique(cut, return_inverse=True)[1].astype(np.int64)
        best = np.maximum(children, own)
    return number_by_size(cut)


def tabulate_levels(
    partitions: Partitions, supported: Sequence[NDArray[np.int64]], chosen: int
) -> pd.DataFrame:
    """List the levels that were chosen among (pocket_levels.csv)."""
    rows = [
        {
            "partition": partitions.kind,
            "level": position,
            "pockets": int(labels.max()) + 1,
            "supported": int(counts.sum()),
            "chosen": position == chosen,
            "description_length": partitions.description_length,
        }
        for position, (labels, counts) in enumerate(zip(partitions.levels, supported, strict=True))
    ]
    return pd.DataFrame(rows)


def choose_level(supported: Sequence[NDArray[np.int64]]) -> int:
    """Choose the level with most supported quantities; of equals the one of fewer pockets.

    Examples
    --------
    >>> choose_level([np.array([1, 0, 0]), np.array([1, 1]), np.array([1])])
    1
    """
    return min(range(len(supported)), key=lambda level: (-supported[level].sum(), len(supported[level])))
