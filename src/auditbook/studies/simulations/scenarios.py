"""Which scenarios ask whether an audit finds what was planted: 17 for gaps, 15 for local errors."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from auditbook.studies.simulations import real_worlds as real
from auditbook.studies.simulations import synthetic_worlds as drawn
from auditbook.studies.simulations.variant_worlds import VARIANTS, Variant
from auditbook.studies.simulations.worlds import Question, World


@dataclass(frozen=True)
class Scenario:
    """One question asked of one world."""

    question: Question  # Whether the focal group alone is affected, or everyone
    number: int  # Place in the list of its question
    title: str  # In words
    world: World  # How records come about
    region: str  # Where the error is planted
    difficulty: str  # What is to be expected
    published: str = ""  # Name in the published table; blank where the paper prints no figures of it


_FOLLOWS = "easy for whatever follows the risk; the ridge map cuts across x1 most sharply"
_CURVED = "hard for straight lines and risk bins, since both tails have the same risk; the forest sees them"
_IRRELEVANT = "beyond groupings learned from the outcome; K-means may see it, and the targeted grouping does"
_CANCELS = "nothing shows overall; both tails of x1 must be parted"
_SUPPORT = "few pockets can be tested"

WORLDS: tuple[World, ...] = (*drawn.SYNTHETIC, *real.REAL)
"""All worlds; the null of each is planted in the same records."""

_BOTH: tuple[tuple[str, World, str, str, str], ...] = (
    ("linear risk", drawn.LINEAR, "x1", _FOLLOWS, "continuous linear risk"),
    ("linear risk, raw scales", drawn.SCALES, "x1", _FOLLOWS, ""),
    ("linear risk, raw scales, categories", drawn.CATEGORICAL, "x1", _FOLLOWS, ""),
    (
        "U-shaped term, region on its tails",
        drawn.BENT,
        "tails",
        _CURVED,
        "continuous + scales, categories, U-shaped risk",
    ),
    ("U-shaped term, missing values", drawn.INCOMPLETE, "tails", _CURVED, "continuous + missing values"),
    (
        "U-shaped term, region on the top linear feature",
        drawn.BENT,
        "x1",
        _FOLLOWS,
        "continuous nonlinear, region on top linear feature",
    ),
    (
        "U-shaped term, standardised",
        drawn.STANDARDISED,
        "tails",
        _CURVED,
        "continuous nonlinear, standardised",
    ),
    ("masking, linear risk", drawn.LINEAR, "masked", _CANCELS, "masking, linear risk"),
    ("masking, U-shaped term", drawn.STANDARDISED, "masked", _CANCELS, "masking, nonlinear risk"),
    ("binary, risk feature", drawn.BINARY, "x1", _SUPPORT, "binary, region on risk feature"),
    ("binary, 150 dependent units", drawn.DEPENDENT, "x1", _SUPPORT, "binary, within-unit dependence"),
    ("binary, focal group at high risk", drawn.HIGH_RISK, "x1", _SUPPORT, ""),
    (
        "binary, one tail of a U-shaped feature",
        drawn.ONE_TAIL,
        "tail",
        "the forest mixes the affected tail with the other",
        "binary, nonlinear one tail",
    ),
    ("binary, masking", drawn.BINARY, "masked", _CANCELS, "binary, masking"),
)
_GAPS_ONLY: tuple[tuple[str, World, str, str, str], ...] = (
    ("hospital stays, split by stay", real.STAYS, real.SUPPORTED, _SUPPORT, ""),
    ("hospital stays, split by hospital", real.HOSPITALS, real.SUPPORTED, _SUPPORT, ""),
    ("diabetes, two or more earlier stays", real.DIABETES, real.RETURNING, _FOLLOWS, ""),
)
_IRRELEVANT_ROWS = (
    ("linear risk, irrelevant feature", drawn.LINEAR, "continuous linear, irrelevant feature"),
    ("binary, irrelevant feature", drawn.BINARY, "binary, irrelevant feature"),
)


def _list_errors() -> list[tuple[str, World, str, str, str]]:
    """Put the regions on irrelevant features into their places, and leave out the world without errors."""
    rows = [row for row in _BOTH if row[1] is not drawn.HIGH_RISK]
    extra = [(title, world, "irrelevant", _IRRELEVANT, known) for title, world, known in _IRRELEVANT_ROWS]
    return [*rows[:7], extra[0], *rows[7:10], extra[1], *rows[10:]]


def _number(question: Question, rows: list[tuple[str, World, str, str, str]]) -> tuple[Scenario, ...]:
    make: Callable[..., Scenario] = Scenario
    return tuple(make(question, place + 1, *row) for place, row in enumerate(rows))


GAPS = _number("gap", [*_BOTH, *_GAPS_ONLY])
ERRORS = _number("error", _list_errors())
SCENARIOS = GAPS + ERRORS
VARIANT_WORLDS = tuple(variant.world for variant in VARIANTS)
"""Worlds that differ from a declared one in one thing."""


@dataclass(frozen=True)
class Variation:
    """A scenario in which one thing was changed."""

    scenario: Scenario  # The changed one; its number is its place among the variations
    base: Scenario  # The declared one that it is held against
    change: str  # What differs


def _list_variations() -> tuple[Variation, ...]:
    pairs = [
        (variant, region, each)
        for variant in VARIANTS
        for region, declared in variant.regions
        for each in SCENARIOS
        if each.world is variant.base and each.region == declared
    ]
    return tuple(
        Variation(_vary(place + 1, variant, region, base), base, variant.change)
        for place, (variant, region, base) in enumerate(pairs)
        if any(plant.question == base.question and plant.region == region for plant in variant.world.plants)
    )


def _vary(number: int, variant: Variant, region: str, base: Scenario) -> Scenario:
    """Put a changed world into the place of a declared one."""
    title = f"{base.title}: {variant.change}"
    return replace(base, number=number, title=title, world=variant.world, region=region)


VARIATIONS = _list_variations()


def find_world(name: str) -> World:
    """Find a world by its name."""
    return {world.name: world for world in WORLDS + VARIANT_WORLDS}[name]
