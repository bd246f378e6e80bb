"""Estimates and standard errors of mean errors and gaps."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.pockets.cell_support import gather_cell, split_cells
from auditbook.pockets.contributions import expected_floor, lacks_variation, sum_contributions

SAME = 1e-10  # rounding


def draw(seed, n=400, units=40):
    rng = np.random.default_rng(seed)
    unit = np.unique(rng.integers(0, units, n) ** 2, return_inverse=True)[1]
    errors = rng.normal(0.1, 1, n) + 0.5 * rng.normal(size=units)[unit]
    return errors, unit, rng.integers(0, 4, n)


def estimate(errors, cells, unit, floor=0.0):
    found = sum_contributions(errors, [cells], np.array([floor]), n_units=unit.max() + 1)
    return found.estimate[0], found.se[0]


@pytest.mark.parametrize("units", [8, 40, 400])
def test_a_mean_error_has_statsmodels_cluster_robust_error(units):
    """Regression on a constant; its factor U/(U-1) (n-1)/(n-1) is the one used here."""
    errors, unit, codes = draw(1, units=units)
    cell = split_cells(codes, 4, unit)[2]
    part = cell.positions
    fit = sm.OLS(errors[part], np.ones(cell.n)).fit(cov_type="cluster", cov_kwds={"groups": unit[part]})
    assert estimate(errors, (cell,), unit) == pytest.approx((fit.params[0], fit.bse[0]), rel=SAME)


@pytest.mark.parametrize("units", [8, 40, 400])
def test_a_gap_has_statsmodels_cluster_robust_error_up_to_its_factor(units):
    """Regression on the focal group's indicator; statsmodels has a factor (n-1)/(n-2) besides."""
    errors, unit, codes = draw(2, units=units)
    cells = split_cells(codes, 4, unit)[:2]
    part = np.sort(np.concatenate([cell.positions for cell in cells]))
    design = sm.add_constant((codes[part] == 0).astype(float))
    fit = sm.OLS(errors[part], design).fit(cov_type="cluster", cov_kwds={"groups": unit[part]})
    factor = np.sqrt((len(part) - 2) / (len(part) - 1))
    assert estimate(errors, cells, unit) == pytest.approx((fit.params[1], factor * fit.bse[1]), rel=SAME)


@pytest.mark.parametrize("gap", [False, True])
def test_independent_records_have_the_heteroskedasticity_robust_error(gap):
    """HC1, whose factor n/(n-k) differs from n/(n-1) for a gap."""
    errors, _, codes = draw(3)
    unit = np.arange(len(errors))
    cells = split_cells(codes, 4, unit)[: 1 + gap]
    part = np.sort(np.concatenate([cell.positions for cell in cells]))
    columns = [np.ones(len(part))] + [(codes[part] == 0).astype(float)] * gap
    fit = sm.OLS(errors[part], np.column_stack(columns)).fit(cov_type="HC1")
    factor = np.sqrt((len(part) - 1 - gap) / (len(part) - 1))
    assert estimate(errors, cells, unit) == pytest.approx((fit.params[-1], factor * fit.bse[-1]), rel=SAME)


def test_the_error_by_hand():
    errors, unit = np.array([0.0, 1.0, 1.0, 2.0]), np.array([0, 0, 1, 1])
    cell = gather_cell(np.arange(4), unit)  # residuals -1 0 0 1: units contribute -1/4 and 1/4
    assert estimate(errors, (cell,), unit) == pytest.approx((1.0, np.sqrt(2 * 2 / 16)))


def test_a_unit_in_both_groups_cancels_what_they_share():
    shift, noise = np.array([0.0, 3.0, -2.0, 5.0]), np.array([0.1, -0.1, 0.1, -0.1])
    errors, unit = np.concatenate([shift, shift + noise]), np.tile(np.arange(4), 2)
    cells = split_cells(np.repeat([0, 1], 4), 2, unit)
    together = estimate(errors, cells, unit)[1]
    apart = estimate(errors, split_cells(np.repeat([0, 1], 4), 2, np.arange(8)), np.arange(8))[1]
    assert together < 0.1 < 1 < apart


def test_the_floor_by_hand_and_when_it_binds():
    cells = split_cells(np.array([0, 0, 1]), 2, np.arange(3))
    floor = expected_floor(np.array([0.1, 0.2, 0.5]), cells)
    assert floor == pytest.approx(np.sqrt((0.09 + 0.16) / 4 + 0.25))
    errors, unit = np.array([0.1, 0.2, 0.1, 0.2]), np.arange(4)
    assert estimate(errors, (gather_cell(unit, unit),), unit, floor=0.3)[1] == 0.3


def test_errors_that_do_not_vary_between_units_are_found():
    cell = gather_cell(np.arange(4), np.array([0, 0, 1, 1]))
    assert lacks_variation(np.full(4, 1 / 3), cell)
    assert lacks_variation(np.array([0.1, 0.3, 0.3, 0.1]), cell)  # within units only
    assert not lacks_variation(np.array([0.1, 0.1, 0.1, 0.1001]), cell)
    assert lacks_variation(np.arange(4.0), gather_cell(np.arange(4), np.zeros(4, int)))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(-5, 5), st.floats(0.1, 10))
def test_a_shift_moves_the_estimate_and_a_scale_stretches_both(seed, shift, scale):
    errors, unit, codes = draw(seed, n=60, units=20)
    cells = split_cells(codes, 4, unit)
    value, se = estimate(errors, cells[:1], unit)
    assert estimate(scale * errors + shift, cells[:1], unit) == pytest.approx(
        (scale * value + shift, scale * se), rel=1e-8, abs=1e-9
    )
    gap, gap_se = estimate(errors, cells[1:3], unit)
    assert estimate(errors + shift, cells[1:3], unit) == pytest.approx((gap, gap_se), rel=1e-8, abs=1e-9)
    back, back_se = estimate(errors, cells[2:0:-1], unit)
    assert (back, back_se) == pytest.approx((-gap, gap_se))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_names_of_units_and_the_order_of_records_change_nothing(seed):
    errors, unit, codes = draw(seed, n=80, units=20)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(80), rng.permutation(unit.max() + 1)
    one = estimate(errors, split_cells(codes, 4, unit)[:2], unit)
    renamed = names[unit][order]
    two = estimate(errors[order], split_cells(codes[order], 4, renamed)[:2], renamed)
    assert one == pytest.approx(two, rel=1e-9)
