"""How often is something shown on a board that is not so, and how often is what is so shown?

Every replicate draws one audit of a world whose truth is known, and reads it as a cohort's is read. Beside
what is shown stand two rules that tools offer: the estimate itself against its threshold (the published
verdict without support), and the band of 0.8 to 1.25 for the ratio of a group's rate to that of the largest.

Run with

    OMP_NUM_THREADS=1 python -m auditbook.studies.boards.study

It goes on where it was stopped.
"""

import argparse
import gzip
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from auditbook.code import digest_reach
from auditbook.evidence import (
    Prepared,
    false_positive_rate,
    open_stream,
    positive_predictive_value,
    prepare,
    selection_rate,
    true_positive_rate,
    wilson_interval,
)
from auditbook.project import project_file, runs_folder
from auditbook.settings import METRIC_NAMES, Protocol
from auditbook.studies.boards.worlds import BoardWorld, draw_board, find_truth
from auditbook.verdicts import METRICS, show_cells

SEED, REPLICATES = 2_026, 300
BAND = 0.8, 1.25
LIBRARIES = ("numpy", "pandas", "scipy")
ANSWERS = ("fail", "pass", "open", "none")
FALSE = {"fail": ("pass", "edge"), "pass": ("fail", "edge")}
"""Where each answer is false."""
COLUMNS = ("world", "replicate", *ANSWERS, "false_fail", "false_pass", "race_eopp", "sex_spd", "over", "band")


def _list_worlds() -> Iterator[BoardWorld]:
    """One thing at a time is changed in a world of 5,000 records, equal and at the edge."""
    for kind in ("equal", "edge"):
        yield from (BoardWorld(kind, records) for records in (2_000, 5_000, 20_000, 100_000))
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


def run_replicate(world: BoardWorld, replicate: int, *, seed: int = SEED) -> dict[str, Any]:
    """Draw one audit, and count what is shown and what of it is false."""
    prepared = prepare(draw_board(world, open_stream(seed, "boards", world.name, str(replicate))))
    cells = show_cells(prepared, Protocol(seed=replicate))[0]
    truth = find_truth(world)
    pairs = list(zip(cells["metric"], cells["attribute"], cells["shown"], strict=True))
    shown = {(metric, attribute): answer for metric, attribute, answer in pairs}
    found: dict[str, Any] = {"world": world.name, "replicate": replicate}
    found |= {answer: sum(one == answer for *_, one in pairs) for answer in ANSWERS}
    for answer, untrue in FALSE.items():
        false = [truth[m, a] in untrue for m, a, one in pairs if one == answer]
        found[f"false_{answer}"] = sum(false)
    found |= {"race_eopp": shown["EOPP", "race"], "sex_spd": shown["SPD", "sex"]}
    return found | {"over": _count_over(prepared, truth), "band": _count_outside(prepared)}


def _count_over(prepared: Prepared, truth: Mapping[tuple[str, str], str]) -> int:
    """Count the cells that pass in truth and whose estimate fails."""
    return sum(
        not METRICS[name].passes(METRICS[name].values(groups.evidence[METRICS[name].evidence].whole())[0])
        for groups in prepared.groups
        for name in METRIC_NAMES
        if truth[name, groups.declared.name] == "pass"
    )


def _count_outside(prepared: Prepared) -> int:
    """Count the attributes and rates with a group whose ratio to the largest group leaves the band."""
    rates = (selection_rate, true_positive_rate, false_positive_rate, positive_predictive_value)
    count = 0
    for groups in prepared.groups:
        table = groups.counts.whole()[0]
        for rate in rates:
            values = rate(table)
            ratio = values / values[np.argmax(table.sum(axis=-1))]
            count += bool(((ratio < BAND[0]) | (ratio > BAND[1])).any())
    return count


def simulate(
    *, replicates: int = REPLICATES, seed: int = SEED, store: Path, worlds: Sequence[BoardWorld] = WORLDS
) -> pd.DataFrame:
    """Run all replicates, the first of every world first, going on where an earlier call stopped."""
    done = _read_store(store)
    store.parent.mkdir(parents=True, exist_ok=True)
    code = digest_reach(run_replicate)
    with store.open("a", encoding="utf-8") as file:
        for replicate in range(replicates):
            for world in worlds:
                if (world.name, replicate, seed, code) not in done:
                    row = run_replicate(world, replicate, seed=seed)
                    done[world.name, replicate, seed, code] = row
                    file.write(json.dumps({"seed": seed, "code": code, "row": row}) + "\n")
                    file.flush()
    rows = [done[world.name, number, seed, code] for world in worlds for number in range(replicates)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _read_store(store: Path) -> dict[tuple[str, int, int, str], dict[str, Any]]:
    """Read the replicates that are done; a line that was cut off counts as not done."""
    done = {}
    for line in store.read_text(encoding="utf-8").splitlines() if store.exists() else ():
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            continue
        row = found["row"]
        done[row["world"], row["replicate"], found["seed"], found["code"]] = row
    return done


def summarise_boards(rows: pd.DataFrame) -> pd.DataFrame:
    """Count, of every world, the boards with anything false, with 95 % Wilson intervals."""
    grouped = rows.groupby("world", sort=False)
    found = grouped.agg(
        replicates=("replicate", "size"),
        shown_fail=("fail", "mean"),
        shown_pass=("pass", "mean"),
        left_open=("open", "mean"),
        not_judged=("none", "mean"),
        false_fail=("false_fail", lambda part: int((part > 0).sum())),
        false_pass=("false_pass", lambda part: int((part > 0).sum())),
        race_eopp_fail=("race_eopp", lambda part: int((part == "fail").sum())),
        sex_spd_pass=("sex_spd", lambda part: int((part == "pass").sum())),
        over=("over", lambda part: int((part > 0).sum())),
        band=("band", lambda part: int((part > 0).sum())),
    ).reset_index()
    for side in ("false_fail", "false_pass"):
        interval = wilson_interval(found[side], found["replicates"])
        found[f"{side}_share"] = found[side] / found["replicates"]
        found[f"{side}_low"], found[f"{side}_high"] = interval.low, interval.high
    return found


def write_boards(folder: Path, rows: pd.DataFrame, *, replicates: int, seed: int) -> None:
    """Write replicates, summary and provenance."""
    folder.mkdir(parents=True, exist_ok=True)
    text = rows.to_csv(index=False, lineterminator="\n")
    (folder / "boards_replicates.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    summary = summarise_boards(rows)
    summary.to_csv(folder / "boards.csv", index=False, lineterminator="\n", float_format="%.6g")
    about = {
        "made_by": "python -m auditbook.studies.boards.study",
        "date": datetime.now(UTC).date().isoformat(),
        "replicates": replicates,
        "seed": seed,
        "seeds": "of a replicate: the stream of the seed, 'boards', the name of the world and the number",
        "code": digest_reach(run_replicate),
        "versions": {"python": platform.python_version()}
        | {name: metadata.version(name) for name in LIBRARIES},
    }
    (folder / "boards.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Simulate boards whose truth is known.")
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    settings = {"replicates": given.replicates, "seed": given.seed}
    rows = simulate(**settings, store=runs_folder() / "simulations" / "boards.jsonl")
    write_boards(project_file("data") / "simulations", rows, **settings)


if __name__ == "__main__":
    main()
