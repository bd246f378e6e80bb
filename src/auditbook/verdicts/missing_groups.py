"""Between which values can a metric lie, when nobody knows to which group some records belong?"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from auditbook.columns import fill_table, stack_tables
from auditbook.evidence import Audited, AuditedGroups, Bounded, mover_bounds, rate
from auditbook.settings import Protocol
from auditbook.verdicts.contrasts import Contrasts, contrast_quantity, name_scope, stack_contrasts
from auditbook.verdicts.metrics import Metric, find_metric
from auditbook.verdicts.quantities import RATE_CELLS, Grouped, Quantity, measure_rates
from auditbook.verdicts.shown import METRIC_QUANTITIES

Array = NDArray[np.float64]

COUNTED = ("DI", "SPD", "EOPP", "EOD", "PP")
"""Metrics that are made of counts by group."""


@dataclass(frozen=True)
class Range:
    """Between which two values a metric lies, shape (...)."""

    low: Array
    high: Array


def bound_missing(metric: Metric, counts: NDArray, missing: NDArray) -> Range:
    r"""Bound a metric over all ways to deal records without a group to the groups.

    A rate has hits H and misses N in each group, and h and n among the missing. Whatever they are, that of
    group g lies between :math:`H_g/(H_g + N_g + n)` and :math:`(H_g + h)/(H_g + N_g + h)`; hits can all go to
    one group while misses all go to another, so that

    .. math:: \max_{g \ne k} \left( \frac{H_g + h}{H_g + N_g + h} - \frac{H_k}{H_k + N_k + n} \right)

    is reached: the worst value is sharp for any number of groups. The best is the largest over pairs of the
    least that the two can be apart: sharp for two groups but for the rounding to whole records, for more a
    bound that may not be reached. Of a ratio the same with quotients.

    Parameters
    ----------
    metric : Metric
        One of `COUNTED`.
    counts : array, shape (..., n_groups, 4)
        tp, fp, fn, tn of the records whose group is known.
    missing : array, shape (..., 4)
        The same of the others.

    Returns
    -------
    Range
        Equal to the metric on both sides when nothing is missing; nan with fewer than two groups.

    References
    ----------
    Kallus, N., Mao, X. and Zhou, A. (2022). Assessing algorithmic fairness with unobserved protected class
    using data combination. doi:10.1287/mnsc.2020.3850 (sharp sets where proxies are known; here none is)

    Examples
    --------
    >>> from auditbook.verdicts.metrics import METRICS
    >>> found = bound_missing(METRICS["EOPP"], np.array([[4, 0, 1, 5], [4, 0, 1, 5]]), np.array([1, 0, 1, 0]))
    >>> float(found.low), round(float(found.high), 3)
    (0.0, 0.167)
    """
    by_part = [
        _bound_rate(metric, *(_split(part, name) for part in (counts, missing[..., None, :])))
        for name in METRIC_QUANTITIES[metric.name]
    ]
    return Range(*(np.max([getattr(part, side) for part in by_part], axis=0) for side in ("low", "high")))


def _split(counts: NDArray, name: str) -> tuple[Array, Array]:
    """Count what a rate counts and what it does not, of its trials."""
    hits, trials = (counts[..., list(part)].sum(axis=-1).astype(float) for part in RATE_CELLS[name])
    return hits, trials - hits


def _bound_rate(metric: Metric, known: tuple[Array, Array], missing: tuple[Array, Array]) -> Range:
    """Bound the gap or the ratio of one rate."""
    (hits, misses), (more_hits, more_misses) = known, missing
    low = rate(hits, hits + misses + more_misses)[..., None, :]
    high = rate(hits + more_hits, hits + misses + more_hits)[..., :, None]
    empty = hits + misses == 0
    open_pair = empty[..., :, None] | empty[..., None, :]
    apart = np.eye(hits.shape[-1], dtype=bool)
    if metric.direction == "at_least":
        worst = np.where(apart, np.nan, rate(low, high))
        turned = np.divide(1, _swap(worst), out=np.ones_like(worst), where=_swap(worst) > 1)
        best = np.where(open_pair, 1.0, turned)
        return Range(
            *(np.fmin.reduce(part, axis=(-2, -1)) for part in (worst, np.where(apart, np.nan, best)))
        )
    worst = np.where(apart, np.nan, high - low)
    best = np.where(open_pair, 0.0, np.maximum(-_swap(worst), 0.0))
    return Range(*(np.fmax.reduce(part, axis=(-2, -1)) for part in (np.where(apart, np.nan, best), worst)))


def _swap(pairs: Array) -> Array:
    """Read each pair the other way round."""
    return np.swapaxes(pairs, -1, -2)


def deal_at_random(counts: NDArray, missing: NDArray) -> Array:
    r"""Deal records without a group as those of the same label and decision are spread over the groups.

    .. math:: c_g \Bigl(1 + \frac{u}{\sum_k c_k}\Bigr)

    for each of tp, fp, fn and tn, u of which are missing: the reading in which a group is missing at random
    given label and decision. nan where the missing have a label and decision that no known record has.

    References
    ----------
    Rubin, D. B. (1976). Inference and missing data. doi:10.1093/biomet/63.3.581

    Examples
    --------
    >>> deal_at_random(np.array([[3, 0, 1, 4], [1, 0, 1, 4]]), np.array([4, 0, 0, 0])).tolist()
    [[6.0, 0.0, 1.0, 4.0], [2.0, 0.0, 1.0, 4.0]]
    """
    whole = counts.sum(axis=-2, keepdims=True)
    share = np.where(missing[..., None, :] == 0, 0.0, rate(missing[..., None, :], whole))
    return np.asarray(counts * (1 + share), float)


def bound_missing_attribute(
    prepared: Audited, missing: Mapping[str, NDArray], protocol: Protocol, *, unplaced: str
) -> pd.DataFrame:
    """Bound every cell of each attribute that some records lack.

    Parameters
    ----------
    prepared : Prepared
        What was audited.
    missing : mapping of str to int array, shape (n_models, 4)
        By attribute, the counts of records that lack it and were left out of the audit; where it is not among
        them, those of the group called `unplaced` are taken, if there is one.

    Returns
    -------
    DataFrame
        ``missing_attribute.csv``; without a row when every record has every attribute, and in a survey with
        weights, whose rates are not those of counts.
    """
    parts = []
    for groups in prepared.groups if prepared.design is None else ():
        counts, names = groups.counts.whole(), groups.settled.groups
        known = np.array([name != unplaced for name in names])
        held = missing.get(groups.settled.name)
        lost = counts[:, ~known].sum(axis=1) if held is None else held
        if lost.sum() and known.sum() > 1:
            parts.append(_Lacking(prepared, groups, protocol, known, lost).tabulate())
    return stack_tables("missing_attribute", parts)


@dataclass(frozen=True)
class _Lacking:
    """One attribute that some records lack."""

    prepared: Audited
    groups: AuditedGroups
    protocol: Protocol
    known: NDArray[np.bool_]  # Which of the groups are groups
    missing: NDArray  # shape (n_models, 4)

    @property
    def counts(self) -> NDArray:
        """Counts of the known groups, shape (n_models, n_known, 4)."""
        return self.groups.counts.whole()[:, self.known]

    def tabulate(self) -> pd.DataFrame:
        """Lay out a row a model and metric."""
        rates = measure_rates(Grouped(self.prepared, self.groups, self.protocol), tuple(RATE_CELLS))
        metrics = [find_metric(name) for name in self.protocol.metrics if name in COUNTED]
        parts = [self._tabulate_metric(metric, rates) for metric in metrics]
        return pd.concat(parts, ignore_index=True) if parts else fill_table("missing_attribute", None)

    def _tabulate_metric(self, metric: Metric, rates: dict[str, Quantity]) -> pd.DataFrame:
        threshold = float(self.protocol.thresholds.get(metric.name, metric.threshold))
        found = bound_missing(metric, self.counts, self.missing)
        values = {
            "estimate": metric.values(self.counts),
            "low": found.low,
            "high": found.high,
            "at_random": metric.values(deal_at_random(self.counts, self.missing)),
        }
        ends = [metric.passes(part, threshold=threshold) for part in (found.low, found.high)]
        columns = {
            "model": self.prepared.models,
            "metric": metric.name,
            "attribute": self.groups.settled.name,
            "groups": int(self.known.sum()),
            "missing": self.missing.sum(axis=-1),
            "missing_events": self.missing[:, [0, 2]].sum(axis=-1),
            "threshold": threshold,
            **values,
            "can_turn": ends[0] != ends[1],
            **self._tell_shown(metric, rates, threshold),
        }
        table = fill_table("missing_attribute", columns)
        return table[~np.isnan(found.low) & ~np.isnan(values["estimate"])]

    def _tell_shown(self, metric: Metric, rates: dict[str, Quantity], threshold: float) -> dict[str, NDArray]:
        """Tell what is shown of the known groups, and whether it stands however the missing are dealt."""
        names = METRIC_QUANTITIES[metric.name]
        contrasts = self._contrast(metric, rates, threshold)
        margins = _Margins(contrasts, names, self.groups.counts.whole(), self.missing, self._z(contrasts))
        whole = np.ones(len(self.missing), bool)
        for name in names:
            whole &= rates[name].judged[:, self.known].all(axis=1)
        now, worst = (margins.conclude(dealt, whole) for dealt in (False, True))
        return {"shown": now, "shown_dealt": worst}

    def _z(self, contrasts: Contrasts) -> tuple[Array, Array]:
        """Find the normal quantiles of failing and passing: the level shared among the board's cells."""
        cells = len(self.protocol.metrics) * len(self.prepared.groups)
        held = np.bincount(contrasts.model, minlength=len(self.missing))[contrasts.model]
        alpha = self.protocol.shown_alpha / cells
        return -ndtri(alpha / held), np.full(len(held), -ndtri(alpha))

    def _contrast(self, metric: Metric, rates: dict[str, Quantity], threshold: float) -> Contrasts:
        """Set every pair of known groups beside each other."""
        scope = name_scope(self.prepared)
        every = stack_contrasts(
            [
                contrast_quantity(rates[name], metric, cell=0, part=part, threshold=threshold, scope=scope)
                for part, name in enumerate(METRIC_QUANTITIES[metric.name])
            ]
        )
        return every.take(self.known[every.group] & self.known[every.other])


