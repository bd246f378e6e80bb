"""Which records form communities of the graph, without graph-tool: Leiden at several resolutions."""

import random
from threading import Lock

import numpy as np
from numpy.typing import NDArray

RESOLUTIONS = (0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Candidates (ours): a higher resolution gives more and smaller communities."""

COARSEST = 0.25
"""Lowest resolution of nested partitions."""

_SEEDED = Lock()


def part_graph(links: NDArray[np.int32], n: int, *, seed: int) -> tuple[NDArray[np.int64], ...]:
    """Part a graph of n linked records into communities at several resolutions, the finest first.

    References
    ----------
    Traag, V. A., Waltman, L. and van Eck, N. J. (2019). From Louvain to Leiden: guaranteeing well-connected
    communities. doi:10.1038/s41598-019-41695-z

    Examples
    --------
    >>> ring = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]], dtype=np.int32)
    >>> part_graph(ring, 6, seed=1)[-1].tolist()
    [0, 0, 0, 1, 1, 1]
    """
    return tuple(part_once(links, n, resolution=value, seed=seed) for value in sorted(RESOLUTIONS)[::-1])


def part_once(links: NDArray[np.int32], n: int, *, resolution: float, seed: int) -> NDArray[np.int64]:
    """Part a graph at one resolution; as `part_graph`."""
    return _part_weighted(links, np.ones(len(links)), n, resolution, seed)


def part_nested(
    links: NDArray[np.int32], n: int, *, resolution: float, step: float, seed: int
) -> list[NDArray[np.int64]]:
    """Part a graph, then the graph of its communities at a lower resolution, and so on."""
    levels: list[NDArray[np.int64]] = []
    weights: NDArray[np.float64] = np.ones(len(links))
    while resolution >= COARSEST and n > 1:
        labels = _part_weighted(links, weights, n, resolution, seed)
        count = int(labels.max()) + 1
        if count < n or not levels:
            levels.append(labels)
        ends = np.sort(labels[links], axis=1)
        pairs, where = np.unique(ends[:, 0] * count + ends[:, 1], return_inverse=True)
        weights = np.bincount(where, weights=weights).astype(np.float64)
        links = np.column_stack([pairs // count, pairs % count]).astype(np.int32)
        n, resolution = count, resolution / step
    return levels


def _part_weighted(
    links: NDArray[np.int32], weights: NDArray[np.float64], n: int, resolution: float, seed: int
) -> NDArray[np.int64]:
    """Part a graph of weighted links."""
    import igraph  # here, since it imports what draws figures, and few who import this part a graph

    graph = igraph.Graph(n=n, edges=links.tolist())
    with _SEEDED:  # igraph draws from one generator
        igraph.set_random_number_generator(random.Random(seed))
        try:
            found = graph.community_leiden(
                "modularity", weights=weights.tolist(), resolution=resolution, n_iterations=-1
            )
        finally:
            igraph.set_random_number_generator(random)
    _, labels = np.unique(found.membership, return_inverse=True)
    return labels.astype(np.int64)
