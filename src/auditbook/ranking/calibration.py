"""Do the probabilities mean the same in every group?"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from auditbook.columns import fill_table
from auditbook.evidence import (
    check_records,
    count_equal_clusters,
    group_auc,
    name_shortfall,
    rate_events,
    settle_units,
    sum_powers,
)
from auditbook.ranking.matrix import student_quantile
from auditbook.ranking.units import explain_sites, find_site_units, list_attributes
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol

Array = NDArray[np.float64]

CLIP = 1e-6
"""Scores of 0 and 1 have no logit and are moved this far inside."""
LEFT = 1e-9
"""Where less than this share of the information is left without a cluster, nothing is left."""
ENDLESS = 50.0
"""A fitted coefficient beyond this is on its way to infinity."""


@dataclass(frozen=True)
class Fitted:
    """One coefficient of a calibration fit; nan where there is none."""

    value: float = float("nan")  # Estimate
    low: float = float("nan")  # Interval that takes records, or units such as patients, as independent
    high: float = float("nan")
    site_low: float = float("nan")  # Interval with whole sites as the units
    site_high: float = float("nan")


LACK = "all scores are equal, so there is no slope"
SEPARATE = "the score separates events and non-events, so there is no slope"
UNSETTLED = "the fit of the {} does not settle"
NOTHING = Fitted()
UNKNOWN = (float("nan"), float("nan"))
Clustered = NDArray[np.intp] | None


@dataclass(frozen=True)
class Calibration:
    """Calibration of one group of records."""

    # a in :math:`\mathrm{logit}\,P(y = 1) = a + \mathrm{logit}\,s`: 0 when as many events happen as are
    # predicted, above 0 when more do
    intercept: Fitted
    # b in :math:`\mathrm{logit}\,P(y = 1) = a' + b\,\mathrm{logit}\,s`: 1 when the scores spread as they
    # should, below 1 when they are too extreme
    slope: Fitted
    reason: str  # Why one of them is missing or to be read with care; blank when nothing is to be said


def fit_calibration(
    outcome: ArrayLike,
    values: ArrayLike,
    *,
    unit: ArrayLike | None = None,
    site: ArrayLike | None = None,
    level: float = 0.95,
) -> Calibration:
    r"""Fit calibration intercept a and slope b by logistic regression (statsmodels).

    .. math:: \mathrm{logit}\,P(y = 1) = a + \mathrm{logit}\,s, \qquad
              \mathrm{logit}\,P(y = 1) = a' + b\,\mathrm{logit}\,s

    Parameters
    ----------
    outcome : array of 0 and 1, shape (n,)
        1 where the event happened.
    values : float array, shape (n,)
        Probabilities. Those of 0 and 1 are moved inside by 0.000001, and the reason says so.
    unit, site : int array, shape (n,), optional
        Position of each record's unit, such as a patient, where units hold several records: they are then the
        independent ones. And of its site, for further intervals with sites as the independent ones. The
        variance is that of the jackknife that leaves out one cluster at a time, to first order (CR3), and
        Student's t has as many degrees of freedom as there are equal clusters (`count_equal_clusters`), less
        one.
    level : float
        Coverage of the intervals.

    Returns
    -------
    Calibration
        nan with one outcome only; no slope when all scores are equal or separate the outcomes; no interval by
        site with fewer than two sites.

    References
    ----------
    Van Calster, B. et al. (2019). Calibration: the Achilles heel of predictive analytics.
    doi:10.1186/s12916-019-1466-7
    Liang, K.-Y. and Zeger, S. L. (1986). Longitudinal data analysis using generalized linear models.
    doi:10.1093/biomet/73.1.13
    MacKinnon, J. G., Nielsen, M. O. and Webb, M. D. (2023). Fast and reliable jackknife and bootstrap methods
    for cluster-robust inference. doi:10.1002/jae.2969

    Examples
    --------
    >>> found = fit_calibration([0, 0, 0, 1, 0, 1, 1, 1], np.repeat([0.25, 0.75], 4))
    >>> abs(round(found.intercept.value, 6)), round(found.slope.value, 6)
    (0.0, 1.0)
    """
    events, scores = np.asarray(outcome).astype(float), np.asarray(values, float)
    if len(np.unique(events)) < 2:
        return lack_fit(int(events.sum()), len(events))
    notes = note_edge(int(np.count_nonzero((scores <= 0) | (scores >= 1))))
    position = logit(np.clip(scores, CLIP, 1 - CLIP))
    clusters = [None if part is None else np.unique(part, return_inverse=True)[1] for part in (unit, site)]
    ones = np.ones((len(events), 1))
    intercept = _fit(events, ones, position, clusters, level)
    slope, area = NOTHING, group_auc(events, scores, np.zeros(len(events), int), 1)[0]
    if np.ptp(position) == 0:
        notes.append(LACK)
    elif area in (0, 1):
        notes.append(SEPARATE)
    else:
        slope = _fit(events, np.hstack([ones, position[:, None]]), 0 * position, clusters, level)
        if np.isnan(slope.value):
            notes.append(UNSETTLED.format("slope"))
    if np.isnan(intercept.value):
        notes.append(UNSETTLED.format("intercept"))
    return Calibration(intercept, slope, "; ".join(notes))


def lack_fit(events: int, records: int) -> Calibration:
    """Say why records of one outcome have no fit."""
    lack = "no records" if not records else "no events" if not events else "no non-events"
    return Calibration(NOTHING, NOTHING, lack)


def note_edge(edge: int) -> list[str]:
    """Say how many scores have no logit."""
    return [f"{edge} {'score' if edge == 1 else 'scores'} of 0 or 1 moved inside"] if edge else []


def _fit(events: Array, design: Array, offset: Array, clusters: Sequence[Clustered], level: float) -> Fitted:
    """Fit a logistic regression and report its last coefficient, by unit (or record) and by site."""
    # Imported here, since it takes longer than opening a finished run.
    from statsmodels.api import Logit
    from statsmodels.tools.sm_exceptions import PerfectSeparationError

    model = Logit(events, design, offset=offset)
    asked: dict[str, Any] = {"method": "newton", "disp": 0, "warn_convergence": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they warn of is checked below
        try:
            found = model.fit(start_params=np.zeros(design.shape[1]), **asked)
            if not _settled(found):  # Newton's steps may overshoot where scores are very extreme
                near = model.fit(start_params=np.zeros(design.shape[1]), **asked | {"method": "bfgs"})
                found = model.fit(start_params=near.params, **asked)
            if not _settled(found):
                return NOTHING
            unit, site = clusters
            plain = found.conf_int(alpha=1 - level)[-1]
            own = plain if unit is None else _bound_by_clusters(found, unit, level)
            by_site = UNKNOWN if site is None else _bound_by_clusters(found, site, level)
        except (np.linalg.LinAlgError, PerfectSeparationError):
            return NOTHING
    return Fitted(float(found.params[-1]), *open_interval(own), *open_interval(by_site))


def _bound_by_clusters(found: Any, cluster: NDArray[np.intp], level: float) -> tuple[float, float]:
    """Bound the last coefficient of a fit with clusters, numbered from 0, as the independent units."""
    return bound_by_clusters(found, sum_by_clusters(found, cluster), level)


@dataclass(frozen=True)
class ClusterSums:
    """What each cluster adds to the fit of k coefficients."""

    sizes: Array  # shape (n_clusters,): Records
    score: Array  # shape (n_clusters, k): Its score
    own: Array  # shape (n_clusters, k, k): Its information


def sum_by_clusters(found: Any, cluster: NDArray[np.intp]) -> ClusterSums:
    """Add up what the records of each cluster add."""
    sizes = np.bincount(cluster).astype(float)
    design, chance, n_clusters = found.model.exog, found.predict(), len(sizes)
    weight, away = chance * (1 - chance), found.model.endog - chance
    count = range(design.shape[1])
    score = np.stack([np.bincount(cluster, away * design[:, k], n_clusters) for k in count], axis=-1)
    own = [
        [np.bincount(cluster, weight * design[:, j] * design[:, k], n_clusters) for k in count] for j in count
    ]
    return ClusterSums(sizes, np.asarray(score, float), np.moveaxis(np.array(own), -1, 0))


def bound_by_clusters(found: Any, sums: ClusterSums, level: float) -> tuple[float, float]:
    """Bound the last coefficient of a fit by what its clusters add."""
    sizes = sums.sizes
    if len(sizes) < 2:
        return UNKNOWN
    moved = _leave_out(found, sums)[:, -1]
    variance = float(moved @ moved) * (len(sizes) - 1) / len(sizes)
    effect = np.fmax(variance / float(found.cov_params()[-1, -1]), 1.0)
    df = count_equal_clusters(sum_powers(sizes), effect) - 1
    reach = float(student_quantile(level, df)) * np.sqrt(variance)
    value = float(found.params[-1])
    return value - reach, value + reach


def _leave_out(found: Any, sums: ClusterSums) -> Array:
    r"""Find how far the coefficients move without each cluster, to first order, shape (n_clusters, k).

    .. math:: (H - H_c)^{-1} u_c

    with H the information of all records, :math:`H_c` that of cluster c and :math:`u_c` its score. A cluster
    without which nothing is left moves them by :math:`H^{-1} u_c`.
    """
    inverse = np.asarray(found.cov_params(), float)
    n_free = len(inverse)
    left = np.eye(n_free) - sums.own @ inverse
    left[np.linalg.det(left) < LEFT] = np.eye(n_free)
    moved = np.linalg.solve(left, sums.score[:, :, None])[:, :, 0]
    return np.asarray(moved @ inverse)


def _settled(found: Any) -> bool:
    """Tell whether a fit ended at finite coefficients."""
    return settled_at(found.params, found.mle_retvals["converged"])


def settled_at(params: Array, converged: bool) -> bool:
    """Tell whether coefficients are where a fit ended, and finite."""
    return bool(converged and (np.abs(params) < ENDLESS).all())


def open_interval(bounds: ArrayLike) -> tuple[float, float]:
    """Blank an interval of no width."""
    low, high = (float(bound) for bound in np.asarray(bounds))
    return (low, high) if high - low > 1e-9 else (float("nan"), float("nan"))


def tabulate_calibration(records: AuditRecords, *, protocol: Protocol, level: float = 0.95) -> pd.DataFrame:
    """Tabulate calibration intercept and slope of every group under every model: ``calibration.csv``."""
    check_records(records)
    clusters = settle_units(records), find_site_units(records)
    rows = [
        row
        for score in records.scores
        for attribute in list_attributes(records)
        for row in _fit_groups(records, score, attribute, clusters, protocol, level)
    ]
    return fill_table("calibration", rows)


def _fit_groups(
    records: AuditRecords,
    score: Score,
    attribute: Attribute,
    clusters: tuple[Clustered, Clustered],
    protocol: Protocol,
    level: float,
) -> Iterator[dict[str, Any]]:
    """Write down one attribute's groups under one model.

    There is no interval by sites where a group has too few, and none by sites or units where it has too few
    events or non-events: these stand in few clusters then, which tell nothing of the spread.
    """
    lacks = explain_sites(clusters[1], attribute)
    for place, name in enumerate(attribute.groups):
        mine = np.flatnonzero(attribute.codes == place)
        events = int(records.outcome[mine].sum())
        row = {"model": score.model, "attribute": attribute.name, "group": name, "n": len(mine)}
        row |= {"events": events, "reason": f"no probability: the score is a {score.kind}", "site_reason": ""}
        if score.kind == "probability":
            unit, site = (None if part is None else part[mine] for part in clusters)
            asked = records.outcome[mine], score.values[mine]
            short = name_shortfall(events, len(mine) - events, protocol=protocol)
            lack = lacks[place] or (short if site is not None else "")
            found = fit_calibration(*asked, unit=unit, site=None if lack else site, level=level)
            row |= write_fit(found, short, clustered=unit is not None)
            row["sites"] = np.nan if site is None else len(np.unique(site))
            row["site_reason"] = lack
        yield row


def write_fit(found: Calibration, short: str, *, clustered: bool) -> dict[str, Any]:
    """Write one group's fit down, of a group that is `short` of something."""
    if short and clustered:
        found = replace(found, intercept=_unbounded(found.intercept), slope=_unbounded(found.slope))
    reason = "; ".join(dict.fromkeys(part for part in (short, found.reason) if part))
    return _columns("intercept", found.intercept) | _columns("slope", found.slope) | {"reason": reason}


