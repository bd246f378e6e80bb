"""How does a rule become a frozen map, and how is a number cut into pockets?"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.pockets import Assignment, FrozenMap, Rule

Array = NDArray[np.float64]


def name_map(name: str, rule: Rule, graph: pd.DataFrame, outcome: Array, **about: Any) -> FrozenMap:
    """Freeze a rule into a map with numbered pockets."""
    codes = rule.assign(graph).codes
    taken = codes >= 0
    counts = np.bincount(codes[taken], minlength=rule.n_pockets)
    sums = np.bincount(codes[taken], outcome[taken], minlength=rule.n_pockets)
    letter = name[0].upper()
    names = tuple(f"{letter}{place + 1}" for place in range(rule.n_pockets))
    with np.errstate(invalid="ignore"):
        return FrozenMap(name, rule, names, counts.astype(np.int64), sums / counts, provenance=about)


def cut_evenly(values: Array, pockets: int) -> Array:
    """Find the edges that cut a number into pockets of equal size."""
    edges = np.unique(np.quantile(values, np.arange(1, pockets) / pockets))
    return np.asarray(edges[(edges > values.min()) & (edges <= values.max())])


def assign_bins(values: Array, edges: Array) -> Assignment:
    """Assign records by a number; none abstains."""
    ones = np.ones(len(values))
    return Assignment(np.searchsorted(edges, values, side="right").astype(np.int32), ones, ones)
