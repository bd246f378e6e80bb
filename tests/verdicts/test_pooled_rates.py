"""Partially pooled rates: hand values, slow oracles, extremes, invariances, and what simulation says."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import betainc, expit, logit
from scipy.stats import betabinom

from auditbook.evidence import prepare
from auditbook.records import Attribute, AuditRecords, Score, Survey
from auditbook.settings import Protocol
from auditbook.verdicts.additive_rates import EFFECT_SCALE, code_parts, weigh_crossings
from auditbook.verdicts.pooled_rates import FEW_GROUPS, NO_TRIALS, pool_rates, tabulate_pooled_rates
from auditbook.verdicts.rate_intervals import tabulate_rates
from auditbook.verdicts.shrunk_rates import WIDTH_SCALE, list_widths, weigh_rates

LAPLACE = 0.3
"""How far the approximation may lie from the integral, in standard deviations of what the rate may be.

Farthest, by 0.22, in a row of which nothing was ever counted; elsewhere within 0.16.
"""


def cross(*shape):
    names = [tuple(f"{axis}{level}" for axis, level in enumerate(cell)) for cell in np.ndindex(*shape)]
    return code_parts(names)


def integrate_slowly(counted, trials, design, *, draws=40_000):
    """Average over prior draws of the main effects and a flat level, at every width."""
    rng = np.random.default_rng(5)
    x, n = np.asarray(counted), np.asarray(trials)
    offset = logit((x.sum() + 0.5) / (n.sum() + 1))
    effects = rng.normal(0, EFFECT_SCALE, (draws, design.shape[1]))
    effects[:, 0] = rng.uniform(-4, 4, draws)
    middle = expit(offset + effects @ design.T)
    jeffreys = np.exp(0.5 * np.log(middle * (1 - middle)).mean(axis=1))
    top, bottom = 0.0, 0.0
    for width in list_widths(WIDTH_SCALE):
        alpha, beta = 1 / (width**2 * (1 - middle)), 1 / (width**2 * middle)
        weight = jeffreys * np.exp(betabinom.logpmf(x, n, alpha, beta).sum(axis=1))
        top = top + weight @ ((alpha + x) / (alpha + beta + n))
        bottom += weight.sum()
    return top / bottom


@pytest.mark.parametrize(
    ("shape", "counted", "trials"),
    [
        ((2, 2), [30, 60, 10, 0], [100, 200, 100, 4]),
        ((2, 2), [3, 6, 1, 1], [10, 20, 10, 4]),
        ((3, 2), [20, 30, 25, 10, 0, 0], [60, 90, 80, 40, 30, 12]),
    ],
)
def test_crossings_agree_with_slow_integration(shape, counted, trials):
    found = pool_rates(counted, trials, cross(*shape))
    slow = integrate_slowly(counted, trials, cross(*shape))
    assert (np.abs(found.pooled - slow) < LAPLACE * (found.high - found.low) / 4).all()


def test_a_plain_attribute_agrees_with_slow_integration():
    counted, trials = [2, 30, 33, 60], [5, 100, 100, 150]
    slow, found = integrate_slowly(counted, trials, np.ones((4, 1))), pool_rates(counted, trials)
    assert (np.abs(found.pooled - slow) < LAPLACE * (found.high - found.low) / 4).all()


def test_one_width_and_a_known_centre_are_pooled_by_hand():
    grid = weigh_rates([2, 50], [10, 100])
    alone = (grid.alpha - np.array([2, 50])) / (grid.alpha + grid.beta - np.array([10, 100]))
    total = grid.alpha + grid.beta - np.array([10, 100])
    by_hand = (total * alone + np.array([2, 50])) / (total + np.array([10, 100]))
    np.testing.assert_allclose(by_hand, grid.alpha / (grid.alpha + grid.beta))


def test_a_crossing_of_which_nothing_is_seen_gets_what_a_logistic_regression_promises():
    design = cross(3, 2)
    line = np.array([-1.0, -0.4, 0.2, 0.8, -2.0, -1.4])
    trials = np.array([40_000, 40_000, 40_000, 40_000, 40_000, 1])
    counted = np.rint(trials * expit(line))
    counted[-1] = 0
    columns = design[:, [0, 2, 3, 5]]
    model = sm.GLM(
        np.stack([counted, trials - counted], axis=1)[:5], columns[:5], family=sm.families.Binomial()
    )
    promised = model.fit().predict(columns[5:])[0]
    grid = weigh_crossings(counted, trials, design)
    narrowest = grid.alpha[0, -1] / (grid.alpha[0, -1] + grid.beta[0, -1] - trials[-1])
    assert narrowest == pytest.approx(promised, abs=0.01)
    assert pool_rates(counted, trials, design).shrinkage[-1] > 0.5


def test_the_interval_is_close_to_the_quantiles_of_the_average():
    counted, trials, design = [30, 60, 10, 1], [100, 200, 100, 14], cross(2, 2)
    grid, found = weigh_crossings(counted, trials, design), pool_rates(counted, trials, design)
    for g, share in itertools.product(range(4), (0.025, 0.975)):
        exact = brentq(
            lambda r, g=g, share=share: grid.chance @ betainc(grid.alpha[:, g], grid.beta[:, g], r) - share,
            0,
            1,
        )
        assert (found.low if share < 0.5 else found.high)[g] == pytest.approx(exact, abs=0.02)


def test_many_records_leave_the_counted_rate_as_it_is():
    trials = np.array([200_000, 100_000, 300_000, 150_000])
    counted = trials * np.array([0.2, 0.5, 0.4, 0.1])
    for design in (None, cross(2, 2)):
        found = pool_rates(counted, trials, design)
        np.testing.assert_allclose(found.pooled, counted / trials, atol=1e-3)
        assert (found.shrinkage < 1e-3).all()


@pytest.mark.parametrize("hits", [0.0, 1.0])
@pytest.mark.parametrize("design", [None, cross(9, 2)])
def test_never_and_always_leave_something_open(hits, design):
    trials = np.resize([3000, 40, 5, 1], 18)
    found = pool_rates(trials * hits, trials, design)
    assert ((found.low < found.high) & (found.low >= 0) & (found.high <= 1)).all()
    assert (np.abs(found.pooled - hits) < 0.2).all()
    assert (found.pooled != hits).all()


def test_rare_events_in_nine_by_two_stay_within_bounds():
    rng = np.random.default_rng(3)
    trials = np.repeat([4000, 900, 500, 300, 200, 90, 50, 20, 7], 2)
    found = pool_rates(rng.binomial(trials, 0.003, (50, 18)), np.broadcast_to(trials, (50, 18)), cross(9, 2))
    assert np.isfinite(found.pooled).all()
    assert ((found.low <= found.pooled) & (found.pooled <= found.high)).all()
    assert (found.pooled[:, -1] < 0.05).all()


def test_two_groups_are_not_pooled():
    found = pool_rates([3, 40], [10, 100])
    assert np.isnan(found.pooled).all()
    found = pool_rates([3, 40, 0], [10, 100, 0])
    assert np.isnan(found.pooled).all()


def test_a_group_without_trials_takes_no_part():
    with_it, without = pool_rates([3, 40, 0, 9], [10, 100, 0, 20]), pool_rates([3, 40, 9], [10, 100, 20])
    assert np.isnan(with_it.pooled[2])
    np.testing.assert_allclose(with_it.pooled[[0, 1, 3]], without.pooled, rtol=1e-6)


CELLS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=6, max_size=6)


@settings(max_examples=25, deadline=None)
@given(cells=CELLS, order=st.permutations(range(6)))
def test_the_order_of_the_groups_is_of_no_consequence(cells, order):
    hits, misses = np.array(cells).T
    design = cross(3, 2)
    for codes in (None, design):
        plain = pool_rates(hits, hits + misses, codes)
        mixed = pool_rates(
            hits[list(order)], (hits + misses)[list(order)], None if codes is None else codes[list(order)]
        )
        np.testing.assert_allclose(mixed.pooled, plain.pooled[list(order)], atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(cells=CELLS)
def test_the_rate_of_the_opposite_is_the_opposite(cells):
    hits, misses = np.array(cells).T
    for design in (None, cross(3, 2)):
        one, other = (pool_rates(part, hits + misses, design) for part in (hits, misses))
        np.testing.assert_allclose(one.pooled, 1 - other.pooled, atol=1e-5)
        np.testing.assert_allclose(one.low, 1 - other.high, atol=1e-5)


def draw_world(rng, *, interaction, outlier=0.0, replicates=120):
    trials = np.repeat([1000, 200, 60, 25], 2)
    effects = rng.normal(0, 0.5, (replicates, 4))[:, [0, 0, 1, 1, 2, 2, 3, 3]] + np.tile([0.0, 0.4], 4)
    line = logit(0.3) + effects + interaction * rng.normal(size=(replicates, 8))
    line[:, -1] += outlier
    rates = expit(line)
    counted = rng.binomial(trials, rates)
    return rates, counted, np.broadcast_to(trials, counted.shape)


@pytest.mark.parametrize(("interaction", "gain"), [(0.0, 0.85), (1.0, 1.02)])
def test_pooling_errs_less_in_small_cells_and_its_interval_covers(interaction, gain):
    rates, counted, trials = draw_world(np.random.default_rng(2), interaction=interaction)
    found, small = pool_rates(counted, trials, cross(4, 2)), slice(4, None)
    error, raw = ((part - rates)[:, small] for part in (found.pooled, counted / trials))
    assert (error**2).mean() < gain**2 * (raw**2).mean()
    assert ((found.low <= rates) & (rates <= found.high)).mean() > 0.92


@pytest.mark.slow
def test_rare_events_in_a_table_of_two_by_two_are_covered_on_average_and_less_in_the_largest_group():
    rng = np.random.default_rng(1)
    trials = np.broadcast_to([1000, 300, 100, 20], (1_000, 4))
    rows, columns = rng.normal(0, 0.5, (1_000, 2)), rng.normal(0, 0.5, (1_000, 2))
    rates = expit(logit(0.003) + rows[:, [0, 0, 1, 1]] + columns[:, [0, 1, 0, 1]])
    found = pool_rates(rng.binomial(trials, rates), trials, cross(2, 2))
    covers = ((found.low <= rates) & (rates <= found.high)).mean(axis=0)
    assert covers.mean() == pytest.approx(0.95, abs=0.015)
    assert 0.86 < covers[0] < 0.92


def test_pooling_hides_a_cell_that_stands_alone():
    rates, counted, trials = draw_world(np.random.default_rng(2), interaction=0.0, outlier=2.0)
    found = pool_rates(counted, trials, cross(4, 2))
    assert (rates - found.pooled)[:, -1].mean() > 0.05
    assert abs((rates - counted / trials)[:, -1].mean()) < 0.02


def records(
    *, parts=True, per_unit=1, groups=("Ærø, nord, Female", "Ærø, nord, Male", "b, Female", "b, Male")
):
    rng = np.random.default_rng(1)
    n = 1200 * per_unit
    codes = np.repeat(np.resize([0, 0, 0, 1, 1, 2, 2, 3], 1200), per_unit)
    outcome = np.repeat((rng.random(1200) < 0.3).astype(np.int8), per_unit)
    scores = np.repeat(np.clip(rng.random(1200), 0, 1), per_unit)
    names = tuple(tuple(name.rsplit(", ", 1)) for name in groups) if parts else ()
    both = Attribute("race_sex", groups, codes, None, names)
    return AuditRecords(
        outcome,
        (both,),
        (Score("m", "probability", 0.5, scores),),
        unit=np.arange(n) // per_unit if per_unit > 1 else None,
    )


def test_the_table_holds_every_rate_beside_what_was_counted():
    table = tabulate_pooled_rates(prepare(records()), protocol=Protocol())
    assert list(dict.fromkeys(table["rate"])) == ["SR", "TPR", "FPR", "PPV", "ER"]
    assert list(table["group"][:2]) == ["Ærø, nord, Female", "Ærø, nord, Male"]
    np.testing.assert_allclose(table["raw"], table["hits"] / table["trials"])
    assert ((table["low"] < table["pooled"]) & (table["pooled"] < table["high"])).all()
    assert (table["n_effective"] == table["trials"]).all()
    assert (table["reason"] == "").all()


def test_records_of_one_unit_count_as_one():
    once, thrice = (
        tabulate_pooled_rates(prepare(records(per_unit=n)), protocol=Protocol()).set_index(["rate", "group"])
        for n in (1, 3)
    )
    np.testing.assert_allclose(thrice["n_effective"], once["trials"], rtol=0.05)
    np.testing.assert_allclose(thrice["pooled"], once["pooled"], atol=0.005)


@pytest.mark.parametrize("per_unit", [1, 40])
def test_the_counted_rate_has_the_interval_of_the_table_of_rates(per_unit):
    prepared = prepare(records(per_unit=per_unit))
    keys = ["model", "attribute", "group", "rate"]
    pooled = tabulate_pooled_rates(prepared, protocol=Protocol()).set_index(keys)
    rates = tabulate_rates(prepared, Protocol()).set_index(keys).loc[pooled.index]
    np.testing.assert_allclose(pooled["raw_low"], rates["low"])
    np.testing.assert_allclose(pooled["raw_high"], rates["high"])


def test_a_cross_is_pooled_by_its_parts_and_a_plain_attribute_by_its_level():
    crossed, plain = (
        tabulate_pooled_rates(prepare(records(parts=parts)), protocol=Protocol()) for parts in (True, False)
    )
    np.testing.assert_allclose(crossed["raw"], plain["raw"])
    assert np.abs(crossed["pooled"] - plain["pooled"]).max() > 0.001


def test_the_table_says_why_a_rate_is_blank():
    few = records(parts=False, groups=("a", "b", "c", "d"))
    idle = AuditRecords(few.outcome, few.attributes, (Score("m", "decision", 0.5, np.zeros(1200)),))
    table = tabulate_pooled_rates(prepare(idle), protocol=Protocol()).set_index("rate")
    assert set(table.loc["PPV", "reason"]) == {NO_TRIALS}
    two = Attribute("sex", ("f", "m"), few.attributes[0].codes % 2)
    table = tabulate_pooled_rates(prepare(AuditRecords(few.outcome, (two,), few.scores)), protocol=Protocol())
    assert set(table["reason"]) == {FEW_GROUPS}
    assert table["pooled"].isna().all()
    assert table["raw"].notna().all()


def test_weights_move_the_counted_rate_and_lessen_what_it_is_worth():
    plain = records()
    weight = np.where(plain.outcome == 1, 3.0, 1.0)
    weighted = tabulate_pooled_rates(prepare(replace(plain, survey=Survey(weight))), protocol=Protocol())
    alone = tabulate_pooled_rates(prepare(plain), protocol=Protocol())
    event = weighted["rate"] == "ER"
    raw = alone["raw"][event]
    np.testing.assert_allclose(weighted["raw"][event], 3 * raw / (3 * raw + 1 - raw))
    assert (weighted["n_effective"][event] < weighted["trials"][event]).all()
    assert (weighted["hits"] == alone["hits"]).all()
    assert weighted["pooled"].notna().all()
