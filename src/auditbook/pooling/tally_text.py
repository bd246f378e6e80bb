"""How is the tally of one hospital written as text, and read back to the last digit?"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from auditbook.evidence import (
    N_BINS,
    BinnedScores,
    TalliedAttribute,
    TalliedModel,
    TalliedParts,
    TalliedUnits,
    Tally,
    list_edges,
    list_runs,
)
from auditbook.pooling.sparse import read_ints, write_ints

UNIT_ARRAYS = ("counts", "held", "largest", "benefits", "bins", "bin_held", "bin_largest")
FINE_ARRAYS = ("count", "score", "square")
N_RUNS = 64


def write_tally(tally: Tally) -> dict[str, Any]:
    """Write a tally; the edges of score bins are the same everywhere and are not written."""
    return {
        "rows": tally.rows,
        "models": [
            {"model": one.model, "kind": one.kind, "threshold": one.threshold} for one in tally.models
        ],
        "sites": list(tally.sites),
        "attributes": [_write_attribute(one) for one in tally.attributes],
    }


def _write_attribute(one: TalliedAttribute) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": one.name,
        "groups": list(one.groups),
        "reference": one.reference,
        "parts": [list(part) for part in one.parts],
        "by_site": _write_parts(one.sites),
        "bins": [None if fine is None else _write_fine(fine) for fine in one.fine],
    }
    if one.units is not None:
        arrays = {name: write_ints(getattr(one.units, name)) for name in UNIT_ARRAYS}
        bundles = {"bundles": len(one.units.keys), "by_bundle": _write_parts(one.units.bundles)}
        told["units"] = {"number": one.units.number, **arrays, **bundles}
    if one.patterns is not None:
        told["patterns"] = write_ints(one.patterns)
    return told


def _write_parts(parts: TalliedParts) -> dict[str, Any]:
    return {each.name: write_ints(getattr(parts, each.name)) for each in fields(TalliedParts)}


def _write_fine(fine: BinnedScores) -> dict[str, Any]:
    return {name: write_ints(getattr(fine, name)) for name in FINE_ARRAYS}


def read_tally(told: Mapping[str, Any]) -> Tally:
    """Read what `write_tally` wrote."""
    models = tuple(TalliedModel(one["model"], one["kind"], float(one["threshold"])) for one in told["models"])
    sites = tuple(told["sites"])
    attributes = tuple(_read_attribute(one, models, max(len(sites), 1)) for one in told["attributes"])
    return Tally(int(told["rows"]), models, sites, attributes)


def _read_attribute(
    told: Mapping[str, Any], models: tuple[TalliedModel, ...], n_sites: int
) -> TalliedAttribute:
    groups, n_models = tuple(told["groups"]), len(models)
    n_groups = len(groups)
    patterns = None
    if "patterns" in told:
        patterns = read_ints(told["patterns"], (n_groups, 2, 1 << n_models))
    return TalliedAttribute(
        told["name"],
        groups,
        told["reference"],
        tuple(tuple(part) for part in told["parts"]),
        _read_parts(told["by_site"], (n_models, n_sites, n_groups)),
        tuple(None if one is None else _read_fine(one, n_groups) for one in told["bins"]),
        _read_units(told["units"], n_models, n_groups) if "units" in told else None,
        patterns,
    )


def _read_parts(told: Mapping[str, Any], shape: tuple[int, int, int]) -> TalliedParts:
    """Read the counts and sums of parts, such as sites."""
    ends = {"counts": (4,), "benefit": (), "benefit_log": (), "steps": (2, N_RUNS)}
    found = {
        each.name: read_ints(told[each.name], (*shape, *ends.get(each.name, (N_BINS,))))
        for each in fields(TalliedParts)
    }
    return TalliedParts(**found)


def _read_fine(told: Mapping[str, Any], n_groups: int) -> BinnedScores:
    edges = list_edges()
    count, score, square = (read_ints(told[name], (n_groups, 2, len(edges) + 1)) for name in FINE_ARRAYS)
    return BinnedScores(edges, count, score, square, list_runs())


def _read_units(told: Mapping[str, Any], n_models: int, n_groups: int) -> TalliedUnits:
    wide = {"counts": 4 * n_groups, "benefits": 3 * n_groups}
    ends = {"held": (4,), "largest": (4,), "bins": (N_BINS + 1, 3, 3)}
    shapes = {
        name: (n_models, wide[name], wide[name])
        if name in wide
        else (n_models, n_groups, *ends.get(name, (N_BINS + 1,)))
        for name in UNIT_ARRAYS
    }
    arrays = {name: read_ints(told[name], shapes[name]) for name in UNIT_ARRAYS}
    count = int(told["bundles"])
    return TalliedUnits(
        number=int(told["number"]),
        **arrays,
        keys=np.arange(count, dtype=np.uint64),
        single=False,
        bundles=_read_parts(told["by_bundle"], (n_models, count, n_groups)),
    )
