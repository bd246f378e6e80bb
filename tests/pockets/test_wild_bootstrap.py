"""Draws of the wild cluster bootstrap."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from auditbook.pockets.cell_support import gather_cell, split_cells
from auditbook.pockets.contributions import sum_contributions
from auditbook.pockets.wild_bootstrap import (
    HIGH,
    LOW,
    adjusted_p,
    bound_estimates,
    draw_maxima,
    draw_weights,
    max_t_critical_value,
    redraw_ratios,
    standardise,
)

SAME = 1e-10  # rounding of sums of a few hundred numbers


def draw_family(rng, n, *, units, gaps=False, floor=0.0, cells=3, corrected=False):
    """Draw errors and the quantities of a family: cell means, or differences of two cells."""
    errors = rng.normal(0.03, 1, n)
    unit = np.arange(n) if units >= n else np.unique(rng.integers(0, units, n), return_inverse=True)[1]
    codes = rng.integers(0, cells * (2 if gaps else 1), n)
    parts = split_cells(codes, codes.max() + 1, unit)
    quantities = [parts[2 * k : 2 * k + 2] if gaps else parts[k : k + 1] for k in range(cells)]
    family = sum_contributions(
        errors, quantities, np.full(cells, floor), n_units=unit.max() + 1, corrected=corrected
    )
    return errors, unit, quantities, family


def slow_ratio(errors, unit, cells, floor, weight, *, corrected=False):
    """Perturb every record's residual, then estimate the quantity and its standard error from scratch."""
    estimate, psi, seen = 0.0, {}, set()
    for sign, cell in zip((1, -1), cells, strict=False):
        values = errors[cell.positions]
        fake = [weight[unit[i]] * (errors[i] - values.mean()) for i in cell.positions]
        mean = sum(fake) / len(fake)
        estimate += sign * mean
        for i, value in zip(cell.positions, fake, strict=True):
            psi[unit[i]] = psi.get(unit[i], 0.0) + sign / len(fake) * (value - mean)
            seen.add(unit[i])
    se = np.sqrt(len(seen) / (len(seen) - 1) * sum(part**2 for part in psi.values()))
    ratio, skew = estimate / max(se, floor), sum(part**3 for part in psi.values()) / max(se, floor) ** 3
    if not corrected:
        return ratio
    return ratio + skew * ratio**2 / 3 + skew**2 * ratio**3 / 27 + skew / 6


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(("units", "floor"), [(12, 0.0), (300, 0.0), (40, 0.12)])
def test_draws_agree_with_a_loop_over_records(gaps, units, floor):
    rng = np.random.default_rng(1)
    errors, unit, quantities, family = draw_family(rng, 200, units=units, gaps=gaps, floor=floor)
    weights = draw_weights(rng, unit.max() + 1, 30)
    fast = redraw_ratios(family, family.sums.T @ weights)
    slow = [[slow_ratio(errors, unit, cells, floor, column) for column in weights.T] for cells in quantities]
    np.testing.assert_allclose(fast, slow, rtol=SAME, atol=SAME)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(("units", "floor"), [(12, 0.0), (300, 0.0), (40, 0.12)])
def test_corrected_draws_agree_with_a_loop_over_records(gaps, units, floor):
    rng = np.random.default_rng(21)
    errors, unit, quantities, family = draw_family(
        rng, 200, units=units, gaps=gaps, floor=floor, corrected=True
    )
    weights = draw_weights(rng, unit.max() + 1, 30)
    fast = redraw_ratios(family, family.sums.T @ weights)
    slow = [
        [slow_ratio(errors, unit, cells, floor, column, corrected=True) for column in weights.T]
        for cells in quantities
    ]
    np.testing.assert_allclose(fast, slow, rtol=SAME, atol=SAME)


@pytest.mark.parametrize("gaps", [False, True])
def test_a_corrected_interval_leaves_out_zero_where_the_ratio_is_beyond_the_critical_value(gaps):
    beyond = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        _, _, _, family = draw_family(rng, 150, units=15, gaps=gaps, cells=5, corrected=True)
        for critical in (0.5, 1.0, 2.0):
            low, high = bound_estimates(family, critical)
            outside = np.abs(standardise(family)) > critical
            assert np.array_equal(outside, (low > 0) | (high < 0))
            assert np.array_equal(np.sign(standardise(family))[outside], np.sign(low)[outside])
            assert (low < high).all()
            beyond += outside.tolist()
    assert 0.1 < np.mean(beyond) < 0.9


def test_ratios_as_published_are_the_estimate_over_its_standard_error():
    _, _, _, family = draw_family(np.random.default_rng(22), 200, units=20)
    np.testing.assert_array_equal(standardise(family), family.estimate / family.se)
    low, high = bound_estimates(family, 2.5)
    np.testing.assert_array_equal(low, family.estimate - 2.5 * family.se)
    np.testing.assert_array_equal(high, family.estimate + 2.5 * family.se)


