"""How do records part when every similarity is known: spectral clustering, for small samples."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from auditbook.errors import InputError
from auditbook.pockets.forest import leaf_indicator

MOST_RECORDS = 6_000
"""Records whose similarities are held whole."""
COUNTS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
"""Numbers of pockets that are tried (ours)."""


def part_spectrum(leaves: NDArray[np.int32], n_leaves: int, *, seed: int) -> tuple[NDArray[np.int64], ...]:
    """Part records by the leading eigenvectors of their normalised similarities.

    References
    ----------
    Ng, A. Y., Jordan, M. I. and Weiss, Y. (2001). On spectral clustering: analysis and an algorithm.
    """
    n = len(leaves)
    if n > MOST_RECORDS:
        raise InputError(
            f'[pockets] partition = "spectral" holds all similarities: {n} graph records are more than '
            f'{MOST_RECORDS}; lower graph_records, or take "sbm" or "leiden"'
        )
    counts = [count for count in COUNTS if count < n // 2]
    if not counts:
        return ()
    with threadpool_limits(1):  # sums in one order, whatever the number of processors
        vectors = _leading_vectors(leaves, n_leaves, max(counts), seed)
        found = [_cluster(vectors[:, :count], count, seed) for count in counts]
    return tuple(found[::-1])


def _leading_vectors(leaves: NDArray[np.int32], n_leaves: int, count: int, seed: int) -> NDArray[np.float64]:
    """Find the leading eigenvectors of the normalised similarities, shape (n, count)."""
    members = leaf_indicator(leaves, n_leaves)
    similarity = (members @ members.T).toarray().astype(np.float64)
    root = np.sqrt(similarity.sum(axis=0))  # a record is similar to itself, so it is not 0
    similarity /= root
    similarity /= root[:, None]
    first = np.random.default_rng(seed).standard_normal(len(leaves))
    values, vectors = eigsh(similarity, k=count, which="LA", v0=first)
    return np.asarray(vectors[:, np.argsort(-values)])


def _cluster(vectors: NDArray[np.float64], count: int, seed: int) -> NDArray[np.int64]:
    """Cluster the rows, scaled to length 1."""
    from sklearn.cluster import KMeans

    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = vectors / np.where(length > 0, length, 1)
    count = min(count, len(np.unique(rows.round(9), axis=0)))
    labels = KMeans(count, n_init=10, random_state=seed).fit_predict(rows)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
