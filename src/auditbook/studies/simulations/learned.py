"""Which maps does a replicate compare, all learned from the same discovery records?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auditbook.pocket_settings import PocketSettings
from auditbook.pockets import (
    Contrast,
    ForestRule,
    FrozenMap,
    PocketData,
    choose_level,
    count_supported,
    discover_maps,
    freeze_profiles,
    link_mutual,
    part_graph,
    place_loose,
    project_calibration,
    tidy_partitions,
)
from auditbook.studies.simulations.clusters import cluster_records
from auditbook.studies.simulations.maps import name_map
from auditbook.studies.simulations.matching import LEAST, match_records, match_top, rank_features
from auditbook.studies.simulations.risk_bins import bin_risk
from auditbook.studies.simulations.worlds import Drawn

OURS = ("forest", "ridge")
"""Maps that the combined audit takes, each at half the level."""
GIVEN = "given"
"""Name of the model that the level is chosen with: the true risk."""


@dataclass(frozen=True)
class Discovery:
    """The discovery records of a replicate, and what is asked of the audit."""

    graph: PocketData  # With the true risk as a prediction
    calibration: PocketData  # The same
    n_audit: int  # Number of audit records
    contrasts: tuple[Contrast, ...]  # The focal and the reference group
    settings: PocketSettings  # Constants of the audit


def learn_maps(
    drawn: Drawn, contrasts: tuple[Contrast, ...], settings: PocketSettings, seed: int
) -> tuple[FrozenMap, ...]:
    """Learn every map that does not depend on the model that is assessed.

    Forest and ridge come from the same function as in a whole audit. Leiden parts the graph of the same
    forest; clusters and bins are as many as the forest map has pockets, and matching forms its own.
    """
    data = replace(drawn.discovery.data, predictions={GIVEN: drawn.discovery.risk})
    n_audit = len(drawn.audit.risk)
    graph, calibration = data.take(drawn.graph), data.take(drawn.calibration)
    given = Discovery(graph, calibration, n_audit, contrasts, settings)
    found = discover_maps(
        data,
        graph=drawn.graph,
        calibration=drawn.calibration,
        n_audit=n_audit,
        contrasts=contrasts,
        settings=settings,
        seed=seed,
    )
    return (found.forest, found.ridge, *learn_others(given, found.forest, seed))


def learn_others(given: Discovery, forest: FrozenMap, seed: int) -> tuple[FrozenMap, ...]:
    """Learn the groupings that are compared with ours, from the same graph records."""
    rule = forest.rule
    if not isinstance(rule, ForestRule):
        raise TypeError(f"the forest map has a rule of type {type(rule).__name__}")
    graph, encoding, count = given.graph, rule.encoding, len(forest.pockets)
    leaves = rule.forest.find_leaves(encoding.encode(graph.table))
    ranked = rank_features(rule.forest, leaves, graph.outcome)
    clusters = (
        cluster_records(
            graph, encoding, pockets=count, whiten=whiten, fewest=given.settings.min_leaf, seed=seed
        )
        for whiten in (False, True)
    )
    least = LEAST * given.settings.support_of(continuous=graph.continuous) * len(leaves) / given.n_audit
    return (
        part_leiden(given, rule, leaves, seed),
        *clusters,
        bin_risk(graph, encoding, rule.forest, leaves, pockets=count),
        match_records(graph, encoding, np.sort(ranked), bins=2, least=least, name="cem"),
        match_top(
            graph,
            given.calibration,
            encoding,
            ranked[:3],
            n_audit=given.n_audit,
            contrasts=given.contrasts,
            settings=given.settings,
        ),
    )


def part_leiden(given: Discovery, rule: ForestRule, leaves: NDArray[np.int32], seed: int) -> FrozenMap:
    """Part the graph of the forest map by Leiden, and choose the resolution as levels are chosen."""
    settings, n_leaves = given.settings, rule.forest.n_leaves
    links = link_mutual(leaves, n_leaves, neighbours=settings.neighbours)
    levels: Sequence[NDArray[np.int64]] = [
        place_loose(labels, leaves, n_leaves=n_leaves, fewest=settings.min_leaf)
        for labels in part_graph(links, len(leaves), seed=seed)
    ]
    calibration = rule.forest.find_leaves(rule.encoding.encode(given.calibration.table))
    projection = project_calibration(
        given.calibration, n_audit=given.n_audit, contrasts=given.contrasts, settings=settings
    )
    rules, supported = [], []
    for labels in tidy_partitions(levels):
        frozen = freeze_profiles(
            rule.encoding,
            rule.forest,
            leaves=leaves,
            labels=labels,
            calibration=calibration,
            abstain=settings.abstain,
        )
        rates = np.bincount(labels, given.graph.outcome) / np.bincount(labels)
        supported.append(count_supported(frozen.assign_leaves(calibration).codes, rates, projection))
        rules.append(frozen)
    return name_map("leiden", rules[choose_level(supported)], given.graph.table, given.graph.outcome)
