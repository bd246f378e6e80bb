"""What of a tally may leave a hospital at all, whether or not small counts are withheld?"""

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import TalliedAttribute, TalliedModel, TalliedParts, TalliedUnits, Tally

TOGETHER = 10
"""Units whose sums stand as one: no sum of a counts file is that of one patient."""


def bare_tally(tally: Tally) -> Tally:
    """Take out of a tally what is somebody's own.

    Bundles of fewer than ten units are joined and numbered anew, since the keys of units are made from their
    names. A score that only orders records keeps its decisions: its bins would be cut at people's own scores.
    """
    kept = [one.kind == "probability" for one in tally.models]
    attributes = tuple(_bare_attribute(one, kept) for one in tally.attributes)
    models = tuple(replace(one, kind="decision") if one.kind == "rank" else one for one in tally.models)
    return replace(tally, models=models, attributes=attributes)


def drop_scores(tally: Tally) -> Tally:
    """Keep decisions only: no score bins, no units, no joint decisions of models."""
    models = tuple(TalliedModel(one.model, "decision", one.threshold) for one in tally.models)
    kept = [False] * len(models)
    attributes = tuple(
        replace(_bare_attribute(one, kept), units=None, patterns=None) for one in tally.attributes
    )
    return replace(tally, models=models, attributes=attributes)


def _bare_attribute(one: TalliedAttribute, kept: list[bool]) -> TalliedAttribute:
    fine = tuple(bins if keep else None for bins, keep in zip(one.fine, kept, strict=True))
    units = None if one.units is None else _join_units(one.units, kept)
    return replace(one, sites=_blank_scores(one.sites, kept), fine=fine, units=units)


def _blank_scores(parts: TalliedParts, kept: list[bool]) -> TalliedParts:
    """Leave the score sums of some models out; decisions have none."""
    blank = {}
    for each in fields(TalliedParts):
        array = getattr(parts, each.name)
        keep = np.array(kept).reshape(-1, *(1,) * (array.ndim - 1)) | (each.name == "counts")
        blank[each.name] = np.where(keep, array, 0)
    return TalliedParts(**blank)


def _join_units(units: TalliedUnits, kept: list[bool]) -> TalliedUnits:
    """Join bundles until ten units or more stand together."""
    count = max(1, min(len(units.keys), units.number // TOGETHER))
    place = np.arange(len(units.keys)) * count // max(len(units.keys), 1)
    bundles = _blank_scores(TalliedParts(**_add_bundles(units.bundles, place, count)), kept)
    return replace(units, keys=np.arange(count, dtype=np.uint64), single=False, bundles=bundles)


def _add_bundles(parts: TalliedParts, place: NDArray[np.intp], count: int) -> dict[str, NDArray[np.int64]]:
    joined = {}
    for each in fields(TalliedParts):
        array = np.moveaxis(getattr(parts, each.name), 1, 0)
        total = np.zeros((count, *array.shape[1:]), np.int64)
        np.add.at(total, place, array)
        joined[each.name] = np.moveaxis(total, 0, 1)
    return joined