def test_a_corrected_interval_without_enough_draws_has_no_ends():
    _, _, _, family = draw_family(np.random.default_rng(23), 200, units=20, corrected=True)
    low, high = bound_estimates(family, np.inf)
    assert (low == -np.inf).all()
    assert (high == np.inf).all()


def test_the_fewest_effective_units_of_a_gap_give_the_degrees_of_freedom():
    _, _, quantities, family = draw_family(
        np.random.default_rng(24), 300, units=25, gaps=True, corrected=True
    )
    fewest = [min(cell.effective_units for cell in cells) for cells in quantities]
    np.testing.assert_allclose(family.third.degrees, np.array(fewest) - 1)


def share_with_a_false_flag(draw, *, corrected, audits=120, pockets=5, each=50):
    """Test audits of errors of mean zero; return the share in which some pocket is flagged at 0.05."""
    codes = np.repeat(np.arange(pockets), each)
    cells = [(cell,) for cell in split_cells(codes, pockets, np.arange(len(codes)))]
    flagged = []
    for seed in range(audits):
        errors = draw(np.random.default_rng(seed), len(codes))
        family = sum_contributions(errors, cells, np.zeros(pockets), n_units=len(codes), corrected=corrected)
        (maxima,) = draw_maxima([family], draws=199, seed=seed)
        flagged.append((np.abs(standardise(family)) > max_t_critical_value(maxima, 0.05)).any())
    return np.mean(flagged)


def test_skewed_errors_at_the_support_floor_are_flagged_no_more_often_than_asked():
    """Lognormal, SD 1 on the log scale, 50 records a pocket; in 120 audits 0.05 plus three errors is 0.11."""

    def draw(rng, n):
        return np.exp(0.5) - np.exp(rng.standard_normal(n))

    assert share_with_a_false_flag(draw, corrected=False) > 0.15
    assert share_with_a_false_flag(draw, corrected=True) <= 0.11


@pytest.mark.parametrize(
    "units", [40, 3000]
)  # filled sums and mostly empty ones; more than one block of units
def test_maxima_are_those_of_the_same_weights_drawn_at_once(units):
    rng = np.random.default_rng(2)
    n = 4 * units
    _, unit, _, one = draw_family(rng, n, units=units, gaps=True)
    _, _, _, two = draw_family(np.random.default_rng(2), n, units=units, gaps=True, floor=0.1)
    found = draw_maxima([one, two], draws=600, seed=5)
    blocks = []
    for source, size in zip(np.random.SeedSequence(5).spawn(3), (250, 250, 100), strict=True):
        rng = np.random.default_rng(source)
        n_units = unit.max() + 1
        parts = [draw_weights(rng, min(512, n_units - first), size) for first in range(0, n_units, 512)]
        blocks.append(np.concatenate(parts))
    weights = np.concatenate(blocks, axis=1)
    for family, maxima in zip((one, two), found, strict=True):
        slow = np.abs(redraw_ratios(family, family.sums.T @ weights)).max(axis=0)
        np.testing.assert_allclose(maxima, np.sort(slow), rtol=SAME)


def test_draws_agree_with_wildboottest_given_the_same_weights():
    """Its options that correspond: ``bootstrap_type="11"``, the null not imposed on the residuals.

    Residuals are those of each cell about its own mean, as in its unrestricted form; that the draws have no
    error is the null hypothesis. Its small-sample factors are those of `test_contributions`.
    """
    wild = pytest.importorskip("wildboottest.wildboottest")
    rng = np.random.default_rng(3)
    for units in (25, 90):
        errors, unit, cells, family = draw_family(rng, 90, units=units, gaps=True, cells=1)
        focal = np.isin(np.arange(90), cells[0][0].positions).astype(float)
        design = np.column_stack([np.ones(90), focal])
        weights = draw_weights(rng, unit.max() + 1, 50)
        other = wild.WildboottestCL(
            X=design, Y=errors, cluster=unit, R=np.array([0.0, 1.0]), B=50, seed=1, parallel=False
        )
        other.get_scores(bootstrap_type="11", impose_null=False, adj=False)
        other.v = weights
        other.get_numer()
        other.get_denom()
        other.get_tboot()
        np.testing.assert_allclose(redraw_ratios(family, family.sums.T @ weights)[0], other.t_boot, rtol=SAME)


@pytest.mark.parametrize("gaps", [False, True])
def test_one_p_value_agrees_with_wildboottest(gaps):
    """Same data, weights of its own: Mammen's, the null not imposed on the residuals."""
    wild = pytest.importorskip("wildboottest.wildboottest")
    draws = 4999
    errors, unit, cells, family = draw_family(np.random.default_rng(4), 300, units=30, gaps=gaps, cells=1)
    design = {"one": np.ones(len(errors))}
    if gaps:
        design["focal"] = np.isin(np.arange(len(errors)), cells[0][0].positions).astype(float)
    model = sm.OLS(pd.Series(errors), pd.DataFrame(design))
    other = wild.wildboottest(
        model,
        B=draws,
        cluster=pd.Series(unit),
        param=list(design)[-1],
        weights_type="mammen",
        impose_null=False,
        seed=7,
        parallel=False,
        show=False,
    )
    (maxima,) = draw_maxima([family], draws=draws, seed=1)
    p_value = adjusted_p(family.estimate / family.se, maxima)[0]
    monte_carlo = np.sqrt(2 * p_value * (1 - p_value) / draws)  # standard error of the difference
    assert 0.01 < p_value < 0.9
    assert p_value == pytest.approx(float(other["p-value"].iloc[0]), abs=4 * monte_carlo)


