"""The split of a group difference into where a group is and how it is treated there."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.composition import share_groups, split_gap, split_gaps
from auditbook.pockets.data import declare_contrasts
from auditbook.pockets.testing import audit_map
from auditbook.studies.simulations.fixed_map import fix_map
from pocket_records import draw_records, shift_records


def draw(seed, n=600, units=60, strata=4):
    rng = np.random.default_rng(seed)
    focal = rng.random(n) < 0.4
    where = np.where(focal, rng.integers(0, strata, n), rng.binomial(strata - 1, 0.4, n)) - 1
    errors = 0.2 * where + 0.3 * focal * (where > 0) + rng.normal(size=n)
    return errors, where, focal, rng.integers(0, units, n)


def split(errors, where, focal, unit):
    return split_gap(errors, where, focal=focal, reference=~focal, unit=unit)


def test_the_parts_by_hand():
    # focal: half in each stratum; reference: all but a quarter in the first
    where = np.array([0, 1, 0, 0, 0, 1])
    focal = np.array([True, True, False, False, False, False])
    errors = np.array([0.2, 0.6, 0.1, 0.1, 0.1, 0.4])
    found = split(errors, where, focal, np.arange(6))
    assert found.composition == pytest.approx(-0.25 * 0.15 + 0.25 * 0.5)
    assert found.within == pytest.approx(0.625 * 0.1 + 0.375 * 0.2)
    assert found.overall == pytest.approx(0.4 - 0.175)


def test_equal_treatment_leaves_nothing_within_and_equal_places_nothing_to_composition():
    where, focal = np.tile([0, 0, 1], 40), np.repeat([True, False], 60)
    where[60:] = np.repeat([0, 1], 30)
    errors = np.where(where == 1, 0.5, 0.1)
    treated = split(errors, where, focal, np.arange(120))
    assert (treated.within, treated.within_se) == pytest.approx((0, 0), abs=1e-12)
    placed = split(errors + 0.2 * focal, np.tile([0, 1], 60), focal, np.arange(120))
    assert placed.composition == pytest.approx(0, abs=1e-12)


def test_the_overall_difference_has_statsmodels_cluster_robust_error():
    errors, where, focal, unit = draw(1)
    found = split(errors, where, focal, unit)
    design = sm.add_constant(focal.astype(float))
    fit = sm.OLS(errors, design).fit(cov_type="cluster", cov_kwds={"groups": unit})
    factor = np.sqrt((len(errors) - 2) / (len(errors) - 1))  # statsmodels multiplies by its inverse
    assert found.overall == pytest.approx(fit.params[1])
    assert found.overall_se == pytest.approx(factor * fit.bse[1])


def test_standard_errors_agree_with_a_bootstrap_over_units():
    errors, where, focal, unit = draw(2, n=1500, units=150)
    found = split(errors, where, focal, unit)
    rng, drawn = np.random.default_rng(3), []
    members = [np.flatnonzero(unit == each) for each in range(150)]
    for _ in range(600):
        rows = np.concatenate([members[each] for each in rng.integers(0, 150, 150)])
        again = split(errors[rows], where[rows], focal[rows], unit[rows])
        drawn.append((again.composition, again.within, again.overall))
    expected = np.std(drawn, axis=0)
    # a standard deviation of 600 draws has a standard error of 3 %
    assert (found.composition_se, found.within_se, found.overall_se) == pytest.approx(expected, rel=0.12)


def test_a_jackknife_over_units_gives_nearly_the_same_errors():
    errors, where, focal, unit = draw(4)
    found = split(errors, where, focal, unit)
    left = []
    for each in range(60):
        kept = unit != each
        again = split(errors[kept], where[kept], focal[kept], unit[kept])
        left.append((again.composition, again.within, again.overall))
    jackknife = np.sqrt(59 / 60 * np.sum((left - np.mean(left, axis=0)) ** 2, axis=0))
    assert (found.composition_se, found.within_se, found.overall_se) == pytest.approx(jackknife, rel=0.08)


def test_a_stratum_with_one_group_counts_as_composition_and_is_said():
    errors, where, focal, unit = draw(5)
    where = np.where(focal & (where == 2), 7, where)  # 7 holds focal records only
    found = split(errors, where, focal, unit)
    alone = focal & (where == 7)
    rest = split(np.where(alone, 0.0, errors), where, focal, unit)
    assert found.lone_strata == 1 + (not (focal & (where == 2)).any())
    assert found.within == pytest.approx(rest.within)
    assert found.composition - rest.composition == pytest.approx(errors[alone].sum() / focal.sum())
    assert found.overall == pytest.approx(errors[focal].mean() - errors[~focal].mean())


def test_one_unit_leaves_no_standard_error():
    errors, where, focal, _ = draw(6)
    found = split(errors, where, focal, np.zeros(len(errors), int))
    assert np.isnan([found.composition_se, found.within_se, found.overall_se]).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(-3, 3))
def test_parts_add_up_and_turn_around_with_the_groups(seed, shift):
    errors, where, focal, unit = draw(seed, n=80, units=20)
    one = split(errors, where, focal, unit)
    two = split(errors + shift, 3 - where, ~focal, unit)
    assert one.overall == pytest.approx(errors[focal].mean() - errors[~focal].mean())
    assert (two.within, two.overall) == pytest.approx((-one.within, -one.overall), abs=1e-9)
    assert (two.within_se, two.overall_se) == pytest.approx((one.within_se, one.overall_se), abs=1e-9)


def audit_twice(audit, pockets=3):
    contrasts = declare_contrasts(audit.attributes)
    settings = PocketSettings(draws=199)
    found = audit_map(fix_map(pockets), audit, contrasts=contrasts, settings=settings, seed=1)
    return split_gaps(found, audit, contrasts=contrasts)


def test_shares_are_given_only_when_the_overall_gap_is_clear():
    audit = draw_records(np.random.default_rng(7), 3000)
    assert np.isnan(audit_twice(audit)["composition_share"].iloc[0])
    focal = audit.attributes[0].codes == 0
    clear = audit_twice(shift_records(audit, focal, 0.2)).iloc[0]
    assert clear["composition_share"] == pytest.approx(clear["composition"] / clear["overall"])
    assert abs(clear["composition_share"]) < 0.1


def test_abstained_records_are_a_stratum_of_their_own():
    audit = draw_records(np.random.default_rng(8), 3000)
    focal = audit.attributes[0].codes == 0
    away = focal & (np.arange(3000) % 2 == 0)
    audit.table.loc[away, "pocket"] = -1  # half of the focal group, and nobody else
    row = audit_twice(shift_records(audit, away, 0.3)).iloc[0]
    assert row["lone_strata"] == 1
    assert row["composition"] == pytest.approx(row["overall"], abs=0.05)


def test_an_untested_overall_gap_is_not_split():
    audit = draw_records(np.random.default_rng(9), 900)
    codes = np.where(np.arange(900) < 20, 0, 1)
    few = replace(audit, attributes=(replace(audit.attributes[0], codes=codes),))
    assert audit_twice(few).iloc[0][["composition", "within", "overall"]].isna().all()


def test_groups_are_counted_pocket_by_pocket_and_abstained_last():
    audit = draw_records(np.random.default_rng(10), 500)
    codes = audit.table["pocket"].to_numpy().copy()
    codes[:100] = -1
    table = share_groups(("F1", "F2", "F3"), codes, audit, map_name="forest")
    assert table["pocket"].unique().tolist() == ["F1", "F2", "F3", "abstained"]
    assert table["n"].sum() == 500
    assert table.groupby("group")["share"].sum().tolist() == pytest.approx([1, 1])
    focal = (audit.attributes[0].codes == 0) & (codes == 1)
    assert table[(table["pocket"] == "F2") & (table["group"] == "F")]["n"].item() == focal.sum()
    nobody = replace(audit.attributes[0], groups=("F", "M", "X"))
    empty = share_groups(("F1", "F2", "F3"), codes, replace(audit, attributes=(nobody,)), map_name="forest")
    assert empty[empty["group"] == "X"]["share"].isna().all()
