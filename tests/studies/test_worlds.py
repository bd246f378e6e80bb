"""Simulated worlds: is what is declared what is drawn?"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.errors import InputError
from auditbook.studies.simulations.real_worlds import DIABETES, HOSPITALS, REAL, STAYS, load_real
from auditbook.studies.simulations.scenarios import ERRORS, GAPS, SCENARIOS, WORLDS, find_world
from auditbook.studies.simulations.sizes import QUICK, Sizes
from auditbook.studies.simulations.synthetic_worlds import (
    BINARY,
    DEPENDENT,
    HIGH_RISK,
    INCOMPLETE,
    LINEAR,
    SCALES,
    STANDARDISED,
    SYNTHETIC,
    draw_features,
    rescale,
    spread_effects,
    sum_effects,
)
from auditbook.studies.simulations.worlds import (
    SHIFTS,
    Plant,
    affected,
    mark_region,
    oracle_column,
    plant_error,
)

LARGE = Sizes(continuous=20_000, binary=20_000, binary_audit=20_000)
FOUR_SE = 4
"""Standard errors within which a share of independent draws must lie."""


def draw(world, sizes=LARGE, seed=1):
    return world.draw(np.random.default_rng(seed), sizes)


def test_there_are_seventeen_gap_scenarios_and_fifteen_of_local_errors():
    assert [each.number for each in GAPS] == list(range(1, 18))
    assert [each.number for each in ERRORS] == list(range(1, 16))


def test_every_scenario_is_planted_in_its_world_and_errors_at_both_shifts():
    for each in SCENARIOS:
        for shift in ("smaller", "larger")[each.question == "gap" :]:
            assert Plant(each.question, each.region, shift) in each.world.plants, each.title


def test_every_world_asks_its_questions_where_nothing_is_planted_too():
    for world in WORLDS:
        questions = {plant.question for plant in world.plants}
        assert {plant.question for plant in world.plants if plant.shift == "none"} >= questions


def test_published_names_are_those_of_the_published_table(shared_dir):
    table = pd.read_csv(shared_dir / "reference" / "pocket_simulations.csv")
    named = [each.published for each in ERRORS if each.published]
    assert sorted(named) == sorted(table["scenario"].unique())


def test_a_world_that_is_not_known_is_an_error():
    with pytest.raises(KeyError):
        find_world("flat")


@pytest.mark.parametrize("world", SYNTHETIC, ids=lambda world: world.name)
def test_the_same_seed_draws_the_same_records(world):
    one, two = (draw(world, QUICK) for _ in range(2))
    pd.testing.assert_frame_equal(one.audit.data.table, two.audit.data.table)
    np.testing.assert_array_equal(one.discovery.data.outcome, two.discovery.data.outcome)


@pytest.mark.parametrize("world", SYNTHETIC, ids=lambda world: world.name)
def test_graph_and_calibration_are_the_discovery_records(world):
    drawn = draw(world, QUICK)
    joined = np.sort(np.concatenate([drawn.graph, drawn.calibration]))
    np.testing.assert_array_equal(joined, np.arange(len(drawn.discovery.risk)))


@pytest.mark.parametrize("world", SYNTHETIC, ids=lambda world: world.name)
def test_regions_hold_a_fifth_and_the_focal_group_a_quarter(world):
    audit = draw(world).audit
    regions = {plant.region for plant in world.plants if plant.region}
    shares = [np.mean(audit.regions[name] != 0) for name in sorted(regions)]
    focal = np.mean(audit.data.attributes[0].codes == 0)
    assert np.allclose(shares, 0.2, atol=0.02)
    assert 0.2 < focal < 0.3


@pytest.mark.parametrize("world", [LINEAR, SCALES, INCOMPLETE, STANDARDISED], ids=lambda world: world.name)
def test_a_continuous_outcome_has_spread_one_and_half_of_it_explained(world):
    audit = draw(world).audit
    assert np.std(audit.data.outcome) == pytest.approx(1, abs=0.03)
    assert np.var(audit.risk) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("world", [BINARY, DEPENDENT, HIGH_RISK], ids=lambda world: world.name)
def test_eight_percent_have_the_event(world):
    assert draw(world).audit.risk.mean() == pytest.approx(0.08, abs=0.004)


def test_the_marginal_risk_is_right_on_average_over_units():
    means = []
    for seed in range(40):
        audit = draw(DEPENDENT, Sizes(binary=300, binary_audit=4_000), seed).audit
        means.append(np.mean(audit.risk - audit.data.outcome))
    assert abs(np.mean(means)) < FOUR_SE * np.std(means) / np.sqrt(len(means))


def test_dependent_units_have_one_role_each():
    drawn = draw(DEPENDENT, QUICK)
    parts = [drawn.discovery.data.unit[drawn.graph], drawn.discovery.data.unit[drawn.calibration]]
    parts.append(drawn.audit.data.unit)
    sets = [set(part) for part in parts]
    assert not sets[0] & sets[1]
    assert not (sets[0] | sets[1]) & sets[2]
    assert len(sets[2]) == 45


def test_the_focal_group_is_common_at_high_risk_only_where_that_is_declared():
    for world, rises in ((HIGH_RISK, True), (BINARY, False)):
        audit = draw(world).audit
        focal = audit.data.attributes[0].codes == 0
        gap = audit.risk[focal].mean() - audit.risk[~focal].mean()
        assert (gap > 0.02) == rises


def test_raw_scales_keep_the_order_of_every_feature():
    values = draw_features(500, np.random.default_rng(1))
    shown = rescale(values)
    for one, two in zip(values.T, shown.T, strict=True):
        np.testing.assert_array_equal(np.argsort(one), np.argsort(two))


@pytest.mark.parametrize("bent", [False, True])
def test_the_spread_of_effects_is_that_of_a_large_sample(bent):
    effects = sum_effects(draw_features(200_000, np.random.default_rng(2)), bent=bent)
    assert np.std(effects) == pytest.approx(spread_effects(bent=bent, categories=False), rel=0.02)


def test_missing_cells_are_missing_from_numbers_alone():
    table = draw(INCOMPLETE, QUICK).audit.data.table
    shares = table.isna().mean()
    assert shares["x1"] == pytest.approx(0.15, abs=0.05)
    assert shares["kind"] == 0


def test_a_gap_falls_on_focal_records_of_the_region_alone():
    audit = draw(LINEAR, QUICK).audit
    shift = plant_error(audit, Plant("gap", "x1", "larger")) - audit.risk
    hit = (audit.data.attributes[0].codes == 0) & (audit.regions["x1"] == 1)
    np.testing.assert_allclose(shift, np.where(hit, SHIFTS[True]["larger"], 0), atol=1e-12)


def test_nothing_planted_is_the_true_risk():
    audit = draw(BINARY, QUICK).audit
    np.testing.assert_array_equal(plant_error(audit, Plant("error")), audit.risk)
    assert not affected(audit, Plant("gap")).any()


@given(st.sampled_from(["gap", "error"]), st.sampled_from(["smaller", "larger"]))
def test_masked_errors_cancel_and_stay_probabilities(question, shift):
    audit = draw(BINARY, QUICK).audit
    predicted = plant_error(audit, Plant(question, "masked", shift))
    assert predicted.min() >= 0
    assert predicted.max() <= 1
    assert np.sum(predicted - audit.risk) == pytest.approx(0, abs=1e-9)


def test_the_oracle_reads_the_region_from_columns_that_only_it_knows():
    audit = draw(STANDARDISED, QUICK).audit
    column = mark_region(audit).data.table[oracle_column("masked")].to_numpy()
    np.testing.assert_array_equal(np.array([0, 1, -1])[column], audit.regions["masked"])
    assert oracle_column("masked") not in audit.data.table


def test_real_worlds_without_their_table_say_what_is_missing(tmp_path):
    for folder, word in ((None, "no folder"), (tmp_path, "is missing")):
        with pytest.raises(InputError, match=word):
            STAYS.draw(np.random.default_rng(1), QUICK, folder)


@pytest.mark.parametrize("world", REAL, ids=lambda world: world.name)
def test_real_covariates_keep_whole_units_in_one_role(world, shared_dir):
    drawn = world.draw(np.random.default_rng(1), QUICK, shared_dir / "cohorts")
    assert len(drawn.audit.risk) <= QUICK.binary_audit
    assert not set(drawn.discovery.data.unit) & set(drawn.audit.data.unit)
    assert set(np.unique(drawn.audit.data.outcome)) == {0.0, 1.0}


def test_the_fitted_risk_of_real_records_agrees_with_their_outcomes(shared_dir):
    for world, rate in ((HOSPITALS, 0.24), (DIABETES, 0.114)):
        known = load_real(shared_dir / "cohorts", world.real)
        assert known.risk.mean() == pytest.approx(known.data.outcome.mean(), abs=0.002)
        assert known.data.outcome.mean() == pytest.approx(rate, abs=0.01)
