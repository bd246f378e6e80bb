"""How often is something shown on a board that is not so, and how often is what is so shown?

Every replicate draws one audit of a world whose truth is known, and reads it as a cohort's is read. What is
shown over the whole board stands beside what would be shown of each cell alone. What rules of other tools say
of the same boards is in `peers`.

Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.boards.study

It goes on where it was stopped.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from auditbook.evidence import open_stream, prepare, wilson_interval
from auditbook.project import runs_folder
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.studies.boards.worlds import BoardWorld, draw_board, find_truth
from auditbook.studies.kept_rows import Row, Study, call_study
from auditbook.verdicts import show_cells

SEED, REPLICATES = 2_026, 200
SIZES, GAPS = (2_000, 5_000, 20_000, 100_000), (0.15, 0.20, 0.25)
ANSWERS = ("fail", "pass", "open", "none")
FALSE = {"fail": ("pass", "edge"), "pass": ("fail", "edge")}
"""Where each answer is false."""
COLUMNS: tuple[str, ...] = ("world", "replicate", *ANSWERS, "false_fail", "false_pass")
COLUMNS += ("fail_alone", "pass_alone", "false_fail_alone", "false_pass_alone", "race_eopp", "sex_spd")


def _list_worlds() -> Iterator[BoardWorld]:
    """One thing at a time is changed in a world of 5,000 records, equal and at the edge."""
    for kind in ("equal", "edge"):
        yield from (BoardWorld(kind, records) for records in SIZES)
        yield from (BoardWorld(kind, 5_000, (n, n, n, n)) for n in (2, 9))
        yield BoardWorld(kind, 20_000, event_rate=0.01)
        yield BoardWorld(kind, 5_000, event_rate=0.45)
        yield from (BoardWorld(kind, 5_000, area=area) for area in (0.6, 0.97))
        yield from (BoardWorld(kind, 5_000, smallest=events) for events in (10, 30))
        yield from (BoardWorld(kind, 20_000, smallest=events) for events in (100, 1_000))
        yield from (BoardWorld(kind, 5_000, stays=stays) for stays in (3, 10))
        for sites in (5, 15, 30, 100):
            yield from (BoardWorld(kind, 5_000, sites=sites, unequal=unequal) for unequal in (False, True))
    yield from (BoardWorld("gap", 5_000, gap=0.25, event_rate=rate) for rate in (0.2, 0.4))
    yield from (BoardWorld("gap", 20_000, gap=0.20, event_rate=rate) for rate in (0.2, 0.4))


WORLDS = tuple(_list_worlds())
SIZED = (
    *(BoardWorld(kind, records) for kind in ("equal", "edge") for records in SIZES),
    *(BoardWorld("gap", records, gap=gap) for gap in GAPS for records in SIZES),
)
"""Worlds that differ in size and gap only."""


def draw_audit(world: BoardWorld, replicate: int, *, seed: int) -> AuditRecords:
    """Draw the audit that a replicate reads, so that every rule reads the same one."""
    return draw_board(world, open_stream(seed, "boards", world.name, str(replicate)))


def run_replicate(world: BoardWorld, replicate: int, *, seed: int = SEED) -> list[Row]:
    """Draw one audit, and count what is shown and what of it is false."""
    prepared = prepare(draw_audit(world, replicate, seed=seed))
    cells = show_cells(prepared, Protocol(seed=replicate))[0].set_index(["metric", "attribute"])
    truth = pd.Series(find_truth(world)).reindex(cells.index)
    row: Row = {"world": world.name, "replicate": replicate}
    row |= {answer: int((cells["shown"] == answer).sum()) for answer in ANSWERS}
    for answer, untrue in FALSE.items():
        for column, end in (("shown", ""), ("shown_alone", "_alone")):
            said = cells[column] == answer
            row[f"{answer}{end}"] = int(said.sum())
            row[f"false_{answer}{end}"] = int((said & truth.isin(untrue)).sum())
    row |= {"race_eopp": cells["shown"]["EOPP", "race"], "sex_spd": cells["shown"]["SPD", "sex"]}
    return [{name: row[name] for name in COLUMNS}]


def summarise_boards(rows: pd.DataFrame) -> pd.DataFrame:
    """Count, of every world, the boards with anything false, with 95 % Wilson intervals."""
    found = rows.groupby("world", sort=False, as_index=False).agg(
        replicates=("replicate", "size"),
        shown_fail=("fail", "mean"),
        shown_pass=("pass", "mean"),
        left_open=("open", "mean"),
        not_judged=("none", "mean"),
        false_fail=("false_fail", _count_boards),
        false_pass=("false_pass", _count_boards),
        race_eopp_fail=("race_eopp", lambda part: int((part == "fail").sum())),
        sex_spd_pass=("sex_spd", lambda part: int((part == "pass").sum())),
    )
    return _add_shares(found, ["false_fail", "false_pass"])


def summarise_sizes(rows: pd.DataFrame) -> pd.DataFrame:
    """Set what is shown over the board beside what is shown of each cell alone, and count what is false."""
    shown = [f"{answer}{end}" for answer in FALSE for end in ("", "_alone")]
    false = [f"false_{name}" for name in shown]
    found = rows.groupby("world", sort=False, as_index=False).agg(
        replicates=("replicate", "size"),
        **{name: (name, "mean") for name in shown},
        **{name: (name, _count_boards) for name in false},
        race_eopp_fail=("race_eopp", lambda part: int((part == "fail").sum())),
    )
    return _add_shares(found, [*false, "race_eopp_fail"])


def _count_boards(counts: pd.Series) -> int:
    """Count the boards with at least one such cell."""
    return int((counts > 0).sum())


def _add_shares(found: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Add shares of boards with their intervals."""
    for name in names:
        interval = wilson_interval(found[name], found["replicates"])
        found[f"{name}_share"] = found[name] / found["replicates"]
        found[f"{name}_low"], found[f"{name}_high"] = interval.low, interval.high
    return found


SEEDS = "of a replicate: the stream of the seed, 'boards', the name of the world and the number"
BOARDS = Study(
    name="boards",
    worlds=WORLDS,
    run=run_replicate,
    columns=[name for name in COLUMNS if not name.endswith("_alone")],
    summarise=summarise_boards,
    seeds=SEEDS,
)
SIZED_BOARDS = Study(
    name="boards_sizes",
    worlds=SIZED,
    run=run_replicate,
    columns=[name for name in COLUMNS if name != "sex_spd"],
    summarise=summarise_sizes,
    seeds=SEEDS,
)
"""What the level over the whole board costs, by size and gap."""

if __name__ == "__main__":
    for study in (SIZED_BOARDS, BOARDS):  # the boards of the first are not run again
        call_study(
            study, replicates=REPLICATES, seed=SEED, store=runs_folder() / "simulations" / "boards.jsonl"
        )
