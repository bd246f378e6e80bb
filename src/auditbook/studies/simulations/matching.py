"""Which grouping comes from coarsened exact matching: records that agree in every coarsened feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.pocket_settings import PocketSettings
from auditbook.pockets import (
    ABSTAIN,
    Assignment,
    Contrast,
    Encoding,
    Forest,
    FrozenMap,
    PocketData,
    count_supported,
    project_calibration,
)
from auditbook.studies.simulations.maps import cut_evenly, name_map

Array = NDArray[np.float64]

BINS = (2, 3, 4, 5, 6)
"""Bins a feature that matching on three features chooses among."""
LEAST = 0.5
"""Part of the support that a cell must be projected to hold; the others could not be tested anyway."""


@dataclass(frozen=True)
class MatchRule:
    """Sends a record to the cell of its coarsened features, and abstains in cells that are too small."""

    encoding: Encoding  # How a table is read
    features: NDArray[np.int64]  # shape (q,): Encoded columns that are matched on
    edges: tuple[Array, ...]  # Inner edges of each; a missing value is a bin of its own
    cells: NDArray[np.int64]  # shape (C,): Numbers of the cells that are pockets, increasing

    @property
    def n_pockets(self) -> int:
        """Number of pockets."""
        return len(self.cells)

    def assign(self, table: pd.DataFrame) -> Assignment:
        """Assign records from their features alone."""
        found = number_cells(self.encoding.encode(table)[:, self.features], self.edges)
        place = np.searchsorted(self.cells, found)
        known = np.append(self.cells, -1)[place] == found
        codes = np.where(known, place, ABSTAIN).astype(np.int32)
        return Assignment(codes, known.astype(np.float64), known.astype(np.float64))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything the rule consists of."""
        edges = {f"edges_{place}": each for place, each in enumerate(self.edges)}
        return {**self.encoding.arrays(), "features": self.features, "cells": self.cells, **edges}


def number_cells(values: Array, edges: Sequence[Array]) -> NDArray[np.int64]:
    """Find the number of the cell of coarsened features that each record belongs to."""
    number = np.zeros(len(values), np.int64)
    for column, inner in zip(values.T, edges, strict=True):
        bins = np.where(np.isnan(column), len(inner) + 1, np.searchsorted(inner, column, side="right"))
        number = number * (len(inner) + 2) + bins
    return number


def coarsen(values: Array, bins: int, *, category: bool) -> Array:
    """Find the edges of a coarsened feature."""
    present = values[~np.isnan(values)]
    if category or not len(present):
        return np.unique(present)[1:] - 0.5
    return cut_evenly(present, bins)


def match_records(
    graph: PocketData, encoding: Encoding, features: NDArray[np.int64], *, bins: int, least: float, name: str
) -> FrozenMap:
    """Match records on some coarsened features."""
    values = encoding.encode(graph.table)[:, features]
    is_category = [encoding.columns[place].kind == "category" for place in features]
    edges = tuple(
        coarsen(column, bins, category=each) for column, each in zip(values.T, is_category, strict=True)
    )
    cells, counts = np.unique(number_cells(values, edges), return_counts=True)
    rule = MatchRule(encoding, features, edges, cells[counts >= least].astype(np.int64))
    return name_map(name, rule, graph.table, graph.outcome, bins=bins)


def match_top(
    graph: PocketData,
    calibration: PocketData,
    encoding: Encoding,
    features: NDArray[np.int64],
    *,
    n_audit: int,
    contrasts: Sequence[Contrast],
    settings: PocketSettings,
) -> FrozenMap:
    """Match on few features, as finely as brings most pockets that are projected to have support.

    The number of bins is chosen like the level of the forest map, on discovery records alone.
    """
    projection = project_calibration(calibration, n_audit=n_audit, contrasts=contrasts, settings=settings)
    least = LEAST * settings.support_of(continuous=graph.continuous) * len(graph.outcome) / n_audit
    best, most = None, -1
    for bins in BINS:
        found = match_records(graph, encoding, features, bins=bins, least=least, name="cem top 3")
        supported = count_supported(
            found.assign(calibration.table).codes, np.nan_to_num(found.mean_outcome), projection
        ).sum()
        if best is None or supported > most:
            best, most = found, supported
    if best is None:
        raise ValueError("no number of bins to choose among")
    return best


def rank_features(forest: Forest, leaves: NDArray[np.int32], outcome: Array) -> NDArray[np.int64]:
    r"""Rank features by how much of the outcome's variation the forest's splits on them explain.

    .. math:: \sum_{\text{nodes on } j} n_l \bar y_l^2 + n_r \bar y_r^2 - n \bar y^2
    """
    flat = leaves.ravel()
    is_leaf = forest.left < 0
    counts, sums = np.zeros((2, len(forest.left)))
    counts[is_leaf] = np.bincount(flat, minlength=forest.n_leaves)
    weights = np.repeat(outcome - outcome.mean(), leaves.shape[1])
    sums[is_leaf] = np.bincount(flat, weights, minlength=forest.n_leaves)
    start = np.repeat(forest.first[:-1], np.diff(forest.first))
    left, right = forest.left + start, forest.right + start
    for node in np.flatnonzero(~is_leaf)[::-1]:  # children stand behind their parents
        counts[node] = counts[left[node]] + counts[right[node]]
        sums[node] = sums[left[node]] + sums[right[node]]
    fit = sums**2 / np.maximum(counts, 1)
    inner = np.flatnonzero(~is_leaf)
    gain = fit[left[inner]] + fit[right[inner]] - fit[inner]
    total = np.bincount(forest.feature[inner], gain, minlength=forest.n_features)
    return np.argsort(-total, kind="stable").astype(np.int64)
