"""Which graph records are linked: pairs that are each among the other's most similar."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from auditbook.pockets.forest import each_block, leaf_indicator
from auditbook.tables import mix

HELD = 1 << 23
"""Similarities that are held at once."""


def link_mutual(leaves: NDArray[np.int32], n_leaves: int, *, neighbours: int) -> NDArray[np.int32]:
    r"""Link records that are among each other's most similar.

    .. math:: S_{ij} = \sum_{t=1}^{T} 1[\ell_t(i) = \ell_t(j)]

    The similarity of two records is the number of trees in which they share a leaf. Equal similarities are
    put in an order drawn for the pair, the same from both sides, so that no record is preferred. Similarities
    are found for some rows at a time and never held whole.

    Parameters
    ----------
    leaves : int32 array, shape (n, n_trees)
        Leaf of each record in each tree, numbered over all trees.
    n_leaves : int
        Leaves of all trees.
    neighbours : int
        Most similar records that each record may be linked to.

    Returns
    -------
    int32 array, shape (n_links, 2)
        Positions, the lower first, in increasing order. A record that shares no leaf has no link.

    References
    ----------
    Maier, M., Hein, M. and von Luxburg, U. (2009). Optimal construction of k-nearest-neighbor graphs for
    identifying noisy clusters. doi:10.1016/j.tcs.2009.01.009

    Examples
    --------
    >>> leaves = np.array([[0, 2], [0, 2], [1, 2], [1, 3]], dtype=np.int32)
    >>> link_mutual(leaves, 4, neighbours=1).tolist()
    [[0, 1], [2, 3]]
    """
    n = len(leaves)
    if n < 2:
        return np.empty((0, 2), dtype=np.int32)
    members = leaf_indicator(leaves, n_leaves)
    by_leaf = members.T.tocsr()
    names = mix(np.arange(n, dtype=np.uint64))
    chosen = [
        _choose(members[part] @ by_leaf, part.start, names, min(neighbours, n - 1))
        for part in each_block(n, max(HELD // n, 1))
    ]
    rows = np.repeat(np.arange(n, dtype=np.int32), [count for counts, _ in chosen for count in counts])
    columns = np.concatenate([found for _, found in chosen])
    choice = csr_matrix((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(n, n))
    mutual = choice.multiply(choice.T).tocoo()
    links = np.column_stack([mutual.row, mutual.col])[mutual.row < mutual.col]
    return links[np.lexsort((links[:, 1], links[:, 0]))].astype(np.int32)


def _choose(
    similarity: csr_matrix, start: int, names: NDArray[np.uint64], neighbours: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Find the most similar of each row: how many, and which."""
    key = order_keys(similarity.toarray(), start, names)
    last = key.shape[1] - neighbours
    best = np.argpartition(key, last, axis=1)[:, last:]
    shares = np.take_along_axis(key, best, axis=1) >> 32 > 0
    return shares.sum(axis=1), best[shares].astype(np.int32)


def order_keys(similarity: NDArray[np.floating], start: int, names: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Put similarity and the pair's own lot into one number that orders the records of a row."""
    rows = len(similarity)
    lot = mix(names[start : start + rows, None] ^ names) >> np.uint64(32)
    key = (similarity.astype(np.int64) << 32) | lot.astype(np.int64)
    key[np.arange(rows), start + np.arange(rows)] = 0
    return key
