"""What is a simulated world: how its records come about, where an error can be planted, and on whom."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.pocket_settings import UnitKind
from auditbook.pockets import PocketData
from auditbook.records import Attribute
from auditbook.studies.simulations.sizes import Sizes

Array = NDArray[np.float64]
Signs = NDArray[np.int8]

GROUPS = ("focal", "reference")
FOCAL = 0
"""Code of the focal group."""
SHIFTS = {True: {"smaller": 0.2, "larger": 0.4}, False: {"smaller": 0.05, "larger": 0.10}}
"""Planted errors, by whether the outcome is continuous (in its standard deviations) or binary."""

Question = Literal["gap", "error"]
Shift = Literal["none", "smaller", "larger"]


@dataclass(frozen=True)
class Plant:
    """An error that is planted in an otherwise right prediction."""

    # Whether it falls on the focal group alone, and gaps are audited, or on everyone, and mean errors are
    question: Question
    region: str = ""  # Where it falls; blank where nothing is planted
    shift: Shift = "none"  # How large it is

    @property
    def name(self) -> str:
        """The plant as tables and models are named."""
        return " ".join(part for part in (self.question, self.region, self.shift) if part)


@dataclass(frozen=True)
class Records:
    """Some records of a world, with what only a simulation knows."""

    data: PocketData  # Features, outcomes, units and groups; no predictions
    risk: Array  # shape (n,): Expected outcome given the features: what a model should predict
    # shape (n,): 1 where a planted error raises the prediction, -1 where it lowers it, 0 outside the region
    regions: Mapping[str, Signs]

    def take(self, positions: NDArray[np.integer]) -> "Records":
        """Return some of the records."""
        regions = {name: signs[positions] for name, signs in self.regions.items()}
        return Records(self.data.take(positions), self.risk[positions], regions)


@dataclass(frozen=True)
class Drawn:
    """One replicate of a world."""

    discovery: Records  # Graph and calibration records
    graph: NDArray[np.int64]  # Positions of graph records among them
    calibration: NDArray[np.int64]  # Positions of calibration records
    audit: Records  # What is audited


@dataclass(frozen=True)
class World:
    """A declared way in which records come about."""

    name: str  # Name in tables, and of the random numbers
    continuous: bool  # Whether the outcome is a number
    # Makes one replicate from a Generator, `Sizes`, and the folder of real tables (None without)
    draw: Callable[..., Drawn]
    plants: tuple[Plant, ...]  # What is planted, one at a time, in the same records
    real: str = ""  # File with real covariates that it needs; blank for none
    # Constants of the pocket audit that differ in it, by their name
    changes: tuple[tuple[str, Any], ...] = ()


def plan_plants(*, gaps: tuple[str, ...], errors: tuple[str, ...]) -> tuple[Plant, ...]:
    """List what is planted in a world: nothing, then gaps at the larger shift and errors at both."""
    sizes: tuple[Shift, ...] = ("smaller", "larger")
    found = [Plant("gap"), *(Plant("gap", region, "larger") for region in gaps)]
    return (*found, Plant("error"), *(Plant("error", region, size) for region in errors for size in sizes))


def plant_error(records: Records, plant: Plant) -> Array:
    r"""Predict the true risk with a planted error.

    A binary prediction is kept between 0 and 1. Where a region has halves of opposite sign, clipping takes
    more of the lowered half than of the raised one; the raised half is then shifted by no more than the
    lowered one on average, so that the errors still cancel.
    """
    if plant.shift == "none":
        return records.risk.copy()
    continuous = records.data.continuous
    size = SHIFTS[continuous][plant.shift]
    hit = affected(records, plant)
    if continuous:
        return np.asarray(records.risk + size * hit)
    lowered = np.where(hit < 0, np.minimum(records.risk, size), 0.0)
    raised = lowered.sum() / max(np.count_nonzero(hit > 0), 1) if (hit < 0).any() else size
    return np.clip(records.risk - lowered + np.where(hit > 0, raised, 0.0), 0.0, 1.0)


def affected(records: Records, plant: Plant) -> Signs:
    """Tell which records a planted error falls on."""
    if plant.shift == "none":
        return np.zeros(len(records.risk), np.int8)
    signs = records.regions[plant.region]
    if plant.question == "error":
        return signs
    return np.where(records.data.attributes[0].codes == FOCAL, signs, 0).astype(np.int8)


def make_records(
    table: pd.DataFrame,
    outcome: Array,
    risk: Array,
    *,
    focal: NDArray[np.bool_],
    regions: Mapping[str, Signs],
    continuous: bool,
    unit: NDArray[np.integer] | None = None,
    unit_kind: UnitKind = "record",
) -> Records:
    """Put the parts of some records together."""
    units = np.arange(len(outcome)) if unit is None else unit.astype(np.int64)
    group = Attribute("group", GROUPS, np.where(focal, FOCAL, 1), "reference")
    data = PocketData(table.reset_index(drop=True), outcome, continuous, units, unit_kind, (group,))
    return Records(data, risk, regions)


def split_roles(records: Records, sizes: Sizes) -> Drawn:
    """Divide independent records into graph, calibration and audit, in the order in which they were drawn."""
    learned = sizes.learned(continuous=records.data.continuous)
    graph = learned - round(sizes.calibration * learned)
    return Drawn(
        records.take(np.arange(learned)),
        np.arange(graph),
        np.arange(graph, learned),
        records.take(np.arange(learned, len(records.risk))),
    )


def mark_region(records: Records) -> Records:
    """Write each region into the table, for the map of the oracle; no other map has seen these columns."""
    columns = {oracle_column(name): signs % 3 for name, signs in records.regions.items()}
    table = records.data.table.assign(**columns)
    return replace(records, data=replace(records.data, table=table))


def oracle_column(region: str) -> str:
    """Name the column that holds a region."""
    return f"(region) {region}"
