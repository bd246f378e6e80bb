"""What cells need to settle, and whether their subsamples agree."""

import numpy as np
import pandas as pd
import pytest

from auditbook.evidence.intervals import wilson_interval
from auditbook.settings import Protocol
from auditbook.verdicts.audit_size import sweep_counts
from auditbook.verdicts.size_needs import bound_pass_shares, list_needs, project_size


def test_projected_size_is_found_again_in_a_larger_cohort():
    counts = np.array([[400, 100, 100, 400], [330, 100, 170, 400]]) * 100
    rng = np.random.default_rng(1)
    seen = sweep_counts(counts, "SPD", sizes=[20_000], repeats=3_000, rng=rng)
    size = project_size(seen["cv"], seen["n"], whole=counts.sum(), cv_stable=0.05).item()
    again = sweep_counts(counts * 1_000, "SPD", sizes=[round(size)], repeats=3_000, rng=rng)
    assert again["cv"].item() == pytest.approx(0.05, rel=0.1)


def test_pass_shares_are_bounded_over_the_subsamples_that_define_the_metric():
    shares = pd.DataFrame({"undefined_share": [0.5, 1.0], "pass_share": [0.4, np.nan]})
    table, bounds = bound_pass_shares(shares, repeats=20), wilson_interval(4, 10)
    assert table.loc[0, ["pass_low", "pass_high"]].tolist() == [bounds.low, bounds.high]
    assert table.loc[1, ["pass_low", "pass_high"]].isna().all()


def test_cells_that_need_most_come_first_and_those_without_a_verdict_last():
    names = pd.DataFrame({"model": "m", "attribute": "sex", "metric": ["DI", "PP", "TI"]})
    small = names.assign(n=1_000, cv=[0.01, 0.2, np.nan], pass_share=[1.0, 0.5, np.nan], above_half=False)
    sizes = pd.concat([small, small.assign(n=10_000, cv=0.0, above_half=True)], ignore_index=True)
    sizes = sizes.assign(cv_low=0.0, cv_high=1.0, unsupported_share=0.0)
    verdicts = names.assign(verdict="pass", n_star=[1_000.0, np.inf, np.nan])
    needs = list_needs(sizes, verdicts, Protocol(), model="m")
    assert needs["metric"].tolist() == ["PP", "DI", "TI"]
    assert needs["settled"].tolist() == [False, True, False]
    assert needs["one_mind"].tolist() == [False, True, False]
