import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree._tree import NODE_DTYPE

from auditbook.errors import InputError
from auditbook.pockets import neighbours
from auditbook.pockets.encoding import fit_encoding, load_encoding
from auditbook.pockets.forest import grow_forest, leaf_indicator, load_forest
from auditbook.pockets.neighbours import link_mutual
from auditbook.pockets.roles import mix
from planted_pockets import planted_data


def slow_links(leaves, k):
    """Compare every pair of records, and let each keep its k most similar."""
    n = len(leaves)
    similarity = np.array([[(leaves[i] == leaves[j]).sum() for j in range(n)] for i in range(n)])
    names = mix(np.arange(n, dtype=np.uint64))
    kept = []
    for i in range(n):
        others = [j for j in range(n) if j != i and similarity[i, j] > 0]
        lot = {j: int(mix(names[[i]] ^ names[[j]])[0]) >> 32 for j in others}
        kept.append(set(sorted(others, key=lambda j: (-similarity[i, j], -lot[j]))[:k]))
    return [[i, j] for i in range(n) for j in range(i + 1, n) if j in kept[i] and i in kept[j]]


def draw_leaves(rng, n, trees, leaves):
    return (rng.integers(0, leaves, (n, trees)) + leaves * np.arange(trees)).astype(np.int32)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 40),
    trees=st.integers(1, 8),
    leaves=st.integers(1, 6),
    k=st.integers(1, 12),
)
def test_links_are_those_of_the_comparison_of_all_pairs(seed, n, trees, leaves, k):
    drawn = draw_leaves(np.random.default_rng(seed), n, trees, leaves)
    assert link_mutual(drawn, trees * leaves, neighbours=k).tolist() == slow_links(drawn, k)


def test_links_do_not_depend_on_how_many_rows_are_held_at_once(monkeypatch):
    drawn = draw_leaves(np.random.default_rng(1), 300, 20, 8)
    one = link_mutual(drawn, 160, neighbours=10)
    monkeypatch.setattr(neighbours, "HELD", 1)
    assert np.array_equal(one, link_mutual(drawn, 160, neighbours=10))


def test_records_that_are_all_alike_are_linked_without_a_favourite():
    degree = np.bincount(link_mutual(np.zeros((400, 5), dtype=np.int32), 1, neighbours=30).ravel())
    assert len(degree) == 400
    assert 0 < degree.mean() < 30
    assert degree.max() <= 30


def test_a_record_that_shares_no_leaf_has_no_link():
    assert link_mutual(np.array([[0], [1], [1]], dtype=np.int32), 2, neighbours=5).tolist() == [[1, 2]]
    assert link_mutual(np.zeros((1, 3), dtype=np.int32), 1, neighbours=5).shape == (0, 2)


def test_similarity_counts_the_trees_in_which_a_leaf_is_shared():
    drawn = draw_leaves(np.random.default_rng(2), 30, 7, 3)
    members = leaf_indicator(drawn, 21)
    assert np.array_equal((members @ members.T).toarray(), (drawn[:, None] == drawn).sum(axis=2))


def test_the_forest_does_not_depend_on_the_number_of_jobs_and_sends_missing_values_somewhere():
    data, _ = planted_data(400)
    features = fit_encoding(data.table).encode(data.table)
    one, two = (
        grow_forest(features, data.outcome, trees=8, min_leaf=20, candidates=0.5, seed=1, jobs=jobs)
        for jobs in (1, 2)
    )
    assert all(np.array_equal(one.arrays()[name], two.arrays()[name]) for name in one.arrays())
    leaves = one.find_leaves(np.full((3, features.shape[1]), np.nan))
    assert (leaves == leaves[0]).all()
    assert leaves.max() < one.n_leaves
    assert (np.bincount(one.find_leaves(features).ravel(), minlength=one.n_leaves) > 0).all()


