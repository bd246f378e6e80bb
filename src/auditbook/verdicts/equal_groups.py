"""How often would the published rule fail a model that treats all groups alike?"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from auditbook.evidence import Evidence, open_stream
from auditbook.verdicts.attribute_audit import AttributeAudit
from auditbook.verdicts.compared_rates import compares_rates
from auditbook.verdicts.metrics import TIE, Metric

Array = NDArray[np.float64]


def fail_if_equal(audit: AttributeAudit, metric: Metric, *, own_size: Evidence, threshold: float) -> Array:
    r"""Find how often a metric would fail if all groups were alike, in audits of this size.

    - DI, SPD, EOPP, EOD, PP: every rate that is compared is the pooled one in all groups, its denominators as
      they are, and what is counted is binomial.
    - CAL and CAL_large: outcomes are drawn from the scores, so that these are calibrated in every group and
      bin. Of a cell with n records and the mean score s the events are taken for
      :math:`\mathrm{Binomial}(n, s)`; the chance is then exact.
    - TI: each group's records are drawn from all records, whatever their group; the means of b and of b ln b
      are taken from their normal limit.
    - AUC: each group's events are drawn from all events, and its non-events likewise.

    Where units hold several records, or records have weights, their number is divided by the design effect.
    With weights nothing is said of TI and AUC, whose records cannot be dealt to groups with their weights.

    Parameters
    ----------
    audit : AttributeAudit
        The groups.
    metric : Metric
        A metric of groups.
    own_size : Evidence
        Resamples as large as the audit; read for AUC with units only.
    threshold : float
        Where the metric passes.

    Returns
    -------
    float array, shape (n_models,)
        0 when the verdict never fails by chance alone, 1 when it always does; nan for a metric of the whole
        sample, which compares no groups, and where the metric is undefined.

    References
    ----------
    Good, P. (2005). Permutation, Parametric and Bootstrap Tests of Hypotheses. doi:10.1007/b138696

    Examples
    --------
    Five groups with 50 events each:

    >>> from auditbook.evidence import prepare
    >>> from auditbook.records import Attribute, AuditRecords, Score
    >>> from auditbook.settings import Protocol
    >>> from auditbook.verdicts.metrics import METRICS
    >>> race = Attribute("race", tuple("ABCDE"), np.repeat(np.arange(5), 100))
    >>> scores = (Score("m", "decision", 0.5, np.tile([1.0, 1, 0, 0], 125)),)
    >>> records = AuditRecords(np.tile(np.array([1, 0], np.int8), 250), (race,), scores)
    >>> audit = AttributeAudit(prepare(records), prepare(records).groups[0], Protocol(), None)
    >>> whole = audit.groups.counts.whole()
    >>> fail_if_equal(audit, METRICS["EOPP"], own_size=whole, threshold=0.1).round(1).tolist()
    [0.8]
    """
    if metric.evidence == "score sums" and metric.name != "TI":
        return _fail_if_calibrated(audit, by_bin=metric.name == "CAL", threshold=threshold)
    if compares_rates(metric):
        parts = _draw_rates(audit, metric)
    elif audit.groups.weighted is not None:
        return np.full(len(audit.prepared.models), np.nan)
    elif metric.name == "TI":
        parts = _draw_theil(audit)
    elif metric.evidence == "areas":
        parts = _draw_areas(audit, own_size)
    else:
        return np.full(len(audit.prepared.models), np.nan)
    lost = (np.isnan(parts) & ~np.isnan(parts).all(axis=1, keepdims=True)).any(axis=(-2, -1))
    values = np.where(lost, np.nan, metric.combine(parts))
    return share_of_fails(metric, values, threshold=threshold)


def share_of_fails(metric: Metric, values: Array, *, threshold: float) -> Array:
    """Find which share of the defined values fails, over the last axis; nan when none is defined."""
    defined = ~np.isnan(values)
    count = np.count_nonzero(defined, axis=-1)
    fails = np.count_nonzero(defined & ~metric.passes(values, threshold=threshold), axis=-1)
    return np.asarray(fails / np.where(count > 0, count, np.nan))


def _stream(audit: AttributeAudit, metric: Metric, model: str) -> np.random.Generator:
    name = audit.groups.declared.name
    return open_stream(audit.protocol.seed, "equal groups", model, name, metric.quantity)


def _draw_rates(audit: AttributeAudit, metric: Metric) -> Array:
    """Draw rates around the pooled ones, shape (n_models, resamples, n_parts, n_groups)."""
    rates = audit.rates(metric)
    held = np.rint(rates.trials).astype(np.int64)
    total = rates.trials.sum(axis=-1, keepdims=True)
    pooled = np.divide(rates.counted.sum(axis=-1, keepdims=True), total, out=0 * total, where=total > 0)
    share = np.broadcast_to(np.clip(pooled, 0, 1), held.shape)
    drawn = [
        _stream(audit, metric, model).binomial(n, p, size=(audit.protocol.resamples, *n.shape))
        for model, n, p in zip(audit.prepared.models, held, share, strict=True)
    ]
    trials = held[:, None]
    return np.where(trials > 0, np.stack(drawn) / np.maximum(trials, 1), np.nan)


def _fail_if_calibrated(audit: AttributeAudit, *, by_bin: bool, threshold: float) -> Array:
    """Find the chance that some cell's event rate is too far from its mean score, shape (n_models,)."""
    rates = audit.expected_rates(by_bin=by_bin)
    held = np.rint(rates.trials).astype(np.int64)
    middle, reach = held * rates.expected, held * (threshold + TIE)
    high = bdtr(np.clip(np.floor(middle + reach), 0, held), held, rates.expected)
    below = np.ceil(middle - reach) - 1
    low = np.where(below >= 0, bdtr(np.clip(below, 0, held), held, rates.expected), 0)
    within = np.where(held > 0, high - low, 1)
    return np.where((held > 0).any(axis=-1), 1 - np.prod(within, axis=-1), np.nan)


