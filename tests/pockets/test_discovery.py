import importlib.util
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from auditbook.errors import InputError
from auditbook.pocket_settings import Start
from auditbook.pockets import block_model
from auditbook.pockets.block_model import fit_blocks
from auditbook.pockets.hierarchy import (
    Projection,
    choose_level,
    count_supported,
    cut_tree,
    place_loose,
    project_calibration,
    tidy_partitions,
)
from auditbook.pockets.leiden import part_graph, part_nested
from auditbook.pockets.saving import digest_map
from auditbook.pockets.spectral import part_spectrum
from auditbook.records import Attribute
from planted_pockets import discover, planted_data, purity, settings_for

needs_graph_tool = pytest.mark.skipif(
    importlib.util.find_spec("graph_tool") is None, reason="graph-tool is not installed"
)
PARTITIONS = [
    "leiden", "spectral", pytest.param("sbm", marks=needs_graph_tool),
    pytest.param("tree_cut", marks=[needs_graph_tool, pytest.mark.slow]),
]  # fmt: skip


def ring_of_cliques(count, size):
    cliques = [
        (c * size + i, c * size + j) for c in range(count) for i in range(size) for j in range(i + 1, size)
    ]
    bridges = [(c * size, ((c + 1) % count) * size + 1) for c in range(count)]
    links = np.sort(np.array(cliques + bridges, dtype=np.int32), axis=1)
    return links, np.repeat(np.arange(count), size)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_planted_regions_become_pockets_and_new_records_find_them(partition):
    data, truth = planted_data(600)
    found = discover(data, settings_for(partition), n_audit=3000)
    assert purity(found.forest_members, truth[found.graph]) > 0.98
    new, new_truth = planted_data(seed=9)
    codes = found.forest.assign(new.table).codes
    assert (codes >= 0).mean() > 0.9
    assert purity(codes[codes >= 0], new_truth[codes >= 0]) > 0.98
    assert found.forest.rule.n_pockets >= 4
    assert found.ridge.rule.n_pockets == found.forest.rule.n_pockets
    assert found.levels["chosen"].sum() == 1
    assert found.forest.provenance["partition"] == partition
    assert np.array_equal(found.forest.n_discovery, np.sort(found.forest.n_discovery)[::-1])
    assert found.forest.pockets[:2] == ("F1", "F2")
    assert found.ridge.pockets[:2] == ("R1", "R2")


def test_the_maps_do_not_depend_on_jobs_and_the_seed_does_count():
    data, _ = planted_data(400)
    settings = settings_for("leiden", trees=20)
    one, two, other = (
        discover(data, settings, jobs=jobs, seed=seed) for jobs, seed in ((1, 5), (2, 5), (1, 6))
    )
    for name in ("forest", "ridge"):
        assert digest_map(getattr(one, name)) == digest_map(getattr(two, name))
    assert one.levels.equals(two.levels)
    assert digest_map(one.forest) != digest_map(other.forest)


def test_permuted_groups_change_no_level_but_only_which_is_chosen():
    data, _ = planted_data(500)
    group = data.attributes[0]
    codes = np.random.default_rng(8).permutation(group.codes)
    permuted = replace(data, attributes=(Attribute("group", ("a", "b"), codes),))
    one, two = (discover(part, settings_for("leiden")) for part in (data, permuted))
    for first, second in zip(one.partitions.levels, two.partitions.levels, strict=True):
        assert np.array_equal(first, second)
    assert all(
        np.array_equal(values, two.forest.rule.forest.arrays()[name])
        for name, values in one.forest.rule.forest.arrays().items()
    )


def test_outcomes_and_errors_of_calibration_records_and_of_models_change_no_map():
    data, _ = planted_data(500)
    outcome = data.outcome.copy()
    outcome[::5] = outcome[::5][::-1]
    other = replace(data, outcome=outcome, predictions={"m": -data.predictions["m"]})
    one, two = (discover(part, settings_for("leiden")) for part in (data, other))
    assert digest_map(one.forest) == digest_map(two.forest)
    assert digest_map(one.ridge) == digest_map(two.ridge)


@pytest.mark.parametrize("continuous", [True, False])
def test_nothing_to_part_by_gives_one_pocket(continuous):
    data, _ = planted_data(200, features=False, continuous=continuous)
    found = discover(data, settings_for("leiden"), n_audit=10)
    assert found.forest.pockets == ("F1",)
    assert found.ridge.pockets == ("R1",)
    assert (found.forest.assign(data.table).codes == 0).all()


@pytest.mark.parametrize(
    "partition", ["leiden", "spectral", pytest.param("sbm", marks=[needs_graph_tool, pytest.mark.slow])]
)
def test_a_hundred_records_and_a_rare_event_still_give_a_map(partition):
    data, _ = planted_data(100, continuous=False)
    rare = replace(data, outcome=(np.arange(100) < 4) * 1.0, predictions={})
    found = discover(rare, settings_for(partition), n_audit=30)
    assert found.forest.rule.n_pockets == 1
    assert found.levels["supported"].max() == 0


def test_without_graph_tool_the_error_names_both_ways_to_install_it(monkeypatch):
    monkeypatch.setattr(block_model, "find_spec", lambda name: None)
    data, _ = planted_data(100)
    for partition in ("sbm", "tree_cut"):
        with pytest.raises(InputError, match=r"python3-graph-tool.*make setup.*environment\.yml.*leiden"):
            discover(data, settings_for(partition))
    assert discover(data, settings_for("leiden")).forest.rule.n_pockets >= 1


