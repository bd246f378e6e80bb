"""How fast is this project beside other tools, on the same records, machine and day, and do they agree?

The synthetic twin of Texas-100X at 185,026 records (the size of the published test set), with one score
fitted here; the forest graph and the block model on fewer. One core each. Run with

    OMP_NUM_THREADS=1 python benchmarks/beside_peers.py            # prints all: 3 minutes on an idle core
    OMP_NUM_THREADS=1 python benchmarks/beside_peers.py --store    # also data/benchmarks and the book's page
    OMP_NUM_THREADS=1 python benchmarks/beside_peers.py --small    # a tenth of the records, to try it

AIF360 and fgclustering are no part of the set-up: `pip install aif360 fgclustering` beside it. What is not
installed is left out and said. Seconds are of processor time, the median of the repeats: by the clock, a busy
machine tells of other work. Peak memory is what Python's allocator hands out (tracemalloc), in a run that is
not timed.
"""

import argparse
import json
import logging
import os
import platform
import runpy
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
from peer_work import (
    Board,
    aequitas_rates,
    aif360_ratios,
    count_board,
    count_draws,
    draw_board,
    fairlearn_draws,
    forest_shares,
    grow_same_forest,
    link_records,
    our_areas,
    our_ratios,
    record_draws,
    sklearn_areas,
)

ROOT = Path(__file__).parents[1]
STORED = ROOT / "data" / "benchmarks"
RECORDS, SMALL = 185_026, 18_502
TOOLS = ("auditbook", "fairlearn", "aequitas", "aif360", "scikit-learn", "numpy", "fgclustering", "pandas")


@dataclass(frozen=True)
class Line:
    """One thing that was measured."""

    part: str  # What is compared
    tool: str
    work: str  # What the tool did
    records: int
    groups: int  # Of the attribute, or of all attributes
    models: int
    resamples: int  # 0 where nothing is drawn again
    repeats: int
    seconds: float  # Processor time of one repeat, the median
    seconds_low: float
    seconds_high: float
    clock: float  # Seconds by the clock, the median
    peak_mb: float  # nan where it was not measured
    # Largest absolute difference from what this project finds for the same thing; nan where they do not
    # measure the same thing, or where it is this project
    off: float


LINES: list[Line] = []


def measure(
    do: Callable[[], Any],
    /,
    *,
    repeats: int,
    weigh: Callable[[], Any] | None = None,
    memory: bool = True,
    off: Callable[[Any], float] = lambda found: np.nan,
    **about: Any,
) -> Any:
    """Time some work, note it, and return what it found; `weigh` is done in its place for its memory."""
    clocks, spent, found = [], [], None
    for _ in range(repeats):
        clock, processor = perf_counter(), process_time()
        found = do()
        spent.append(process_time() - processor)
        clocks.append(perf_counter() - clock)
    peak = np.nan
    if memory:
        tracemalloc.start()
        (weigh or do)()
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    about = {"groups": 0, "models": 1, "resamples": 0} | about
    line = Line(
        **about,
        repeats=repeats,
        seconds=float(np.median(spent)),
        seconds_low=min(spent),
        seconds_high=max(spent),
        clock=float(np.median(clocks)),
        peak_mb=float(peak),
        off=float(off(found)),
    )
    LINES.append(line)
    share = f", {1e6 * line.seconds / line.resamples:10.2f} µs a resample" if line.resamples else ""
    print(f"{line.part:10s} {line.tool:13s} {line.work:52s} {line.seconds:9.4f} s{share}", flush=True)
    return found


def installed(name: str, part: str) -> bool:
    """Tell whether a library is there, and say so where it is not."""
    if find_spec(name) is None:
        print(f"{part:10s} {name:13s} not installed, left out")
        return False
    return True


def differ(one: Any, other: Any) -> float:
    """Find the largest absolute difference."""
    return float(np.nanmax(np.abs(np.asarray(one, float) - np.asarray(other, float))))


