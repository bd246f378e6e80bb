"""Which worlds differ from a declared one in one thing, to learn what a score hangs on?

The published simulations leave open how many records there are, how strong each feature is, how many
features a split tries, which form a region has, and whether features are numbers or yes and no. Each world
here changes one of these, and nothing is planted in it but what is compared.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.synthetic_worlds import (
    BINARY,
    LINEAR,
    SLOPES,
    draw_binary,
    draw_continuous,
)
from auditbook.studies.simulations.worlds import Drawn, Plant, World, plan_plants

STRONG = np.array([2.0, *SLOPES[1:]])
"""Coefficients with which x1 makes three quarters of what the features do, instead of 43 %."""


@dataclass(frozen=True)
class Variant:
    """A world that differs from a declared one in one thing."""

    world: World  # The changed one
    base: World  # The declared one
    change: str  # What differs, in words
    # Region in the changed world, and the declared region that it is held against
    regions: tuple[tuple[str, str], ...]


def draw_sized(
    rng: np.random.Generator,
    sizes: Sizes,
    folder: Path | None = None,
    *,
    draw: Callable[..., Drawn],
    times: float,
    only_discovery: bool = False,
) -> Drawn:
    """Draw a world with more records."""
    audit = 1.0 if only_discovery else times
    more = replace(
        sizes,
        continuous=round(times * sizes.continuous),
        binary=round(times * sizes.binary),
        binary_audit=round(audit * sizes.binary_audit),
    )
    return draw(rng, more, folder)


def _plan(*, gaps: tuple[str, ...] = (), errors: tuple[str, ...] = ()) -> tuple[Plant, ...]:
    """List what is planted: no world of these is audited without an error."""
    return tuple(plant for plant in plan_plants(gaps=gaps, errors=errors) if plant.region)


_LINE = _plan(gaps=("x1", "masked"), errors=("x1", "masked"))
_LINE_REGIONS = (("x1", "x1"), ("masked", "masked"))
_FLAGS = _plan(gaps=("x1",), errors=("x1", "irrelevant"))
_FLAG_REGIONS = (("x1", "x1"), ("irrelevant", "irrelevant"))
_EIGHT = 8 / 3
"""Times the discovery records of a binary world that are as many as it audits."""

VARIANTS = (
    Variant(
        World("linear twice the records", True, partial(draw_sized, draw=draw_continuous, times=2.0), _LINE),
        LINEAR,
        "6,000 records in either role instead of 3,000",
        _LINE_REGIONS,
    ),
    Variant(
        World("linear x1 stronger", True, partial(draw_continuous, slopes=STRONG), _LINE),
        LINEAR,
        "x1 makes 75% of the explained variance instead of 43%",
        _LINE_REGIONS,
    ),
    Variant(
        World("linear less noise", True, partial(draw_continuous, explained=0.8), _LINE),
        LINEAR,
        "features explain 80% of the outcome's variance instead of 50%",
        _LINE_REGIONS,
    ),
    Variant(
        World("linear all candidates", True, draw_continuous, _LINE, changes=(("candidates", 1.0),)),
        LINEAR,
        "each split of the forest tries all features instead of a third",
        _LINE_REGIONS,
    ),
    Variant(
        World("linear halves", True, draw_continuous, _plan(gaps=("halves",), errors=("halves",))),
        LINEAR,
        "errors cancel between halves of the upper fifth of x1, parted by x2, not between its tails",
        (("halves", "masked"),),
    ),
    Variant(
        World(
            "linear halves twice the records",
            True,
            partial(draw_sized, draw=draw_continuous, times=2.0),
            _plan(gaps=("halves",), errors=("halves",)),
        ),
        LINEAR,
        "the same halves, and 6,000 records in either role",
        (("halves", "masked"),),
    ),
    Variant(
        World("binary yes or no", False, partial(draw_binary, flags=True), _FLAGS),
        BINARY,
        "x1 and x12 are yes (a fifth) or no instead of numbers; the region is yes",
        _FLAG_REGIONS,
    ),
    Variant(
        World(
            "binary equal roles",
            False,
            partial(draw_sized, draw=draw_binary, times=_EIGHT, only_discovery=True),
            _FLAGS,
        ),
        BINARY,
        "8,000 discovery records instead of 3,000",
        _FLAG_REGIONS,
    ),
    Variant(
        World("binary three fits", False, draw_binary, _FLAGS, changes=(("fits", 3),)),
        BINARY,
        "the best of three fits of the block model instead of one",
        _FLAG_REGIONS,
    ),
)
"""Every variation, those of a number first."""
