"""From which truths are audits drawn, of which the next one is predicted?

A *family* is a prior of truths: sizes, event rates, errors and how far the groups differ in them are drawn,
and then an audit of that truth. In a *fixed* world the truth is one and the same.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from auditbook.evidence import Counts
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.verdicts import find_metric

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NextWorld:
    """How the truths of one world are drawn."""

    # "spread" (every group differs), "normal" (on the logit scale), "one" (one group differs), "accurate"
    # (few errors, event rates differ), "equal", "patients" (spread; one to ten stays each), "scores"
    name: str
    groups: int


RATE_METRICS, SCORE_METRICS = ("DI", "SPD", "EOPP", "EOD", "PP"), ("TI", "CAL", "AUC")
RATE_WORLDS = ("spread", "normal", "one", "accurate", "equal")
WORLDS = tuple(NextWorld(name, groups) for groups in (2, 5) for name in (*RATE_WORLDS, "patients", "scores"))
THRESHOLDS = {
    "DI": (0.6, 0.95),
    "SPD": (0.03, 0.25),
    "EOPP": (0.03, 0.25),
    "EOD": (0.03, 0.25),
    "PP": (0.03, 0.25),
    "TI": (0.003, 0.1),
    "CAL": (0.03, 0.3),
    "AUC": (0.02, 0.2),
}
"""Ends between which thresholds are drawn, evenly on the log scale, in every other replicate."""


def draw_thresholds(metrics: tuple[str, ...], replicate: int, rng: np.random.Generator) -> dict[str, float]:
    """Draw thresholds near the truth and far from it; those of the metrics in even replicates."""
    drawn = {name: float(np.exp(rng.uniform(*np.log(THRESHOLDS[name])))) for name in metrics}
    return drawn if replicate % 2 else {name: find_metric(name).threshold for name in metrics}


@dataclass(frozen=True)
class Truth:
    """The sizes and true rates of some groups, each of shape (n_groups,)."""

    size: NDArray[np.int64]
    event: Array
    tpr: Array
    fpr: Array


def draw_truth(world: NextWorld, rng: np.random.Generator) -> Truth:
    """Draw sizes (2,000 to 100,000 in all, the smallest with 10 to 1,000 events) and rates."""
    groups = world.groups
    total, rate = np.exp(rng.uniform(np.log(2_000), np.log(100_000))), rng.uniform(0.01, 0.45)
    small = min(np.exp(rng.uniform(np.log(10), np.log(1_000))) / rate, total / groups)
    rest = np.maximum(rng.dirichlet(np.full(groups - 1, 2.0)) * (total - small), small)
    centre = Truth(
        np.concatenate([[small], rest]).astype(np.int64),
        np.full(groups, rate),
        np.full(groups, rng.uniform(0.4, 0.9)),
        np.full(groups, rng.uniform(0.02, 0.3)),
    )
    return _differ(world, centre, rng)


def _differ(world: NextWorld, truth: Truth, rng: np.random.Generator) -> Truth:
    """Let the groups' rates differ as they do in a world."""
    groups = world.groups
    if world.name in ("spread", "patients"):
        reach = rng.uniform(0, 0.2)
        event = truth.event * np.exp(rng.uniform(0, 0.5) * rng.uniform(-1, 1, groups))
        tpr = truth.tpr + reach * rng.uniform(-1, 1, groups)
        return _bound(truth.size, event, tpr, truth.fpr + 0.6 * reach * rng.uniform(-1, 1, groups))
    if world.name == "normal":
        width = rng.uniform(0, 0.6)
        scale = (0.6 * width, width, width)
        rates = (truth.event, truth.tpr, truth.fpr)
        drawn = [expit(logit(r) + w * rng.standard_normal(groups)) for r, w in zip(rates, scale, strict=True)]
        return _bound(truth.size, *drawn)
    if world.name == "one":
        away = np.arange(groups) == rng.integers(groups)
        event = truth.event * np.exp(away * rng.uniform(-0.5, 0.5))
        tpr = truth.tpr + away * rng.uniform(-0.25, 0.25)
        return _bound(truth.size, event, tpr, truth.fpr * np.exp(away * rng.uniform(-0.7, 0.7)))
    if world.name == "accurate":
        event = truth.event * np.exp(rng.uniform(0, 1) * rng.uniform(-0.3, 0.3, groups))
        tpr, fpr = (np.full(groups, rng.uniform(*ends)) for ends in ((0.9, 0.98), (0.005, 0.03)))
        return _bound(truth.size, event, tpr, fpr)
    return truth


def _bound(size: NDArray[np.int64], event: Array, tpr: Array, fpr: Array) -> Truth:
    """Keep rates between 0.5 and 98 %."""
    return Truth(size, *(np.clip(rate, 0.005, 0.98) for rate in (event, tpr, fpr)))


def draw_counts_of(truth: Truth, times: int, rng: np.random.Generator) -> Counts:
    """Draw the counts of audits of independent records, shape (times, n_groups, 4)."""
    total = int(truth.size.sum())
    held = rng.multinomial(total, truth.size / total, size=times)
    events = rng.binomial(held, truth.event)
    found, false = rng.binomial(events, truth.tpr), rng.binomial(held - events, truth.fpr)
    return np.stack([found, false, events - found, held - events - false], axis=-1)