def _unbounded(fitted: Fitted) -> Fitted:
    """Leave out intervals by clusters: of few events, in few clusters, their variance can be next to 0."""
    return Fitted(fitted.value)


def _columns(name: str, fitted: Fitted) -> dict[str, float]:
    """Name the numbers of a coefficient."""
    numbers = {f"{name}_{part}": number for part, number in vars(fitted).items()}
    return {name: numbers.pop(f"{name}_value")} | numbers


def bound_gaps(score_bins: pd.DataFrame, bounds: pd.DataFrame | None = None) -> pd.DataFrame:
    """Find how far each filled score bin's event rate lies above its mean score, with the rate's interval.

    0 where as many events happen as the scores say. For `bounds` see `rate_bins`.

    >>> table = pd.DataFrame({"n": [10], "events": [5], "mean_score": [0.4]})
    >>> bound_gaps(table)["value"].round(2).tolist()
    [0.1]
    """
    found = rate_bins(score_bins, bounds)
    return score_bins.assign(
        value=found["event_rate"] - found["mean_score"],
        low=found["event_rate_low"] - found["mean_score"],
        high=found["event_rate_high"] - found["mean_score"],
    )


def rate_bins(score_bins: pd.DataFrame, bounds: pd.DataFrame | None = None) -> pd.DataFrame:
    """Add the event rate of each score bin with its interval, as `rate_events` does.

    Where `bounds`, of the form of rates.csv, has the bin, the interval is the one that it gives, which knows
    the unit; elsewhere it is Wilson's for independent records.
    """
    found = rate_events(score_bins)
    if bounds is None:
        return found
    keys = ["model", "attribute", "group", "bin"]
    mine = bounds.loc[bounds["bin"].notna(), [*keys, "low", "high"]]
    mine = found[keys].merge(mine, on=keys, how="left", validate="one_to_one").set_axis(found.index)
    ends = {f"event_rate_{end}": mine[end].fillna(found[f"event_rate_{end}"]) for end in ("low", "high")}
    return found.assign(**ends)
