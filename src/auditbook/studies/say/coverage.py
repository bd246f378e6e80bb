"""What does the stored study of intervals say, in words?"""

import pandas as pd

from auditbook.book.say.text import count, interval, read_layout, share
from auditbook.studies.coverage.compare import compare_coverage, find_least
from auditbook.studies.coverage.worlds import CoverageWorld

COLUMNS = read_layout("studies", "coverage.figures")
VERY_UNEQUAL = 1.0
"""SD of the logarithm of sites' sizes from which these are called very unequal."""


def name_world(world: CoverageWorld) -> str:
    """Name a population."""
    if not world.sites:
        return f"one to {world.stays} stays a patient" if world.stays > 1 else "independent records"
    if not world.spread:
        return f"{world.sites} sites of one size"
    return f"{world.sites} sites of {'very ' if world.spread >= VERY_UNEQUAL else ''}unequal size"


def list_coverage(stored: pd.DataFrame) -> pd.DataFrame:
    """Lay out how often each figure's interval holds the truth."""
    return compare_coverage(stored)


def describe_coverage(stored: pd.DataFrame) -> str:
    """Say which interval covers least, over all populations and without sites."""
    least, alone = find_least(stored), find_least(stored, kinds=("alone", "patients"))
    sure = interval(least.low, least.high, kind="share")
    return (
        f"The interval that holds the truth least often is that of the {least.figure} with "
        f"{name_world(least.world)}: in {share(least.coverage)} ({sure}) where 95% were asked, over "
        f"{count(least.audits)} audits that print it. Without sites the lowest is {share(alone.coverage)}, "
        f"of the {alone.figure} with {name_world(alone.world)}."
    )
