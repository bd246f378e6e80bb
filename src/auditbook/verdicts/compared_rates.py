"""Which counted rates does a metric compare: how many of how many in every group?"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import FN, FP, TN, TP
from auditbook.verdicts.metrics import Metric

_SELECTED = ((TP, FP), (TP, FP, FN, TN))
_FOUND = ((TP,), (TP, FN))
_FALSE = ((FP,), (FP, TN))
_RIGHT = ((TP,), (TP, FP))
_COLUMNS = MappingProxyType(
    {"selection rate": (_SELECTED,), "TPR": (_FOUND,), "TPR or FPR": (_FOUND, _FALSE), "PPV": (_RIGHT,)}
)
"""Columns of counts that are added up on both sides of a rate, by what a metric computes within a group."""


@dataclass(frozen=True)
class ComparedRates:
    """The rates that a metric compares: counted / trials, each of shape (..., n_parts, n_groups)."""

    counted: NDArray[np.float64]
    trials: NDArray[np.float64]


def compares_rates(metric: Metric) -> bool:
    """Tell whether a metric is a function of counted rates of the groups."""
    return metric.evidence == "counts" and metric.quantity in _COLUMNS


_NAMES = MappingProxyType(
    {"selection rate": ("SR",), "TPR": ("TPR",), "TPR or FPR": ("TPR", "FPR"), "PPV": ("PPV",)}
)


def list_rates(metric: Metric) -> tuple[str, ...]:
    """Name the rates that a metric compares, in the order of its parts."""
    return _NAMES[metric.quantity]


def read_rates(metric: Metric, counts: NDArray[Any]) -> ComparedRates:
    """Read from counts of shape (..., n_groups, 4) what a metric that compares rates compares.

    >>> from auditbook.verdicts.metrics import METRICS
    >>> rates = read_rates(METRICS["PP"], np.array([[3, 1, 2, 4]]))
    >>> rates.counted.tolist(), rates.trials.tolist()
    ([[3.0]], [[4.0]])
    """
    sides = [
        [counts[..., list(columns)].sum(axis=-1, dtype=float) for columns in part]
        for part in _COLUMNS[metric.quantity]
    ]
    counted, trials = zip(*sides, strict=True)
    return ComparedRates(np.stack(counted, axis=-2), np.stack(trials, axis=-2))
