"""What do the stored boards and halves say of what is shown, and of the rules of other tools beside it?"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import pandas as pd

from auditbook.evidence import wilson_interval
from auditbook.project import project_file
from auditbook.studies.boards.study import SIZED, WORLDS
from auditbook.studies.boards.worlds import BoardWorld

ALLOWED = 0.065
"""The largest upper limit at which the promise of one board in twenty counts as kept."""
RULES = ("shown", "flags", "gap", "band", "estimate")
FILES = ("boards", "boards_sizes", "boards_peers", "halves")
CHANGED = ("stays", "sites", "smallest", "groups", "event_rate", "area")
WORLD_OF: Mapping[str, BoardWorld] = {world.name: world for world in (*WORLDS, *SIZED)}


@dataclass(frozen=True)
class StoredBoards:
    """The stored summaries, a frame a file."""

    boards: pd.DataFrame
    sizes: pd.DataFrame
    peers: pd.DataFrame
    halves: pd.DataFrame


def read_boards() -> StoredBoards:
    """Read what is stored with the project."""
    folder = project_file("data") / "simulations"
    return StoredBoards(*(pd.read_csv(folder / f"{name}.csv", keep_default_na=False) for name in FILES))


def find_changed(world: BoardWorld) -> str:
    """Name the field in which a world differs from that of 5,000 records, besides its size."""
    if world.kind == "gap":
        return "gap"
    usual = {field.name: field.default for field in fields(BoardWorld)}
    return next((name for name in CHANGED if getattr(world, name) != usual[name]), "records")


def count_false(boards: pd.DataFrame) -> pd.DataFrame:
    """Add the boards with a false answer up over the worlds that differ in one thing."""
    named = boards.assign(changed=[find_changed(WORLD_OF[name]) for name in boards["world"]])
    found = named.groupby("changed", sort=False, as_index=False).agg(
        worlds=("world", "size"),
        boards=("replicates", "sum"),
        false_fail=("false_fail", "sum"),
        false_pass=("false_pass", "sum"),
        worst_fail=("false_fail_share", "max"),
        worst_pass=("false_pass_share", "max"),
    )
    return found


def list_worst(boards: pd.DataFrame, side: str) -> pd.DataFrame:
    """List the worlds with the most boards on which something was falsely shown on a side, if any was."""
    name = f"false_{side}"
    return boards[(boards[name] > 0) & (boards[name] == boards[name].max())]


def list_broken(boards: pd.DataFrame) -> pd.DataFrame:
    """List the worlds in which more than one board in twenty may hold a false answer."""
    highest = boards[["false_fail_high", "false_pass_high"]].max(axis=1)
    return boards[highest > ALLOWED]


def compare_rules(stored: StoredBoards) -> pd.DataFrame:
    """Say how often each rule accuses equal boards, and finds a gap, by size and gap.

    One row a kind ("equal", "gap"), size, gap and rule: `share` of boards accused of something that is not
    so, or of gaps found, with its 95 % Wilson interval.
    """
    shown = stored.sizes.rename(columns={"false_fail": "accused", "race_eopp_fail": "found"})
    every = pd.concat([stored.peers, shown.assign(rule="shown")], ignore_index=True)
    every = every[every["world"].isin([world.name for world in SIZED if world.kind != "edge"])]
    worlds = [WORLD_OF[name] for name in every["world"]]
    every = every.assign(
        kind=[world.kind for world in worlds],
        records=[world.records for world in worlds],
        gap=[world.gap for world in worlds],
    )
    hits = every["found"].where(every["kind"] == "gap", every["accused"])
    interval = wilson_interval(hits, every["replicates"])
    every = every.assign(share=hits / every["replicates"], low=interval.low, high=interval.high)
    columns = ["kind", "gap", "records", "rule"]
    every["rule"] = pd.Categorical(every["rule"], RULES)
    every = every.sort_values(columns, ignore_index=True)
    return every[[*columns, "replicates", "share", "low", "high"]]


def spread_rules(compared: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Lay the shares of one kind out with a column a rule."""
    part = compared[compared["kind"] == kind].rename(columns={"gap": "size"})
    wide = part.pivot_table(index=["size", "records"], columns="rule", values="share", observed=True)
    wide.columns = list(wide.columns)
    return wide.reset_index()


def compare_alone(sizes: pd.DataFrame) -> pd.DataFrame:
    """Set what is shown over the board beside what is shown of each cell alone, by kind and size."""
    names = [f"{answer}{end}" for answer in ("fail", "pass") for end in ("", "_alone")]
    false = [f"false_{name}" for name in names]
    found = sizes.assign(kind=[WORLD_OF[name].kind for name in sizes["world"]])
    found = found.assign(records=[WORLD_OF[name].records for name in found["world"]])
    grouped = found.groupby(["kind", "records"], sort=False, as_index=False)
    told = grouped.agg(
        replicates=("replicates", "sum"),
        **{name: (name, "mean") for name in names},
        **{name: (name, "sum") for name in false},
    )
    for name in false:
        told[f"{name}_share"] = told[name] / told["replicates"]
    return told


def compare_halves(halves: pd.DataFrame) -> pd.DataFrame:
    """Add fail and pass up: of what a rule says in one half, how much the other half contradicts."""
    found = halves.groupby(["cohort", "rule"], sort=False, as_index=False).agg(
        halvings=("halvings", "first"),
        cells=("cells", "sum"),
        opposite=("opposite", "sum"),
        other_side=("other_side", "sum"),
    )
    for name in ("opposite", "other_side"):
        found[f"{name}_share"] = found[name] / found["cells"]
    return found
