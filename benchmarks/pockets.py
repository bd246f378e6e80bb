"""How long does it take to find pockets, and how good is the fast fit of the block model?

Simulated records: twelve numbers, three categories, some missing, an event of about 8 %. Run with

    OMP_NUM_THREADS=1 python benchmarks/pockets.py            # graph, best of three, assignment
    OMP_NUM_THREADS=1 python benchmarks/pockets.py published  # 5,000 records, both starts (minutes)

Description lengths are in nats; less is better. Set-up costs nothing but the making of the records.
"""

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.block_model import fit_blocks
from auditbook.pockets.encoding import fit_encoding
from auditbook.pockets.forest import Forest, grow_forest
from auditbook.pockets.hierarchy import tidy_partitions
from auditbook.pockets.neighbours import link_mutual
from auditbook.pockets.profiles import freeze_profiles

GRAPH, SMALL, NEW = 22_000, 5_000, 1_000_000
JOBS = 2


def make_records(n: int, *, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Make up records with a curved risk."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 12))
    table = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(12)])
    for name in ("kind", "place", "way"):
        table[name] = rng.choice(list("abcdef"), n)
    logit = -3.2 + numbers[:, 0] + 0.7 * numbers[:, 1] ** 2 + 0.8 * (table["kind"] == "a")
    outcome = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(float)
    return table.mask(rng.random(table.shape) < 0.02), outcome


def timed(what: str, work: Callable[[], Any]) -> Any:
    """Time some work once and print it."""
    clock = perf_counter()
    found = work()
    print(f"{what:58s} {perf_counter() - clock:8.1f} s", flush=True)
    return found


def make_graph(n: int) -> tuple[Any, np.ndarray, Forest, np.ndarray, np.ndarray]:
    """Grow the forest and link mutual neighbours."""
    settings = PocketSettings()
    table, outcome = make_records(n, seed=1)
    encoding = fit_encoding(table)
    encoded = encoding.encode(table)
    forest = timed(
        f"{settings.trees} trees on {n:,} records",
        lambda: grow_forest(
            encoded,
            outcome,
            trees=settings.trees,
            min_leaf=settings.min_leaf,
            candidates=settings.candidates,
            seed=1,
            jobs=JOBS,
        ),
    )
    leaves = forest.find_leaves(encoded)
    links = timed(
        "mutual neighbours", lambda: link_mutual(leaves, forest.n_leaves, neighbours=settings.neighbours)
    )
    print(f"{len(links):,} links")
    return encoding, leaves, forest, links, outcome


def measure_large() -> None:
    """Fit the best of three on the large graph, freeze it, assign many new records."""
    encoding, leaves, forest, links, _ = make_graph(GRAPH)
    fit = timed("block model, best of three", lambda: fit_blocks(links, GRAPH, fits=3, seed=1, jobs=JOBS))
    levels = tidy_partitions(fit.levels)
    print(
        f"lengths {[round(length) for length in fit.lengths]}, levels {[level.max() + 1 for level in levels]}"
    )
    labels = min(levels, key=lambda level: abs(int(level.max()) - 19))
    rule = freeze_profiles(
        encoding, forest, leaves=leaves, labels=labels, calibration=leaves[:4000], abstain=0.01
    )
    table, _ = make_records(NEW, seed=2)
    timed(f"{NEW:,} records to {rule.n_pockets} pockets", lambda: rule.assign(table))


def compare_starts() -> None:
    """Fit a small graph once from each start."""
    *_, links, _ = make_graph(SMALL)
    for start in ("fast", "published"):
        fit = timed(start, lambda start=start: fit_blocks(links, SMALL, start=start, fits=1, seed=1))
        print(f"description length {fit.description_length:,.0f}")


if __name__ == "__main__":
    if "published" in sys.argv[1:]:
        compare_starts()
    else:
        measure_large()
