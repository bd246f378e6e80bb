"""Which records are alike in what predicts the outcome: those that a forest sends to the same leaves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from sklearn.tree._tree import Tree

BLOCK = 1 << 15
"""Records that are sent down the trees at once."""


@dataclass(frozen=True)
class Forest:
    """Trees as arrays, one after another; they hold no outcome, only where records go."""

    first: NDArray[np.int64]  # shape (n_trees + 1,): First node of each tree, and the number of nodes
    # shape (n_nodes,): Children, counted from the tree's first node; -1 at a leaf
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    feature: NDArray[np.int32]  # shape (n_nodes,): Feature that a node looks at
    threshold: NDArray[np.float64]  # shape (n_nodes,): A value that is at most this goes left
    missing_left: NDArray[np.uint8]  # shape (n_nodes,): 1 where a missing value goes left
    n_features: int  # Features of a record

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.first) - 1

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all trees."""
        return int(np.count_nonzero(self.left < 0))

    @cached_property
    def _leaf_numbers(self) -> NDArray[np.int32]:
        """Number of each node among all leaves; meaningless for other nodes."""
        return (np.cumsum(self.left < 0) - 1).astype(np.int32)

    @cached_property
    def _trees(self) -> "tuple[Tree, ...]":
        """The trees in the form that scikit-learn walks down."""
        bounds = zip(self.first[:-1], self.first[1:], strict=True)
        return tuple(self._build_tree(slice(int(start), int(end))) for start, end in bounds)

    def _build_tree(self, part: slice) -> "Tree":
        """Build a tree through a private interface, which a test pins: it walks three times as fast."""
        from sklearn.tree._tree import NODE_DTYPE, Tree

        nodes = np.zeros(part.stop - part.start, dtype=NODE_DTYPE)
        nodes["left_child"], nodes["right_child"] = self.left[part], self.right[part]
        nodes["feature"], nodes["threshold"] = self.feature[part], self.threshold[part]
        nodes["missing_go_to_left"] = self.missing_left[part]
        tree = Tree(self.n_features, np.ones(1, dtype=np.intp), 1)
        state = {"max_depth": 0, "node_count": len(nodes), "nodes": nodes}
        tree.__setstate__({**state, "values": np.zeros((len(nodes), 1, 1))})
        return tree

    def find_leaves(self, features: NDArray[np.float64]) -> NDArray[np.int32]:
        """Send records down every tree."""
        leaves = np.empty((len(features), self.n_trees), dtype=np.int32)
        for start in range(0, len(features), BLOCK):
            block = np.ascontiguousarray(features[start : start + BLOCK], dtype=np.float32)
            for position, tree in enumerate(self._trees):
                nodes = tree.apply(block) + self.first[position]
                leaves[start : start + BLOCK, position] = self._leaf_numbers[nodes]
        return leaves

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the trees as arrays."""
        names = ("first", "left", "right", "feature", "threshold", "missing_left")
        found = {f"tree_{name}": getattr(self, name) for name in names}
        return {**found, "n_features": np.array(self.n_features, dtype=np.int64)}


def grow_forest(
    features: NDArray[np.float64],
    outcome: NDArray[np.float64],
    *,
    trees: int,
    min_leaf: int,
    candidates: float,
    seed: int,
    jobs: int = 1,
) -> Forest:
    """Grow a random forest that predicts the outcome, and keep where it sends records.

    Parameters
    ----------
    features : float64 array, shape (n, p)
        Of the graph records; nan where missing. Without any, each tree is one leaf.
    outcome : float64 array, shape (n,)
        0 or 1, or numbers. (Gini impurity of an event is twice its variance, so both grow the same trees.)
    trees, min_leaf : int
        Number of trees, and fewest records a leaf.
    candidates : float
        Share of the features that are tried at each split.
    seed, jobs : int
        Seed of the forest; trees grown side by side do not depend on their number.

    References
    ----------
    Breiman, L. (2001). Random forests. doi:10.1023/A:1010933404324

    Examples
    --------
    >>> x = np.linspace(0, 1, 100)[:, None]
    >>> forest = grow_forest(x, (x[:, 0] > 0.5) * 1.0, trees=3, min_leaf=20, candidates=1.0, seed=1)
    >>> leaves = forest.find_leaves(x)
    >>> np.array_equal(leaves[0], leaves[1]), np.array_equal(leaves[0], leaves[99])
    (True, False)
    """
    from sklearn.ensemble import RandomForestRegressor

    if features.shape[1] == 0:
        features = np.zeros((len(outcome), 1))
    grown = RandomForestRegressor(
        trees, min_samples_leaf=min_leaf, max_features=candidates, random_state=seed, n_jobs=jobs
    ).fit(features.astype(np.float32), outcome)
    trees_grown = [tree.tree_ for tree in grown.estimators_]

    def join(name: str, kind: type) -> NDArray[Any]:
        return np.concatenate([getattr(tree, name) for tree in trees_grown]).astype(kind)

    return Forest(
        np.cumsum([0, *(tree.node_count for tree in trees_grown)]),
        join("children_left", np.int32),
        join("children_right", np.int32),
        join("feature", np.int32),
        join("threshold", np.float64),
        join("missing_go_to_left", np.uint8),
        features.shape[1],
    )


def load_forest(arrays: Mapping[str, NDArray[Any]]) -> Forest:
    """Rebuild a forest from its arrays, and check that every record will find a leaf."""
    forest = Forest(
        _read(arrays, "first", np.int64),
        _read(arrays, "left", np.int32),
        _read(arrays, "right", np.int32),
        _read(arrays, "feature", np.int32),
        _read(arrays, "threshold", np.float64),
        _read(arrays, "missing_left", np.uint8),
        int(arrays["n_features"]),
    )
    _check_forest(forest)
    return forest


def _read(arrays: Mapping[str, NDArray[Any]], name: str, kind: type) -> NDArray[Any]:
    """Read one array of the trees; ValueError where its numbers are of another kind."""
    found = arrays[f"tree_{name}"]
    if found.ndim != 1 or found.dtype != kind:
        raise ValueError(f"trees are damaged: {name}")
    return found


def _check_forest(forest: Forest) -> None:
    """Raise ValueError where a record could walk out of the arrays, or in a circle."""
    sizes = np.diff(forest.first)
    fields = (forest.left, forest.right, forest.feature, forest.threshold, forest.missing_left)
    n_nodes = int(forest.first[-1]) if len(forest.first) > 1 else 0
    if n_nodes < 1 or forest.first[0] != 0 or (sizes < 1).any() or any(len(x) != n_nodes for x in fields):
        raise ValueError("trees are damaged: their sizes do not agree")
    own = np.arange(n_nodes) - np.repeat(forest.first[:-1], sizes)
    inner = forest.left >= 0
    below = np.repeat(sizes, sizes)
    sound = (forest.left > own) & (forest.right > own) & (forest.left < below) & (forest.right < below)
    sound &= (forest.feature >= 0) & (forest.feature < forest.n_features)
    if not sound[inner].all() or (forest.left[~inner] != forest.right[~inner]).any():
        raise ValueError("trees are damaged: a node leads nowhere")


def leaf_indicator(leaves: NDArray[np.int32], n_leaves: int) -> csr_matrix:
    """Mark the leaves of each record: a product of two such rows counts the leaves that they share."""
    n, trees = leaves.shape
    starts = np.arange(n + 1, dtype=np.int64) * trees
    return csr_matrix((np.ones(n * trees, dtype=np.float32), leaves.ravel(), starts), shape=(n, n_leaves))


def each_block(n: int, size: int) -> Iterator[slice]:
    """Cut n records into blocks."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
