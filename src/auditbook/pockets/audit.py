"""Where does a model err, and for whom: from a cohort to the tables of the pocket audit, in one call."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from auditbook.cohort import Cohort, join_series, name_mapped, name_models
from auditbook.columns import empty_table, fill_table
from auditbook.errors import InputError
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.combining import choose_tolerances, combine_maps
from auditbook.pockets.composition import share_groups
from auditbook.pockets.discovery import Discovered, discover_maps
from auditbook.pockets.findings import holds_nearly_all
from auditbook.pockets.frozen import ABSTAIN, FrozenMap
from auditbook.pockets.naming import name_pockets
from auditbook.pockets.prepare import PocketWorld, build_world, describing_columns, map_columns, unit_kind
from auditbook.pockets.repair import repair_pockets
from auditbook.pockets.saving import digest_map
from auditbook.pockets.testing import MapAudit, audit_map

SHARE = 0.5
"""Part of the level that each of the two maps may use in the combined audit."""
TABLES = (
    *("pockets", "pocket_features", "pocket_errors", "pocket_summary"),
    *("pocket_groups", "pocket_levels", "pocket_repairs"),
)


@dataclass(frozen=True)
class PocketResults:
    """Everything that a pocket audit leaves behind."""

    # By the name of the result file; each is there, empty where nothing was audited
    tables: dict[str, pd.DataFrame]
    maps: tuple[FrozenMap, ...]  # The forest map and the ridge map; empty where nothing was audited
    # What run.json says: whether it was done, or why it was left out, with units, records and settings
    status: dict[str, Any]


def make_pockets(
    cohort: Cohort,
    *,
    settings: PocketSettings,
    seed: int,
    cache_dir: Path,
    jobs: int,
    force: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> PocketResults:
    """Learn maps from the discovery part of a cohort, freeze them, and test them on the audit part.

    A cohort that cannot be audited in pockets gets empty tables, and the reason.

    Parameters
    ----------
    settings : PocketSettings
        ``[pockets]`` with the profile's bounds in force.
    seed : int
        Seed of roles, training, discovery and draws.
    cohort, cache_dir, jobs, force, progress
        As for `score_cohort`.
    """
    if not settings.run:
        return leave_pockets_out()
    try:
        world = build_world(
            cohort,
            settings=settings,
            seed=seed,
            cache_dir=cache_dir,
            jobs=jobs,
            force=force,
            progress=progress,
        )
    except InputError as reason:
        return leave_pockets_out(str(reason))
    progress(f"pockets: learning maps from {len(world.roles.discovery):,} records")
    found = _discover(cohort, world, settings, seed=seed, jobs=jobs, progress=progress)
    return _test(cohort, world, found, settings, seed=seed, jobs=jobs, progress=progress)


def leave_pockets_out(
    reason: str = "the cohort file turns them off, by [pockets] run = false",
) -> PocketResults:
    """Make empty tables, with the reason."""
    tables = {name: empty_table(name) for name in TABLES}
    return PocketResults(tables, (), {"status": "left out", "reason": reason})


def _discover(
    cohort: Cohort,
    world: PocketWorld,
    settings: PocketSettings,
    *,
    seed: int,
    jobs: int,
    progress: Callable[[str], None],
) -> Discovered:
    """Learn both maps from the discovery records, and name their pockets."""
    roles = world.roles
    part = world.data.take(roles.discovery)
    graph, calibration = (np.searchsorted(roles.discovery, one) for one in (roles.graph, roles.calibration))
    found = discover_maps(
        part,
        graph=graph,
        calibration=calibration,
        n_audit=len(roles.audit),
        contrasts=[pair for pair in world.contrasts if pair.attribute in _choosing(world, settings)],
        settings=settings,
        seed=seed,
        jobs=jobs,
        progress=progress,
    )
    told = describing_columns(cohort, settings)
    beside = [name for name in told if name not in part.table]
    rows = cohort.table[beside].iloc[world.order[roles.discovery]].reset_index(drop=True)
    whole = pd.concat([part.table, rows], axis=1)
    members, seen = (whole.iloc[rows].reset_index(drop=True) for rows in (found.graph, calibration))

    def name(one: FrozenMap) -> FrozenMap:
        return name_pockets(one, members, one.assign(members).codes, calibration=seen, columns=told)

    return replace(found, forest=name(found.forest), ridge=name(found.ridge))


def _choosing(world: PocketWorld, settings: PocketSettings) -> set[str]:
    """Name the attributes whose comparisons choose the level of the forest map; none where errors do."""
    if settings.choice_for == "errors":
        return set()
    return set(settings.choice_attributes) or {pair.attribute for pair in world.contrasts}


def _test(
    cohort: Cohort,
    world: PocketWorld,
    found: Discovered,
    settings: PocketSettings,
    *,
    seed: int,
    jobs: int,
    progress: Callable[[str], None],
) -> PocketResults:
    """Test both frozen maps on the audit records and put the tables together."""
    audit = world.data.take(world.roles.audit)
    maps = (found.forest, found.ridge)
    progress(
        f"pockets to test: {sum(len(one.pockets) for one in maps)}, on {len(audit.outcome):,} audit records"
    )
    audits = tuple(
        audit_map(one, audit, contrasts=world.contrasts, settings=settings, seed=seed, jobs=jobs, share=SHARE)
        for one in maps
    )
    seen = world.data.outcome[world.roles.discovery]
    tolerances = choose_tolerances(settings, seen, continuous=cohort.continuous)
    tables = {
        "pockets": pd.concat([tabulate_pockets(*pair) for pair in zip(maps, audits, strict=True)]),
        "pocket_features": pd.concat([tabulate_features(one) for one in maps]),
        "pocket_errors": pd.concat([one.errors for one in audits]),
        "pocket_summary": combine_maps(audits, audit, contrasts=world.contrasts, tolerances=tolerances),
        "pocket_groups": pd.concat(
            [
                share_groups(one.pockets, done.assignment.codes, audit, map_name=one.name)
                for one, done in zip(maps, audits, strict=True)
            ]
        ),
        "pocket_levels": found.levels,
        "pocket_repairs": pd.concat(
            [repair_pockets(one, audit, settings=settings, seed=seed, jobs=jobs, share=SHARE) for one in maps]
        ),
    }
    tables = {name: table.reset_index(drop=True) for name, table in tables.items()}
    return PocketResults(
        tables, maps, _describe(cohort, world, maps, settings, tolerances, tables["pockets"])
    )


def tabulate_pockets(frozen: FrozenMap, audit: MapAudit) -> pd.DataFrame:
    """List the pockets of a map: a row each, with the columns of ``pockets.csv``."""
    n_pockets = len(frozen.pockets)
    codes = audit.assignment.codes
    blank = ("",) * n_pockets
    fidelity = frozen.fidelity if frozen.fidelity is not None else np.full((n_pockets, 2), np.nan)
    return fill_table(
        "pockets",
        {
            "map": frozen.name,
            "pocket": frozen.pockets,
            "name": frozen.titles or blank,
            "n_discovery": frozen.n_discovery,
            "n_audit": np.bincount(codes[codes != ABSTAIN], minlength=n_pockets),
            "event_rate": frozen.mean_outcome,
            "description": frozen.descriptions or blank,
            "fidelity_covered": fidelity[:, 0],
            "fidelity_members": fidelity[:, 1],
        },
    )


def tabulate_features(frozen: FrozenMap) -> pd.DataFrame:
    """List of what the names and descriptions of a map's pockets are made: ``pocket_features.csv``."""
    return fill_table("pocket_features", [{"map": frozen.name, **row} for row in frozen.features])


