"""How large must the smallest group be until an audit shows what is so: a gap, or that there is none?

A population's own rates are read by the functions that judge a cohort. The smallest group is large enough
when these name no more records (`n_to_show`) than the audit has: then four audits of five should show on
which side of the threshold the population lies. Drawn audits of that size are held against this promise.

Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.small_groups.sizes_to_show

It goes on where it was stopped.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import open_stream, prepare
from auditbook.project import project_file
from auditbook.settings import Protocol
from auditbook.studies.kept_rows import Study, call_study
from auditbook.studies.small_groups.worlds import (
    SIZES,
    VerdictDesign,
    draw_audits,
    expect_audit,
    write_records,
)
from auditbook.verdicts import find_metric, show_cells

SEED, REPLICATES, LARGE = 2_026, 90, 60_000
"""Replicates of a design: half as many where an audit has more records than the last of these says."""
BOARDS = (1, 28)
"""Cells on the board: one that was named beforehand, and seven metrics by four attributes."""
TRIED = (30, *(step * 10**power for power in (1, 2, 3, 4) for step in (4, 5, 6, 8, 10, 12, 15, 20, 25, 30)))
"""Sizes of the smallest group that are tried; above the last there is none to give."""
ANSWERS = ("fail", "pass", "open", "none")
NAME = "small_groups_shown"
DESIGN = [one.name for one in fields(VerdictDesign)]


@dataclass(frozen=True)
class ShownDesign:
    """A population that is audited on a board of so many cells."""

    population: VerdictDesign
    cells: int

    @property
    def name(self) -> str:
        """What names its random numbers."""
        return f"{self.population.name} {self.cells}"

    @property
    def protocol(self) -> Protocol:
        """The protocol of one cell at the level that Holm's first step leaves it on the board."""
        alpha = Protocol().shown_alpha / self.cells
        return Protocol(metrics=(self.population.metric,), shown_alpha=alpha)


def _list_populations() -> Iterator[VerdictDesign]:
    """Four distances with two groups and 20 % events; then more groups and other event rates at two."""
    for metric in ("DI", "EOPP", "EOD", "PP"):
        base = VerdictDesign(metric, 2, SIZES[0], 0.2, 0.0)
        equal = 0.2 if find_metric(metric).direction == "at_least" else find_metric(metric).threshold
        for distance in sorted({-0.1, -0.05, 0.05, 0.1, equal}):
            yield replace(base, distance=distance)
        for distance in (-0.05, 0.05):
            yield from (replace(base, groups=groups, distance=distance) for groups in (5, 9))
            yield from (replace(base, event_rate=rate, distance=distance) for rate in (0.05, 0.4))


POPULATIONS = tuple(_list_populations())


def read_shown(design: ShownDesign, counts: NDArray[np.int64]) -> pd.Series:
    """Read what one audit shows, as a cohort's is read; shape (groups, 4)."""
    return show_cells(prepare(write_records(counts)), design.protocol)[0].iloc[0]


def is_enough(design: ShownDesign) -> bool:
    """Tell whether the rule names no more records than the audit has, if its estimates are the truth."""
    counts = expect_audit(design.population)
    return bool(read_shown(design, counts)["n_to_show"] <= counts.sum())


def find_least_shown(design: ShownDesign) -> float:
    """Find the smallest size that is enough, by halving the list of sizes; infinite beyond its end."""
    low, high = 0, len(TRIED)
    while low < high:
        middle = (low + high) // 2
        grown = replace(design, population=replace(design.population, smallest=TRIED[middle]))
        low, high = (low, middle) if is_enough(grown) else (middle + 1, high)
    return float(TRIED[low]) if low < len(TRIED) else float("inf")


@cache
def list_designs() -> tuple[ShownDesign, ...]:
    """List the populations at the size that the rule names, and EOPP's at the sizes of the other study."""
    found = []
    for cells in BOARDS:
        for population in POPULATIONS:
            least = find_least_shown(ShownDesign(population, cells))
            if np.isfinite(least):
                found.append(ShownDesign(replace(population, smallest=int(least)), cells))
    curves = [one for one in POPULATIONS if (one.metric, one.groups, one.event_rate) == ("EOPP", 2, 0.2)]
    found += [ShownDesign(replace(one, smallest=size), 28) for one in curves for size in SIZES]
    return tuple(dict.fromkeys(found))


def wants(design: ShownDesign, replicate: int) -> bool:
    """Tell whether an audit of a design is drawn: half as many where they are large."""
    return replicate < REPLICATES // 2 or design.population.sizes.sum() <= LARGE


def run_replicate(design: ShownDesign, replicate: int, *, seed: int = SEED) -> list[dict[str, Any]]:
    """Draw one audit and read what it shows."""
    rng = open_stream(seed, "small groups", "shown", design.name, str(replicate))
    shown = str(read_shown(design, draw_audits(design.population, 1, rng)[0])["shown"])
    return [asdict(design.population) | {"cells": design.cells, "replicate": replicate, "shown": shown}]


def count_answers(rows: pd.DataFrame) -> pd.DataFrame:
    """Count what was shown of each design, beside the records that the rule names for its own rates."""
    found = []
    for key, part in rows.groupby([*DESIGN, "cells"], sort=False):
        about: dict[str, Any] = dict(zip([*DESIGN, "cells"], key, strict=True))
        design = ShownDesign(VerdictDesign(**{name: about[name] for name in DESIGN}), about["cells"])
        counts, told = expect_audit(design.population), part["shown"].tolist()
        sizes = {"records": int(counts.sum()), "n_to_show": read_shown(design, counts)["n_to_show"]}
        answers = {answer: told.count(answer) for answer in ANSWERS}
        found.append(about | sizes | {"replicates": len(told)} | answers)
    return pd.DataFrame(found)


def read_counted() -> pd.DataFrame:
    """Read the stored counts."""
    return pd.read_csv(project_file("data", "simulations", f"{NAME}.csv"))


def plan_study() -> Study[ShownDesign]:
    """Say what is run and stored."""
    return Study(
        name=NAME,
        worlds=list_designs(),
        run=run_replicate,
        columns=[*DESIGN, "cells", "replicate", "shown"],
        summarise=count_answers,
        seeds="of a replicate: the stream of the seed, 'small groups', 'shown', the design and the number",
        about={"large_replicates": REPLICATES // 2, "large": LARGE},
        wants=wants,
    )


if __name__ == "__main__":
    call_study(plan_study(), replicates=REPLICATES, seed=SEED)
