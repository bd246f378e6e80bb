r"""Which worlds are drawn from formulas: twelve numeric features, and what the risk makes of them.

Of the features x1 to x12, which are standard normal, x1 and x2 stand alone, x3 to x6 share a factor
(correlation 0.5), and x7 to x12 stand alone and mean nothing. The risk rises with

.. math:: \eta = x_1 + 0.6\, x_2 + 0.5\, x_3 + 0.4\, x_4 + 0.3\, x_5 ,

or, with a U-shaped term, with (x2 squared - 1)/sqrt(2) in the place of 0.6 x2. A continuous outcome has
standard deviation 1, half of its variance explained. A binary one has the log-odds of a spread of 1 around a
level at which 8 % have the event. A quarter is focal, a little more often at high x7, which means nothing.
Names of regions: "x1" is the upper fifth of x1; "tails" the outer fifth of x2, both sides, and "tail" the
upper fifth alone; "irrelevant" the upper fifth of x12; "masked" the outer fifth of x1, with opposite errors
in its two tails; "halves" the upper fifth of x1, with opposite errors on either side of the middle of x2.
The published code was not used; shapes, sizes and coefficients are ours.
"""

from functools import cache, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm

from auditbook.studies.simulations.null_worlds import average_risk
from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.worlds import (
    Array,
    Drawn,
    Signs,
    World,
    make_records,
    plan_plants,
    split_roles,
)

FEATURES, SHARED = 12, slice(2, 6)
SLOPES = np.array([1.0, 0.6, 0.5, 0.4, 0.3])
BEND = 1.0
"""Coefficient of the U-shaped term, which matters as much as x1."""
CATEGORIES = {
    "kind": (-0.3, 0.45, -0.15),
    "place": (0.3, -0.4, 0.2, -0.1),
    "code": (0.25, -0.35, 0.1, 0.3, -0.3, 0.0),
}
"""Effects of the levels, which are equally common and in no order."""
EXPLAINED, EVENTS, SHARE, TILT = 0.5, 0.08, 0.25, 0.3
"""Variance explained; events; focal share; slope of the focal log-odds on x7."""
MISSING = 0.15
"""Share of the numeric cells that are missing, at random."""
UNIT_SD, UNIT_SPREAD = 0.5, 0.8
"""Spread of unit effects on the logit scale, and log-scale spread of the sizes of units."""
STEEP = 1.0
"""Slope of the focal log-odds on the standardised risk, where the focal group is common at high risk."""
FIFTH, TENTH = norm.ppf(0.8), norm.ppf(0.9)
REFERENCE_DRAWS = 40_000
"""Records, of a seed of their own, from which levels are fixed once for all replicates."""


def draw_features(n: int, rng: np.random.Generator) -> Array:
    """Draw the numeric features, shape (n, 12)."""
    values = rng.standard_normal((n, FEATURES))
    values[:, SHARED] = np.sqrt(0.5) * (values[:, SHARED] + rng.standard_normal((n, 1)))
    return values


def flag_features(values: Array) -> Array:
    """Turn x1 and x12 into a yes of the upper fifth or a no, of mean 0 and standard deviation 1."""
    found = values.copy()
    for place in (0, FEATURES - 1):
        found[:, place] = np.where(values[:, place] > FIFTH, 2.0, -0.5)
    return found


def sum_effects(values: Array, *, bent: bool, slopes: Array = SLOPES) -> Array:
    """Sum what the numeric features do, shape (n,): linear, or with a U-shaped term of x2."""
    total = values[:, :5] @ slopes
    if bent:
        total += BEND * (values[:, 1] ** 2 - 1) / np.sqrt(2) - slopes[1] * values[:, 1]
    return np.asarray(total)


def spread_effects(*, bent: bool, categories: bool, slopes: Array = SLOPES) -> float:
    """Find the standard deviation of what the features do."""
    variance = 0.5 * np.sum(slopes[2:] ** 2) + 0.5 * slopes[2:].sum() ** 2
    variance += slopes[0] ** 2 + (BEND**2 if bent else slopes[1] ** 2)
    if categories:
        variance += sum(np.mean(np.square(effects)) for effects in CATEGORIES.values())
    return float(np.sqrt(variance))


def mark_regions(values: Array, *, continuous: bool) -> dict[str, Signs]:
    """Mark every region that these features have; see the module for their names.

    A rare event leaves little risk to take away where x1 is low, so that the masked error lowers a binary
    prediction where x1 is high, and a continuous one where it is low.
    """
    x1, x2 = values[:, 0], values[:, 1]
    masked = np.where(np.abs(x1) > TENTH, np.sign(x1), 0) * (1 if continuous else -1)
    found = {
        "x1": x1 > FIFTH,
        "tails": np.abs(x2) > TENTH,
        "tail": x2 > FIFTH,
        "irrelevant": values[:, 11] > FIFTH,
        "masked": masked,
        "halves": np.where(x1 > FIFTH, np.where(x2 > 0, 1, -1), 0),
    }
    return {name: np.asarray(signs, np.int8) for name, signs in found.items()}