def _draw_theil(audit: AttributeAudit) -> Array:
    """Draw each group's Theil index from all records, shape (n_models, resamples, 1, n_groups)."""
    own = audit.moments.sums[..., 0]
    pooled = audit.moments.pooled()
    found = []
    for place, model in enumerate(audit.prepared.models):
        if not own[place].any():
            found.append(np.full((audit.protocol.resamples, own.shape[1]), np.nan))
            continue
        root = _root(pooled.covariance[place, 0])
        rng = open_stream(audit.protocol.seed, "equal groups", model, audit.groups.declared.name, "theil")
        noise = rng.standard_normal((audit.protocol.resamples, own.shape[1], 2)) @ root.T
        worth = own[place] / audit.theil_effects[place]
        mean = pooled.mean[place, 0] + noise / np.sqrt(worth)[:, None]
        benefit = np.clip(mean[..., 0], 1e-9, 1)
        found.append(np.maximum(mean[..., 1] / benefit - np.log(benefit), 0))
    return np.stack(found)[..., None, :]


def _root(covariance: Array) -> Array:
    """Take a root R of a covariance, R Rᵀ, that may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def _draw_areas(audit: AttributeAudit, own_size: Evidence) -> Array:
    """Draw each group's area from all events and non-events, shape (n_models, resamples, 1, n_groups)."""
    models = len(audit.prepared.models)
    strata = np.broadcast_to(audit.strata.astype(float), (models, *audit.strata.shape))
    if audit.units is not None:
        strata = np.maximum(strata / audit.area_effects(own_size)[..., None], np.minimum(strata, 1))
    drawn = audit.groups.areas.equal_groups(
        strata, resamples=audit.protocol.resamples, seed=audit.protocol.seed
    )
    return drawn[..., None, :]
