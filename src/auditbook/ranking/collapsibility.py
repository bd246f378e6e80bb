"""Which overall performance values are weighted means of the groups' values, and which are not?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, xlogy

from auditbook.errors import InputError
from auditbook.evidence import N_BINS, assign_bins, group_auc, rate

Array = NDArray[np.float64]

THRESHOLD = 0.5
"""Threshold of the decisions, and of the net benefit, throughout this comparison."""
STEPS, SETTLED = 50, 1e-12
"""Most Newton steps of a calibration fit, and the change below which it has settled."""


@dataclass(frozen=True)
class Sample:
    """Outcomes and probabilities of some records."""

    outcome: NDArray[np.int_]  # shape (n,): 1 where the event happened
    score: Array  # shape (n,): Probabilities, none of them 0 or 1

    @property
    def decision(self) -> NDArray[np.bool_]:
        """True where the record is selected, shape (n,)."""
        return self.score >= THRESHOLD


def pool_samples(samples: Sequence[Sample]) -> Sample:
    """Put the records of several groups together."""
    return Sample(
        np.concatenate([part.outcome for part in samples]), np.concatenate([part.score for part in samples])
    )


@dataclass(frozen=True)
class Performance:
    """A performance metric, and the weights that make its overall value a mean of the groups'."""

    name: str  # A key of `PERFORMANCE`
    title: str
    value: Callable[[Sample], float]  # From a `Sample` to the metric; nan where it is undefined
    # From a group's `Sample` to its weight; None where no weights of that kind exist
    weight: Callable[[Sample], float] | None
    weighed_by: str  # What the weight counts, in words; blank without weights


def _share(hits: ArrayLike, among: ArrayLike) -> float:
    """Share of some records among others."""
    return float(rate(np.sum(hits), np.sum(among)))


def _f1(sample: Sample) -> float:
    hits = np.sum(sample.decision & (sample.outcome == 1))
    return float(rate(2 * hits, np.sum(sample.decision) + np.sum(sample.outcome)))


def _net_benefit(sample: Sample) -> float:
    odds = THRESHOLD / (1 - THRESHOLD)
    hits, false = (np.sum(sample.decision & (sample.outcome == label)) for label in (1, 0))
    return _share(hits - odds * false, len(sample.outcome))


def _log_loss(sample: Sample) -> float:
    return float(-np.mean(xlogy(sample.outcome, sample.score) + xlogy(1 - sample.outcome, 1 - sample.score)))


def _auc(sample: Sample) -> float:
    return float(group_auc(sample.outcome, sample.score, np.zeros(len(sample.outcome), int), 1)[0])


def _ece(sample: Sample) -> float:
    bins = assign_bins(sample.score)
    away = np.bincount(bins, sample.outcome - sample.score, N_BINS)
    return float(np.abs(away).sum() / len(sample.outcome))


def fit_intercept(sample: Sample) -> float:
    r"""Fit the calibration intercept: a in :math:`\mathrm{logit}\,P(y = 1) = a + \mathrm{logit}\,s`.

    Parameters
    ----------
    sample : Sample
        Both outcomes must occur.

    Returns
    -------
    float
        0 when as many events happen as are predicted, above 0 when more do; nan with one outcome only.

    References
    ----------
    Van Calster, B. et al. (2019). Calibration: the Achilles heel of predictive analytics.
    doi:10.1186/s12916-019-1466-7

    Examples
    --------
    >>> abs(fit_intercept(Sample(np.array([0, 1]), np.array([0.2, 0.8])))) < 1e-9
    True
    """
    return float(_fit(sample, np.ones((len(sample.outcome), 1)), logit(sample.score))[0])


def fit_slope(sample: Sample) -> float:
    r"""Fit the calibration slope: b in :math:`\mathrm{logit}\,P(y = 1) = a + b\,\mathrm{logit}\,s`.

    Parameters
    ----------
    sample : Sample
        Both outcomes must occur, and not be separated by the score.

    Returns
    -------
    float
        1 when the scores spread as they should, below 1 when they are too extreme; nan where it cannot be
        fitted.

    References
    ----------
    Van Calster, B. et al. (2019). doi:10.1186/s12916-019-1466-7

    Examples
    --------
    >>> sample = Sample(np.array([0, 0, 0, 1, 0, 1, 1, 1]), np.repeat([0.25, 0.75], 4))
    >>> round(fit_slope(sample), 6)
    1.0
    """
    position = logit(sample.score)
    if np.ptp(position) == 0 or _auc(sample) in (0.0, 1.0):
        return float("nan")
    return float(_fit(sample, np.stack([np.ones_like(position), position], axis=1), 0 * position)[1])