def _describe(
    cohort: Cohort,
    world: PocketWorld,
    maps: tuple[FrozenMap, ...],
    settings: PocketSettings,
    tolerances: tuple[float, ...],
    table: pd.DataFrame,
) -> dict[str, Any]:
    """Say what run.json keeps of a pocket audit; `table` is ``pockets.csv``."""
    pockets = table.groupby("map", sort=False)
    kind = unit_kind(cohort, settings)
    sites, continuous = kind == "site", cohort.continuous
    parts = {name: getattr(world.roles, name) for name in ("development", "graph", "calibration", "audit")}
    return {
        "status": "done",
        "partition": settings.partition,
        "unit_kind": kind,
        "continuous": continuous,
        "records": {name: len(part) for name, part in parts.items()},
        "units": {name: len(np.unique(world.data.unit[part])) for name, part in parts.items()},
        "columns": [one.title for one in join_series(map_columns(cohort, settings))],
        "n_columns": len(map_columns(cohort, settings)),
        "models": list(world.data.predictions),
        "trained": list(name_models(cohort.file, settings)),
        "mapped": list(name_mapped(cohort.file, settings)),
        "contrasts": [pair.name for pair in world.contrasts],
        "notes": list(world.notes),
        "whole_maps": [str(name) for name, part in pockets if holds_nearly_all(part["n_audit"])],
        "level": settings.level_of(continuous=continuous, sites=sites),
        "error_level": settings.error_level_of(continuous=continuous, sites=sites),
        "ratios": settings.ratios_of(continuous=continuous, unit_kind=kind),
        "tolerances": list(tolerances),
        "settings": asdict(settings),
        "maps": {
            one.name: {"pockets": len(one.pockets), "digest": digest_map(one), **dict(one.provenance)}
            for one in maps
        },
    }
