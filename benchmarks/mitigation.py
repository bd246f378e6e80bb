"""How long does the search for thresholds take on forty cells?

27,754 records (15 % of the published 185,026), race x age x sex in forty cells, ethnicity beside. Run with

    OMP_NUM_THREADS=2 python benchmarks/mitigation.py

The clock and, beside it, processor time, because on a busy machine the clock says more of the other work.
"""

from time import perf_counter, process_time

import numpy as np

from auditbook.evidence import settle_groups
from auditbook.mitigation.constraint import make_constraint
from auditbook.mitigation.flip_objective import make_objective
from auditbook.mitigation.joint_cells import join_cells
from auditbook.mitigation.refinement import refine_thresholds
from auditbook.mitigation.strata import sort_strata
from auditbook.mitigation.thresholds import find_anchors, search_alphas
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol

N_RECORDS = 27_754
SHARES = {
    "race": (0.004, 0.018, 0.125, 0.650, 0.203),
    "age": (0.04, 0.23, 0.30, 0.43),
    "sex": (0.37, 0.63),
    "ethnicity": (0.27, 0.73),
}
EFFECTS = {"race": 0.25, "age": 0.8, "sex": -0.4, "ethnicity": 0.2}


def make_records(rng: np.random.Generator, n: int = N_RECORDS) -> AuditRecords:
    """Make up records whose event rates differ by group about as much as published."""
    attributes = tuple(
        Attribute(name, tuple("abcde"[: len(share)]), rng.choice(len(share), n, p=share))
        for name, share in SHARES.items()
    )
    logit = rng.normal(-1.6, 1.7, n) + sum(EFFECTS[item.name] * item.codes for item in attributes)
    risk = 1 / (1 + np.exp(-logit))
    outcome = (rng.random(n) < risk).astype(np.int8)
    return AuditRecords(outcome, attributes, (Score("m", "probability", 0.5, risk),))


def main() -> None:
    records = make_records(np.random.default_rng(1))
    settled = tuple(settle_groups(item, records.outcome) for item in records.attributes)
    records = AuditRecords(records.outcome, settled, records.scores)
    protocol = Protocol()
    clock, work = perf_counter(), process_time()
    cells = join_cells(records.attributes[:3])
    strata = sort_strata(records, cells)
    anchors = find_anchors(records.outcome, records.scores[0].values, cells.codes, len(cells))
    constraint = make_constraint(strata, protocol=protocol)
    shift = search_alphas(strata, anchors, constraint)
    print(
        f"{len(cells)} cells, alpha search: {perf_counter() - clock:.2f} s "
        f"({process_time() - work:.2f} s of work)"
    )
    print(
        f"  {shift.passing} of 48 candidates pass; kept {shift.alphas.tolist()}, "
        f"accuracy {shift.accuracy:.4f}"
    )
    clock, work = perf_counter(), process_time()
    objective = make_objective(strata, shift.thresholds, protocol=protocol, seed=42)
    found = refine_thresholds(strata, shift.thresholds, constraint=constraint, objective=objective)
    seconds, worked = perf_counter() - clock, process_time() - work
    print(
        f"greedy refinement (20 s): {seconds:.2f} s ({worked:.2f} s of work), "
        f"{found.tried / worked:,.0f} moves a second of work"
    )
    print(
        f"  {found.moves} moves kept of {found.tried:,}; mean flip rate "
        f"{found.objective_before:.4f} -> {found.objective:.4f}"
    )


if __name__ == "__main__":
    main()
