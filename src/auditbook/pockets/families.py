"""Which quantities are judged together, and which of them have the support to be tested?

Everything here is decided before an audit outcome is read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError, nearest
from auditbook.evidence import Shortfall
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.cell_support import Cell, list_shortfalls, split_cells
from auditbook.pockets.data import Contrast, PocketData
from auditbook.pockets.frozen import ABSTAIN

QuantityKind = Literal["mu", "delta", "paired"]

OVERALL = "overall"
"""Name of the comparison of all records, those that a map abstains on included."""


@dataclass(frozen=True)
class Quantity:
    """A mean error or a gap."""

    pocket: str  # Name, or "overall"
    contrast: Contrast | None  # The groups of a gap
    cells: tuple[Cell, ...]  # The pocket's records, or those of the focal and of the reference group
    shortfalls: tuple[Shortfall, ...] = ()  # Why it is not tested; none when it is


@dataclass(frozen=True)
class Family:
    """Quantities of one map whose intervals hold together."""

    model: str  # The model, and in a paired gap the one that it is compared with, else blank
    other: str
    kind: QuantityKind  # Mean errors, gaps between groups, or how two models differ in them
    quantities: tuple[Quantity, ...]  # The overall first


def list_families(
    pockets: Sequence[str],
    codes: NDArray[np.integer],
    audit: PocketData,
    *,
    contrasts: Sequence[Contrast],
    settings: PocketSettings,
) -> Iterator[Family]:
    """List all families of one map: model by model, mean errors first, then the gaps of each attribute.

    Each quantity holds what it lacks to be tested; outcomes are not read.
    """
    unit = np.unique(audit.unit, return_inverse=True)[1]
    errors = list_errors(pockets, codes, unit)
    gaps = list_gaps(pockets, codes, unit, audit, contrasts)
    for model in audit.predictions:
        yield Family(model, "", "mu", _look_at_all(errors, (model,), audit, settings))
        for attribute in gaps:
            yield Family(model, "", "delta", _look_at_all(attribute, (model,), audit, settings))
    for model, other in read_pairs(settings.paired, tuple(audit.predictions)):
        for attribute in gaps:
            yield Family(model, other, "paired", _look_at_all(attribute, (model, other), audit, settings))


def list_errors(
    pockets: Sequence[str], codes: NDArray[np.integer], unit: NDArray[np.integer]
) -> tuple[Quantity, ...]:
    """List the mean errors: overall, and in each pocket."""
    everyone = split_cells(np.zeros(len(codes), np.int64), 1, unit)
    cells = everyone + split_cells(codes, len(pockets), unit)
    return tuple(Quantity(name, None, (cell,)) for name, cell in zip((OVERALL, *pockets), cells, strict=True))


def list_gaps(
    pockets: Sequence[str],
    codes: NDArray[np.integer],
    unit: NDArray[np.integer],
    audit: PocketData,
    contrasts: Sequence[Contrast],
) -> list[tuple[Quantity, ...]]:
    """List the gaps of each attribute: for each pair of groups, overall and in each pocket."""
    names = (OVERALL, *pockets)
    found = []
    for attribute in audit.attributes:
        pairs = [pair for pair in contrasts if pair.attribute == attribute.name]
        groups = len(attribute.groups)
        inside = np.where(codes == ABSTAIN, ABSTAIN, codes.astype(np.int64) * groups + attribute.codes)
        cells = split_cells(attribute.codes, groups, unit)
        cells += split_cells(inside, len(pockets) * groups, unit)
        if pairs:
            found.append(
                tuple(
                    Quantity(name, pair, tuple(cells[groups * place + code] for code in _sides(pair)))
                    for pair in pairs
                    for place, name in enumerate(names)
                )
            )
    return found


def _sides(pair: Contrast) -> tuple[int, int]:
    """Return the focal and the reference group's code."""
    return pair.focal_code, pair.reference_code


def read_pairs(paired: Sequence[str], models: Sequence[str]) -> list[tuple[str, str]]:
    """Find the models that names like "one - other" stand for."""
    known = {f"{one} - {other}": (one, other) for one, other in permutations(models, 2)}
    faults = [
        f'[pockets] paired: "{name}" is not two of the audited models ({", ".join(models)}) '
        f'written as "one - other"{nearest(name, known)}'
        for name in paired
        if name not in known
    ]
    if faults:
        raise InputError(*faults)
    return [known[name] for name in paired]


def _look_at_all(
    quantities: Sequence[Quantity], models: Sequence[str], audit: PocketData, settings: PocketSettings
) -> tuple[Quantity, ...]:
    """Look at the support of some quantities for one model or a pair of them."""
    predictions = [audit.predictions[name] for name in models]
    return tuple(
        replace(item, shortfalls=_look_at(item, predictions, audit, settings)) for item in quantities
    )


def _look_at(
    item: Quantity, predictions: Sequence[NDArray[np.float64]], audit: PocketData, settings: PocketSettings
) -> tuple[Shortfall, ...]:
    """List what the cells of a quantity lack."""
    groups = (item.contrast.focal, item.contrast.reference) if item.contrast else ("",)
    return tuple(
        short
        for cell, group in zip(item.cells, groups, strict=True)
        for short in list_shortfalls(
            cell,
            predictions,
            continuous=audit.continuous,
            unit_kind=audit.unit_kind,
            settings=settings,
            group=group,
        )
    )
