"""How long do axes 2 and 3 and the tiers take for the whole grid?

Twelve score columns, four attributes (5, 2, 2 and 4 groups), 185,026 records, 441 sites: the records of
`benchmarks/verdicts.py`. Run with

    OMP_NUM_THREADS=2 python benchmarks/axes.py

Each figure is the best of three; processor time stands beside it.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from auditbook.evidence import Prepared, prepare
from auditbook.settings import Protocol
from auditbook.verdicts import judge
from auditbook.verdicts.audit_size import sweep_sizes
from auditbook.verdicts.cell_verdicts import judge_cells
from auditbook.verdicts.site_agreement import rate_agreement
from auditbook.verdicts.site_folds import plan_folds
from auditbook.verdicts.site_verdicts import judge_sites
from auditbook.verdicts.tiers import assign_tiers
from verdicts import N_MODELS, N_RECORDS, N_SITES, SHARES, make_records, time_best


def main() -> None:
    """Time everything and print a line for each."""
    records, protocol = make_records(np.random.default_rng(42)), Protocol()
    prepared = prepare(records)
    verdicts = judge_cells(prepared, protocol)
    folds = plan_folds(records, n_folds=protocol.site_folds)
    rated = judge_sites(prepared, verdicts, folds, protocol)
    sizes, agreement = sweep_sizes(prepared, verdicts, protocol), rate_agreement(rated, verdicts)

    def order_scores() -> Prepared:
        fresh = prepare(records)
        return fresh if fresh.scores.ordered else prepared

    work = {
        "ordering the scores": order_scores,
        "axis 2": lambda: sweep_sizes(prepared, verdicts, protocol),
        "folds": lambda: plan_folds(records, n_folds=protocol.site_folds),
        "axis 3, verdicts": lambda: judge_sites(prepared, verdicts, folds, protocol),
        "axis 3, agreement": lambda: rate_agreement(rated, verdicts),
        "tiers": lambda: assign_tiers(verdicts, sizes, agreement, protocol=protocol),
        f"all {N_MODELS * len(SHARES) * len(protocol.metrics)} cells, all axes": lambda: judge(
            prepare(records), protocol
        ),
    }
    print(f"{N_RECORDS:,} records, {N_MODELS} models, R = {protocol.size_repeats}, {N_SITES} sites")
    print("in brackets: the time to reach")
    for what, run in work.items():
        print(f"{what:40s} {time_best(run)}", flush=True)


if __name__ == "__main__":
    main()