def test_the_critical_value_of_independent_quantities_is_the_closed_form():
    """The quantile of the largest of independent normal variables, for large cells that share no record."""
    rng = np.random.default_rng(6)
    count, each, level, draws = 10, 1000, 0.05, 3000
    cells = split_cells(np.repeat(np.arange(count), each), count, np.arange(count * each))
    family = sum_contributions(
        rng.normal(size=count * each), [(cell,) for cell in cells], np.zeros(count), n_units=count * each
    )
    (maxima,) = draw_maxima([family], draws=draws, seed=1)
    closed = norm.ppf((1 + (1 - level) ** (1 / count)) / 2)
    # four standard errors of a share of the draws
    assert np.mean(maxima > closed) == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / draws))
    assert max_t_critical_value(maxima, level) == pytest.approx(closed, abs=0.1)


def test_a_quantity_that_is_there_twice_changes_no_maximum():
    rng = np.random.default_rng(7)
    errors, unit, quantities, once = draw_family(rng, 300, units=50)
    twice = sum_contributions(errors, [*quantities, *quantities], np.zeros(6), n_units=unit.max() + 1)
    one, two = draw_maxima([once, twice], draws=300, seed=1)
    np.testing.assert_allclose(one, two, rtol=SAME)


def test_mammens_weights_have_a_square_of_one_more():
    weights = draw_weights(np.random.default_rng(8), 500, 400)
    assert set(np.unique(weights)) <= {LOW, HIGH, LOW + (HIGH - LOW)}
    np.testing.assert_allclose(weights**2, weights + 1, rtol=1e-14)
    expected = (np.sqrt(5) - 1) / (2 * np.sqrt(5))
    assert np.mean(weights > 0) == pytest.approx(expected, abs=4 * np.sqrt(0.2 / weights.size))


def test_the_number_of_threads_changes_no_bit():
    _, _, _, family = draw_family(np.random.default_rng(9), 2000, units=900, gaps=True)
    one, two, three = (draw_maxima([family], draws=1100, seed=3, jobs=jobs)[0] for jobs in (1, 2, 3))
    assert np.array_equal(one, two)
    assert np.array_equal(one, three)


def test_families_share_the_draws_but_not_the_maxima():
    rng = np.random.default_rng(10)
    _, _, _, one = draw_family(rng, 500, units=80)
    alone = draw_maxima([one], draws=300, seed=2)[0]
    _, _, _, two = draw_family(rng, 500, units=80, gaps=True)
    together = draw_maxima([two, one], draws=300, seed=2)[1]
    np.testing.assert_allclose(alone, together, rtol=SAME)


def test_a_draw_without_a_standard_error_is_infinite_or_zero():
    golden = (1 + np.sqrt(5)) / 2  # sizes of two units whose contributions may vanish together in a draw
    cell = gather_cell(np.arange(2), np.arange(2))
    family = sum_contributions(np.array([0.0, 1.0]), [(cell,)], np.zeros(1), n_units=2)
    zero = redraw_ratios(family, np.zeros((3, 1)) - [[0], [family.square[0]], [0]])
    assert zero.tolist() == [[0.0]]
    assert redraw_ratios(family, np.array([[golden], [-family.square[0]], [9.0]])).tolist() == [[np.inf]]


def test_too_few_draws_flag_nothing():
    maxima = np.sort(np.random.default_rng(11).random(99))
    assert max_t_critical_value(maxima, 0.0025) == np.inf
    assert max_t_critical_value(maxima, 0.01) == maxima[-1]
    assert np.isnan(max_t_critical_value(np.zeros(0), 0.05))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(0, 10), min_size=20, max_size=200),
    st.floats(0, 12),
    st.sampled_from([0.5, 0.25, 0.1, 0.05, 0.025, 0.0125]),
)
def test_a_ratio_is_beyond_the_critical_value_when_its_p_value_is_at_most_the_level(values, ratio, level):
    maxima = np.sort(values)
    beyond = ratio > max_t_critical_value(maxima, level)
    assert beyond == (adjusted_p(np.array([ratio]), maxima)[0] <= level + 1e-12)


def test_many_units_need_little_memory():
    n = 100_000
    rng = np.random.default_rng(12)
    cells = split_cells(rng.integers(0, 10, n), 10, np.arange(n))
    family = sum_contributions(rng.normal(size=n), [(cell,) for cell in cells], np.zeros(10), n_units=n)
    tracemalloc.start()
    draw_maxima([family], draws=250, seed=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80e6  # all weights of a block at once would be 200 MB
