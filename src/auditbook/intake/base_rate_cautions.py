"""Which metrics fail by the groups' event rates alone, whatever the score?"""

from collections.abc import Iterator
from itertools import combinations
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from auditbook.cohort import Cohort
from auditbook.evidence import find_short_groups
from auditbook.intake.caution import Caution
from auditbook.intake.cure_lines import write_list
from auditbook.records import Attribute
from auditbook.verdicts import Metric, find_metric

Array = NDArray[np.float64]

LEVEL = 0.01
"""Chance at the most, over all pairs of an attribute's groups, that rates which are allowed are called too
far apart (ours).
"""

RATES = ("DI", "SPD")
"""Metrics of selection, which a score without any error takes over from the event rates."""


def warn_base_rates(cohort: Cohort) -> Iterator[Caution]:
    """Point out attributes whose event rates differ by more than metrics of selection allow.

    Told only where chance alone explains that in fewer than `LEVEL` of all samples, so that of cohorts with
    equal event rates none is spoken of, and of those at the very limit of what is allowed one in a hundred.
    """
    if cohort.continuous:
        return
    for attribute in cohort.attributes:
        failing = [told for name in RATES if (told := _tell_failure(cohort, attribute, name))]
        if failing:
            yield _warn_attribute(cohort, attribute, failing)


def _warn_attribute(cohort: Cohort, attribute: Attribute, failing: list[str]) -> Caution:
    """Say which metrics fail, and between which of the groups that the first of them compares."""
    names = [each.split(" ")[0] for each in failing]
    kept = np.flatnonzero(_compares(cohort, attribute, find_metric(names[0])))
    rates = _weigh_outcomes(cohort, attribute)
    rates = rates[:, 0] / rates.sum(axis=1).clip(min=1e-300)
    low, high = kept[np.argmin(rates[kept])], kept[np.argmax(rates[kept])]
    left = [name for name in cohort.file.protocol.metrics if name not in names]
    out = f": [protocol] {write_list('metrics', left)}" if left else ""
    them = "it" if len(names) == 1 else "them"
    return Caution(
        f"[attributes.{attribute.name}]",
        f"events are so unequal ({attribute.groups[low]} {rates[low]:.1%}, {attribute.groups[high]} "
        f"{rates[high]:.1%}) that a score without any error fails {' and '.join(failing)}",
        f"read {them} as a fact about the outcome and not about a model, or leave {them} out{out}",
    )


def _tell_failure(cohort: Cohort, attribute: Attribute, name: str) -> str:
    """Say what a metric is for a score without any error; blank where it passes, or may."""
    protocol = cohort.file.protocol
    if name not in protocol.metrics:
        return ""
    metric = find_metric(name)
    limit = protocol.thresholds.get(name, metric.threshold)
    weighed, kept = _weigh_outcomes(cohort, attribute), _compares(cohort, attribute, metric)
    rates, sizes = weighed[kept, 0] / weighed[kept].sum(axis=1), _effective_sizes(cohort, attribute)[kept]
    pairs = list(combinations(range(len(rates)), 2))
    if not any(_differ(metric, rates[list(pair)], sizes[list(pair)], limit, len(pairs)) for pair in pairs):
        return ""
    value = rates.min() / rates.max() if metric.direction == "at_least" else np.ptp(rates)
    asked = "at least" if metric.direction == "at_least" else "at most"
    return f"{name} (it gets {value:.2f}, {asked} {limit:g} is asked)"


def _compares(cohort: Cohort, attribute: Attribute, metric: Metric) -> NDArray[np.bool_]:
    """Mark the groups that a metric compares where a score without any error selects the events."""
    held = _count_outcomes(cohort, attribute)
    protocol = cohort.file.protocol
    return ~find_short_groups(held, protocol=protocol, needs=metric.needs, selected=held[:, 0])


def _differ(metric: Metric, rates: Array, sizes: Array, limit: float, pairs: int) -> bool:
    """Tell whether two rates are shown to differ by more than the limit."""
    low, high = rates.min(), rates.max()
    at, other = sizes[np.argmin(rates)], sizes[np.argmax(rates)]
    quantile = float(norm.isf(LEVEL / (2 * pairs)))
    if metric.direction == "at_most":
        spread = sqrt(low * (1 - low) / at + high * (1 - high) / other)
        return bool(high - low - quantile * spread > limit)
    if low <= 0:
        return False
    spread = sqrt((1 - low) / (low * at) + (1 - high) / (high * other))
    return bool(log(low / high) + quantile * spread < log(limit)) if limit > 0 else False


def _count_outcomes(cohort: Cohort, attribute: Attribute) -> NDArray[np.int64]:
    """Count events and non-events of each group, shape (n_groups, 2)."""
    groups = len(attribute.groups)
    events = np.bincount(attribute.codes[cohort.outcome == 1], minlength=groups)
    return np.stack([events, np.bincount(attribute.codes, minlength=groups) - events], axis=1)


def _weights(cohort: Cohort) -> Array:
    """Give the weight of each record; 1 without a survey."""
    return np.ones(len(cohort.outcome)) if cohort.survey is None else np.asarray(cohort.survey.weight, float)


def _weigh_outcomes(cohort: Cohort, attribute: Attribute) -> Array:
    """Add up the weights of events and non-events of each group, shape (n_groups, 2)."""
    groups, weight = len(attribute.groups), _weights(cohort)
    parts = [cohort.outcome == 1, cohort.outcome == 0]
    return np.stack([np.bincount(attribute.codes[at], weight[at], groups) for at in parts], axis=1)


def _effective_sizes(cohort: Cohort, attribute: Attribute) -> Array:
    """Count how many equal records each group's weighted ones are worth."""
    groups, weight = len(attribute.groups), _weights(cohort)
    total, squares = (np.bincount(attribute.codes, weight**power, groups) for power in (1, 2))
    return total**2 / squares.clip(min=1e-300)
