"""How probable is it that an audit of as many other patients ends in the other verdict?"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import SELECTED, Evidence, count_minima, find_short_groups, open_stream
from auditbook.verdicts.attribute_audit import AttributeAudit
from auditbook.verdicts.compared_rates import ComparedRates, compares_rates, read_rates
from auditbook.verdicts.equal_groups import share_of_fails
from auditbook.verdicts.metrics import Metric
from auditbook.verdicts.shrunk_rates import MANY, RateGrid, draw_next_rates, weigh_rates
from auditbook.verdicts.shrunk_values import draw_next_values

Array = NDArray[np.float64]
FEW_RECORDS = 30
"""Below so many records a count in another audit is drawn exactly, else from its normal limit."""
LEAST_ERROR = 1e-9
"""Standard error of a value that does not vary."""


def next_fail_share(
    audit: AttributeAudit, metric: Metric, *, parts: Array, own_size: Evidence, threshold: float
) -> Array:
    r"""Predict which share of the audits of as many other patients fails.

    .. math:: \int P(\text{another audit fails} \mid \theta) \, p(\theta \mid \text{today's}) \, d\theta

    First the truth is drawn from what today's audit leaves open, then an audit of it:

    - the number of events and non-events in each group: their shares are Dirichlet after today's counts
      (Jeffreys' prior), the numbers multinomial;
    - what is compared: rates by `weigh_rates`, for CAL around the mean score of each group and bin; Theil
      indices and areas by `draw_next_values`;
    - what the other audit finds of it, with the numbers that it holds.

    Audits in which a group lacks the minimum support end without a verdict and do not count. Numbers of rates
    are effective ones, so that units with several records count for what they are worth.

    Parameters
    ----------
    audit : AttributeAudit
        The groups.
    metric : Metric
        What is judged.
    parts : float array, shape (n_models, n_parts, n_groups)
        Its group values today.
    own_size : Evidence
        Resamples as large as the audit; read for areas only, whose standard errors come from them.
    threshold : float
        Where the metric passes.

    Returns
    -------
    float array, shape (n_models,)
        0 when every other audit passes, 1 when every one fails; nan when none ends in a verdict.

    References
    ----------
    Gelman, A. et al. (2013). Bayesian Data Analysis, chapter 5. doi:10.1201/b16018
    """
    strata = _draw_strata(audit)
    needs = [need for need in metric.needs if need != SELECTED]  # drawn with the rates that rest on them
    short = find_short_groups(strata, protocol=audit.protocol, needs=needs).any(axis=-1)
    draw = _choose(audit, metric, parts, own_size)
    found = []
    for place, model in enumerate(audit.prepared.models):
        if np.isnan(parts[place]).all():
            found.append(np.full(len(strata), np.nan))
            continue
        name = audit.groups.declared.name
        rng = open_stream(audit.protocol.seed, "next audit", model, name, metric.quantity)
        drawn = draw(place, strata, rng)
        lost = (np.isnan(drawn) & ~np.isnan(drawn).all(axis=0)).any(axis=(-2, -1))
        found.append(np.where(short | lost, np.nan, metric.combine(drawn)))
    return share_of_fails(metric, np.stack(found), threshold=threshold)


Draw = Callable[[int, NDArray[np.int64], np.random.Generator], Array]
"""From the position of a model and the strata of other audits to group values, (draws, n_parts, n_groups)."""


def _choose(audit: AttributeAudit, metric: Metric, parts: Array, own_size: Evidence) -> Draw:
    """Choose how the group values of other audits are drawn."""
    if compares_rates(metric):
        return _next_rates(audit, metric)
    if metric.evidence == "counts":
        return _next_counts(audit, metric)
    if metric.name == "TI":
        return _next_values(audit, metric, parts, audit.theil_errors)
    if metric.evidence == "areas":
        return _next_values(audit, metric, parts, audit.area_errors(own_size))
    return _next_errors(audit, by_bin=metric.name == "CAL")


def _draw_strata(audit: AttributeAudit) -> NDArray[np.int64]:
    """Draw the events and non-events of other audits, shape (draws, n_groups, 2)."""
    today, draws = audit.strata, audit.protocol.resamples
    rng = open_stream(audit.protocol.seed, "next audit", audit.groups.declared.name)
    shares = rng.gamma(today.ravel() + 0.5, size=(draws, today.size))
    drawn = rng.multinomial(today.sum(), shares / shares.sum(axis=-1, keepdims=True))
    return drawn.reshape(draws, *today.shape)


def _next_rates(audit: AttributeAudit, metric: Metric) -> Draw:
    """Draw rates of other audits."""
    rates = audit.rates(metric)
    grid = weigh_rates(rates.counted, rates.trials)
    few = np.minimum(rates.counted, rates.trials - rates.counted) < MANY
    least = _least_trials(audit, metric, rates)

    def draw(place: int, strata: NDArray[np.int64], rng: np.random.Generator) -> Array:
        held = rates.trials[place]
        trials = _draw_trials(metric, held, strata, audit.strata, rng)
        parts = [
            draw_next_rates(_pick(grid, place, part), trials[:, part], few=few[place, part], rng=rng)
            for part in range(len(held))
        ]
        return np.where(trials < least[place], np.nan, np.stack(parts, axis=1))

    return draw


def _least_trials(audit: AttributeAudit, metric: Metric, rates: ComparedRates) -> Array:
    """Find with how many (effective) selected records a group is judged; 0 for a rate of anything else."""
    if SELECTED not in metric.needs:
        return np.zeros_like(rates.trials)
    records = read_rates(metric, audit.groups.counts.whole()).trials
    worth = np.divide(rates.trials, records, out=np.zeros_like(records), where=records > 0)
    return np.asarray(count_minima(audit.protocol)[SELECTED] * worth, float)


def _pick(grid: RateGrid, *place: int) -> RateGrid:
    return RateGrid(grid.alpha[place], grid.beta[place], grid.chance[place])


def _draw_trials(
    metric: Metric, held: Array, strata: NDArray[np.int64], today: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the denominators of rates in other audits, shape (draws, n_parts, n_groups), of `held` today.

    They grow as the group's records, events or non-events do; those of selected records on their own.
    """
    if metric.quantity == "PPV":
        return _draw_again(held, len(strata), rng)
    now, then = (read_rates(metric, _select_all(part)).trials for part in (today, strata))
    return np.rint(held * np.divide(then, now, out=np.zeros_like(then), where=now > 0)).astype(np.int64)


def _select_all(strata: NDArray[np.int64]) -> NDArray[np.int64]:
    """Write down the counts of groups of which everybody is selected."""
    return np.concatenate([strata, np.zeros_like(strata)], axis=-1)


def _draw_again(held: Array, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw how many another audit holds of what was counted today: a Poisson number around a gamma one."""
    drawn = held + np.sqrt(2 * held) * rng.standard_normal((draws, *held.shape))
    few = held < FEW_RECORDS
    if few.any():
        drawn[:, few] = rng.poisson(rng.gamma(np.maximum(held[few], 1e-9), size=(draws, int(few.sum()))))
    return np.maximum(np.rint(drawn), 0).astype(np.int64)


def _next_errors(audit: AttributeAudit, *, by_bin: bool) -> Draw:
    """Draw calibration errors of other audits; the mean scores stay as they are."""
    rates = audit.expected_rates(by_bin=by_bin)
    grid = weigh_rates(rates.counted, rates.trials, expected=rates.expected)
    few = np.minimum(rates.counted, rates.trials - rates.counted) < MANY

    def draw(place: int, strata: NDArray[np.int64], rng: np.random.Generator) -> Array:
        held = rates.trials[place]
        cells = np.flatnonzero(held > 0)
        trials = _draw_again(held[cells], len(strata), rng)
        seen = RateGrid(grid.alpha[place][:, cells], grid.beta[place][:, cells], grid.chance[place])
        next_rates = draw_next_rates(seen, trials, few=few[place, cells], rng=rng)
        error = np.full((len(strata), 1, len(held)), np.nan)
        error[:, 0, cells] = np.abs(next_rates - rates.expected[place, cells])
        n_groups = strata.shape[1]
        return np.fmax.reduce(error.reshape(len(strata), 1, n_groups, -1), axis=-1)

    return draw


def _next_values(audit: AttributeAudit, metric: Metric, parts: Array, errors: Array) -> Draw:
    """Draw values with normal errors of other audits."""

    def draw(place: int, strata: NDArray[np.int64], rng: np.random.Generator) -> Array:
        today = audit.strata.sum(axis=-1)
        shrinkage = strata.sum(axis=-1) / np.maximum(today, 1)
        error = np.maximum(errors[place], LEAST_ERROR)
        values = draw_next_values(parts[place, 0], error, shrinkage, scale=metric.threshold, rng=rng)
        bounds = (0, 1) if metric.evidence == "areas" else (0, np.inf)
        return np.clip(values, *bounds)[:, None]

    return draw


def _next_counts(audit: AttributeAudit, metric: Metric) -> Draw:
    """Draw the counts of other audits, of all groups together, for a metric of the whole sample."""
    counts = audit.groups.count()
    worth = audit.count_alike().sum() / counts[0].sum()

    def draw(place: int, strata: NDArray[np.int64], rng: np.random.Generator) -> Array:
        today = counts[place].sum(axis=0) * worth
        shares = rng.gamma(today + 0.5, size=(len(strata), 4))
        drawn = rng.multinomial(round(today.sum()), shares / shares.sum(axis=-1, keepdims=True))
        return metric.by_group(drawn[:, None])

    return draw
