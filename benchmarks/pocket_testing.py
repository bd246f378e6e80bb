"""How long does the testing of pockets take, and how much memory?

30,000 independent records in 29 pockets and overall are 30 mean errors; gaps and further models come on top
in the next rows. Then 300,000 independent records, and 441 sites. Run with

    OMP_NUM_THREADS=1 python benchmarks/pocket_testing.py

Each figure is the best of three, at 9,999 draws in two threads; memory is the peak of the process so far.
"""

from collections.abc import Callable
from resource import RUSAGE_SELF, getrusage
from time import perf_counter, process_time

import numpy as np
import pandas as pd

from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.data import PocketData, declare_contrasts
from auditbook.pockets.testing import audit_map
from auditbook.records import Attribute
from auditbook.studies.simulations.fixed_map import fix_map

JOBS, POCKETS = 2, 29


def make_records(rng: np.random.Generator, n: int, *, models: int, sites: int = 0) -> PocketData:
    """Make up audit records whose predictions are right, but for a shift a model."""
    risk = rng.beta(1.2, 2.8, n)
    codes = (rng.random(n) >= 0.3).astype(np.int64)
    return PocketData(
        pd.DataFrame({"pocket": rng.integers(0, POCKETS, n)}),
        (rng.random(n) < risk).astype(np.float64),
        False,
        np.sort(rng.integers(0, sites, n)) if sites else np.arange(n),
        "site" if sites else "record",
        (Attribute("group", ("focal", "reference"), codes, "reference"),),
        {f"model {place}": np.clip(risk + 0.01 * place, 0.001, 0.999) for place in range(models)},
    )


def test(audit: PocketData, *, gaps: bool) -> None:
    """Test all pockets."""
    contrasts = declare_contrasts(audit.attributes) if gaps else ()
    audit_map(fix_map(POCKETS), audit, contrasts=contrasts, settings=PocketSettings(), seed=1, jobs=JOBS)


def report(what: str, work: Callable[[], object], *, times: int = 3) -> None:
    """Time the fastest of some runs and print it."""
    found = []
    for _ in range(times):
        clock, processor = perf_counter(), process_time()
        work()
        found.append((perf_counter() - clock, process_time() - processor))
    clock, processor = min(found)
    memory = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:60s} {clock:6.2f} s  ({processor:.2f} s of processor time, {memory:.0f} MB)", flush=True)


def main() -> None:
    rng = np.random.default_rng(1)
    one = make_records(rng, 30_000, models=1)
    report("30,000 records, 30 mean errors", lambda: test(one, gaps=False))
    report("30,000 records, 30 mean errors and 30 gaps", lambda: test(one, gaps=True))
    five = make_records(rng, 30_000, models=5)
    report("30,000 records, five models: 150 mean errors and 150 gaps", lambda: test(five, gaps=True))
    sites = make_records(rng, 300_000, models=1, sites=441)
    report("300,000 records of 441 sites, 30 and 30", lambda: test(sites, gaps=True))
    many = make_records(rng, 300_000, models=1)
    report("300,000 independent records, 30 and 30", lambda: test(many, gaps=True), times=1)


if __name__ == "__main__":
    main()
