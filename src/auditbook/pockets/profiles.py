"""Which pocket does a new record belong to: the one whose members it shares most leaves with, or none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.pockets.encoding import Encoding, load_encoding
from auditbook.pockets.forest import BLOCK, Forest, each_block, leaf_indicator, load_forest
from auditbook.pockets.frozen import ABSTAIN, Assignment


@dataclass(frozen=True)
class ForestRule:
    """Assignment by mean forest similarity to the members of each pocket."""

    encoding: Encoding  # How a table is read
    forest: Forest  # Where records go
    counts: NDArray[np.int32]  # shape (n_leaves, C): Profile of each pocket: its members in each leaf
    sizes: NDArray[np.int64]  # shape (C,): Its members
    # A record abstains when its mean similarity, or its lead over the second pocket, is below these
    least_affinity: float
    least_lead: float

    @property
    def n_pockets(self) -> int:
        """Number of pockets."""
        return len(self.sizes)

    def assign(self, table: pd.DataFrame) -> Assignment:
        """Assign records from their features alone."""
        parts = [
            self.assign_leaves(self.forest.find_leaves(self.encoding.encode(table.iloc[part])))
            for part in each_block(max(len(table), 1), BLOCK)
        ]
        return Assignment(
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.affinity for part in parts]),
            np.concatenate([part.lead for part in parts]),
        )

    def assign_leaves(self, leaves: NDArray[np.int32]) -> Assignment:
        """Assign records whose leaves, shape (n, n_trees), are known."""
        found = nearest_pocket(mean_similarity(leaves, self.counts, self.sizes))
        weak = (found.affinity < self.least_affinity) | (found.lead < self.least_lead)
        return Assignment(np.where(weak, ABSTAIN, found.codes).astype(np.int32), found.affinity, found.lead)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything the rule consists of."""
        least = np.array([self.least_affinity, self.least_lead])
        arrays = {**self.encoding.arrays(), **self.forest.arrays()}
        return {**arrays, "counts": self.counts, "sizes": self.sizes, "least": least}


def count_profiles(
    leaves: NDArray[np.int32], labels: NDArray[np.integer], *, n_leaves: int
) -> NDArray[np.int32]:
    """Count the members of each pocket in each leaf."""
    n_pockets = int(labels.max(initial=-1)) + 1
    cells = leaves.astype(np.int64) * n_pockets + labels[:, None]
    counts = np.bincount(cells.ravel(), minlength=n_leaves * n_pockets)
    return counts.reshape(n_leaves, n_pockets).astype(np.int32)


def mean_similarity(
    leaves: NDArray[np.int32], counts: NDArray[np.int32], sizes: NDArray[np.integer]
) -> NDArray[np.float64]:
    r"""Find the mean similarity of records to the members of each pocket.

    .. math:: \frac{1}{T |c|} \sum_{j \in c} \#\{\text{trees in which } i \text{ and } j
              \text{ share a leaf}\}

    Parameters
    ----------
    leaves : int32 array, shape (n, n_trees)
        Leaves of the records.
    counts : int32 array, shape (n_leaves, C)
        Profiles.
    sizes : int array, shape (C,)
        Members of each pocket.

    Returns
    -------
    float64 array, shape (n, C)
        0 where no leaf is shared, 1 where all are with every member. Sums are of whole numbers and exact.

    Examples
    --------
    >>> counts = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.int32)
    >>> mean_similarity(np.array([[0, 2]], dtype=np.int32), counts, np.array([1, 1])).tolist()
    [[1.0, 0.5]]
    """
    shared = leaf_indicator(leaves, len(counts)) @ counts.astype(np.float64)
    return np.asarray(shared / (leaves.shape[1] * np.maximum(sizes, 1)))


def nearest_pocket(similarity: NDArray[np.float64]) -> Assignment:
    """Find the pocket of the highest similarity, and its lead over the second."""
    codes = similarity.argmax(axis=1)
    best = np.take_along_axis(similarity, codes[:, None], axis=1)[:, 0]
    second = np.zeros(len(similarity))
    if similarity.shape[1] > 1:
        second = np.partition(similarity, -2, axis=1)[:, -2]
    return Assignment(codes.astype(np.int32), best, best - second)


def freeze_profiles(
    encoding: Encoding,
    forest: Forest,
    *,
    leaves: NDArray[np.int32],
    labels: NDArray[np.integer],
    calibration: NDArray[np.int32],
    abstain: float,
) -> ForestRule:
    """Freeze a partition of the graph records into a rule for new records.

    Parameters
    ----------
    encoding, forest
        How records are read, and where they go.
    leaves : int32 array, shape (n, n_trees)
        Leaves of the graph records.
    labels : int array, shape (n,)
        Pocket of each, from 0, each with a member.
    calibration : int32 array, shape (m, n_trees)
        Leaves of the calibration records.
    abstain : float
        Quantile of their similarities, and of their leads, below which a record abstains.
    """
    counts = count_profiles(leaves, labels, n_leaves=forest.n_leaves)
    sizes = np.bincount(labels)
    seen = nearest_pocket(mean_similarity(calibration, counts, sizes))
    least = [float(np.quantile(values, abstain)) for values in (seen.affinity, seen.lead)]
    return ForestRule(encoding, forest, counts, sizes, *least)


def load_profiles(arrays: Mapping[str, NDArray[Any]]) -> ForestRule:
    """Rebuild a rule from its arrays."""
    encoding, forest = load_encoding(arrays), load_forest(arrays)
    counts, sizes = arrays["counts"].astype(np.int32), arrays["sizes"].astype(np.int64)
    features = max(len(encoding.columns), 1)
    if counts.shape != (forest.n_leaves, len(sizes)) or features != forest.n_features:
        raise ValueError("profiles do not fit the trees")
    affinity, lead = arrays["least"].tolist()
    return ForestRule(encoding, forest, counts, sizes, affinity, lead)
