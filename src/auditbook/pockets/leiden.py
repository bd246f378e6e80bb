"""Which records form communities of the graph, without graph-tool: Leiden at several resolutions."""

import random
from threading import Lock

import igraph
import numpy as np
from numpy.typing import NDArray

RESOLUTIONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Candidates (ours): a higher resolution gives more and smaller communities."""

_SEEDED = Lock()


def part_graph(links: NDArray[np.int32], n: int, *, seed: int) -> tuple[NDArray[np.int64], ...]:
    """Part a graph into communities at several resolutions.

    Parameters
    ----------
    links : int32 array, shape (n_links, 2)
        Pairs of records.
    n : int
        Number of records.
    seed : int
        Seed of every partition.

    Returns
    -------
    tuple of int64 arrays, each of shape (n,)
        Communities of each record, numbered from 0; the finest partition first.

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
    graph = igraph.Graph(n=n, edges=links.tolist())
    with _SEEDED:  # igraph draws from one generator
        igraph.set_random_number_generator(random.Random(seed))
        try:
            found = graph.community_leiden("modularity", resolution=resolution, n_iterations=-1)
        finally:
            igraph.set_random_number_generator(random)
    _, labels = np.unique(found.membership, return_inverse=True)
    return labels.astype(np.int64)