def walk_down(forest, tree, record):
    """Send one record down one tree, node by node."""
    start = forest.first[tree]
    node = start
    while forest.left[node] >= 0:
        value = record[forest.feature[node]]
        left = forest.missing_left[node] if np.isnan(value) else value <= forest.threshold[node]
        node = start + (forest.left if left else forest.right)[node]
    return int((forest.left[:node] < 0).sum())


def test_the_private_tree_of_scikit_learn_walks_as_ours_do_by_hand():
    """A pin on private names: where they change, `Forest.find_leaves` needs a walk of its own."""
    assert NODE_DTYPE.names == (
        *("left_child", "right_child", "feature", "threshold", "impurity", "n_node_samples"),
        *("weighted_n_node_samples", "missing_go_to_left"),
    )
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 4)).astype(np.float32).astype(float)
    x[rng.random(x.shape) < 0.2] = np.nan
    forest = grow_forest(
        x, np.nansum(x, axis=1) + np.isnan(x[:, 0]), trees=5, min_leaf=10, candidates=0.5, seed=1
    )
    by_hand = [[walk_down(forest, tree, record) for tree in range(5)] for record in x]
    assert forest.find_leaves(x).tolist() == by_hand


def test_a_forest_without_features_has_one_leaf_a_tree():
    forest = grow_forest(np.empty((50, 0)), np.arange(50.0), trees=3, min_leaf=5, candidates=0.3, seed=1)
    assert forest.n_leaves == 3
    assert forest.find_leaves(np.empty((2, 0))).tolist() == [[0, 1, 2]] * 2


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("tree_left", lambda x: x - 5),
        ("tree_right", lambda x: x + 10_000),
        ("tree_feature", lambda x: x + 99),
        ("tree_left", lambda x: x.astype(float)),
        ("tree_first", lambda x: x[::-1].copy()),
        ("tree_threshold", lambda x: x[:-1]),
    ],
)
def test_damaged_trees_are_found_before_a_record_walks_down(name, change):
    x = np.linspace(0, 1, 200)[:, None]
    arrays = grow_forest(x, x[:, 0], trees=2, min_leaf=20, candidates=1.0, seed=1).arrays()
    assert load_forest(arrays).find_leaves(x).shape == (200, 2)
    with pytest.raises(ValueError, match="damaged"):
        load_forest({**arrays, name: change(arrays[name])})


def test_columns_are_read_alike_in_any_storage_and_unknown_levels_are_missing():
    graph = pd.DataFrame(
        {
            "number": [1, 2, None],
            "text": ["10", "b", "b"],
            "truth": [True, False, None],
            "date": pd.to_datetime(["2024-01-01", "2024-01-03", None]),
        }
    )
    encoding = fit_encoding(graph)
    new = pd.DataFrame(
        {"date": ["2024-01-03", "soon"], "truth": [1, 0], "number": ["2", "many"], "text": [10, 11]}
    )
    assert encoding.encode(new)[0].tolist() == [2.0, 0.0, 1.0, 19725.0]
    assert np.isnan(encoding.encode(new)[1]).tolist() == [True, True, False, True]
    assert load_encoding(encoding.arrays()) == encoding


def test_constant_empty_and_naming_columns_are_left_out_and_nothing_is_infinite():
    n = 60
    graph = pd.DataFrame(
        {
            "constant": ["x"] * n, "empty": [None] * n, "name": [f"id {i}" for i in range(n)],
            "once": [1.0] * (n - 1) + [np.nan], "wide": [np.inf, -np.inf, 1e300] * 20,
        }
    )  # fmt: skip
    encoding = fit_encoding(graph)
    assert [column.name for column in encoding.columns] == ["once", "wide"]
    assert not np.isinf(encoding.encode(graph).astype(np.float32)).any()


def test_a_missing_column_is_named():
    encoding = fit_encoding(pd.DataFrame({"age": [1, 2]}))
    with pytest.raises(InputError, match=r"column 'age' is missing.*did you mean 'agee'"):
        encoding.encode(pd.DataFrame({"agee": [1]}))