def test_bad_calls_are_named():
    data, _ = planted_data(100)
    with pytest.raises(InputError, match=r"partition: found 'louvain', allowed are sbm, leiden"):
        discover(data, settings_for("louvain"))
    with pytest.raises(InputError, match="found 0 and 0"):
        discover(data.take(np.arange(0)), settings_for("leiden"))
    with pytest.raises(InputError, match="6001 graph records are more than 6000"):
        part_spectrum(np.zeros((6001, 1), dtype=np.int32), 1, seed=1)


@needs_graph_tool
@pytest.mark.slow
def test_both_starts_find_cliques_and_agree_on_the_description_length():
    links, truth = ring_of_cliques(12, 12)
    fast, published = (fit_blocks(links, 144, start=start, fits=1, seed=1) for start in get_args(Start))
    for fit in (fast, published):
        levels = tidy_partitions(fit.levels)
        assert any(labels.max() == 11 and purity(labels, truth) == 1 for labels in levels)
        for fine, coarse in zip(fit.levels[:-1], fit.levels[1:], strict=True):
            assert len(np.unique(np.column_stack([fine, coarse]), axis=0)) == fine.max() + 1
    # what the design asks of the fast start
    assert fast.description_length < 1.002 * published.description_length


@needs_graph_tool
@pytest.mark.slow
def test_the_shortest_of_seeded_fits_is_kept_whatever_the_number_of_jobs():
    links, _ = ring_of_cliques(9, 5)
    one, two = (fit_blocks(links, 45, fits=3, seed=1, jobs=jobs) for jobs in (1, 2))
    assert one.lengths == two.lengths
    assert one.description_length == min(one.lengths)
    assert all(np.array_equal(a, b) for a, b in zip(one.levels, two.levels, strict=True))


def test_leiden_nests_its_own_communities():
    links, truth = ring_of_cliques(12, 12)
    first, second = part_nested(links, 144, resolution=2.0, step=4.0, seed=1)[:2]
    assert purity(first, truth) == 1
    assert len(second) == first.max() + 1 > second.max() + 1
    assert all(len(labels) == 144 for labels in part_graph(links, 144, seed=1))


def test_support_asks_for_records_and_expected_events_in_both_groups():
    codes = np.repeat([0, 1, -1], [100, 60, 40])
    cells = np.column_stack([np.arange(200) % 2 == 0, np.arange(200) % 2 == 1]).astype(float)
    made = Projection(cells, np.empty((0, 200)), ((0, 1),), scale=3.0, records=100, events=0)
    assert count_supported(codes, np.array([0.5, 0.5]), made).tolist() == [1, 0]
    events = replace(made, records=10, events=10)
    assert count_supported(codes, np.array([0.05, 0.95]), events).tolist() == [0, 0]
    assert count_supported(codes, np.array([0.1, 0.2]), events).tolist() == [1, 1]
    expected = replace(events, expected=np.array([np.full(200, 0.2), np.full(200, 0.06)]))
    assert count_supported(codes, np.array([0.5, 0.5]), expected).tolist() == [0, 0]


def test_without_contrasts_a_pocket_counts_all_its_records():
    data, _ = planted_data(60, continuous=False)
    made = project_calibration(data, n_audit=120, contrasts=(), settings=settings_for("leiden"))
    assert (made.scale, made.records, made.events, made.pairs) == (2.0, 150, 10, ((0,),))
    assert made.cells.tolist() == [[1.0]] * 60


def test_ties_go_to_the_coarser_level():
    assert choose_level([np.array([1, 1, 0]), np.array([1, 1]), np.array([1])]) == 1
    assert choose_level([np.zeros(5), np.zeros(1)]) == 1


def test_the_tree_is_cut_where_children_bring_more():
    fine, middle, top = np.arange(6), np.array([0, 0, 1, 1, 2, 2]), np.zeros(6, dtype=int)
    cut = cut_tree([fine, middle, top], [np.array([2, 1, 0, 0, 1, 0]), np.array([2, 1, 1]), np.array([3])])
    assert len(np.unique(cut)) == 4
    assert cut[2] == cut[3]
    assert cut[4] == cut[5]
    assert cut[0] != cut[1]
    whole = cut_tree([fine, top], [np.ones(6, dtype=int), np.array([6])])
    assert whole.tolist() == [0] * 6


def test_levels_that_repeat_are_listed_once_and_one_pocket_is_the_last():
    levels = tidy_partitions([np.array([2, 0, 0, 1]), np.array([1, 5, 5, 0]), np.array([0, 1, 1, 0])])
    assert [level.tolist() for level in levels] == [[1, 0, 0, 2], [0, 1, 1, 0], [0, 0, 0, 0]]


def test_communities_smaller_than_a_leaf_join_the_most_similar():
    leaves = np.array([[0, 2], [0, 2], [1, 3], [1, 3], [1, 2]], dtype=np.int32)
    placed = place_loose(np.array([0, 0, 1, 1, 2]), leaves, n_leaves=4, fewest=2)
    assert placed.tolist()[:4] == [0, 0, 1, 1]
    assert placed[4] in (0, 1)
    assert place_loose(np.arange(5), leaves, n_leaves=4, fewest=2).tolist() == [0, 1, 2, 3, 4]
