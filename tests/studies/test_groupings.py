"""Groupings that the simulations compare: is each what its name says?"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditbook.pockets.data import declare_contrasts
from auditbook.pockets.encoding import fit_encoding
from auditbook.pockets.forest import grow_forest
from auditbook.pockets.frozen import ABSTAIN
from auditbook.pockets.testing import audit_map
from auditbook.studies.simulations.clusters import cluster_records
from auditbook.studies.simulations.fixed_map import fix_map
from auditbook.studies.simulations.judged import judge_map
from auditbook.studies.simulations.learned import learn_maps
from auditbook.studies.simulations.maps import assign_bins, cut_evenly
from auditbook.studies.simulations.matching import coarsen, match_records, number_cells, rank_features
from auditbook.studies.simulations.risk_bins import bin_errors, bin_risk, predict_errors
from auditbook.studies.simulations.sizes import Sizes
from auditbook.studies.simulations.synthetic_worlds import CATEGORICAL, DEPENDENT, LINEAR
from auditbook.studies.simulations.worlds import Plant, mark_region, oracle_column, plant_error

SIZES = Sizes(continuous=1_500, binary=500, binary_audit=4_000, continuous_trees=30, draws=199)


@pytest.fixture(scope="module")
def drawn():
    return LINEAR.draw(np.random.default_rng(1), SIZES)


@pytest.fixture(scope="module")
def graph(drawn):
    return drawn.discovery.data.take(drawn.graph)


@pytest.fixture(scope="module")
def grown(graph):
    encoding = fit_encoding(graph.table)
    values = encoding.encode(graph.table)
    forest = grow_forest(values, graph.outcome, trees=50, min_leaf=20, candidates=1 / 3, seed=1)
    return encoding, forest, forest.find_leaves(values)


def test_even_bins_hold_the_same_number(drawn):
    values = drawn.audit.risk
    counts = np.bincount(assign_bins(values, cut_evenly(values, 6)).codes)
    assert len(counts) == 6
    assert np.ptp(counts) <= 1


def test_values_that_are_all_equal_are_one_bin():
    assert len(cut_evenly(np.ones(50), 4)) == 0


def test_risk_bins_follow_the_true_risk(drawn, graph, grown):
    encoding, forest, leaves = grown
    found = bin_risk(graph, encoding, forest, leaves, pockets=5)
    codes = found.assign(drawn.audit.data.table).codes
    means = [drawn.audit.risk[codes == place].mean() for place in range(5)]
    assert np.all(np.diff(means) > 0)
    assert np.all(np.diff(found.mean_outcome) > 0)


def test_the_feature_that_matters_most_ranks_first(graph, grown):
    encoding, forest, leaves = grown
    ranked = rank_features(forest, leaves, graph.outcome)
    assert encoding.columns[ranked[0]].name == "x1"
    assert sorted(ranked) == list(range(len(encoding.columns)))


@pytest.mark.parametrize("whiten", [False, True])
def test_clusters_do_not_look_at_the_outcome(graph, grown, whiten):
    shuffled = replace(graph, outcome=np.random.default_rng(2).permutation(graph.outcome))
    maps = [
        cluster_records(each, grown[0], pockets=4, whiten=whiten, fewest=20, seed=1)
        for each in (graph, shuffled)
    ]
    one, two = (each.assign(graph.table).codes for each in maps)
    np.testing.assert_array_equal(one, two)
    assert maps[0].n_discovery.sum() == len(graph.outcome)


def test_mahalanobis_clusters_do_not_change_when_features_are_mixed(graph):
    mixing = np.eye(12) + 0.3 * np.random.default_rng(3).standard_normal((12, 12))
    mixed = replace(graph, table=pd.DataFrame(graph.table.to_numpy() @ mixing, columns=graph.table.columns))
    distances = []
    for each in (graph, mixed):
        found = cluster_records(each, fit_encoding(each.table), pockets=1, whiten=True, fewest=20, seed=1)
        distances.append(found.assign(each.table).affinity)
    # the origin is the mean of standardised features, which mixing keeps; distances stay
    np.testing.assert_allclose(distances[0], distances[1], rtol=1e-3)


def test_records_of_a_matched_pocket_agree_in_every_coarsened_feature(drawn, graph, grown):
    found = match_records(graph, grown[0], np.array([0, 1]), bins=3, least=1, name="cem")
    codes = found.assign(drawn.audit.data.table).codes
    cut = [np.quantile(graph.table[name], [1 / 3, 2 / 3]) for name in ("x1", "x2")]
    bins = [
        np.searchsorted(edges, drawn.audit.data.table[name], side="right")
        for edges, name in zip(cut, ("x1", "x2"), strict=True)
    ]
    by_hand = bins[0] * 3 + bins[1]
    np.testing.assert_array_equal(codes, by_hand)


def test_cells_that_are_too_small_abstain(graph, grown):
    found = match_records(graph, grown[0], np.arange(12), bins=2, least=1e9, name="cem")
    assert found.pockets == ()
    assert (found.assign(graph.table).codes == ABSTAIN).all()


def test_a_category_is_matched_on_its_levels_and_missing_is_a_bin():
    edges = coarsen(np.array([0.0, 1.0, 2.0, np.nan]), 2, category=True)
    cells = number_cells(np.array([[0.0], [1.0], [2.0], [np.nan]]), [edges])
    assert len(set(cells.tolist())) == 4


@pytest.mark.parametrize(("question", "region"), [("error", "irrelevant"), ("gap", "x1")])
def test_the_targeted_grouping_learns_where_a_large_error_was_planted(drawn, question, region):
    plant = Plant(question, region, "larger")
    error = plant_error(drawn.discovery, plant) - drawn.discovery.risk
    found = bin_errors(
        drawn.discovery.data,
        drawn.discovery.data.outcome + 5 * error,  # without noise
        question,
        pockets=5,
        sizes=SIZES,
        seed=1,
    )
    rule = found.rule
    predicted = predict_errors(rule.models, rule.encoding.encode(drawn.audit.data.table))
    inside = drawn.audit.regions[region] == 1
    assert predicted[inside].mean() - predicted[~inside].mean() > 1


def test_maps_are_learned_from_discovery_outcomes_alone(drawn):
    settings = SIZES.pockets(continuous=True)
    contrasts = declare_contrasts(drawn.audit.data.attributes)
    rng = np.random.default_rng(4)
    audit = drawn.audit
    hidden = replace(audit, data=replace(audit.data, outcome=rng.permutation(audit.data.outcome)))
    one, two = (learn_maps(each, contrasts, settings, 3) for each in (drawn, replace(drawn, audit=hidden)))
    for first, second in zip(one, two, strict=True):
        left, right = first.rule.arrays(), second.rule.arrays()
        assert left.keys() == right.keys()
        for name in left:
            np.testing.assert_array_equal(left[name], right[name])


def test_categories_are_handled_by_every_grouping():
    drawn = CATEGORICAL.draw(np.random.default_rng(2), replace(SIZES, continuous=600, continuous_trees=10))
    settings = SIZES.pockets(continuous=True)
    settings = replace(settings, trees=10)
    maps = learn_maps(drawn, declare_contrasts(drawn.audit.data.attributes), settings, 3)
    for each in maps:
        codes = each.assign(drawn.audit.data.table).codes
        assert codes.max() < len(each.pockets), each.name


@pytest.mark.parametrize("world", [LINEAR, DEPENDENT], ids=lambda world: world.name)
def test_testing_many_plants_at_once_is_the_audit_of_each(world):
    audit = mark_region(world.draw(np.random.default_rng(1), SIZES).audit)
    settings = SIZES.pockets(continuous=world.continuous)
    contrasts = declare_contrasts(audit.data.attributes)
    frozen = fix_map(3, name="oracle", column=oracle_column("masked"))
    plants = [plant for plant in world.plants if plant.region != "irrelevant"]
    together = judge_map(frozen, audit, plants, contrasts=contrasts, settings=settings, seed=5)
    for plant in plants:
        data = replace(audit.data, predictions={"model": plant_error(audit, plant)})
        for half, share in enumerate((1.0, 0.5)):
            found = audit_map(
                frozen, data, contrasts=contrasts, settings=settings, seed=5, share=share
            ).errors
            kind = {"gap": "delta", "error": "mu"}[plant.question]
            rows = found[found["quantity"] == kind]
            sign = rows["direction"].map({"over": 1, "under": -1, "": 0}).to_numpy()
            assert together[plant].overall[half] == sign[0]
            codes = frozen.assign(audit.data.table).codes
            np.testing.assert_array_equal(together[plant].flags[half], sign[1:][codes])


def test_intervals_of_the_oracle_hold_the_truth_in_most_replicates():
    held = []
    frozen = fix_map(3, name="oracle", column=oracle_column("x1"))
    sizes = replace(SIZES, continuous=800, draws=199)
    plant = Plant("error", "x1", "larger")
    for seed in range(60):
        audit = mark_region(LINEAR.draw(np.random.default_rng(seed), sizes).audit)
        found = judge_map(
            frozen, audit, [plant], contrasts=(), settings=sizes.pockets(continuous=True), seed=seed
        )
        held.append(bool(found[plant].covered[0]))
    assert np.mean(held) >= 0.85  # 95 % nominal; 60 replicates have a standard error of 2.8 points