def _fit(sample: Sample, design: Array, offset: Array) -> Array:
    """Fit a logistic regression by Newton's method."""
    coefficients = np.zeros(design.shape[1])
    if len(set(sample.outcome.tolist())) < 2:
        return np.full_like(coefficients, np.nan)
    for _ in range(STEPS):
        risk = expit(offset + design @ coefficients)
        slope = design.T @ (sample.outcome - risk)
        step = np.linalg.solve((design.T * (risk * (1 - risk))) @ design, slope)
        coefficients = coefficients + np.clip(step, -2, 2)
        if np.abs(step).max() < SETTLED:
            return coefficients
    return np.full_like(coefficients, np.nan)


def _nagelkerke(sample: Sample) -> float:
    event_rate = sample.outcome.mean()
    if event_rate in (0, 1):
        return float("nan")
    n = len(sample.outcome)
    null = n * (xlogy(event_rate, event_rate) + xlogy(1 - event_rate, 1 - event_rate))
    explained = 1 - np.exp(2 * (null + n * _log_loss(sample)) / n)
    return float(explained / (1 - np.exp(2 * null / n)))


def _count(sample: Sample) -> float:
    return float(len(sample.outcome))


_ALL = (
    Performance(
        "oe_ratio",
        "O:E ratio",
        lambda s: _share(s.outcome, s.score),
        lambda s: float(s.score.sum()),
        "expected events",
    ),
    Performance("log_loss", "Log loss", _log_loss, _count, "records"),
    Performance(
        "brier", "Brier score", lambda s: float(np.mean((s.outcome - s.score) ** 2)), _count, "records"
    ),
    Performance(
        "accuracy", "Accuracy", lambda s: float(np.mean(s.decision == (s.outcome == 1))), _count, "records"
    ),
    Performance(
        "f1", "F1 score", _f1, lambda s: float(np.sum(s.decision) + np.sum(s.outcome)), "selected plus events"
    ),
    Performance(
        "tpr",
        "True positive rate",
        lambda s: _share(s.decision & (s.outcome == 1), s.outcome),
        lambda s: float(np.sum(s.outcome)),
        "events",
    ),
    Performance(
        "tnr",
        "True negative rate",
        lambda s: _share(~s.decision & (s.outcome == 0), 1 - s.outcome),
        lambda s: float(np.sum(1 - s.outcome)),
        "non-events",
    ),
    Performance(
        "ppv",
        "Positive predictive value",
        lambda s: _share(s.decision & (s.outcome == 1), s.decision),
        lambda s: float(np.sum(s.decision)),
        "selected records",
    ),
    Performance(
        "npv",
        "Negative predictive value",
        lambda s: _share(~s.decision & (s.outcome == 0), ~s.decision),
        lambda s: float(np.sum(~s.decision)),
        "records not selected",
    ),
    Performance("net_benefit", "Net benefit", _net_benefit, _count, "records"),
    Performance("auc", "AUC", _auc, None, ""),
    Performance("calibration_intercept", "Calibration intercept", fit_intercept, None, ""),
    Performance("calibration_slope", "Calibration slope", fit_slope, None, ""),
    Performance("ece", "Expected calibration error", _ece, None, ""),
    Performance("nagelkerke", "Nagelkerke R2", _nagelkerke, None, ""),
)

PERFORMANCE = MappingProxyType({metric.name: metric for metric in _ALL})
"""The fifteen metrics of Matos et al. (2026), Collapsibility of performance metrics in clinical AI."""


def collapse(metric: Performance, samples: Sequence[Sample]) -> float:
    """Take the weighted mean of the groups' values, which is the metric over all records.

    A group of weight zero has no say; nan when all weights are zero, InputError for a metric without weights.

    >>> groups = [Sample(np.array([0, 1]), np.array([0.2, 0.8])), Sample(np.array([1]), np.array([0.3]))]
    >>> round(collapse(PERFORMANCE["accuracy"], groups), 4)
    0.6667
    """
    if metric.weight is None:
        raise InputError(f"{metric.title} has no weights: its overall value is no mean of the groups' values")
    weights = np.array([metric.weight(sample) for sample in samples])
    values = np.array(
        [metric.value(sample) if w else 0.0 for sample, w in zip(samples, weights, strict=True)]
    )
    return _share(weights * values, weights)


@dataclass(frozen=True)
class Counterexample:
    """Two groups whose values of a metric lie on one side of its overall value."""

    metric: str  # A key of `PERFORMANCE`
    groups: tuple[Sample, Sample]  # The two groups
    values: Array  # shape (2,): Their values
    # The value over all records; not between the two, so no mean of them, whatever the weights
    overall: float


def _repeat(*rows: tuple[float, int, int]) -> Sample:
    """Write down records as (score, events, non-events)."""
    outcome = np.concatenate([np.repeat([1, 0], [events, others]) for _, events, others in rows])
    return Sample(outcome, np.concatenate([np.full(e + o, score) for score, e, o in rows]))


