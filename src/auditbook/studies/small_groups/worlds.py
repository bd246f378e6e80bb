"""Populations whose metric is known, and audits drawn from them.

The smallest group has as many records as the design says, the largest 10,000 (or as many as the smallest),
and the others stand evenly between them on a logarithmic scale. Outside the smallest group 70 % of the events
and 10 % of the non-events are selected. The smallest group is the one that is treated worse: its rates are
set so that the metric has the design's value. Events are drawn, so that their number varies between audits.

Calibration needs scores: there they are drawn from a beta distribution with mean 0.25, which is every
record's risk but in the smallest group, where the risk is larger by the design's calibration error.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auditbook.errors import InputError
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.verdicts import find_metric

SIZES = (30, 60, 125, 250, 500, 1_000, 2_000, 5_000)
LARGEST = 10_000
TPR, FPR = 0.70, 0.10

Array = NDArray[np.float64]


@dataclass(frozen=True)
class VerdictDesign:
    """One population and the size of its smallest group."""

    metric: str  # Name of the metric
    groups: int  # Number of groups
    smallest: int  # Records of the smallest
    event_rate: float  # The same in every group (calibration: in every group but the smallest)
    # How far the true value lies from the threshold: above 0 it passes by so much, below 0 it fails
    distance: float

    @property
    def name(self) -> str:
        """What names its random numbers."""
        return f"{self.metric} {self.groups} {self.smallest} {self.event_rate:g} {self.distance:g}"

    @property
    def value(self) -> float:
        """The metric in the population."""
        rule = find_metric(self.metric)
        sign = 1 if rule.direction == "at_least" else -1
        return round(rule.threshold + sign * self.distance, 10)

    @property
    def passes(self) -> bool:
        """The population's verdict."""
        return bool(find_metric(self.metric).passes(self.value))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each group, shape (groups,), the smallest first."""
        largest = max(LARGEST, self.smallest)
        return np.rint(np.geomspace(self.smallest, largest, self.groups)).astype(np.int64)


def _list_designs() -> Iterator[VerdictDesign]:
    """All distances with two groups and 20 % events; then more groups and other event rates at three."""
    for metric in ("DI", "EOPP", "EOD", "PP"):
        for smallest in SIZES:
            base = VerdictDesign(metric, 2, smallest, 0.2, 0.0)
            for distance in (-0.1, -0.05, -0.02, 0.0, 0.02, 0.05, 0.1):
                yield replace(base, distance=distance)
            for distance in (-0.05, 0.0, 0.05):
                yield from (replace(base, groups=groups, distance=distance) for groups in (5, 9))
                yield from (replace(base, event_rate=rate, distance=distance) for rate in (0.05, 0.4))
    for smallest in SIZES:
        yield from (VerdictDesign("CAL", 2, smallest, 0.25, distance) for distance in (-0.05, 0.0, 0.05))


DESIGNS = tuple(_list_designs())


def set_rates(design: VerdictDesign) -> Array:
    """Set each group's TPR and FPR so that the metric has the design's value."""
    evidence = find_metric(design.metric).evidence
    if evidence != "counts":
        raise InputError(f"{design.metric} needs {evidence}; rates are set for metrics of counts only")
    rates = np.tile([TPR, FPR], (design.groups, 1))
    if design.metric == "DI":
        rates[0] *= design.value
    elif design.metric == "EOPP":
        rates[0, 0] -= design.value
    elif design.metric == "EOD":
        rates[0, 1] += design.value
    else:
        odds = design.event_rate / (1 - design.event_rate)
        ppv = TPR * odds / (TPR * odds + FPR) - design.value
        rates[0, 1] = odds * TPR * (1 - ppv) / ppv
    return rates


def draw_audits(design: VerdictDesign, times: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the counts of audits of the design's population."""
    events = rng.binomial(design.sizes, design.event_rate, size=(times, design.groups))
    strata = np.stack([events, design.sizes - events], axis=-1)
    selected = rng.binomial(strata, set_rates(design))
    return np.concatenate([selected, strata - selected], axis=-1)


def expect_audit(design: VerdictDesign) -> NDArray[np.int64]:
    """Count an audit whose rates are the population's, as nearly as whole records can be."""
    events = np.rint(design.event_rate * design.sizes)
    strata = np.stack([events, design.sizes - events], axis=-1)
    selected = np.rint(strata * set_rates(design))
    return np.concatenate([selected, strata - selected], axis=-1).astype(np.int64)


def write_records(counts: NDArray[np.int64]) -> AuditRecords:
    """Write the counts of one audit out as records, for what reads records; shape (groups, 4)."""
    groups = len(counts)
    names = tuple(f"group {place + 1}" for place in range(groups))
    codes = np.repeat(np.arange(groups), counts.sum(axis=1))
    outcome = np.repeat(np.tile([1, 0, 1, 0], groups), counts.ravel()).astype(np.int8)
    decisions = np.repeat(np.tile([1.0, 1.0, 0.0, 0.0], groups), counts.ravel())
    return AuditRecords(
        outcome, (Attribute("group", names, codes),), (Score("model", "decision", 0.5, decisions),)
    )


def draw_records(design: VerdictDesign, rng: np.random.Generator) -> AuditRecords:
    """Draw the records of one audit of calibration."""
    codes = np.repeat(np.arange(design.groups), design.sizes)
    scores = rng.beta(2, 6, size=len(codes))
    risk = np.minimum(scores + np.where(codes == 0, design.value, 0.0), 1)
    outcome = (rng.random(len(codes)) < risk).astype(np.int8)
    names = tuple(f"group {place + 1}" for place in range(design.groups))
    return AuditRecords(
        outcome, (Attribute("group", names, codes),), (Score("model", "probability", 0.5, scores),)
    )
