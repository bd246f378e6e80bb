r"""Records of a world in which no prediction is wrong, so that every flag is false.

Risk is logistic in one feature x, pockets are fifths of x, and the focal group is as common anywhere:

.. math:: \operatorname{logit} p_i = \beta_0 + 0.6\, x_i + b_{u(i)}, \qquad b_u \sim N(0, \sigma^2),

with :math:`\beta_0` such that 8 % have the event. A model cannot know the effect b of a unit that it has not
seen. What is right for it to predict is the *marginal* risk, the mean of p over units. The *conditional* risk
at b = 0 is lower, since the logistic curve is not straight: it predicts too few events, a real mean error.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, roots_hermitenorm
from scipy.stats import norm

from auditbook.pockets import PocketData
from auditbook.records import Attribute

Array = NDArray[np.float64]

POCKETS, SLOPE, RATE, FOCAL, SPREAD = 5, 0.6, 0.08, 0.25, 0.8
"""Pockets; slope of x; shares of events and of the focal group; spread of the log sizes of units."""
SIZES = (6_000, 9_000)
"""Records of an audit, drawn anew for each replicate."""
NODES = roots_hermitenorm(60)


@dataclass(frozen=True)
class NullDesign:
    """One way in which nothing is wrong."""

    # Binary with independent records; binary with 150 dependent units of very unequal size, or with 45; a
    # continuous outcome with independent records
    name: str
    sd: float  # Spread of the unit effects on the logit scale
    predictions: tuple[str, ...]  # "marginal" and "conditional" risk, or "mean"
    units: int = 0  # Dependent units; 0 where records are independent


DESIGNS = (
    NullDesign("independent", 0.0, ("marginal",)),
    NullDesign("dependent", 0.0, ("marginal",), 150),
    NullDesign("dependent", 0.2, ("marginal", "conditional"), 150),
    NullDesign("dependent", 0.5, ("marginal", "conditional"), 150),
    NullDesign("dependent", 1.0, ("marginal", "conditional"), 150),
    NullDesign("continuous", 0.0, ("mean",)),
    NullDesign("few", 0.5, ("marginal",), 45),
    NullDesign("few", 1.0, ("marginal",), 45),
)
"""Without unit effects the marginal and the conditional risk are the same. 45 units are the 30 % of 150 that
an audit gets."""


def average_risk(linear: Array, sd: float) -> Array:
    r"""Average the risk over the effects of units: :math:`E\,\operatorname{expit}(\eta + \sigma Z)`."""
    if not sd:
        return np.asarray(expit(linear))
    nodes, weights = NODES
    total = np.zeros(len(linear))
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        total += weight * expit(linear + sd * node)
    return total


def find_intercept(sd: float) -> float:
    """Find the intercept at which 8 % have the event."""
    total = np.hypot(SLOPE, sd)
    return float(brentq(lambda start: average_risk(np.array([start]), total)[0] - RATE, -10.0, 0.0))


def draw_null(design: NullDesign, rng: np.random.Generator) -> PocketData:
    """Draw an audit in which the first prediction is right."""
    n = int(rng.integers(SIZES[0], SIZES[1] + 1))
    feature = rng.standard_normal(n)
    pocket = np.floor(POCKETS * norm.cdf(feature)).astype(np.int64)
    codes = (rng.random(n) >= FOCAL).astype(np.int64)
    unit = np.arange(n)
    if design.name == "continuous":
        linear = SLOPE * feature
        outcome, predictions = linear + rng.standard_normal(n), {"mean": linear}
    else:
        linear = find_intercept(design.sd) + SLOPE * feature
        effect = np.zeros(n)
        if design.units:
            sizes = np.exp(SPREAD * rng.standard_normal(design.units))
            unit = np.sort(rng.choice(design.units, n, p=sizes / sizes.sum()))
            effect = design.sd * rng.standard_normal(design.units)[unit]
        outcome = (rng.random(n) < expit(linear + effect)).astype(np.float64)
        known = {"marginal": average_risk(linear, design.sd), "conditional": np.asarray(expit(linear))}
        predictions = {name: known[name] for name in design.predictions}
    return PocketData(
        pd.DataFrame({"pocket": pocket}),
        outcome,
        design.name == "continuous",
        unit,
        "site" if design.units else "record",
        (Attribute("group", ("focal", "reference"), codes, "reference"),),
        predictions,
    )
