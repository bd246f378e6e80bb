"""Which value would a metric have for a model that makes no error?"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import N_BINS, Evidence, Kind, ScoreSums, find_short_groups
from auditbook.settings import Protocol
from auditbook.verdicts.metrics import Metric

Array = NDArray[np.float64]


def error_free_value(
    metric: Metric, strata: NDArray[Any], *, protocol: Protocol, held: NDArray[Any] | None = None
) -> float:
    r"""Find the value that a metric has for a model that selects the events and nobody else.

    Its scores are 1 for events and 0 for the others. The selection rates are then the event rates, so DI and
    SPD say how far these differ,

    .. math:: \mathrm{DI} = \min_g p_g / \max_g p_g,\qquad \mathrm{SPD} = \max_g p_g - \min_g p_g,

    and every metric of errors is 0. Groups that hold too little for a verdict are left out.

    Parameters
    ----------
    metric : Metric
        What to compute.
    strata : array, shape (n_groups, 2)
        Events and non-events of each group, or their weights.
    protocol : Protocol
        How much of what a group needs.
    held : array, shape (n_groups, 2), optional
        What the groups hold of each, where `strata` are weights.

    Returns
    -------
    float
        nan with fewer than two groups that hold enough, and where the metric is undefined, as DI without
        events.

    Examples
    --------
    >>> from auditbook.verdicts.metrics import METRICS
    >>> round(error_free_value(METRICS["DI"], np.array([[21, 79], [60, 40]]), protocol=Protocol()), 2)
    0.35
    """
    counted = strata if held is None else held
    short = find_short_groups(counted, protocol=protocol, needs=metric.needs, selected=counted[:, 0])
    kept = strata[~short]
    if len(kept) < 2:
        return float("nan")
    return float(metric.values(_free_of_error(metric.evidence, kept)))


def _free_of_error(kind: Kind, strata: NDArray[Any]) -> Evidence:
    """Write down what groups show of a model that makes no error."""
    events, others = strata[:, 0], strata[:, 1]
    if kind == "counts":
        blank = np.zeros_like(events)
        return np.stack([events, blank, blank, others], axis=-1)
    if kind == "areas":
        return np.where((events > 0) & (others > 0), 1.0, np.nan)
    by_bin = np.zeros((2, len(strata), N_BINS))
    by_bin[0, :, 0], by_bin[:, :, -1] = others, events
    return ScoreSums(by_bin[0], by_bin[1], by_bin[1], strata.sum(axis=-1) * 1.0, np.zeros(len(strata)))
