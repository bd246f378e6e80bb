"""How are pockets found: a forest, its graph, blocks, a level; and beside it a map of straight lines.

Audit records are no argument of anything here but their number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import join_series
from auditbook.errors import InputError
from auditbook.pocket_settings import PARTITIONS, PocketSettings
from auditbook.pockets.block_model import fit_blocks, require_graph_tool
from auditbook.pockets.centres import fit_ridge_map
from auditbook.pockets.data import Contrast, PocketData
from auditbook.pockets.encoding import Encoding, fit_encoding
from auditbook.pockets.forest import Forest, grow_forest
from auditbook.pockets.frozen import FrozenMap
from auditbook.pockets.hierarchy import (
    Labels,
    Partitions,
    Projection,
    choose_level,
    count_supported,
    cut_tree,
    place_loose,
    project_calibration,
    tabulate_levels,
    tidy_partitions,
)
from auditbook.pockets.leiden import part_graph
from auditbook.pockets.neighbours import link_mutual
from auditbook.pockets.profiles import ForestRule, freeze_profiles
from auditbook.pockets.spectral import part_spectrum

Say = Callable[[str], None]


@dataclass(frozen=True)
class Discovered:
    """Two frozen maps, and what they were chosen among."""

    forest: FrozenMap  # Pockets F1, F2, ..., the largest first
    ridge: FrozenMap  # Pockets R1, R2, ..., the largest first
    # The levels chosen among: partition, level, pockets, supported, chosen, description_length
    levels: pd.DataFrame
    partitions: Partitions  # The levels as labels of the graph records
    # shape (n_graph,): Positions, among the discovery records, of those that formed the graph
    graph: NDArray[np.int64]
    forest_members: Labels  # shape (n_graph,): Forest pocket of each of them
    ridge_members: Labels  # shape (n_graph,): Ridge pocket of each of them


@dataclass(frozen=True)
class _Seen:
    """What the forest saw: the graph records, and where graph and calibration records go."""

    data: PocketData
    encoding: Encoding
    encoded: NDArray[np.float64]
    forest: Forest
    leaves: NDArray[np.int32]
    calibration: NDArray[np.int32]


def discover_maps(
    discovery: PocketData,
    *,
    graph: NDArray[np.integer],
    calibration: NDArray[np.integer],
    n_audit: int,
    contrasts: Sequence[Contrast],
    settings: PocketSettings,
    seed: int,
    jobs: int = 1,
    progress: Say = lambda text: None,
) -> Discovered:
    """Learn the forest map and the ridge map, and freeze them; one pocket is a valid map.

    Parameters
    ----------
    discovery : PocketData
        Graph and calibration records. Groups and predictions are read only where the level is chosen.
    graph, calibration : int arrays
        Positions of the two among them.
    n_audit : int
        Number of audit records.
    contrasts : sequence of Contrast
        Pairs of groups that the level is chosen for; none asks for all records of a pocket.
    settings, seed
        Constants, and the seed of everything.
    jobs : int
        Trees and fits side by side; they do not change the result.

    Raises
    ------
    InputError
        If the partition is unknown, needs graph-tool where there is none, or there are no records.
    """
    _check(settings, graph, calibration)
    seeds = [int(value) for value in np.random.SeedSequence(seed).generate_state(3)]
    graph = thin_graph(np.asarray(graph, dtype=np.int64), settings.graph_records)
    progress(f"growing {settings.trees} trees on {len(graph)} graph records")
    seen = _grow(discovery, graph, np.asarray(calibration), settings, seeds[0], jobs)
    partitions = _part(seen, settings, seeds[1], jobs, progress)
    projection = project_calibration(
        discovery.take(np.asarray(calibration)), n_audit=n_audit, contrasts=contrasts, settings=settings
    )
    partitions, supported = _support(partitions, seen, projection, settings)
    chosen = choose_level(supported) if partitions.kind != "tree_cut" else 0
    members = partitions.levels[chosen]
    levels = tabulate_levels(partitions, supported, chosen)
    progress(f"forest pockets: {members.max() + 1}; learning the ridge map")
    rule = _freeze(seen, members, settings)
    ridge = fit_ridge_map(
        seen.encoding,
        seen.encoded,
        seen.data.outcome,
        continuous=discovery.continuous,
        count=rule.n_pockets,
        fewest=settings.min_leaf,
        seed=seeds[2],
    )
    ridge_members = ridge.assign(seen.data.table).codes.astype(np.int64)
    provenance = _provenance(partitions, settings, seed, seen)
    return Discovered(
        _name_map("forest", rule, members, seen.data.outcome, provenance),
        _name_map("ridge", ridge, ridge_members, seen.data.outcome, {"seed": seed}),
        levels,
        partitions,
        graph,
        members,
        ridge_members,
    )


def _check(settings: PocketSettings, graph: NDArray[np.integer], calibration: NDArray[np.integer]) -> None:
    if settings.partition not in PARTITIONS:
        allowed = ", ".join(PARTITIONS)
        raise InputError(f"[pockets] partition: found {settings.partition!r}, allowed are {allowed}")
    if settings.partition in ("sbm", "tree_cut"):
        require_graph_tool()
    if len(graph) == 0 or len(calibration) == 0:
        raise InputError(
            f"pockets need graph and calibration records; found {len(graph)} and {len(calibration)}"
        )


def thin_graph(graph: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Take at most some of the graph records, evenly over their canonical order."""
    if len(graph) <= most:
        return graph
    return graph[np.arange(most) * len(graph) // most]


def _grow(
    discovery: PocketData,
    graph: NDArray[np.int64],
    calibration: NDArray[np.integer],
    settings: PocketSettings,
    seed: int,
    jobs: int,
) -> _Seen:
    """Grow the forest on the graph records."""
    data = discovery.take(graph)
    encoding = fit_encoding(data.table)
    encoded = encoding.encode(data.table)
    forest = grow_forest(
        encoded,
        data.outcome,
        trees=settings.trees,
        min_leaf=settings.min_leaf,
        candidates=settings.candidates_of(columns=encoded.shape[1]),
        seed=seed,
        jobs=jobs,
    )
    others = encoding.encode(discovery.table.iloc[calibration])
    return _Seen(data, encoding, encoded, forest, forest.find_leaves(encoded), forest.find_leaves(others))


def _part(seen: _Seen, settings: PocketSettings, seed: int, jobs: int, progress: Say) -> Partitions:
    """Part the graph records in the way that the settings name."""
    n, n_leaves, kind = len(seen.leaves), seen.forest.n_leaves, settings.partition
    if kind == "spectral":
        progress("parting the similarities by their spectrum")
        levels = part_spectrum(seen.leaves, n_leaves, seed=seed)
        return Partitions(kind, tidy_partitions(levels or [np.zeros(n, dtype=np.int64)]))
    progress("linking mutual neighbours")
    links = link_mutual(seen.leaves, n_leaves, neighbours=settings.neighbours)
    progress(f"parting a graph of {len(links)} links ({kind})")
    if len(links) == 0:
        return Partitions(kind, (np.zeros(n, dtype=np.int64),))
    if kind == "leiden":
        levels = tuple(
            place_loose(labels, seen.leaves, n_leaves=n_leaves, fewest=settings.min_leaf)
            for labels in part_graph(links, n, seed=seed)
        )
        return Partitions(kind, tidy_partitions(levels))
    fit = fit_blocks(links, n, start=settings.start, fits=settings.fits, seed=seed, jobs=jobs)
    return Partitions(kind, tidy_partitions(fit.levels), fit.description_length, fit.lengths)


def _support(
    partitions: Partitions, seen: _Seen, projection: Projection, settings: PocketSettings
) -> tuple[Partitions, list[NDArray[np.int64]]]:
    """Count what each level would support; the cut of the tree, where asked for, becomes the first level."""

    def count(labels: Labels) -> NDArray[np.int64]:
        rates = np.bincount(labels, weights=seen.data.outcome) / np.bincount(labels)
        rule = _freeze(seen, labels, settings)
        return count_supported(rule.assign_leaves(seen.calibration).codes, rates, projection)

    supported = [count(labels) for labels in partitions.levels]
    if partitions.kind != "tree_cut":
        return partitions, supported
    cut = cut_tree(partitions.levels, supported)
    levels = (cut, *partitions.levels)
    joined = Partitions(partitions.kind, levels, partitions.description_length, partitions.lengths)
    return joined, [count(cut), *supported]


def _freeze(seen: _Seen, labels: Labels, settings: PocketSettings) -> ForestRule:
    return freeze_profiles(
        seen.encoding,
        seen.forest,
        leaves=seen.leaves,
        labels=labels,
        calibration=seen.calibration,
        abstain=settings.abstain,
    )


def _name_map(
    name: str, rule: Any, members: Labels, outcome: NDArray[np.float64], provenance: dict[str, Any]
) -> FrozenMap:
    """Name the pockets by the map's initial, F or R, and a number."""
    sizes = np.bincount(members, minlength=rule.n_pockets)
    means = np.bincount(members, weights=outcome, minlength=rule.n_pockets) / np.maximum(sizes, 1)
    names = tuple(f"{name[0].upper()}{number}" for number in range(1, rule.n_pockets + 1))
    means = np.where(sizes > 0, means, np.nan)
    return FrozenMap(name, rule, names, sizes.astype(np.int64), means, provenance=provenance)


def _provenance(partitions: Partitions, settings: PocketSettings, seed: int, seen: _Seen) -> dict[str, Any]:
    """Say how the forest map came about, in plain values."""
    return {
        "partition": partitions.kind,
        "start": settings.start if partitions.lengths else "",
        "seed": seed,
        "graph_records": len(seen.leaves),
        "calibration_records": len(seen.calibration),
        "columns": [one.title for one in join_series([column.name for column in seen.encoding.columns])],
        "description_length": partitions.description_length if partitions.lengths else None,
        "description_lengths": list(partitions.lengths),
    }
