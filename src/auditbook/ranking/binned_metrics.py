"""How far can a metric that is made of areas be off where the areas were read from bins of scores?"""

import numpy as np
from numpy.typing import NDArray

from auditbook.ranking.area_metrics import AreaFinding
from auditbook.ranking.matrix import AucMatrix

Array = NDArray[np.float64]


def bound_finding(matrix: AucMatrix, finding: AreaFinding) -> float:
    """Bound what bins can have done to a metric; nan where areas are those of records, or it is undefined.

    Every metric moves by no more than the areas that it is made of let it; a largest difference moves by at
    most as much as the difference of one pair can.
    """
    if matrix.bins is None or np.isnan(finding.value):
        return float("nan")
    bound = np.nan_to_num(matrix.bins.bound)
    of_events, of_others = np.nan_to_num(matrix.event_share), np.nan_to_num(matrix.other_share)
    first, second, within = bound @ of_others, of_events @ bound, np.diagonal(bound)
    overall = float(of_events @ first)
    groups = ~np.isnan(matrix.within)
    if finding.metric in ("xauc1", "xauc0"):
        return float((first if finding.metric == "xauc1" else second)[finding.group])
    if finding.metric == "equity_scaled":
        return min(1.0, overall + float((within[groups] + overall).sum()))
    if finding.metric == "min_max_ratio":
        most = float(within[groups].max())
        left = float(np.nanmax(matrix.within)) - most
        return min(1.0, 2 * most / left) if left > 0 else 1.0
    simple = {
        "auc": overall,
        "within_parity": _add_largest(within[groups]),
        "cross_parity": float((bound + bound.T)[~np.eye(len(bound), dtype=bool)].max(initial=0)),
        "xauc1_parity": _add_largest(first),
        "xauc0_parity": _add_largest(second),
        "gap_to_overall": overall + float(within[groups].max()),
        "minimum": float(within[groups].max()),
    }
    return simple[finding.metric]


def _add_largest(bounds: Array) -> float:
    """Add the two largest bounds: the most that a difference of two can move."""
    return float(np.sort(bounds)[-2:].sum())
