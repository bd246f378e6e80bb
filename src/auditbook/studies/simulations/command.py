"""What does ``auditbook simulate`` do: run replicates that are missing, and say what they show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from auditbook.errors import InputError, nearest
from auditbook.project import project_file, runs_folder
from auditbook.studies.simulations.scenarios import SCENARIOS, VARIANT_WORLDS, VARIATIONS, WORLDS
from auditbook.studies.simulations.scoring import count_false_flags, score_methods
from auditbook.studies.simulations.sizes import QUICK, Sizes
from auditbook.studies.simulations.stored import store, store_variants
from auditbook.studies.simulations.tasks import collect, plan_tasks, run_tasks
from auditbook.studies.simulations.worlds import World

SEED = 2_026
SHOWN = ("combined", "forest", "ridge", "k-means", "risk bins", "targeted", "oracle")
"""Methods in the summary that is printed."""
QUESTIONS = {"gap": "An error for one group", "error": "An error for everyone"}
FEW = 20
"""Replicates below which a summary says that it shows the form only."""


@dataclass(frozen=True)
class SimulationProfile:
    """How much is run when nothing else is said."""

    sizes: Sizes  # Records, trees and draws
    worlds: tuple[str, ...]  # Names of the worlds; empty takes all
    replicates: int  # Of each


PROFILES = {
    "quick": SimulationProfile(QUICK, ("linear", "u-shaped standardised", "binary"), 3),
    "standard": SimulationProfile(Sizes(), (), 60),
    "full": SimulationProfile(Sizes(), (), 300),
    "variants": SimulationProfile(Sizes(), tuple(world.name for world in VARIANT_WORLDS), 20),
}
"""Quick ends in three minutes and shows the form of the results, not their values; variants change one thing
at a time in two of the declared worlds, to learn what their scores hang on."""


def simulate(
    *,
    profile: str = "quick",
    worlds: Sequence[str] = (),
    replicates: int | None = None,
    folder: Path | None = None,
    data: Path | None = None,
    seed: int = SEED,
    jobs: int = 1,
    scheduler: str = "",
    keep: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> str:
    """Simulate pocket audits of worlds with planted errors and return scores and false flags as text.

    Given `worlds` and `replicates` replace the profile's. `folder` keeps finished replicates. Without
    `data`, the folder with the real tables, the worlds that need one are left out, unless they are named.
    `jobs` processes on this machine, or the workers of a Dask `scheduler` at this address, change no
    result. `keep` writes the tables of ``data/simulations`` anew.

    Raises
    ------
    InputError
        If a name is unknown, or real tables are missing; those that a scheduler's workers read are not looked
        for here.
    RunError
        If tasks failed twice.
    """
    if profile not in PROFILES:
        raise InputError(f"--profile: found {profile!r}, allowed are {', '.join(PROFILES)}")
    chosen = PROFILES[profile]
    rows = folder if folder is not None else runs_folder() / "simulations" / profile
    taken = choose_worlds(worlds or chosen.worlds, data=data)
    if not scheduler:
        _find_tables(taken, data)
    tasks = plan_tasks(taken, replicates=replicates or chosen.replicates, seed=seed)
    run_tasks(tasks, rows, sizes=chosen.sizes, data=data, jobs=jobs, scheduler=scheduler, say=say)
    if keep:
        for write, known in ((store, WORLDS), (store_variants, VARIANT_WORLDS)):
            if {world.name for world in taken} & {world.name for world in known}:
                write(rows, project_file("data") / "simulations")
    return summarise(collect(rows))


def choose_worlds(names: Sequence[str], *, data: Path | None) -> tuple[World, ...]:
    """Choose worlds by name, or all that can be run."""
    known = {world.name: world for world in WORLDS + VARIANT_WORLDS}
    faults = [
        f"no world is named {name!r}{nearest(name, list(known))}" for name in names if name not in known
    ]
    if faults:
        raise InputError(*faults)
    if not names:
        return tuple(world for world in WORLDS if not world.real or data is not None)
    missing = [name for name in names if known[name].real and data is None]
    if missing:
        raise InputError(f"{', '.join(missing)}: --data must name the folder with the real tables")
    return tuple(known[name] for name in names)


def _find_tables(worlds: Sequence[World], data: Path | None) -> None:
    """Refuse a folder that lacks a table before any replicate is begun."""
    needed = dict.fromkeys(world.real for world in worlds if world.real)
    lacking = [name for name in needed if data is None or not (data / name).is_file()]
    if lacking:
        raise InputError(f"--data: {data} has no {' and no '.join(lacking)}")


def summarise(found: pd.DataFrame) -> str:
    """Write scores and false flags as text."""
    scores = score_methods(found, (*SCENARIOS, *(each.scenario for each in VARIATIONS)))
    scores = scores[scores["method"].isin(SHOWN)].rename(columns={"replicates": "n"})
    parts = [
        f"{title}: F1 of the flagged records (0 none of them, 1 exactly they; n replicates)\n"
        + _spread(scores[scores["question"] == question], ["scenario", "shift", "n"], "f1")
        for question, title in QUESTIONS.items()
        if (scores["question"] == question).any()
    ]
    quiet = count_false_flags(found)
    quiet = quiet[quiet["method"].isin(SHOWN)]
    about = "A replicate is new records and new maps, audited for every planted error."
    if len(quiet):
        parts.append(
            "Nothing is wrong: share of audits with a flag, which is to be small\n"
            + _spread(quiet, ["question", "world", "replicates"], "share")
        )
        about += (
            " Where nothing is wrong,\nmaps of forest, ridge and both combined are audited several times "
            f"(here up to {int(quiet['audits'].max())}), others once."
        )
    parts.append(about)
    if scores["n"].min() < FEW:
        parts.append(
            f"Fewer than {FEW} replicates show the form of the results only: do not quote these figures."
        )
    return "\n\n".join(parts)


def _spread(table: pd.DataFrame, keys: list[str], value: str) -> str:
    """Write one value with a column for each method."""
    wide = table.pivot_table(index=keys, columns="method", values=value, sort=False)
    wide = wide[[name for name in SHOWN if name in wide.columns]].reset_index()
    return wide.to_string(index=False, float_format="{:.2f}".format, na_rep="")
