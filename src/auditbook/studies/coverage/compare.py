"""Where do printed intervals hold the truth most often, and where least?"""

from dataclasses import dataclass

import pandas as pd

from auditbook.project import project_file
from auditbook.studies.coverage.study import STUDY
from auditbook.studies.coverage.worlds import WORLDS, CoverageWorld

KINDS = ("alone", "patients", "equal_sites", "unequal_sites")
WORLD_OF = {world.name: world for world in WORLDS}


@dataclass(frozen=True)
class Least:
    """The figure that covers least among some populations."""

    figure: str
    world: CoverageWorld
    audits: int  # That print it
    coverage: float
    low: float  # Wilson interval of the coverage
    high: float


def read_coverage() -> pd.DataFrame:
    """Read what is stored with the project, without the populations in which nothing is printed."""
    found = pd.read_csv(project_file("data") / "simulations" / STUDY.summary_file)
    return found[found["printed"] > 0].reset_index(drop=True)


def find_kind(world: CoverageWorld) -> str:
    """Name what the records of a population hang together by."""
    if world.sites:
        return "unequal_sites" if world.spread else "equal_sites"
    return "patients" if world.stays > 1 else "alone"


def compare_coverage(stored: pd.DataFrame) -> pd.DataFrame:
    """Find the lowest coverage of every figure among the populations of each kind."""
    kind = [find_kind(WORLD_OF[name]) for name in stored["world"]]
    lowest = stored.assign(kind=kind).pivot_table(
        index="figure", columns="kind", values="coverage", aggfunc="min", sort=False
    )
    return lowest[list(KINDS)].reset_index().rename_axis(columns=None)


def find_least(stored: pd.DataFrame, *, kinds: tuple[str, ...] = KINDS) -> Least:
    """Find the figure and the population, among those of some kinds, with the lowest coverage."""
    some = stored[[find_kind(WORLD_OF[name]) in kinds for name in stored["world"]]]
    row = some.loc[some["coverage"].idxmin()]
    world, audits = WORLD_OF[str(row["world"])], int(row["audits"])
    return Least(
        str(row["figure"]), world, audits, *(float(row[name]) for name in ("coverage", "low", "high"))
    )
