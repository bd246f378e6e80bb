"""Testing of the pockets of a frozen map."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditbook.columns import TABLES
from auditbook.errors import InputError
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.data import declare_contrasts
from auditbook.pockets.testing import audit_map
from auditbook.records import Attribute
from auditbook.studies.simulations.fixed_map import fix_map
from pocket_records import draw_records, shift_records

QUICK = PocketSettings(draws=499)
SAME = dict(rtol=1e-9, atol=1e-12)  # rounding: sums in another order


def run_test(audit, *, pockets=3, settings=QUICK, **options):
    contrasts = declare_contrasts(audit.attributes)
    return audit_map(
        fix_map(pockets), audit, contrasts=contrasts, settings=settings, seed=1, **options
    ).errors


def cell(errors, quantity, pocket, column):
    rows = errors[(errors["quantity"] == quantity) & (errors["pocket"] == pocket)]
    return rows[column].iloc[0]


def test_estimates_are_means_of_the_error_by_hand():
    audit = draw_records(np.random.default_rng(1), 900)
    errors = run_test(audit)
    assert list(errors.columns) == TABLES["pocket_errors"].names()
    wrong = audit.predictions["a"] - audit.outcome
    inside = audit.table["pocket"].to_numpy() == 1
    focal = audit.attributes[0].codes == 0
    assert cell(errors, "mu", "overall", "estimate") == pytest.approx(wrong.mean())
    assert cell(errors, "mu", "F2", "estimate") == pytest.approx(wrong[inside].mean())
    gap = wrong[inside & focal].mean() - wrong[inside & ~focal].mean()
    assert cell(errors, "delta", "F2", "estimate") == pytest.approx(gap)
    known = errors["mean_prediction"] - errors["mean_outcome"]
    np.testing.assert_allclose(known, errors["estimate"], **SAME)
    assert cell(errors, "delta", "F2", "n_focal") == (inside & focal).sum()
    assert cell(errors, "mu", "overall", "n") == 900


def test_intervals_flags_and_p_values_agree():
    rng = np.random.default_rng(2)
    audit = draw_records(rng, 3000)
    audit = shift_records(audit, audit.table["pocket"] == 0, 0.06)
    errors = run_test(audit)
    half = errors["critical"] * errors["se"]
    np.testing.assert_allclose(errors["ci_high"] - errors["estimate"], half, **SAME)
    outside = (errors["ci_low"] > 0) | (errors["ci_high"] < 0)
    assert (errors["flagged"] == outside).all()
    assert (errors["flagged"] == (errors["p_value"] <= errors["level"])).all()
    assert cell(errors, "mu", "F1", "direction") == "over"
    assert errors.groupby("quantity")["critical"].nunique().eq(1).all()


def test_a_planted_gap_is_found_where_it_is_and_in_its_direction():
    audit = draw_records(np.random.default_rng(3), 6000)
    chosen = (audit.table["pocket"] == 2) & (audit.attributes[0].codes == 0)
    errors = run_test(shift_records(audit, chosen, -0.12))
    assert cell(errors, "delta", "F3", "direction") == "under"
    assert not errors[(errors["quantity"] == "delta") & errors["pocket"].isin(["F1", "F2"])]["flagged"].any()


def test_overall_takes_in_the_records_that_a_map_abstains_on():
    audit = draw_records(np.random.default_rng(4), 1200)
    audit.table.loc[:299, "pocket"] = -1
    errors = run_test(audit)
    assert cell(errors, "mu", "overall", "n") == 1200
    assert errors[(errors["quantity"] == "mu") & (errors["pocket"] != "overall")]["n"].sum() == 900


def test_levels_follow_the_outcome_and_the_units():
    rng = np.random.default_rng(5)
    binary, numbers = draw_records(rng, 900), draw_records(rng, 900, continuous=True)
    sites = draw_records(rng, 900, units=60, kind="site")
    patients = replace(sites, unit_kind="unit")
    found = [set(run_test(audit)["level"]) for audit in (binary, numbers, sites, patients)]
    assert found == [{0.025}, {0.05}, {0.0125}, {0.025}]
    assert set(run_test(binary, share=0.5)["level"]) == {0.0125}
    own = run_test(binary, settings=PocketSettings(draws=99, level=0.1, error_level=0.2))
    assert own.groupby("quantity")["level"].first().to_dict() == {"delta": 0.1, "mu": 0.2}


def test_sites_bring_a_stricter_level_for_mean_errors_beside():
    audit = draw_records(np.random.default_rng(6), 3000, units=60, kind="site")
    errors = run_test(
        shift_records(audit, True, 0.035), settings=PocketSettings(draws=999, strict_level=0.0025)
    )
    mean = errors["quantity"] == "mu"
    assert errors[mean]["flagged_strict"].notna().all()
    assert errors[~mean]["flagged_strict"].isna().all()
    assert (errors[mean]["flagged"] >= errors[mean]["flagged_strict"]).all()
    strict = errors[mean]["flagged_strict"].astype(bool)
    assert (strict == (errors[mean]["p_value"] <= 0.0025)).all()
    assert run_test(draw_records(np.random.default_rng(6), 900))["flagged_strict"].isna().all()


def test_binary_errors_have_a_floor_and_numbers_have_none():
    rng = np.random.default_rng(7)
    audit = draw_records(rng, 900)
    chances = audit.predictions["a"]
    inside = audit.table["pocket"] == 0
    floor = np.sqrt(np.sum(chances[inside] * (1 - chances[inside]))) / inside.sum()
    assert cell(run_test(audit), "mu", "F1", "se") >= floor
    calm = replace(audit, outcome=chances + 1e-3 * rng.standard_normal(900))
    assert cell(run_test(calm), "mu", "F1", "se") == pytest.approx(floor)
    assert cell(run_test(replace(calm, continuous=True)), "mu", "F1", "se") < 0.01 * floor


def test_a_paired_gap_compares_two_models_without_the_outcome_or_a_floor():
    audit = draw_records(np.random.default_rng(8), 3000, models=("a", "b"))
    chosen = (audit.table["pocket"] == 1) & (audit.attributes[0].codes == 0)
    audit = shift_records(audit, True, 0.05 * chosen + 0.01 * np.sin(np.arange(3000)), model="b")
    settings = PocketSettings(draws=499, paired=("b - a",))
    errors = run_test(audit, settings=settings)
    paired = errors[errors["quantity"] == "paired"]
    assert set(paired["model"]) == {"b"}
    assert set(paired["other_model"]) == {"a"}
    assert cell(errors, "paired", "F2", "direction") == "over"
    both = errors[errors["quantity"] == "delta"].pivot_table(
        index="pocket", columns="model", values="estimate"
    )
    expected = (both["b"] - both["a"])[paired["pocket"]]
    known = paired["status"] == "tested"
    np.testing.assert_allclose(paired["estimate"][known], expected[known.to_numpy()], **SAME)
    shuffled = replace(audit, outcome=np.random.default_rng(1).permutation(audit.outcome))
    again = run_test(shuffled, settings=settings)
    pd.testing.assert_frame_equal(paired, again[again["quantity"] == "paired"])


def test_a_pair_of_unknown_models_is_an_input_error():
    audit = draw_records(np.random.default_rng(9), 300, models=("cost", "health"))
    with pytest.raises(
        InputError, match=r'\[pockets\] paired: "cost - helth" is not two of the audited models'
    ):
        run_test(audit, settings=PocketSettings(paired=("cost - helth",)))


def test_several_pairs_of_groups_are_judged_together():
    audit = draw_records(np.random.default_rng(10), 4000, groups=("A", "B", "C"))
    errors = run_test(audit)
    gaps = errors[errors["quantity"] == "delta"]
    assert gaps["contrast"].unique().tolist() == ["sex: A - C", "sex: B - C"]
    assert len(set(gaps["critical"])) == 1
    one = audit_map(
        fix_map(3), audit, contrasts=declare_contrasts(audit.attributes)[:1], settings=QUICK, seed=1
    ).errors
    assert gaps["critical"].iloc[0] > one[one["quantity"] == "delta"]["critical"].iloc[0]


def test_two_attributes_are_two_families():
    audit = draw_records(np.random.default_rng(11), 2000)
    age = Attribute("age", ("old", "young"), np.random.default_rng(1).integers(0, 2, 2000), "young")
    both = run_test(replace(audit, attributes=(*audit.attributes, age)))
    alone = run_test(audit)
    kept = both[~both["contrast"].str.startswith("age")].reset_index(drop=True)
    np.testing.assert_allclose(kept["critical"], alone["critical"], **SAME)
    assert set(both["contrast"]) == {"", "sex: F - M", "age: old - young"}


def test_thin_data_are_untested_with_reasons_and_without_any_flag():
    rng = np.random.default_rng(12)
    audit = draw_records(rng, 2000, pockets=3, units=3, kind="site", rate=0.02)
    errors = run_test(audit)
    assert (errors["status"] == "untested").all()
    assert errors["reason"].ne("").all()
    assert not errors["flagged"].any()
    assert not errors["flagged_strict"].fillna(False).any()
    hidden = ["estimate", "se", "ci_low", "ci_high", "critical", "p_value", "mean_outcome"]
    assert errors[hidden].isna().all(axis=None)
    reason = cell(errors, "delta", "overall", "reason")
    assert reason.startswith(
        "F: 3 sites, 15 needed and 2.9 effective sites, 10 needed and largest site holds"
    )
    assert "; M: 3 sites" in reason


def test_a_group_without_records_is_untested():
    audit = draw_records(np.random.default_rng(13), 900)
    nobody = replace(audit.attributes[0], groups=("F", "M", "X"), reference="M")
    errors = run_test(replace(audit, attributes=(nobody,)))
    missing = errors[errors["contrast"] == "sex: X - M"]
    assert set(missing["reason"]) == {"X: no records"}
    assert missing["mean_prediction"].isna().all()


@pytest.mark.parametrize("kind", ["unit", "site"])
def test_a_unit_that_holds_everything_supports_nothing(kind):
    audit = draw_records(np.random.default_rng(14), 900, units=1, kind=kind)
    errors = run_test(audit)
    assert set(errors["status"]) == {"untested"}
    assert errors["reason"].str.contains(f"1 {kind}, 15 needed").all()
    assert not errors["flagged"].any()


def test_one_unit_has_no_variability_where_the_rule_asks_for_no_more():
    audit = draw_records(np.random.default_rng(14), 900, units=1, kind="unit")
    rule = replace(QUICK, min_sites=1, min_effective_sites=1.0, largest_site=1.0)
    errors = run_test(audit, settings=rule)
    assert set(errors["status"]) == {"no variability"}
    assert set(errors["reason"]) == {"errors do not vary between units"}
    assert errors["estimate"].notna().all()
    assert errors[["se", "ci_low", "critical", "p_value"]].isna().all(axis=None)
    assert not errors["flagged"].any()


def test_a_pocket_whose_errors_are_all_equal_is_reported_apart():
    audit = draw_records(np.random.default_rng(15), 900, continuous=True)
    still = audit.table["pocket"].to_numpy() == 0
    audit = replace(audit, outcome=np.where(still, audit.predictions["a"] - 0.5, audit.outcome))
    errors = run_test(audit)
    assert cell(errors, "mu", "F1", "status") == "no variability"
    assert cell(errors, "mu", "F1", "estimate") == pytest.approx(0.5)
    assert cell(errors, "mu", "F2", "status") == "tested"


def test_continuous_outcomes_need_no_events():
    audit = draw_records(np.random.default_rng(16), 330, continuous=True, rate=0.05)
    errors = run_test(audit)
    assert (errors["status"] == "tested").sum() >= 6
    assert not errors["reason"].str.contains("events").any()


def test_outcomes_permuted_leave_what_is_tested_as_it_is():
    audit = draw_records(np.random.default_rng(17), 1200, units=50, kind="site", rate=0.1)
    other = replace(audit, outcome=np.random.default_rng(1).permutation(audit.outcome))
    one, two = run_test(audit), run_test(other)
    same = ["pocket", "contrast", "status", "reason", "n", "units", "effective_units", "mean_prediction"]
    pd.testing.assert_frame_equal(one[same], two[same])


def test_the_order_of_records_and_gaps_in_unit_numbers_change_nothing():
    audit = draw_records(np.random.default_rng(18), 1500, units=80, kind="site")
    order = np.random.default_rng(1).permutation(1500)
    moved = audit.take(order)
    moved = replace(moved, unit=7 * moved.unit + 3)  # as when other units belong to other roles
    one, two = run_test(audit), run_test(moved)
    for column in ("estimate", "se", "critical", "p_value"):
        np.testing.assert_allclose(one[column], two[column], **SAME)


def test_threads_change_no_bit():
    audit = draw_records(np.random.default_rng(19), 1500)
    pd.testing.assert_frame_equal(run_test(audit, jobs=1), run_test(audit, jobs=3))


def test_a_model_beside_changes_nothing():
    audit = draw_records(np.random.default_rng(20), 1500, models=("a", "b"))
    both, alone = run_test(audit), run_test(replace(audit, predictions={"a": audit.predictions["a"]}))
    kept = both[both["model"] == "a"].reset_index(drop=True)
    np.testing.assert_allclose(kept["critical"], alone["critical"], **SAME)


def test_two_groups_swapped_turn_the_gap_around():
    audit = draw_records(np.random.default_rng(21), 1500)
    other = replace(audit, attributes=(replace(audit.attributes[0], reference="F"),))
    one, two = (found[found["quantity"] == "delta"] for found in (run_test(audit), run_test(other)))
    np.testing.assert_allclose(one["estimate"], -two["estimate"].to_numpy(), **SAME)
    np.testing.assert_allclose(one["critical"], two["critical"].to_numpy(), **SAME)


def test_simultaneous_intervals_cover_all_true_errors_at_once():
    runs, covered = 100, 0
    shift = np.array([0.05, -0.03, 0.0])
    for run in range(runs):
        audit = draw_records(np.random.default_rng(1000 + run), 1500, continuous=True)
        pocket = audit.table["pocket"].to_numpy()
        audit = shift_records(audit, True, shift[pocket])
        errors = audit_map(fix_map(3), audit, contrasts=(), settings=QUICK, seed=run).errors
        true = np.concatenate([[shift[pocket].mean()], shift])
        covered += ((errors["ci_low"] <= true) & (true <= errors["ci_high"])).all()
    # four binomial standard errors below the aim; 499 draws
    assert covered / runs >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)
