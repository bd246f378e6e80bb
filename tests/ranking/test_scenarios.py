"""The published scenarios: exact, simulated, and what rounding allows."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad, trapezoid
from scipy.stats import truncnorm

from auditbook.ranking.scenarios import (
    SCENARIOS,
    Scenario,
    estimate_scenario,
    find_envelope,
    integrate_scenario,
    simulate_scenario,
    tabulate_densities,
    tabulate_scenario,
    tabulate_scenario_matrix,
)

FOUR_DECIMALS = 5.1e-5

PUBLISHED = {  # table 3 of Matos et al. (2026)
    "i": [0.85, 0.88, 0.73, 0.67, 0.92, 0.84, 0.88, 0.15, 0.25, 0.04],
    "ii": [0.84, 0.88, 0.80, 0.44, 0.99, 0.79, 0.95, 0.08, 0.55, 0.16],
    "iii": [0.84, 0.86, 0.86, 0.53, 0.98, 0.80, 0.96, 0.00, 0.45, 0.16],
}
EXACT = {
    "i": [0.8361, 0.8627, 0.7364, 0.6629, 0.9043, 0.8230, 0.8710, 0.1263, 0.2415, 0.0480],
    "ii": [0.8250, 0.8627, 0.8018, 0.4439, 0.9818, 0.7796, 0.9461, 0.0608, 0.5379, 0.1665],
}


@pytest.mark.parametrize("name", EXACT)
def test_exact_values_to_four_decimals(name):
    np.testing.assert_allclose(
        list(asdict(integrate_scenario(SCENARIOS[name])).values()), EXACT[name], atol=FOUR_DECIMALS
    )


def test_parameters_and_published_values_are_those_of_the_shared_table(shared_dir):
    table = pd.read_csv(shared_dir / "reference" / "auc_scenarios.csv").set_index("scenario")
    for name, scenario in SCENARIOS.items():
        row = table.loc[name]
        assert row.filter(like="published_").tolist() == PUBLISHED[name]
        printed = row[["p_m", "pi_m", "pi_f", "mu0_m", "mu1_m", "mu0_f", "mu1_f", "sigma"]].tolist()
        assert printed == list(asdict(scenario).values())
        if name in EXACT:
            assert row.filter(like="exact_").tolist() == EXACT[name]


@pytest.mark.parametrize("name", SCENARIOS)
def test_integration_agrees_with_quadpack_and_scipys_truncated_normal(name):
    one, found = SCENARIOS[name], asdict(integrate_scenario(SCENARIOS[name]))

    def law(mean):
        return truncnorm((0 - mean) / one.sd, (1 - mean) / one.sd, mean, one.sd)

    for key, event, other in (
        ("auc_m", one.mean1_m, one.mean0_m),
        ("auc_f", one.mean1_f, one.mean0_f),
        ("xauc_mf", one.mean1_m, one.mean0_f),
        ("xauc_fm", one.mean1_f, one.mean0_m),
    ):
        events, others = law(event), law(other)
        slow = quad(
            lambda s, e=events, o=others: e.pdf(s) * o.cdf(s), 0, 0.2, points=[event, other], limit=200
        )
        assert found[key] == pytest.approx(slow[0], abs=1e-8)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_simulation_of_a_million_is_within_four_errors(name):
    drawn = simulate_scenario(SCENARIOS[name], n=1_000_000, rng=np.random.default_rng(4))
    table = estimate_scenario(drawn).set_index("quantity")
    exact = pd.Series(asdict(integrate_scenario(SCENARIOS[name])))
    single = table["se"].notna()
    assert ((table["estimate"] - exact).abs() < 4 * table["se"])[single].all()
    # the two areas of a difference share records only in xAUC1; 1.5 covers their correlation
    for parity, first, second in (
        ("auc_parity", "auc_m", "auc_f"),
        ("xauc_parity", "xauc_mf", "xauc_fm"),
        ("xauc1_parity", "xauc1_m", "xauc1_f"),
    ):
        error = 1.5 * np.hypot(table["se"][first], table["se"][second])
        assert abs(table["estimate"][parity] - exact[parity]) < 4 * error


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_published_value_lies_within_what_rounding_allows(name):
    table = tabulate_scenario(name, PUBLISHED[name], n=20_000, rng=np.random.default_rng(5))
    assert table["possible"].all()
    assert ((table["low"] <= table["exact"]) & (table["exact"] <= table["high"])).all()
    assert (table["published"] - table["exact"]).abs().max() < 0.03


def test_an_impossible_value_is_told_from_a_possible_one():
    wrong = [0.5, *PUBLISHED["i"][1:]]
    table = tabulate_scenario("i", wrong, n=20_000, rng=np.random.default_rng(5))
    assert table["possible"].tolist() == [False] + [True] * 9


def test_equal_groups_have_equal_areas_and_no_gap():
    found = integrate_scenario(Scenario(0.5, 0.1, 0.1, 0.3, 0.5, 0.3, 0.5, 0.1))
    assert found.auc_parity == found.xauc_parity == pytest.approx(0, abs=1e-12)
    assert found.auc_global == pytest.approx(found.auc_m, abs=1e-12)
    envelope = find_envelope(Scenario(0.5, 0.1, 0.1, 0.3, 0.5, 0.3, 0.5, 0.1), steps=3)
    assert envelope.low.auc_parity == 0


def test_truncation_matters_at_the_edge_and_scores_stay_inside():
    edge = Scenario(0.5, 0.5, 0.5, 0.0, 1.0, 0.0, 1.0, 0.5)
    drawn = simulate_scenario(edge, n=50_000, rng=np.random.default_rng(6))
    assert 0 <= drawn.values.min() <= drawn.values.max() <= 1
    table = estimate_scenario(drawn).set_index("quantity")
    assert abs(table["estimate"]["auc_m"] - integrate_scenario(edge).auc_m) < 4 * table["se"]["auc_m"]


def test_densities_of_the_scenarios_integrate_to_one():
    table = tabulate_densities(points=2_001)
    for _, part in table.groupby(["scenario", "group", "event"]):
        assert trapezoid(part["density"], part["score"]) == pytest.approx(1, abs=2e-3)


def test_the_scenario_matrix_holds_the_exact_values():
    matrix = tabulate_scenario_matrix(SCENARIOS["ii"])
    assert matrix["auc"].round(4).tolist() == [0.8627, 0.4439, 0.9818, 0.8018]
