r"""Records of worlds that are chosen to break the testing step: skewed errors, few units of unequal size.

Predictions are right, but for those of the first pocket where an error is planted.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from auditbook.pockets import PocketData
from auditbook.records import Attribute
from auditbook.studies.simulations.null_worlds import SLOPE, average_risk, find_intercept

Array = NDArray[np.float64]
Errors = Literal["normal", "lognormal", "spike", "jump"]

RECORDS, SPREAD = 7_500, 0.8
"""Records of an audit with units, and the spread of the log sizes of these."""
NOTHING, JUMP, RARE = 0.8, 10.0, 0.05
"""Share of zeros beside a lognormal; size of a jump in units of the scatter's fifth, and how rare it is."""


@dataclass(frozen=True)
class HardWorld:
    """One way to make the testing step err."""

    name: str
    pockets: int = 5
    each: int = 50  # Records of a pocket; not used with units
    errors: Errors = "normal"  # Of records without units
    spread: float = 1.0  # Of a lognormal, on the log scale
    units: int = 0  # Of very unequal size; 0 where each record is one
    continuous: bool = True
    effect: float = 0.0  # Spread of the units' effects
    skewed: bool = False  # Whether these are lognormal
    shift: float = 0.0  # Error planted in the first pocket
    groups: bool = False  # Whether a third of each pocket is held against the others


WORLDS = (
    HardWorld("normal"),
    HardWorld("lognormal", errors="lognormal"),
    HardWorld("lognormal, 20 pockets", pockets=20, errors="lognormal"),
    HardWorld("lognormal, gaps", each=150, errors="lognormal", groups=True),
    HardWorld("many zeros", errors="spike"),
    HardWorld("rare jump", errors="jump"),
    HardWorld("18 sites", units=18, continuous=False, groups=True),
    HardWorld("18 sites, SD 1", units=18, continuous=False, effect=1.0),
    HardWorld("45 sites, SD 1", units=45, continuous=False, effect=1.0, groups=True),
    HardWorld("18 sites, skewed number", units=18, effect=0.3, skewed=True),
    HardWorld("normal, planted", shift=0.75),
    HardWorld("lognormal, planted", errors="lognormal", each=200, shift=0.75),
    HardWorld("30 sites, planted", units=30, continuous=False, effect=0.5, shift=0.06),
    HardWorld("150 sites, planted", units=150, continuous=False, effect=0.5, shift=0.06),
)
"""Worlds in the order of their seeds."""


def draw_world(world: HardWorld, rng: np.random.Generator) -> PocketData:
    """Draw an audit of a world."""
    pocket, unit, outcome, prediction = (_draw_units if world.units else _draw_records)(world, rng)
    n = len(pocket)
    codes = (np.arange(n) % 3 > 0).astype(np.int64)
    moved = prediction + np.where(pocket == 0, world.shift, 0.0)
    return PocketData(
        pd.DataFrame({"pocket": pocket}),
        outcome,
        world.continuous,
        unit,
        "site" if world.units else "record",
        (Attribute("group", ("focal", "reference"), codes, "reference"),) if world.groups else (),
        {"model": moved},
    )


def draw_errors(kind: Errors, spread: float, n: int, rng: np.random.Generator) -> Array:
    r"""Draw outcomes about zero: of mean 0, with a long tail to the right but where they are normal.

    .. math:: e^{\sigma Z} - e^{\sigma^2 / 2}; \quad \text{the same with 80 \% zeros}; \quad
              \tfrac{1}{5} Z + 10 \big(1[U < 0.05] - 0.05\big)
    """
    noise = rng.standard_normal(n)
    if kind == "normal":
        return noise
    if kind == "jump":
        return noise / 5 + JUMP * ((rng.random(n) < RARE) - RARE)
    tail, mean = np.exp(spread * noise), float(np.exp(spread**2 / 2))
    if kind == "lognormal":
        return tail - mean
    return np.where(rng.random(n) < NOTHING, 0.0, tail) - (1 - NOTHING) * mean


_Drawn = tuple[NDArray[np.int64], NDArray[np.int64], Array, Array]


def _draw_records(world: HardWorld, rng: np.random.Generator) -> _Drawn:
    """Draw as many records in each pocket: their pockets, units, outcomes and predictions."""
    pocket = np.repeat(np.arange(world.pockets), world.each)
    n = len(pocket)
    return pocket, np.arange(n), draw_errors(world.errors, world.spread, n, rng), np.zeros(n)


def _draw_units(world: HardWorld, rng: np.random.Generator) -> _Drawn:
    """Draw records of units of very unequal size: their pockets, units, outcomes and predictions."""
    feature = rng.standard_normal(RECORDS)
    pocket = np.floor(world.pockets * norm.cdf(feature)).astype(np.int64)
    sizes = np.exp(SPREAD * rng.standard_normal(world.units))
    unit = np.sort(rng.choice(world.units, RECORDS, p=sizes / sizes.sum()))
    kind: Errors = "lognormal" if world.skewed else "normal"
    effect = world.effect * draw_errors(kind, 1.0, world.units, rng)[unit]
    if world.continuous:
        return pocket, unit, effect + rng.standard_normal(RECORDS), np.zeros(RECORDS)
    linear = find_intercept(world.effect) + SLOPE * feature
    outcome = (rng.random(RECORDS) < expit(linear + effect)).astype(np.float64)
    return pocket, unit, outcome, average_risk(linear, world.effect)
