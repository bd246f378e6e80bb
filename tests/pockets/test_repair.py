"""Corrections within pockets are judged on units that they were not learned from; review lists."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logit

from auditbook.columns import TABLES
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.frozen import Assignment, FrozenMap
from auditbook.pockets.repair import (
    apply_correction,
    find_correction,
    list_findings,
    repair_pockets,
    split_units,
)
from auditbook.pockets.testing import audit_map
from auditbook.run.assign import name_conflicts, place_records
from pocket_records import draw_records, shift_records

QUICK = PocketSettings(draws=499)


class Listed:
    """A rule that reads pockets from a column of the table."""

    def __init__(self, column, n_pockets=3):
        self.column, self.n_pockets = column, n_pockets

    def assign(self, table):
        codes = table[self.column].to_numpy(np.int32)
        return Assignment(codes, np.ones(len(codes)), np.ones(len(codes)))

    def arrays(self):
        return {}


def make_map(name="forest", column="pocket", letter="F", titles=()):
    pockets = tuple(f"{letter}{place}" for place in (1, 2, 3))
    return FrozenMap(name, Listed(column), pockets, np.ones(3, int), np.full(3, 0.3), titles)


def broken(seed=1, n=6_000, amount=0.12, **options):
    """Records whose second pocket is over-predicted."""
    audit = draw_records(np.random.default_rng(seed), n, **options)
    return shift_records(audit, (audit.table["pocket"] == 1).to_numpy(), amount)


@pytest.fixture(scope="module")
def repaired():
    return repair_pockets(make_map(), broken(), settings=QUICK, seed=1)


def test_every_pocket_and_half_of_every_model_has_a_row(repaired):
    assert list(repaired) == TABLES["pocket_repairs"].names()
    assert repaired["half"].tolist() == ["one"] * 3 + ["other"] * 3
    assert repaired["pocket"].tolist() == ["F1", "F2", "F3"] * 2
    assert (repaired["model"] == "a").all()
    assert (repaired["map"] == "forest").all()
    assert repaired["n"].sum() == 6_000


def test_a_flagged_pocket_is_corrected_and_nears_zero_in_the_other_half(repaired):
    fixed = repaired[repaired["pocket"] == "F2"]
    assert fixed["flagged"].all()
    assert (fixed["correction"] < -0.3).all()
    assert (fixed["before"] > 0.08).all()
    # Two half samples of about 1,000 records each have a standard error of 0.014 together.
    assert (fixed["after"].abs() < 0.05).all()
    assert (fixed["brier_after"] < fixed["brier_before"]).all()
    assert ((fixed["after_low"] < 0) & (fixed["after_high"] > 0)).all()


def test_what_is_not_flagged_is_left_alone(repaired):
    others = repaired[repaired["pocket"] != "F2"]
    assert not others["flagged"].any()
    blank = others[["correction", "after", "after_low", "after_high", "brier_after"]]
    assert blank.isna().all().all()
    assert others[["before", "before_low", "before_high", "brier_before"]].notna().all().all()


def test_a_continuous_outcome_is_shifted():
    audit = draw_records(np.random.default_rng(2), 4_000, continuous=True)
    audit = shift_records(audit, (audit.table["pocket"] == 2).to_numpy(), -0.4)
    made = repair_pockets(make_map(), audit, settings=QUICK, seed=3)
    fixed = made[made["flagged"]]
    assert fixed["pocket"].tolist() == ["F3", "F3"]
    np.testing.assert_allclose(fixed["correction"], 0.4, atol=0.08)  # four standard errors of a half
    # By hand: shifting by c turns the mean error b into b + c, and the squared error by 2bc + c squared.
    np.testing.assert_allclose(fixed["after"], fixed["before"] + fixed["correction"], atol=1e-12)
    gain = 2 * fixed["before"] * fixed["correction"] + fixed["correction"] ** 2
    np.testing.assert_allclose(fixed["brier_after"] - fixed["brier_before"], gain, atol=1e-12)


def test_the_correction_of_one_half_is_what_the_other_half_shows():
    audit = broken()
    made = repair_pockets(make_map(), audit, settings=QUICK, seed=7)
    first = split_units(audit.unit, np.random.default_rng(7))
    inside = (audit.table["pocket"] == 1).to_numpy()
    for half, learned in (("one", ~first), ("other", first)):
        rows = inside & learned
        by_hand = find_correction(audit.predictions["a"][rows], audit.outcome[rows], continuous=False)
        row = made[(made["half"] == half) & (made["pocket"] == "F2")].iloc[0]
        assert row["correction"] == by_hand
        looked = inside & ~learned
        assert row["n"] == looked.sum()
        assert row["before"] == pytest.approx((audit.predictions["a"] - audit.outcome)[looked].mean())


def test_outcomes_of_the_corrected_half_do_not_touch_its_corrections():
    audit = broken()
    first = split_units(audit.unit, np.random.default_rng(1))
    made = repair_pockets(make_map(), audit, settings=QUICK, seed=1)
    outcome = audit.outcome.copy()
    outcome[first] = np.random.default_rng(0).permutation(outcome[first])
    other = repair_pockets(make_map(), replace(audit, outcome=outcome), settings=QUICK, seed=1)
    columns = ["pocket", "flagged", "correction", "n"]
    one = made["half"] == "one"
    pd.testing.assert_frame_equal(made.loc[one, columns], other.loc[one, columns])


def test_units_stay_whole_and_halves_are_as_large():
    unit = np.repeat(np.arange(101), 7)
    first = split_units(unit, np.random.default_rng(1))
    by_unit = pd.Series(first).groupby(unit).nunique()
    assert (by_unit == 1).all()
    assert pd.Series(unit)[first].nunique() == 50


def test_units_that_are_sites_are_kept_together():
    made = repair_pockets(
        make_map(), broken(units=200, kind="site", n=20_000), settings=QUICK, seed=1, share=0.5
    )
    assert made.loc[made["pocket"] == "F2", "flagged"].all()


def test_two_models_are_repaired_apart():
    audit = broken(models=("a", "b"))
    made = repair_pockets(make_map(), audit, settings=replace(QUICK, paired=("a - b",)), seed=1)
    assert made["model"].tolist() == ["a"] * 6 + ["b"] * 6
    alone = repair_pockets(make_map(), broken(), settings=QUICK, seed=1)
    together = made[made["model"] == "a"]
    np.testing.assert_array_equal(together["correction"], alone["correction"])


def test_the_same_seed_gives_the_same_table_on_any_number_of_cores():
    first, again = (
        repair_pockets(make_map(), broken(), settings=QUICK, seed=5, jobs=jobs) for jobs in (1, 2)
    )
    pd.testing.assert_frame_equal(first, again)


@pytest.mark.parametrize("units", [1, None])
def test_thin_data_are_not_repaired(units):
    audit = draw_records(np.random.default_rng(1), 60, units=units)
    made = repair_pockets(make_map(), audit, settings=QUICK, seed=1)
    assert list(made) == TABLES["pocket_repairs"].names()
    assert len(made) == (0 if units else 6)
    assert not made["flagged"].any()
    assert made["before"].isna().all()


def test_a_correction_takes_the_mean_error_away():
    rng = np.random.default_rng(1)
    risk, outcome = rng.random(500), (rng.random(500) < 0.2).astype(float)
    shift = find_correction(risk, outcome, continuous=False)
    assert apply_correction(risk, shift, continuous=False).mean() == pytest.approx(outcome.mean(), abs=1e-9)
    value = rng.normal(size=500)
    moved = apply_correction(value, find_correction(value, outcome, continuous=True), continuous=True)
    assert moved.mean() == pytest.approx(outcome.mean(), abs=1e-12)


def test_the_correction_is_the_intercept_of_a_logistic_regression_with_an_offset():
    rng = np.random.default_rng(2)
    risk = rng.uniform(0.05, 0.6, 800)
    outcome = (rng.random(800) < risk / 2).astype(float)
    fit = sm.GLM(outcome, np.ones(800), family=sm.families.Binomial(), offset=logit(risk)).fit()
    assert find_correction(risk, outcome, continuous=False) == pytest.approx(fit.params[0], abs=1e-6)


@pytest.mark.parametrize("event", [0.0, 1.0])
def test_no_event_or_no_other_gives_a_finite_correction(event):
    risk, outcome = np.array([0.0, 0.3, 0.5, 1.0]), np.full(4, event)
    shift = find_correction(risk, outcome, continuous=False)
    assert np.isfinite(shift)
    assert (shift > 0) == (event == 1)
    assert apply_correction(risk, shift, continuous=False).sum() == pytest.approx(abs(4 * event - 0.5))


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.booleans()), min_size=1, max_size=30), st.floats(-2, 2))
def test_a_correction_keeps_the_order_of_predictions(pairs, shift):
    risk = np.array([pair[0] for pair in pairs])
    moved = apply_correction(risk, shift, continuous=False)
    assert ((moved > 0) & (moved < 1)).all()
    assert (np.diff(moved[np.argsort(risk)]) >= -1e-12).all()
    back = apply_correction(moved, -shift, continuous=False)
    np.testing.assert_allclose(back, risk, atol=1e-9)


def flags(**directions):
    """Made-up findings: a direction for each flagged pocket."""
    names = [f"{letter}{place}" for letter in "FR" for place in (1, 2, 3)]
    return pd.DataFrame(
        {
            "model": "a",
            "map": ["forest"] * 3 + ["ridge"] * 3,
            "quantity": "mu",
            "pocket": names,
            "flagged": [name in directions for name in names],
            "direction": [directions.get(name, "") for name in names],
        }
    )


NEW = pd.DataFrame({"pocket": [0, 1, 2, -1, 1], "other": [0, 0, 1, 1, -1]})
FINDING_COLUMNS = {"record", "map", "pocket", "name", "model", "contrast", "direction", "conflict"}


def find_new(*, maps, errors):
    """List what was flagged for the new records."""
    return list_findings([each.assign(NEW).codes for each in maps], maps=maps, errors=errors)


def test_records_in_flagged_pockets_are_listed_with_the_direction():
    titles = ("old", "<b>ill</b>", "young")
    maps = (make_map(titles=titles), make_map("ridge", "other", "R"))
    found = find_new(maps=maps, errors=flags(F2="under", R1="over", R2="over"))
    assert set(found) == FINDING_COLUMNS
    assert found["record"].tolist() == [0, 1, 1, 2, 3, 4]
    assert found["pocket"].tolist() == ["R1", "F2", "R1", "R2", "R2", "F2"]
    assert found["name"].tolist() == ["R1", "<b>ill</b>", "R1", "R2", "R2", "<b>ill</b>"]
    assert found["direction"].tolist() == ["over", "under", "over", "over", "over", "under"]
    assert found["conflict"].tolist() == [False, True, True, False, False, False]


def test_without_a_flag_no_record_is_listed():
    found = find_new(maps=(make_map(),), errors=flags())
    assert set(found) == FINDING_COLUMNS
    assert len(found) == 0


def test_differences_between_models_and_the_overall_error_send_nobody_to_review():
    errors = flags(F2="under")
    paired = errors.assign(quantity="paired")
    overall = errors.iloc[[0]].assign(pocket="overall", flagged=True, direction="over")
    both = pd.concat([paired, overall, flags()])
    assert find_new(maps=(make_map(),), errors=both).empty


def test_a_review_list_takes_what_testing_found():
    audit = broken()
    errors = audit_map(make_map(), audit, contrasts=(), settings=QUICK, seed=1).errors
    found = find_new(maps=(make_map(),), errors=errors)
    assert found[["record", "direction"]].values.tolist() == [[1, "over"], [4, "over"]]


def test_findings_of_every_model_and_pair_of_groups_are_listed_and_conflicts_are_kept_apart():
    maps = (make_map(), make_map("ridge", "other", "R"))
    gaps = flags(F2="over", R1="under").assign(quantity="delta", contrast="B - A")
    torn = flags(F2="under", R1="over").assign(contrast="", model="b")
    agreed = flags(F2="over", R1="over").assign(contrast="")
    paired = flags(F1="over").assign(quantity="paired", contrast="B - A")
    errors = pd.concat([agreed, torn, gaps, paired])
    codes = [one.assign(NEW).codes for one in maps]
    found = list_findings(codes, maps=maps, errors=errors)
    one = found[found["record"] == 1]
    assert one["model"].tolist() == ["a", "b", "a"] * 2
    assert one["contrast"].tolist() == ["", "", "B - A"] * 2
    assert one["conflict"].tolist() == [False, True, True] * 2
    assert found.loc[found["record"] == 4, "pocket"].tolist() == ["F2"] * 3
    assert not found.loc[found["record"] != 1, "conflict"].any()


def test_a_conflict_is_written_for_the_record_and_for_nobody_else():
    maps = (make_map(), make_map("ridge", "other", "R"))
    gaps = flags(F2="over", R1="under").assign(quantity="delta", contrast="B - A")
    torn = flags(F2="under", R1="over").assign(contrast="", model="b")
    codes = [one.assign(NEW).codes for one in maps]
    findings = list_findings(codes, maps=maps, errors=pd.concat([torn, gaps]))
    told = name_conflicts(findings, len(NEW)).tolist()
    assert told == ["", "b conflict; a conflict for B - A", "", "", ""]
    placed = place_records(maps[0], maps[0].assign(NEW), findings)
    assert placed["forest_review"].tolist() == [
        "",
        "b predicts too little; a predicts too much for B - A",
        "",
        "",
        "b predicts too little; a predicts too much for B - A",
    ]
    none = list_findings(codes, maps=maps, errors=flags())
    assert name_conflicts(none, len(NEW)).tolist() == [""] * 5
    assert place_records(maps[0], maps[0].assign(NEW), none)["forest_review"].tolist() == [""] * 5
