"""What moves when one constant moves: counted by hand, against the audit itself, and in invariances."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.evidence import prepare, tally_records
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import monte_carlo as repeats
from auditbook.verdicts import sensitivity
from auditbook.verdicts.judgement import judge
from auditbook.verdicts.monte_carlo import REPEATS, repeat_passes
from auditbook.verdicts.sensitivity import (
    TIER_COUNTS,
    count_outcomes,
    list_values,
    open_audit,
    vary_constants,
)
from auditbook.verdicts.tiers import assign_tiers
from survey_records import stored_survey

PROTOCOL = Protocol(resamples=100, resample_size=1_500, site_folds=4, audit_sizes=(500, 1_000))
LUCK = 0.10
"""Relative tolerance of a standard deviation that is seen in two hundred runs."""


def make_records(n=4_000, *, sites=8, seed=3, kind="probability"):
    """Draw records with a gap near the thresholds, and a group too small for a verdict."""
    rng = np.random.default_rng(seed)
    race, sex = rng.choice(3, n, p=[0.7, 0.295, 0.005]), rng.integers(0, 2, n)
    risk = np.clip(rng.beta(2, 3, n) + 0.055 * (race == 1), 0, 1)
    outcome = (rng.random(n) < risk).astype(np.int8)
    attributes = (Attribute("race", ("a", "b", "c"), race), Attribute("sex", ("f", "m"), sex))
    values = risk if kind == "probability" else (risk > 0.5).astype(float)
    site = rng.integers(0, sites, n) if sites else None
    return AuditRecords(outcome, attributes, (Score("m", kind, 0.5, values),), site)


def audit(records, protocol=PROTOCOL):
    return judge(prepare(records), protocol).tables


@pytest.fixture(scope="module")
def made():
    records = make_records()
    tables = audit(records)
    return records, tables, vary_constants(records, tables, model="m", protocol=PROTOCOL)


@pytest.fixture
def few_runs(monkeypatch):
    monkeypatch.setattr(repeats, "REPEATS", 3)


def sweep(found, setting):
    table = found["sensitivity"]
    return table[table["setting"] == setting].reset_index(drop=True)


def test_three_flip_rates_are_counted_by_hand(made):
    records, tables, _ = made
    opened = open_audit(records, tables, model="m", protocol=PROTOCOL)
    verdicts = tables["verdicts"].iloc[:4].reset_index(drop=True)
    verdicts = verdicts.assign(verdict=["pass", "fail", "pass", "inconclusive"])
    verdicts = verdicts.assign(vfr=[0.0, 0.08, 0.3, np.nan], vfr_low=[0, 0.05, 0.25, np.nan])
    verdicts = verdicts.assign(vfr_high=[0.02, 0.12, 0.35, np.nan])
    found = count_outcomes(replace(opened, verdicts=verdicts))
    assert [found[name] for name in ("cells", "inconclusive", "stable", "unstable", "flipped")] == [
        3,
        1,
        2,
        1,
        2,
    ]
    assert (found["surely_stable"], found["surely_unstable"]) == (1, 1)
    assert found["mean_vfr"] == pytest.approx(0.38 / 3)


def test_a_cell_that_no_resample_defines_is_unstable(made):
    records, tables, _ = made
    opened = open_audit(records, tables, model="m", protocol=PROTOCOL)
    verdicts = tables["verdicts"].iloc[:1].assign(verdict="pass", vfr=np.nan, vfr_low=np.nan, vfr_high=np.nan)
    found = count_outcomes(replace(opened, verdicts=verdicts))
    assert (found["stable"], found["unstable"], found["flipped"]) == (0, 1, 0)


def test_the_sweep_of_the_bound_counts_the_column_of_flip_rates(made):
    flips = made[1]["verdicts"]["vfr"].dropna()
    table = sweep(made[2], "vfr_stable")
    assert table["value"].tolist() == list(sensitivity.FLIP_BOUNDS)
    assert table["stable"].tolist() == [(flips <= bound).sum() for bound in sensitivity.FLIP_BOUNDS]
    assert table["stable"].is_monotonic_increasing


@pytest.mark.parametrize("setting", ["kappa_stable", "cv_stable", "field_size"])
def test_bounds_of_the_tiers_give_the_tiers_of_an_audit_with_that_bound(made, setting):
    _, tables, found = made
    for row in sweep(found, setting).itertuples():
        moved = replace(PROTOCOL, **{setting: row.value})
        graded = assign_tiers(
            tables["verdicts"], tables["audit_size"], tables["site_agreement"], protocol=moved
        )
        for tier, column in TIER_COUNTS.items():
            assert getattr(row, column) == (graded["tier"] == tier).sum()


def test_every_sweep_holds_the_value_in_force_and_there_it_is_the_audit(made):
    records, tables, found = made
    table = found["sensitivity"]
    own = count_outcomes(open_audit(records, tables, model="m", protocol=PROTOCOL))
    for setting, part in table[table["in_force"]].groupby("setting"):
        assert len(part) == 1
        if setting != "resamples":
            assert {name: part[name].item() for name in own} == pytest.approx(own)
    assert set(table["setting"]) == set(table.loc[table["in_force"], "setting"])


def test_sizes_end_at_the_audits_own_and_agree_with_its_flip_rates(made):
    records, tables, found = made
    cells = found["sensitivity_cells"]
    cells = cells[cells["setting"] == "resample_size"]
    verdicts = tables["verdicts"].set_index(["metric", "attribute"])
    assert cells["value"].max() == len(records.outcome)
    for value, column in ((1_500, "vfr"), (len(records.outcome), "vfr_own_size")):
        there = cells[cells["value"] == value].set_index(["metric", "attribute"])
        pd.testing.assert_series_equal(there["vfr"], verdicts[column], check_names=False)


def test_weighted_records_are_resampled_at_no_size_but_their_own(few_runs):
    records = replace(stored_survey(), attributes=stored_survey().attributes[1:2])
    protocol = replace(PROTOCOL, resample_size=300, metrics=("DI", "EOPP"))
    tables = audit(records, protocol)
    found = vary_constants(records, tables, model="m", protocol=protocol)
    sizes = found["sensitivity"][found["sensitivity"]["setting"] == "resample_size"]
    assert sizes[["value", "in_force"]].to_numpy().tolist() == [[len(records.outcome), True]]
    cells = found["sensitivity_cells"]
    drawn = cells[cells["setting"] == "resample_size"].reset_index(drop=True)
    pd.testing.assert_series_equal(drawn["vfr"], tables["verdicts"]["vfr"])


def test_lower_support_only_adds_verdicts_and_changes_no_flip_rate(made):
    cells = made[2]["sensitivity_cells"]
    cells = cells[cells["setting"] == "min_records"]
    judged = cells[cells["verdict"] != "inconclusive"].groupby("label", sort=False).size()
    assert judged.is_monotonic_decreasing
    assert judged.iloc[0] > judged["30/10/10"]
    spread = cells.dropna(subset="vfr").groupby(["metric", "attribute"])["vfr"]
    assert (spread.max() == spread.min()).all()


def test_support_is_judged_as_an_audit_with_that_support_judges_it(made):
    records, _, found = made
    table = sweep(found, "min_records").set_index("label")
    moved = replace(PROTOCOL, min_records=1, min_events=1, min_non_events=1)
    expected = count_outcomes(open_audit(records, audit(records, moved), model="m", protocol=moved))
    assert {name: table.loc["1/1/1", name] for name in expected} == pytest.approx(expected)


def test_runs_of_more_resamples_differ_less_as_the_binomial_distribution_has_it(made):
    table = sweep(made[2], "resamples")
    assert table["value"].tolist() == [50, 100, 200, 500, 1_000]
    ratio = table["pass_share_sd"] / table["pass_share_sd_predicted"]
    assert ratio.between(0.65, 1.6).all()  # 99.9 % of the chi-square distribution of twenty runs
    predicted = table["pass_share_sd_predicted"] * np.sqrt(table["value"])
    assert predicted.to_numpy() == pytest.approx(predicted.iloc[0], rel=1e-9)
    assert (table["repeats"] == REPEATS).all()
    assert table["flipped"].is_monotonic_increasing
    assert ((table["stable_least"] <= table["stable"]) & (table["stable"] <= table["stable_most"])).all()


def test_the_spread_between_many_runs_is_the_predicted_one_and_halves_with_four_times_the_resamples(
    monkeypatch,
):
    monkeypatch.setattr(repeats, "REPEATS", 200)
    records, protocol = make_records(), replace(PROTOCOL, metrics=("SPD", "EOPP"))
    verdicts = judge(prepare(records), replace(protocol, seed=1), axes=()).verdicts
    drawn = repeat_passes(prepare(records), verdicts, [50, 200, 800], protocol)
    for place in range(3):
        assert drawn.spread(place) == pytest.approx(drawn.predict_spread(place), rel=LUCK)
    assert drawn.spread(0) / drawn.spread(1) == pytest.approx(2, rel=2 * LUCK)
    assert drawn.spread(1) / drawn.spread(2) == pytest.approx(2, rel=2 * LUCK)


def test_a_sure_cell_is_not_drawn_again_and_the_others_agree_with_a_long_run(made):
    records, tables, _ = made
    verdicts = tables["verdicts"]
    opened = open_audit(records, tables, model="m", protocol=PROTOCOL)
    drawn = repeat_passes(opened.prepared, verdicts, [50, 500], PROTOCOL)
    long = judge(prepare(records), replace(PROTOCOL, resamples=4_000, seed=7), axes=()).verdicts.iloc[
        drawn.rows
    ]
    share = drawn.passes[:, :, -1].sum(axis=1) / drawn.defined[:, :, -1].sum(axis=1)
    assert np.minimum(share, 1 - share) == pytest.approx(long["vfr"].to_numpy(), abs=0.03)
    _, low, high = drawn.flip_rates(0)
    assert (low <= high).all()


def test_nothing_depends_on_names_or_order_of_groups_or_on_the_order_of_rows(few_runs):
    records = make_records(1_000)
    found = vary_constants(records, audit(records), model="m", protocol=PROTOCOL)
    order = np.random.default_rng(5).permutation(len(records.outcome))
    race, sex = records.attributes
    moved = Attribute("race", ("z", "y", "x"), np.array([2, 0, 1])[race.codes][order])
    score = replace(records.scores[0], values=records.scores[0].values[order])
    shuffled = AuditRecords(
        records.outcome[order], (moved, replace(sex, codes=sex.codes[order])), (score,), records.site[order]
    )
    again = vary_constants(shuffled, audit(shuffled), model="m", protocol=PROTOCOL)
    pd.testing.assert_frame_equal(again["sensitivity"], found["sensitivity"])


@pytest.mark.parametrize("kind", ["decision", "probability"])
def test_a_tiny_audit_without_sites_gives_every_row_and_no_claim(few_runs, kind):
    records = make_records(60, sites=0, kind=kind)
    found = vary_constants(records, audit(records), model="m", protocol=PROTOCOL)
    own = found["sensitivity"][found["sensitivity"]["in_force"]]
    assert set(own["setting"]) == {
        *("vfr_stable", "kappa_stable", "cv_stable", "field_size"),
        *("resample_size", "min_records", "resamples"),
    }
    race = found["sensitivity_cells"].query("attribute == 'race' and in_force")
    assert (race["verdict"] == "inconclusive").all()


def test_only_the_named_model_is_judged(few_runs):
    records = make_records(500)
    other = replace(records.scores[0], model="other", values=records.scores[0].values[::-1])
    both = replace(records, scores=(*records.scores, other))
    alone = vary_constants(records, audit(records), model="m", protocol=PROTOCOL)
    beside = vary_constants(both, audit(both), model="m", protocol=PROTOCOL)
    pd.testing.assert_frame_equal(alone["sensitivity_cells"], beside["sensitivity_cells"])


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(1, 1_000), min_size=1, max_size=6), st.integers(1, 1_000), st.integers(1_000, 2_000)
)
def test_values_tried_rise_hold_the_one_in_force_and_end_at_the_most(grid, in_force, most):
    values = list_values(grid, min(in_force, most), most=most)
    assert values == sorted(set(values))
    assert values[-1] == most
    assert min(in_force, most) in values


def test_a_tally_varies_as_its_records_do(few_runs):
    records = make_records(800)
    other = replace(records.scores[0], model="other", values=records.scores[0].values[::-1])
    both = replace(records, scores=(other, *records.scores))
    protocol = replace(PROTOCOL, metrics=("DI",))
    tables = audit(records, protocol)
    exact = vary_constants(both, tables, model="m", protocol=protocol)
    found = vary_constants(tally_records(both), tables, model="m", protocol=protocol)
    for name, table in exact.items():
        pd.testing.assert_frame_equal(table, found[name])
