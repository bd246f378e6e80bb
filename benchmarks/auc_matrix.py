"""How long does the AUC matrix take, with its joint covariance?

One million records, four attributes (5, 2, 2 and 4 groups), one model; then the same with sites as the units.
Run with

    OMP_NUM_THREADS=2 python benchmarks/auc_matrix.py

Each figure is the best of three. The last two are scikit-learn's ``roc_auc_score``, called for every pair of
groups in the same run: areas only, without any standard error.
"""

from collections.abc import Callable
from resource import RUSAGE_SELF, getrusage
from time import perf_counter, process_time

import numpy as np
from sklearn.metrics import roc_auc_score

from auditbook.evidence.placements import rank_levels
from auditbook.ranking.matrix import order_matrix
from auditbook.ranking.summary import summarise_areas
from auditbook.ranking.tables import measure_areas, tabulate_auc_fairness, tabulate_auc_matrix
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol

N_RECORDS, N_SITES, MANY = 1_000_000, 441, 200
SHARES = {
    "race": (0.004, 0.018, 0.125, 0.650, 0.203),
    "sex": (0.37, 0.63),
    "ethnicity": (0.27, 0.73),
    "age": (0.15, 0.30, 0.25, 0.30),
}


def make_records(rng: np.random.Generator, *, sites: bool) -> AuditRecords:
    """Make up an audit of one model."""
    risk = rng.beta(0.7, 0.85, N_RECORDS)
    outcome = (rng.random(N_RECORDS) < risk).astype(np.int8)
    values = np.clip(risk + 0.1 * rng.normal(size=N_RECORDS), 0, 1)
    attributes = tuple(
        Attribute(name, tuple("abcde"[: len(share)]), rng.choice(len(share), N_RECORDS, p=share))
        for name, share in SHARES.items()
    )
    site = rng.integers(0, N_SITES, N_RECORDS) if sites else None
    return AuditRecords(outcome, attributes, (Score("model", "probability", 0.5, values),), site)


def measure_model(records: AuditRecords) -> None:
    """Sort once; areas, covariance and standard errors of four attributes."""
    levels = rank_levels(records.outcome, records.scores[0].values)
    for attribute in records.attributes:
        summarise_areas(order_matrix(levels, attribute.codes, len(attribute.groups)))


def tabulate(records: AuditRecords) -> None:
    """Make both result tables, simultaneous intervals included."""
    areas = measure_areas(records)
    tabulate_auc_matrix(records, protocol=Protocol(), seed=1, areas=areas)
    tabulate_auc_fairness(records, protocol=Protocol(), seed=1, areas=areas)


def call_scikit_learn(records: AuditRecords, *, attributes: int) -> None:
    """Compute every area of the first attributes by a call of its own."""
    events, values = records.outcome == 1, records.scores[0].values
    for attribute in records.attributes[:attributes]:
        for one in range(len(attribute.groups)):
            for other in range(len(attribute.groups)):
                chosen = np.where(events, attribute.codes == one, attribute.codes == other)
                roc_auc_score(records.outcome[chosen], values[chosen])


def report(what: str, work: Callable[[], object], *, times: int = 3) -> None:
    """Time the fastest of some runs and print it."""
    found = []
    for _ in range(times):
        clock, processor = perf_counter(), process_time()
        work()
        found.append((perf_counter() - clock, process_time() - processor))
    clock, processor = min(found)
    print(f"{what:58s} {clock:8.2f} s  ({processor:.2f} s of processor time)", flush=True)


def main() -> None:
    """Time everything and print a line for each."""
    rng = np.random.default_rng(42)
    records, sited = make_records(rng, sites=False), make_records(rng, sites=True)
    many, levels = rng.integers(0, MANY, N_RECORDS), rank_levels(records.outcome, records.scores[0].values)
    print(f"{N_RECORDS:,} records, 4 attributes, one model")
    report("sorting and ranking alone", lambda: rank_levels(records.outcome, records.scores[0].values))
    report("areas with joint covariance (2 s)", lambda: measure_model(records))
    report("both result tables", lambda: tabulate(records))
    report(f"both result tables, {N_SITES} sites as units beside records", lambda: tabulate(sited))
    report(f"one attribute of {MANY} groups", lambda: order_matrix(levels, many, MANY), times=1)
    print(f"largest memory so far: {getrusage(RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    report("scikit-learn, race only: 25 calls", lambda: call_scikit_learn(records, attributes=1), times=1)
    report("scikit-learn, all: 49 calls", lambda: call_scikit_learn(records, attributes=4), times=1)


if __name__ == "__main__":
    main()
