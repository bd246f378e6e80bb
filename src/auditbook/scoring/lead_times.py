"""How long before the event were those selected who had it, group by group?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.cohort import Cohort, Predictions
from auditbook.columns import empty_table, fill_table
from auditbook.evidence import Z_95, measure_spread, pair_clusters, settle_units, share_limits
from auditbook.records import Score
from auditbook.scoring.score import ScoredCohort

Array = NDArray[np.float64]


def tabulate_lead_times(cohort: Cohort, scored: ScoredCohort) -> pd.DataFrame:
    """Summarise the time from prediction to event among true positives: ``lead_times.csv``.

    Parameters
    ----------
    cohort : Cohort
        Where a column says when the event happened; else the table is empty.
    scored : ScoredCohort
        The audited records and their scores.

    Returns
    -------
    DataFrame
        One row a model, attribute and group. Median and quartiles are of those who were selected before the
        event, or with it; nan without any, and the interval of the median with fewer than two.
    """
    if cohort.predictions is None or not cohort.predictions.timed or cohort.continuous:
        return empty_table("lead_times")
    predictions, records = cohort.predictions.take(scored.audit), scored.records
    unit = settle_units(records)
    rows = []
    for score in records.scores:
        hits = (records.outcome == 1) & score.decisions
        lead = _find_leads(cohort, predictions, score)
        for attribute in records.attributes:
            for group, name in enumerate(attribute.groups):
                mine = np.flatnonzero(hits & (attribute.codes == group))
                told = _summarise(lead[mine], mine if unit is None else unit[mine])
                span = "hours" if predictions.dated else "units"
                rows.append((score.model, attribute.name, name, *told, span))
    return fill_table("lead_times", rows)


def _find_leads(cohort: Cohort, predictions: Predictions, score: Score) -> Array:
    """Find the lead of each record: of its first alert under `max`, else of the prediction that stands."""
    given = {table.name: place for place, table in enumerate(cohort.file.scores)}
    rule = None if cohort.merged is None else cohort.merged.rule
    if rule == "max" and score.model in given:
        return predictions.find_longest(predictions.scores[given[score.model]] >= score.threshold)
    return predictions.find_shortest() if rule == "last" else predictions.find_longest()


def _summarise(lead: Array, unit: NDArray[np.integer]) -> Iterator[float]:
    """Count true positives by what is known of their time, and find quartiles and the median's interval."""
    ahead = lead >= 0
    used, n = lead[ahead], int(ahead.sum())
    quartiles = np.quantile(used, (0.25, 0.5, 0.75)) if n else np.full(3, np.nan)
    low, high = bound_median(used, unit[ahead])
    yield from (len(lead), n, int((lead < 0).sum()), int(np.isnan(lead).sum()))
    yield from (float(quartiles[1]), low, high, float(quartiles[0]), float(quartiles[2]))


def bound_median(values: Array, unit: NDArray[np.integer]) -> tuple[float, float]:
    r"""Bound a median by the quantiles at the limits of the share of values that lie at or below it.

    .. math:: [\hat F^{-1}(l), \hat F^{-1}(u)], \qquad [l, u] \ni \tfrac12

    with l and u the 95 % limits of one half among as many independent values as the sample is worth, from the
    variance of :math:`1[x \le m]` over units (Woodruff 1952). No shape of the distribution is assumed.

    Parameters
    ----------
    values : float array, shape (n,)
        Such as times before the event.
    unit : int array, shape (n,)
        Whose each value is; values of one unit are not independent.

    Returns
    -------
    low, high : float
        nan with fewer than two values, or where one unit holds all.

    References
    ----------
    Woodruff, R. S. (1952). Confidence intervals for medians and other position measures. J Am Stat Assoc 47,
    635-646. doi:10.1080/01621459.1952.10483443

    Examples
    --------
    >>> bound_median(np.arange(101.0), np.arange(101))
    (40.0, 60.0)
    """
    codes = np.unique(unit, return_inverse=True)[1]
    if len(values) < 2 or codes.max() == 0:
        return np.nan, np.nan
    below = (values <= np.median(values)).astype(float)
    clusters = pair_clusters(codes, np.zeros(len(codes), np.intp), 1)
    residuals = np.bincount(clusters.place, below - below.mean()).astype(float)
    spread = measure_spread(clusters, residuals, np.bincount(clusters.place).astype(float))
    variance = float(spread.covariance[0, 0])
    plain = below.mean() * (1 - below.mean())
    worth = min(plain / variance, len(values)) if variance > 0 else len(values)
    low, high = share_limits(0.5, worth, Z_95)
    order = np.sort(values)
    ends = (int(np.floor(float(low) * len(order))), int(np.ceil(float(high) * len(order))) - 1)
    return float(order[max(ends[0], 0)]), float(order[min(ends[1], len(order) - 1)])