def rescale(values: Array) -> Array:
    """Write the features as they might be recorded: in many units, some skewed; order is kept."""
    found = values.copy()
    found[:, 0] = 60 + 15 * values[:, 0]
    found[:, 1] = 120 + 20 * values[:, 1]
    found[:, 2] = np.exp(0.6 * values[:, 2])
    found[:, 3] = 1_000 * np.exp(values[:, 3])
    found[:, 4] = values[:, 4] ** 3
    found[:, 6] = np.exp(values[:, 6])
    found[:, 7] = 0.01 * values[:, 7]
    found[:, 8] = 5_000 * values[:, 8]
    found[:, 10] = np.exp(0.6 * values[:, 10])
    return found


def name_features(values: Array) -> pd.DataFrame:
    """Make a table of the numeric features."""
    return pd.DataFrame(values, columns=[f"x{place + 1}" for place in range(values.shape[1])])


def draw_focal(values: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw the focal group, whose share hardly depends on the features."""
    return np.asarray(rng.random(len(values)) < expit(logit(SHARE) + TILT * values[:, 6]))


def draw_continuous(
    rng: np.random.Generator,
    sizes: Sizes,
    _folder: object = None,
    *,
    bent: bool = False,
    scales: bool = False,
    categories: bool = False,
    missing: bool = False,
    slopes: Array = SLOPES,
    explained: float = EXPLAINED,
) -> Drawn:
    r"""Draw a world with a continuous outcome.

    Model: :math:`y = \sqrt{0.5}\,(\eta / \mathrm{sd}(\eta) + \varepsilon)` with standard normal noise,
    where half of the variance is explained.
    Planted truth: a shift of the prediction in a region. Expected difficulty: easy for anything that follows
    the risk where x1 is linear; hard for linear groupings and risk bins where the region lies in both tails
    of a U-shaped term; impossible for groupings learned from the outcome where the region lies on x12.
    """
    n = sizes.learned(continuous=True) + sizes.audited(continuous=True)
    values = draw_features(n, rng)
    effects = sum_effects(values, bent=bent, slopes=slopes)
    shown = rescale(values) if scales else values.copy()
    if missing:
        shown[rng.random(shown.shape) < MISSING] = np.nan
    table = name_features(shown)
    if categories:
        for name, levels in CATEGORIES.items():
            codes = rng.integers(0, len(levels), n)
            effects = effects + np.array(levels)[codes]
            table[name] = np.array(list("abcdef"))[codes]
    risk = np.sqrt(explained) * effects / spread_effects(bent=bent, categories=categories, slopes=slopes)
    outcome = risk + np.sqrt(1 - explained) * rng.standard_normal(n)
    return split_roles(
        make_records(
            table,
            outcome,
            risk,
            focal=draw_focal(values, rng),
            regions=mark_regions(values, continuous=True),
            continuous=True,
        ),
        sizes,
    )


@cache
def _reference_effects(bent: bool, flags: bool) -> Array:
    """Draw the standardised effects of records that only fix levels; not to be changed."""
    values = draw_features(REFERENCE_DRAWS, np.random.default_rng(8))
    values = flag_features(values) if flags else values
    return sum_effects(values, bent=bent) / spread_effects(bent=bent, categories=False)


@cache
def find_level(bent: bool, sd: float, slope: float, rate: float, flags: bool = False) -> float:
    """Find the level of log-odds at which a given share has an event."""
    effects = slope * _reference_effects(bent, flags)
    return float(brentq(lambda level: average_risk(level + effects, sd).mean() - rate, -10.0, 5.0))


def draw_binary(
    rng: np.random.Generator,
    sizes: Sizes,
    _folder: object = None,
    *,
    bent: bool = False,
    steep: bool = False,
    flags: bool = False,
) -> Drawn:
    r"""Draw a world with a rare event and independent records.

    Model: log-odds :math:`\beta_0 + \eta/\mathrm{sd}(\eta)`, 8 % events. Planted truth: predictions raised by
    some points in a region. Expected difficulty: with 640 events among 8,000 records few pockets can be
    tested; one tail of a U-shaped feature is mixed with the other tail by anything learned from the outcome.
    """
    n = sizes.learned(continuous=False) + sizes.audited(continuous=False)
    values = flag_features(draw_features(n, rng)) if flags else draw_features(n, rng)
    effects = sum_effects(values, bent=bent) / spread_effects(bent=bent, categories=False)
    risk = np.asarray(expit(find_level(bent, 0.0, 1.0, EVENTS, flags) + effects))
    focal = draw_focal(values, rng)
    if steep:
        focal = rng.random(n) < expit(find_level(bent, 0.0, STEEP, SHARE) + STEEP * effects)
    outcome = (rng.random(n) < risk).astype(np.float64)
    regions = mark_regions(values, continuous=False)
    table = name_features(values)
    return split_roles(
        make_records(table, outcome, risk, focal=focal, regions=regions, continuous=False), sizes
    )


def draw_dependent(rng: np.random.Generator, sizes: Sizes, _folder: object = None) -> Drawn:
    r"""Draw a world with a rare event in 150 units of unequal size, each with one role.

    Model: log-odds :math:`\beta_0 + \eta/\mathrm{sd}(\eta) + b_u` with unit effects of spread 0.5. The
    right prediction is the *marginal* risk, with the unit effect integrated out: a model cannot know the
    effect of a unit that it has not seen, and the risk at b = 0 would be too low on average. Sizes of units
    are log-normal. Planted truth: as with independent records. Expected difficulty: 45 units are audited, and
    a pocket needs 15 of them, so that more stays untested; mean errors vary with the units that were drawn.
    """
    held = round(0.3 * sizes.units)
    graph_units = held - round(sizes.calibration * held)
    weights = np.exp(UNIT_SPREAD * rng.standard_normal(sizes.units))
    share = weights / weights.sum()
    counts = [
        rng.multinomial(round(records / 0.3), share)[part]
        for records, part in ((sizes.binary, slice(0, held)), (sizes.binary_audit, slice(held, 2 * held)))
    ]
    unit = np.repeat(np.arange(2 * held), np.concatenate(counts))
    values = draw_features(len(unit), rng)
    effects = sum_effects(values, bent=False) / spread_effects(bent=False, categories=False)
    linear = find_level(False, UNIT_SD, 1.0, EVENTS) + effects
    chance = expit(linear + UNIT_SD * rng.standard_normal(sizes.units)[unit])
    everyone = make_records(
        name_features(values),
        (rng.random(len(unit)) < chance).astype(np.float64),
        average_risk(linear, UNIT_SD),
        focal=draw_focal(values, rng),
        regions=mark_regions(values, continuous=False),
        continuous=False,
        unit=unit,
        unit_kind="site",
    )
    discovery = everyone.take(np.flatnonzero(unit < held))
    known = discovery.data.unit
    return Drawn(
        discovery,
        np.flatnonzero(known < graph_units),
        np.flatnonzero(known >= graph_units),
        everyone.take(np.flatnonzero(unit >= held)),
    )


LINEAR = World(
    "linear", True, draw_continuous, plan_plants(gaps=("x1", "masked"), errors=("x1", "irrelevant", "masked"))
)
SCALES = World(
    "scales", True, partial(draw_continuous, scales=True), plan_plants(gaps=("x1",), errors=("x1",))
)
CATEGORICAL = World(
    "categories",
    True,
    partial(draw_continuous, scales=True, categories=True),
    plan_plants(gaps=("x1",), errors=("x1",)),
)
BENT = World(
    "u-shaped",
    True,
    partial(draw_continuous, scales=True, categories=True, bent=True),
    plan_plants(gaps=("tails", "x1"), errors=("tails", "x1")),
)
INCOMPLETE = World(
    "missing",
    True,
    partial(draw_continuous, scales=True, categories=True, bent=True, missing=True),
    plan_plants(gaps=("tails",), errors=("tails",)),
)
STANDARDISED = World(
    "u-shaped standardised",
    True,
    partial(draw_continuous, categories=True, bent=True),
    plan_plants(gaps=("tails", "masked"), errors=("tails", "masked")),
)
BINARY = World(
    "binary", False, draw_binary, plan_plants(gaps=("x1", "masked"), errors=("x1", "irrelevant", "masked"))
)
DEPENDENT = World("binary dependent", False, draw_dependent, plan_plants(gaps=("x1",), errors=("x1",)))
HIGH_RISK = World(
    "binary high risk", False, partial(draw_binary, steep=True), plan_plants(gaps=("x1",), errors=())
)
ONE_TAIL = World(
    "binary one tail", False, partial(draw_binary, bent=True), plan_plants(gaps=("tail",), errors=("tail",))
)
SYNTHETIC = (
    LINEAR,
    SCALES,
    CATEGORICAL,
    BENT,
    INCOMPLETE,
    STANDARDISED,
    BINARY,
    DEPENDENT,
    HIGH_RISK,
    ONE_TAIL,
)