def compare_resamples(board: Board) -> None:
    """Bootstrap the gap in sensitivity between the groups of race, as many records each time."""
    n, groups = len(board.outcome), board.groups[0]
    about = {"part": "resample", "records": n, "groups": groups}
    counts = measure(lambda: count_board(board), tool="auditbook", work="counting once", repeats=5, **about)
    whole = count_draws(counts[0], 1, board, keep_all=True)
    for draws in (500, 10_000):
        measure(
            lambda draws=draws: count_draws(counts[0], draws, board),
            tool="auditbook",
            work="resamples drawn as counts",
            resamples=draws,
            repeats=5,
            **about,
        )
    law = count_draws(counts[0], 20_000, board)
    few = max(1, 200_000 // n)
    for within in (False, True):
        measure(
            lambda within=within: record_draws(board, 20 * few, within=within),
            tool="numpy",
            work=f"records drawn again{' within label and group' if within else ''}",
            resamples=20 * few,
            repeats=3,
            off=lambda found, within=within: differ(found.mean(), law.mean()) if within else np.nan,
            **about,
        )
    if installed("fairlearn", "resample"):
        measure(
            lambda: fairlearn_draws(board, 4),
            weigh=lambda: fairlearn_draws(board, 1),
            tool="fairlearn",
            work="MetricFrame(n_boot=...)",
            resamples=4,
            repeats=2,
            off=lambda found: differ(found, whole),
            **about,
        )


def compare_rates(board: Board) -> None:
    """Find the rates of all groups of all attributes once, without resamples."""
    about = {"part": "rates", "records": len(board.outcome), "groups": sum(board.groups)}
    ours = measure(lambda: our_ratios(board), tool="auditbook", work="counts and rates", repeats=5, **about)
    if installed("aequitas", "rates"):
        measure(
            lambda: aequitas_rates(board),
            tool="aequitas",
            work="Audit(...).audit()",
            repeats=3,
            off=lambda found: differ(found, ours.by_group),
            **about,
        )
    if installed("aif360", "rates"):
        measure(
            lambda: aif360_ratios(board),
            tool="aif360",
            work="ClassificationMetric, one pair at a time",
            repeats=3,
            off=lambda found: differ(found, ours.by_pair),
            **about,
        )


def compare_areas(board: Board) -> None:
    """Find the areas of all ordered pairs of groups, four attributes."""
    about = {"part": "areas", "records": len(board.outcome), "groups": sum(board.groups)}
    ours = measure(
        lambda: our_areas(board),
        tool="auditbook",
        work="areas and their joint covariance",
        repeats=3,
        **about,
    )
    measure(
        lambda: sklearn_areas(board),
        tool="scikit-learn",
        work="roc_auc_score, pair by pair, no covariance",
        repeats=3,
        off=lambda found: differ(found, ours),
        **about,
    )


def compare_forests(sizes: tuple[int, ...]) -> None:
    """Find who is near whom in the same forest, and link mutual neighbours."""
    for size in sizes:
        forest = grow_same_forest(size)
        about = {"part": "forest", "records": size}
        shares = measure(
            lambda forest=forest: link_records(forest),
            tool="auditbook",
            work="mutual neighbours, sparse, by blocks",
            repeats=3 if size < 10_000 else 1,
            **about,
        )
        if installed("fgclustering", "forest"):
            measure(
                lambda forest=forest: forest_shares(forest),
                tool="fgclustering",
                work="matrix of distances of all pairs",
                repeats=1 if size > 2_000 else 3,
                off=lambda found, shares=shares: differ(1 - found[tuple(shares.pairs.T)], shares.share),
                **about,
            )


def compare_blocks(size: int) -> None:
    """Fit the nested block model to one graph from both starts; `off` is the share of description lost."""
    if not installed("graph_tool", "blocks"):
        return
    from auditbook.pockets.block_model import choose_resolution, fit_once

    links = link_records(grow_same_forest(size)).pairs.astype(np.int32)
    about = {"part": "blocks", "records": size, "repeats": 1, "memory": False}
    whole = measure(
        lambda: fit_once(links, size, None, 1), tool="graph-tool", work="full nested fit", **about
    )
    measure(
        lambda: fit_once(links, size, choose_resolution(links, size, 1), 1),
        tool="auditbook",
        work="start from Leiden communities, merge-split sweeps",
        off=lambda found: found[1] / whole[1] - 1,
        **about,
    )


def measure_growth(board: Board) -> None:
    """See how counts and records grow with rows, groups, models and resamples."""
    n = len(board.outcome)
    for rows in (n // 16, n // 4, n, 4 * n):
        grow(board.repeat(rows), part="by rows", resamples=1_000)
    for groups in (2, 5, 20, 100):
        grow(board.regroup(groups), part="by groups", resamples=1_000)
    for models in (1, 4, 12):
        grow(board, part="by models", resamples=1_000, models=models)
    for resamples in (100, 1_000, 10_000, 100_000):
        grow(board, part="by draws", resamples=resamples, records_too=False)


def grow(board: Board, *, part: str, resamples: int, models: int = 1, records_too: bool = True) -> None:
    """Measure counts with their draws, and draws of records, at one size."""
    about = {"part": part, "records": len(board.outcome), "groups": board.groups[0], "models": models}

    def ours() -> None:
        for _ in range(models):
            count_draws(count_board(board, first=True)[0], resamples, board)

    def records() -> None:
        for _ in range(models):
            record_draws(board, 5, within=False)

    measure(
        ours, tool="auditbook", work="counted, and drawn as counts", resamples=resamples, repeats=3, **about
    )
    if records_too:
        measure(records, tool="numpy", work="records drawn again", resamples=5, repeats=3, **about)


def describe(board: Board, started: float, load: tuple[float, ...]) -> dict[str, Any]:
    """Say when, where and with what this was measured."""
    known = {name: version(name) for name in TOOLS if find_spec(name.replace("scikit-learn", "sklearn"))}
    busy = max(load[0], os.getloadavg()[0])
    return {
        "made_by": "python benchmarks/beside_peers.py --store",
        "date": datetime.now(UTC).date().isoformat(),
        "data": f"texas-twin, {len(board.outcome):,} records, seed 42",
        "machine": {
            "cores": os.cpu_count(),
            "used": 1,
            "system": f"{platform.system()} {platform.machine()}",
        },
        "load": {"before": load[0], "after": os.getloadavg()[0], "idle": busy < 1.5},
        "minutes": round((perf_counter() - started) / 60, 1),
        "versions": {"python": platform.python_version(), **known},
    }


def store(about: dict[str, Any]) -> None:
    """Write what was measured, and the page that shows it."""
    STORED.mkdir(exist_ok=True)
    pd.DataFrame([asdict(line) for line in LINES]).to_csv(
        STORED / "beside_peers.csv", index=False, float_format="%.6g", lineterminator="\n"
    )
    (STORED / "beside_peers.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    runpy.run_path(str(ROOT / "tools" / "write_beside_peers.py"), run_name="__main__")


def main() -> None:
    """Measure everything, print it, and store it where that is asked for."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        parser.error("one core each: start it with OMP_NUM_THREADS=1")
    started, load = perf_counter(), os.getloadavg()
    board = draw_board(SMALL if given.small else RECORDS)
    compare_resamples(board)
    compare_rates(board)
    compare_areas(board)
    compare_forests((500,) if given.small else (1_000, 4_000, 12_000))
    compare_blocks(300 if given.small else 1_000)
    measure_growth(board)
    about = describe(board, started, load)
    print(json.dumps(about, indent=1))
    if given.store:
        store(about)


if __name__ == "__main__":
    main()
