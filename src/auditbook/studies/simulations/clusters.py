"""Which groupings come from distances that no outcome has shaped: K-means, as it is and after whitening."""

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from auditbook.pockets import CentreRule, Encoding, FrozenMap, PocketData, cluster_places, fit_design
from auditbook.studies.simulations.maps import name_map

SMALL = 1e-6
"""Added to the variances before they are inverted, so that columns that repeat each other can be whitened."""


def cluster_records(
    graph: PocketData, encoding: Encoding, *, pockets: int, whiten: bool, fewest: int, seed: int
) -> FrozenMap:
    """Cluster the graph records by their standardised features alone."""
    encoded = encoding.encode(graph.table)
    is_category = np.array([column.kind == "category" for column in encoding.columns], dtype=bool)
    design = fit_design(encoded, is_category, fewest=fewest)
    with threadpool_limits(1):
        placed = design.build(encoded)
        turn = _whiten(placed) if whiten else np.eye(placed.shape[1])
        centres = cluster_places(placed @ turn, count=pockets, seed=seed)
    rule = CentreRule(encoding, design, turn, centres)
    return name_map("mahalanobis" if whiten else "k-means", rule, graph.table, graph.outcome)


def _whiten(placed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the matrix after which columns have variance 1 and do not go together."""
    variance = np.atleast_2d(np.cov(placed.T)) + SMALL * np.eye(placed.shape[1])
    return np.asarray(np.linalg.cholesky(np.linalg.inv(variance)))