_COUNTEREXAMPLES = MappingProxyType(
    {
        "auc": (_repeat((0.1, 20, 80), (0.2, 80, 20)), _repeat((0.7, 20, 80), (0.8, 80, 20))),
        "calibration_slope": (_repeat((0.2, 10, 90), (0.4, 40, 60)), _repeat((0.6, 20, 80), (0.8, 60, 40))),
        "ece": (_repeat((0.45, 60, 40)), _repeat((0.45, 30, 70))),
        "nagelkerke": (_repeat((0.1, 10, 90)), _repeat((0.9, 90, 10))),
    }
)


def find_counterexample(name: str) -> Counterexample:
    """Show two groups for which a metric's overall value lies outside the groups' values.

    For the calibration intercept, whose overall value always lies between, see `compare_intercept_weights`.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> found = find_counterexample("ece")
    >>> found.values.round(2).tolist(), round(found.overall, 2)
    ([0.15, 0.15], 0.0)
    """
    if name not in _COUNTEREXAMPLES:
        raise InputError(f"no such counterexample for '{name}'; there are {', '.join(_COUNTEREXAMPLES)}")
    groups, metric = _COUNTEREXAMPLES[name], PERFORMANCE[name]
    return Counterexample(
        name, groups, np.array([metric.value(group) for group in groups]), metric.value(pool_samples(groups))
    )


def compare_intercept_weights() -> pd.DataFrame:
    r"""Show that no weights make the overall calibration intercept a mean of the groups' intercepts.

    The overall intercept lies between those of the groups, so for each pair of groups some weights fit. But
    if a group's weight followed from its own records, as that of all ten collapsible metrics does, then the
    ratio :math:`w_1/w_2` would be a property of group 1 over a property of group 2, and for groups A, B
    beside C, D

    .. math:: \frac{w_A}{w_C} \cdot \frac{w_B}{w_D} = \frac{w_A}{w_D} \cdot \frac{w_B}{w_C}.

    Four small groups break this equation.

    Returns
    -------
    DataFrame
        One row a pair (A or B, C or D): first, second, intercept_first, intercept_second, overall,
        weight_ratio. The two products of the equation are those of rows 0 and 3, and of rows 1 and 2.

    Examples
    --------
    >>> ratio = compare_intercept_weights()["weight_ratio"]
    >>> round(ratio[0] * ratio[3] / (ratio[1] * ratio[2]), 2)
    2.24
    """
    firsts = {"A": _repeat((0.1, 30, 70)), "B": _repeat((0.5, 90, 10))}
    seconds = {"C": _repeat((0.2, 10, 90)), "D": _repeat((0.8, 20, 80))}
    rows = []
    for first, one in firsts.items():
        for second, other in seconds.items():
            a, b = fit_intercept(one), fit_intercept(other)
            overall = fit_intercept(pool_samples([one, other]))
            rows.append((first, second, a, b, overall, (overall - b) / (a - overall)))
    names = "first second intercept_first intercept_second overall weight_ratio".split()
    return pd.DataFrame(rows, columns=names)


OUTSIDE = ("auc", "calibration_slope", "ece", "nagelkerke")
"""Metrics whose overall value can lie outside the groups' values."""


def tabulate_weights(samples: Sequence[Sample]) -> pd.DataFrame:
    """Work out the ten collapsible metrics of two groups with their weights."""
    whole, found = pool_samples(samples), []
    for metric in PERFORMANCE.values():
        if metric.weight is None:
            continue
        row: dict[str, Any] = {"title": metric.title, "weighed_by": metric.weighed_by}
        for letter, sample in zip("ab", samples, strict=True):
            row |= {f"value_{letter}": metric.value(sample), f"weight_{letter}": metric.weight(sample)}
        found.append(row | {"mean": collapse(metric, samples), "overall": metric.value(whole)})
    return pd.DataFrame(found)


def tabulate_counterexamples() -> pd.DataFrame:
    """List pairs of groups whose overall value lies outside both."""
    found = []
    for name in OUTSIDE:
        case = find_counterexample(name)
        n = sum(len(group.outcome) for group in case.groups)
        found.append((name, PERFORMANCE[name].title, n, *case.values, case.overall))
    return pd.DataFrame(found, columns=["metric", "title", "n", "one", "other", "overall"])


def multiply_weights(intercepts: pd.DataFrame) -> tuple[float, float]:
    """Multiply the weight ratios of A with C and B with D, and those of A with D and B with C.

    They are the two sides of the equation of `compare_intercept_weights`, equal if and only if weights
    existed.

    >>> one, other = multiply_weights(compare_intercept_weights())
    >>> round(one / other, 2)
    2.24
    """
    ratio = intercepts["weight_ratio"]
    return float(ratio[0] * ratio[3]), float(ratio[1] * ratio[2])
