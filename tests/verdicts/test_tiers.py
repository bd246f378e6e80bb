"""Tiers: one for each number of axes that fall short, with reasons, and none without a verdict."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.settings import Protocol
from auditbook.verdicts.tiers import TIERS, assign_tiers, recommend

PROTOCOL = Protocol()
CELL = {"model": ["m"], "metric": ["DI"], "attribute": ["sex"]}


def grade(
    *,
    vfr=0.02,
    n_star=1_000.0,
    kappa=0.5,
    status="defined",
    reason="",
    verdict="pass",
    whole=400_000,
    why="",
    folds_rated=20,
):
    """Grade one cell that settles at `n_star`."""
    verdicts = pd.DataFrame(
        CELL | {"verdict": [verdict], "reason": [why], "vfr": [vfr], "folds_rated": folds_rated}
    )
    grid = np.array([1_000, 2_500, 50_000, 100_000, whole])
    sizes = pd.DataFrame({"n": grid[grid <= whole]}).assign(model="m", metric="DI", attribute="sex")
    sizes = sizes.assign(cv=np.where(sizes["n"] >= n_star, 0.01, 0.3), undefined_share=0.0)
    sizes["above_half"] = 2 * sizes["n"] > whole
    folds = pd.DataFrame(
        {"model": ["m"], "metric": "DI", "kappa": kappa, "band": "fair", "status": status, "reason": reason}
    )
    return assign_tiers(verdicts, sizes, folds, protocol=PROTOCOL).iloc[0]


@pytest.mark.parametrize(
    ("bad", "tier"),
    [
        ({}, "Practical-Stability"),
        ({"vfr": 0.3}, "Caution-Required"),
        ({"n_star": 100_000}, "Caution-Required"),
        ({"kappa": 0.39}, "Caution-Required"),
        ({"vfr": 0.3, "n_star": 100_000}, "High-Variance"),
        ({"vfr": 0.3, "kappa": -0.05}, "High-Variance"),
        ({"vfr": 0.3, "n_star": np.inf, "kappa": -0.05}, "Catastrophic-Instability"),
    ],
)
def test_the_tier_counts_the_axes_that_fall_short(bad, tier):
    row = grade(**bad)
    assert row.tier == tier
    assert TIERS[tier].violations == len(bad)
    assert len(row.tier_reasons.split("; ")) == 3


def test_the_bounds_themselves_are_good_enough():
    assert grade(vfr=0.10, n_star=50_000, kappa=0.40).tier == "Practical-Stability"


def test_an_attribute_that_no_fold_rates_is_not_judged_by_the_kappa_of_the_others():
    for rated, tier in ((1, "Practical-Stability"), (2, "Caution-Required")):
        row = grade(kappa=-0.2, folds_rated=rated)
        assert row.tier == tier
        assert np.isnan(row.kappa) == (rated < 2)
    assert "sites not judged: fewer than two folds" in grade(kappa=0.9, folds_rated=0).tier_reasons
    assert grade(kappa=0.9, folds_rated=0).tier_reasons.endswith("two of three axes judged")


def test_an_audit_too_small_for_any_size_is_not_judged_by_size():
    row = grade(n_star=np.inf, whole=1_500)
    assert row.tier == "Practical-Stability"
    assert np.isnan(row.n_star)
    assert (
        "size not judged: no size that is tried is at most half of this audit (750 records)"
        in row.tier_reasons
    )


def test_reasons_start_with_what_falls_short():
    row = grade(kappa=-0.0526)
    assert row.tier_reasons == "kappa of DI -0.053 (fair), below 0.4; flip rate 0.020; N* 1,000"


def test_a_size_that_is_not_reached_says_how_far_was_looked():
    row = grade(n_star=np.inf, whole=14_194)
    assert row.n_star == np.inf
    assert "N* not reached within half of this audit (7,097 records)" in row.tier_reasons


def test_folds_that_all_say_the_same_count_as_agreeing_and_it_is_said():
    row = grade(kappa=np.nan, status="undefined", reason="every rating is a pass")
    assert row.tier == "Practical-Stability"
    assert "kappa undefined, because every rating is a pass; counted as agreeing" in row.tier_reasons
    assert np.isnan(row.kappa)


def test_without_sites_two_axes_are_judged_and_it_is_said():
    row = grade(kappa=np.nan, status="no site", reason="there is no site column")
    assert row.tier == "Practical-Stability"
    assert row.tier_reasons.endswith("sites not judged: there is no site column; two of three axes judged")
    both = grade(vfr=0.4, n_star=np.inf, kappa=np.nan, status="no site", reason="there is no site column")
    assert both.tier == "High-Variance"


def test_an_inconclusive_cell_has_no_tier_and_says_why():
    row = grade(verdict="inconclusive", vfr=np.nan, why="Asian: 4 events, 10 needed")
    assert row.tier == ""
    assert row.tier_reasons == "no tier, since there is no verdict (Asian: 4 events, 10 needed)"
    assert np.isnan(row.n_star)
    assert np.isnan(row.kappa)
    assert recommend(row.tier) == "Claim nothing; see what is missing."


def test_a_verdict_without_a_flip_rate_does_not_count_as_stable():
    row = grade(vfr=np.nan)
    assert row.tier == "Caution-Required"
    assert "undefined in every resample" in row.tier_reasons


@settings(deadline=None, max_examples=20)
@given(st.floats(0, 0.5), st.sampled_from([1_000, 2_500, 50_000, 100_000, np.inf]), st.floats(-1, 1))
def test_a_worse_axis_never_brings_a_better_tier(vfr, n_star, kappa):
    count = TIERS[grade(vfr=vfr, n_star=n_star, kappa=kappa).tier].violations
    assert TIERS[grade(vfr=min(vfr + 0.2, 0.5), n_star=n_star, kappa=kappa).tier].violations >= count
    assert TIERS[grade(vfr=vfr, n_star=np.inf, kappa=kappa).tier].violations >= count
    assert TIERS[grade(vfr=vfr, n_star=n_star, kappa=-1.0).tier].violations >= count


def test_every_tier_asks_for_an_action():
    assert [tier.violations for tier in TIERS.values()] == [0, 1, 2, 3]
    assert len({recommend(tier) for tier in [*TIERS, ""]}) == 5
