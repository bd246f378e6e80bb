"""What is one replicate: new records, new maps, and every planted error audited on all of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from auditbook.evidence import open_stream
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets import COMBINED, Contrast, FrozenMap, declare_contrasts
from auditbook.studies.simulations.fixed_map import fix_map
from auditbook.studies.simulations.judged import COUNTS, Verdict, describe_verdicts, judge_map
from auditbook.studies.simulations.learned import OURS, learn_maps
from auditbook.studies.simulations.risk_bins import bin_errors
from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.worlds import Drawn, Plant, World, mark_region, oracle_column, plant_error

KEYS = ["world", "replicate", "seed", "audit", "question", "region", "shift", "method"]
COLUMNS = [*KEYS, *COUNTS, "pockets", "tested", "flagged", "overall", "covered"]
METHODS = (
    "forest",
    "leiden",
    "ridge",
    COMBINED,
    "k-means",
    "mahalanobis",
    "risk bins",
    "cem",
    "cem top 3",
    "targeted",
    "targeted plain",
    "oracle",
)
"""Ours, the alternatives, and the oracle, which is told the region and competes with nobody."""
OWN = METHODS[:4]
"""Groupings learned from the outcome, and the audit of forest and ridge map together."""
ORACLE_POCKETS = 3
"""Outside the region, where the error raises predictions, and where it lowers them."""


def run_replicate(
    world: World, *, replicate: int, seed: int, sizes: Sizes, folder: Path | None = None
) -> pd.DataFrame:
    """Run one replicate of a world; the same arguments give the same rows, wherever they are run."""

    def draw(*part: str) -> Drawn:
        return world.draw(open_stream(seed, world.name, str(replicate), "records", *part), sizes, folder)

    def pick(*part: str) -> int:
        return int(open_stream(seed, world.name, str(replicate), *part).integers(2**31))

    drawn = draw()
    contrasts = declare_contrasts(drawn.audit.data.attributes)
    settings = _settle(world, sizes)
    with threadpool_limits(1):  # sums in one order, whatever the number of processors
        maps = learn_maps(drawn, contrasts, settings, pick("maps"))
        rows = list(_audit_all(maps, drawn, world, sizes, pick("maps"), pick("bootstrap")))
        quiet = tuple(plant for plant in world.plants if plant.shift == "none")
        for audit in range(1, sizes.quiet_audits if quiet else 1):
            again = draw("audit", str(audit))
            seen = [each for each in maps if each.name in OWN]
            given = _judge_maps(seen, again, quiet, contrasts, settings, pick("bootstrap", str(audit)))
            rows += [row | {"audit": audit} for row in _describe_all(given, again, quiet)]
    found = pd.DataFrame(rows).assign(world=world.name, replicate=replicate, seed=seed)
    return found[COLUMNS]


def _settle(world: World, sizes: Sizes) -> PocketSettings:
    """Find the constants of the audit: those of the sizes, and what a world changes of them."""
    return replace(sizes.pockets(continuous=world.continuous), **dict(world.changes))


def _audit_all(
    maps: Sequence[FrozenMap], drawn: Drawn, world: World, sizes: Sizes, learn: int, test: int
) -> Iterator[dict[str, Any]]:
    """Test each map, and those that belong to one plant, and score them for every plant."""
    contrasts = declare_contrasts(drawn.audit.data.attributes)
    settings = _settle(world, sizes)
    given = _judge_maps(maps, drawn, world.plants, contrasts, settings, test)
    own = _learn_own(drawn, world.plants, sizes, len(maps[0].pockets), learn)
    for method in ("targeted", "targeted plain", "oracle"):
        given[method] = {}
    for (method, plant), frozen in own.items():
        given[method] |= _judge(frozen, drawn, (plant,), contrasts, settings, test)
    yield from _describe_all(given, drawn, world.plants)


def _judge_maps(
    maps: Sequence[FrozenMap],
    drawn: Drawn,
    plants: tuple[Plant, ...],
    contrasts: tuple[Contrast, ...],
    settings: PocketSettings,
    seed: int,
) -> dict[str, dict[Plant, Verdict]]:
    """Test maps for every plant, by the name of the map."""
    return {each.name: _judge(each, drawn, plants, contrasts, settings, seed) for each in maps}


def _judge(
    frozen: FrozenMap,
    drawn: Drawn,
    plants: tuple[Plant, ...],
    contrasts: tuple[Contrast, ...],
    settings: PocketSettings,
    seed: int,
) -> dict[Plant, Verdict]:
    audit = mark_region(drawn.audit) if frozen.name == "oracle" else drawn.audit
    return judge_map(frozen, audit, plants, contrasts=contrasts, settings=settings, seed=seed)


def _learn_own(
    drawn: Drawn, plants: tuple[Plant, ...], sizes: Sizes, pockets: int, seed: int
) -> dict[tuple[str, Plant], FrozenMap]:
    """Make the maps that belong to one plant alone: learned from its errors, or told its region."""
    found = {}
    for plant in plants:
        for plain in (False, True)[: 1 + drawn.discovery.data.continuous]:
            learned = bin_errors(
                drawn.discovery.data,
                plant_error(drawn.discovery, plant),
                plant.question,
                pockets=pockets,
                sizes=sizes,
                seed=seed,
                plain=plain,
            )
            found[learned.name, plant] = learned
        if plant.region:
            column = oracle_column(plant.region)
            found["oracle", plant] = fix_map(ORACLE_POCKETS, name="oracle", column=column)
    return found


def _describe_all(
    given: Mapping[str, Mapping[Plant, Verdict]], drawn: Drawn, plants: Sequence[Plant]
) -> Iterator[dict[str, Any]]:
    """Score every method that was tested, for every plant."""
    for plant in plants:
        for method in METHODS:
            yield from _describe(given, drawn, plant, method)


def _describe(
    given: Mapping[str, Mapping[Plant, Verdict]], drawn: Drawn, plant: Plant, method: str
) -> Iterator[dict[str, Any]]:
    """Score one method for one plant; there is no oracle where nothing is planted."""
    names = OURS if method == COMBINED else (method,)
    verdicts = [given[name][plant] for name in names if plant in given.get(name, {})]
    if verdicts:
        row = describe_verdicts(verdicts, drawn.audit, plant, half=method == COMBINED)
        own = {
            "audit": 0,
            "question": plant.question,
            "region": plant.region,
            "shift": plant.shift,
            "method": method,
        }
        yield own | {
            name: value if isinstance(value, str) else int(np.int64(value)) for name, value in row.items()
        }
