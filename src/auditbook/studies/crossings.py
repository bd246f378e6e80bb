r"""How near to the truth do pooled rates of small crossings come, and what do they hide?

Crossings of four by two groups, the smallest of 25 records. The logit of a rate is that of 30 %, plus a main
effect of each part (SD 0.5), plus an interaction of SD :math:`\sigma` of each crossing on its own, plus what
sets the last crossing apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from auditbook.evidence import wilson_interval
from auditbook.verdicts import code_parts, pool_rates

SIZES = np.repeat([1000, 200, 60, 25], 2)
SMALL = SIZES <= 100
DESIGN = code_parts([(str(cell // 2), str(cell % 2)) for cell in range(len(SIZES))])
LEVEL, MAIN = 0.30, 0.5

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CrossedWorld:
    """How crossings depart from the sum of their parts, on the logit scale."""

    interaction: float  # Standard deviation of what each crossing has of its own
    apart: float = 0.0  # What sets the last crossing, of 25 records, apart


CROSSED_WORLDS: Mapping[str, CrossedWorld] = MappingProxyType(
    {
        "no interaction": CrossedWorld(0.0),
        "weak interaction": CrossedWorld(0.3),
        "strong interaction": CrossedWorld(1.0),
        "one crossing apart": CrossedWorld(0.0, apart=2.0),
    }
)


def compare_pooling(*, replicates: int, rng: np.random.Generator) -> pd.DataFrame:
    """Compare counted and pooled rates with the true ones, world by world.

    Columns: `world`; `error_counted` and `error_pooled` (root mean squared error over the crossings of at
    most 100 records); `cover_counted` and `cover_pooled` (share of the 95 % intervals of all crossings that
    hold the true rate); `last_true`, `last_counted`, `last_pooled` (means of the last crossing) and
    `last_cover` (of its pooled interval).
    """
    found = [_compare(name, world, replicates, rng) for name, world in CROSSED_WORLDS.items()]
    return pd.DataFrame(found)


def _compare(
    name: str, world: CrossedWorld, replicates: int, rng: np.random.Generator
) -> dict[str, str | float]:
    true = _draw_rates(world, replicates, rng)
    counted = rng.binomial(SIZES, true)
    raw, wilson = counted / SIZES, wilson_interval(counted, SIZES)
    found = pool_rates(counted, np.broadcast_to(SIZES, counted.shape), DESIGN)
    held = (found.low <= true) & (true <= found.high)
    return {
        "world": name,
        "error_counted": _root_mean_square((raw - true)[:, SMALL]),
        "error_pooled": _root_mean_square((found.pooled - true)[:, SMALL]),
        "cover_counted": float(((wilson.low <= true) & (true <= wilson.high)).mean()),
        "cover_pooled": float(held.mean()),
        "last_true": float(true[:, -1].mean()),
        "last_counted": float(raw[:, -1].mean()),
        "last_pooled": float(found.pooled[:, -1].mean()),
        "last_cover": float(held[:, -1].mean()),
    }


def _draw_rates(world: CrossedWorld, replicates: int, rng: np.random.Generator) -> Array:
    """Draw true rates of the crossings, shape (replicates, n_crossings)."""
    effects = rng.normal(0, MAIN, (replicates, DESIGN.shape[1] - 1)) @ DESIGN[:, 1:].T
    own = world.interaction * rng.standard_normal((replicates, len(SIZES)))
    own[:, -1] += world.apart
    return np.asarray(expit(logit(LEVEL) + effects + own))


def _root_mean_square(error: Array) -> float:
    return float(np.sqrt((error**2).mean()))