@dataclass(frozen=True)
class _Margins:
    """Contrasts of known groups, to be bounded as the missing records are dealt."""

    contrasts: Contrasts
    rates: tuple[str, ...]
    counts: NDArray  # shape (n_models, n_groups, 4)
    missing: NDArray  # shape (n_models, 4)
    z: tuple[Array, Array]  # Of failing and of passing

    def conclude(self, dealt: bool, whole: NDArray[np.bool_]) -> NDArray[np.object_]:
        """Name what is shown under each model, as things are or however the missing are dealt."""
        model = self.contrasts.model
        # A failure must survive when the larger value gets the misses, and a pass when either gets the hits
        beyond = self._margin(0, larger_gets="misses" if dealt else "") > 0
        within = self._margin(1, larger_gets="hits" if dealt else "") > 0
        if dealt:
            within &= self._margin(1, larger_gets="misses", turned=True) > 0
        shown = np.full(len(whole), "open", object)
        tested = np.bincount(model, minlength=len(whole)) > 0
        passes = np.ones(len(whole), bool)
        np.logical_and.at(passes, model, within)
        parts = np.unique(np.stack([model, self.contrasts.part]), axis=1)
        complete = np.bincount(parts[0].astype(np.intp), minlength=len(whole)) == len(self.rates)
        shown[passes & tested & whole & complete] = "pass"
        shown[np.unique(model[beyond])] = "fail"
        shown[~tested] = "none"
        return shown

    def _margin(self, side: int, *, larger_gets: str, turned: bool = False) -> Array:
        """Measure how far each contrast lies beyond its threshold (side 0), or within it (1)."""
        ratio = self.contrasts.is_ratio
        gets = {"": ("", ""), "hits": ("hits", "misses"), "misses": ("misses", "hits")}[larger_gets]
        first = self._deal(self.contrasts.first, self.contrasts.group, ratio, gets)
        second = self._deal(self.contrasts.second, self.contrasts.other, ~ratio, gets)
        larger, smaller = _order(first, second, ratio != turned)
        factor = np.where(ratio, self.contrasts.threshold, 1.0)
        limit = np.where(ratio, 0.0, self.contrasts.threshold)
        correlation, z = self.contrasts.correlation, self.z[side]
        low, high = mover_bounds(larger, smaller, np.ones(len(z)), correlation, z)
        of_ratio = mover_bounds(smaller, larger, factor, correlation, z)
        low, high = np.where(ratio, -of_ratio[1], low), np.where(ratio, -of_ratio[0], high)
        return low - limit if side == 0 else limit - high

    def _deal(
        self, value: Bounded, group: NDArray[np.intp], is_smaller: NDArray[np.bool_], gets: tuple[str, str]
    ) -> Bounded:
        """Give hits or misses of the missing to the groups on one side of the contrasts."""
        hits, misses = np.zeros(len(group)), np.zeros(len(group))
        more_hits, more_misses = np.zeros(len(group)), np.zeros(len(group))
        model = self.contrasts.model
        for part, name in enumerate(self.rates):
            here = self.contrasts.part == part
            known = _split(self.counts, name)
            hits[here], misses[here] = (each[model, group][here] for each in known)
            lost = _split(self.missing, name)
            more_hits[here], more_misses[here] = (each[model][here] for each in lost)
        taken = np.where(is_smaller, gets[1], gets[0])
        new_hits = hits + np.where(taken == "hits", more_hits, 0)
        trials = new_hits + misses + np.where(taken == "misses", more_misses, 0)
        worth = value.effective * rate(trials, hits + misses)
        return Bounded(value.kind, rate(new_hits, trials), worth, value.error, value.df)


def _order(one: Bounded, other: Bounded, swap: NDArray[np.bool_]) -> tuple[Bounded, Bounded]:
    """Put two sides in another order where asked."""
    pairs = list(zip(one.parts(), other.parts(), strict=True))
    first = Bounded(*(np.where(swap, b, a) for a, b in pairs))
    return first, Bounded(*(np.where(swap, a, b) for a, b in pairs))