def list_records(counts: Counts) -> AuditRecords:
    """Write the records of an audit down from its counts, shape (n_groups, 4)."""
    cell = np.repeat(np.arange(counts.size), counts.ravel())
    column = cell % 4
    outcome, chosen = ((column == 0) | (column == 2)), column < 2
    return _one_attribute(outcome.astype(np.int8), cell // 4, len(counts), "decision", chosen.astype(float))


def _one_attribute(
    outcome: NDArray[np.int8],
    codes: NDArray[np.integer],
    groups: int,
    kind: str,
    values: Array,
    unit: NDArray[np.integer] | None = None,
) -> AuditRecords:
    names = tuple(f"group {place + 1}" for place in range(groups))
    score = Score("model", "decision" if kind == "decision" else "probability", 0.5, values)
    return AuditRecords(outcome, (Attribute("group", names, codes),), (score,), unit=unit)


def draw_patients(truth: Truth, rng: np.random.Generator) -> AuditRecords:
    """Draw an audit of patients with one to ten stays, whose chances differ between patients."""
    patients = max(int(truth.size.sum() / 5.5), len(truth.size))
    group = rng.choice(len(truth.size), patients, p=truth.size / truth.size.sum())
    own = [rng.beta(3 * rate[group], 3 * (1 - rate[group])) for rate in (truth.event, truth.tpr, truth.fpr)]
    unit = np.repeat(np.arange(patients), rng.integers(1, 11, patients))
    event = rng.random(len(unit)) < own[0][unit]
    chosen = rng.random(len(unit)) < np.where(event, own[1][unit], own[2][unit])
    codes, values = group[unit], chosen.astype(float)
    return _one_attribute(event.astype(np.int8), codes, len(truth.size), "decision", values, unit)


@dataclass(frozen=True)
class ScoreTruth:
    """How scores and outcomes of some groups come about, each of shape (n_groups,)."""

    size: NDArray[np.int64]
    middle: Array  # Of the logit of the risk
    width: Array  # Its standard deviation
    shift: Array  # Logit of the risk less that of the score
    slope: float  # Slope of the logit of the risk in that of the score


def draw_score_truth(world: NextWorld, rng: np.random.Generator) -> ScoreTruth:
    """Draw how scores are spread in each group, and how far from calibrated they are."""
    sizes = draw_truth(NextWorld("equal", world.groups), rng).size
    size = np.maximum((sizes * min(1, 15_000 / sizes.sum())).astype(np.int64), 60)
    groups, reach = world.groups, rng.uniform(0, 0.5)
    middle = logit(rng.uniform(0.03, 0.45)) + rng.normal(0, 0.3, groups)
    width = rng.uniform(0.7, 1.8) * np.exp(reach * rng.normal(0, 0.5, groups))
    shift = rng.normal(0, 0.2) + reach * rng.normal(0, 0.7, groups)
    return ScoreTruth(size, middle, width, shift, rng.uniform(0.8, 1.2))


def draw_scored(truth: ScoreTruth, rng: np.random.Generator) -> AuditRecords:
    """Draw an audit of scores."""
    total = int(truth.size.sum())
    codes = rng.choice(len(truth.size), total, p=truth.size / total)
    linear = truth.middle[codes] + truth.width[codes] * rng.standard_normal(total)
    outcome = (rng.random(total) < expit(truth.slope * linear + truth.shift[codes])).astype(np.int8)
    return _one_attribute(outcome, codes, len(truth.size), "probability", expit(linear))


@dataclass(frozen=True)
class FixedWorld:
    """One truth, and the metric that is read of it."""

    name: str
    metric: str
    truth: Truth

    @property
    def value(self) -> float:
        """The metric in truth."""
        truth = self.truth
        shares = np.stack(
            [
                truth.event * truth.tpr,
                (1 - truth.event) * truth.fpr,
                truth.event * (1 - truth.tpr),
                (1 - truth.event) * (1 - truth.fpr),
            ],
            axis=-1,
        )
        return float(find_metric(self.metric).values(shares))


def _fix_tpr(name: str, size: list[int], tpr: list[float]) -> FixedWorld:
    groups = np.ones(len(size))
    return FixedWorld(name, "EOPP", Truth(np.array(size), 0.2 * groups, np.array(tpr), 0.1 * groups))


def _fix_ratio(name: str, event: float) -> FixedWorld:
    """Two groups of an accurate model, whose labels decide the ratio of selection rates."""
    rates = np.array([event, 0.2]), np.full(2, 0.95), np.full(2, 0.02)
    return FixedWorld(name, "DI", Truth(np.array([1_500, 2_500]), *rates))


FIXED = (
    _fix_ratio("accurate, on the threshold", 0.1557),
    _fix_ratio("accurate, equal", 0.2),
    _fix_tpr("two groups, equal", [500, 500], [0.7, 0.7]),
    _fix_tpr("two groups, half the threshold", [500, 500], [0.7, 0.65]),
    _fix_tpr("two groups, on the threshold", [500, 500], [0.75, 0.65]),
    _fix_tpr("two groups, twice the threshold", [500, 500], [0.8, 0.6]),
    _fix_tpr("five groups, equal", [400] * 5, [0.7] * 5),
    _fix_tpr("five groups, equal and small", [100] * 5, [0.7] * 5),
    _fix_tpr("five groups, one on the threshold", [400] * 5, [0.7] * 4 + [0.6]),
    _fix_tpr("five groups, one at twice the threshold", [400] * 5, [0.7] * 4 + [0.5]),
)
"""Truths that are no draw from a prior: what is printed there need not come true."""
