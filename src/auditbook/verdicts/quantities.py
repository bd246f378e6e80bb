"""Which values of the groups does a metric compare, and how sure is each of them?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import (
    AREA,
    FN,
    FP,
    LEAST_CLUSTERS,
    MEAN,
    N_BINS,
    SELECTED,
    SHARE,
    TN,
    TP,
    Audited,
    AuditedGroups,
    Bounded,
    ClusteredAreas,
    ClusterSpread,
    GroupClusters,
    ScoreCells,
    alone_spread,
    cluster_areas,
    count_effective,
    count_worth,
    each_model,
    join_bins,
    rate,
    stratum_sizes,
)
from auditbook.settings import Protocol
from auditbook.verdicts.formulas import benefit_theil, theil_index

Array = NDArray[np.float64]

RATE_CELLS: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = MappingProxyType(
    {
        "SR": ((TP, FP), (TP, FP, FN, TN)),
        "TPR": ((TP,), (TP, FN)),
        "FPR": ((FP,), (FP, TN)),
        "PPV": ((TP,), (TP, FP)),
        "ER": ((TP, FN), (TP, FP, FN, TN)),
    }
)
"""The counts whose sums are the numerator and the denominator of a rate."""


@dataclass(frozen=True)
class Certainty:
    """What bounds the values of one quantity when some clusters are taken as the independent ones."""

    bounded: Bounded  # Arrays of shape (n_models, n_codes)
    correlation: Array  # shape (n_models, n_codes, n_codes): Of the values of two codes
    clusters: Array  # shape (n_models, n_codes): How many there are; records where each stands for itself
    speaks_of_others: NDArray[
        np.bool_
    ]  # shape (n_models, n_codes): Whether they suffice for others like them


@dataclass(frozen=True)
class Quantity:
    """One quantity of the groups of one attribute under every model; a code is a group, or a bin of it."""

    name: str  # SR, TPR, FPR, PPV, TI, CAL, CAL_large, AUC or TI_benefit
    group: NDArray[np.intp]  # shape (n_codes,): Group of each code
    score_bin: NDArray[np.intp] | None  # shape (n_codes,): Its score bin; None where it is the whole group
    held: Array  # shape (n_models, n_codes): What the value rests on, in number
    what: str  # Of that, the name
    needed: int  # Least number with which it is compared
    judged: NDArray[np.bool_]  # shape (n_models, n_codes): Whether it is
    own: Certainty  # By record, or by unit where units hold several records
    site: Certainty | None  # By site; None with too few
    expected: Array | None = None  # shape (n_models, n_codes): What each code is compared with, if not others
    worth: Array | None = None  # shape (n_models, n_codes): Equal records that `held` are worth, with weights

    @property
    def supported(self) -> Array:
        """What is compared with the number needed."""
        return self.held if self.worth is None else self.worth


@dataclass(frozen=True)
class Grouped:
    """The audited groups of one attribute by cluster, and what counts as one."""

    prepared: Audited
    groups: AuditedGroups
    protocol: Protocol

    @property
    def n_groups(self) -> int:
        """Groups that hold records."""
        return len(self.groups.settled.groups)

    def find(self, work: Callable[["GroupClusters | None"], Certainty]) -> tuple[Certainty, Certainty | None]:
        """Find what bounds a quantity by unit (or by record, without clusters), and by site."""
        return work(self.units), None if self.sites is None else work(self.sites)

    @cached_property
    def units(self) -> "GroupClusters | None":
        """The groups by unit, or by what was drawn as one; None where each record is its own."""
        return self.prepared.cluster_units(self.groups)  # type: ignore[arg-type]

    @cached_property
    def sites(self) -> "GroupClusters | None":
        """The groups by site; None with too few to speak of others, or with clusters drawn across them."""
        prepared = self.prepared
        if prepared.n_sites < LEAST_CLUSTERS or not prepared.sites_are_clusters:
            return None
        return prepared.cluster_sites(self.groups)  # type: ignore[arg-type]

    def count_worth(self, cells: tuple[int, ...]) -> Array | None:
        """Count the equal records that those of some counts are worth; None without weights."""
        weighted = self.groups.weighted
        if weighted is None:
            return None
        sums = (
            part[..., list(cells)].sum(axis=-1) for part in (weighted.counts.whole(), weighted.counts.squares)
        )
        return np.round(count_effective(*sums), DIGITS)

    def count_bins(self, in_bins: bool) -> Array | None:
        """Count the equal records that those of each group and score bin are worth; None without weights."""
        weighted = self.groups.weighted
        if weighted is None:
            return None
        parts = (weighted.scores.whole().records, weighted.scores.squares)
        sums = (part if in_bins else part.sum(axis=-1, keepdims=True) for part in parts)
        return np.round(count_effective(*sums), DIGITS).reshape(len(parts[0]), -1)


def measure_rates(grouped: Grouped, names: tuple[str, ...]) -> dict[str, Quantity]:
    """Measure rates of the groups, by name."""
    counts, whole = grouped.groups.count(), grouped.groups.counts.whole()
    least = _least(grouped.protocol)
    own, site = grouped.units, grouped.sites
    found = {}
    for name in names:
        hits, trials = (counts[..., list(part)].sum(axis=-1).astype(float) for part in RATE_CELLS[name])
        held = whole[..., list(RATE_CELLS[name][1])].sum(axis=-1).astype(float)
        worth = grouped.count_worth(RATE_CELLS[name][1])
        rests_on = held if worth is None else worth
        share = rate(hits, trials)
        what, needed = least[name]
        found[name] = Quantity(
            name=name,
            group=np.arange(grouped.n_groups),
            score_bin=None,
            held=held,
            what=what,
            needed=needed,
            judged=rests_on >= max(needed, 1),
            own=_alone(hits, trials) if own is None else _clustered_rate(name, own, share, rests_on),
            site=None if site is None else _clustered_rate(name, site, share, rests_on),
            worth=worth,
        )
    return found


def _least(protocol: Protocol) -> dict[str, tuple[str, int]]:
    """Say what a rate rests on, and the least number of that with which it is compared."""
    return {
        "SR": ("records", protocol.min_records),
        "TPR": ("events", protocol.min_events),
        "FPR": ("non_events", protocol.min_non_events),
        "PPV": (SELECTED, protocol.min_events),
        "ER": ("records", protocol.min_records),
    }


def _alone(hits: Array, trials: Array) -> Certainty:
    """Bound shares of records each of which stands for itself."""
    shape = hits.shape
    bounded = Bounded(
        np.full(shape, SHARE, np.int8), rate(hits, trials), trials, np.zeros(shape), np.full(shape, np.inf)
    )
    return Certainty(bounded, np.zeros((*shape, shape[-1])), trials, np.ones(shape, bool))


def _clustered_rate(name: str, clusters: GroupClusters, share: Array, trials: Array) -> Certainty:
    """Bound the shares of one rate, on so many records, by the spread between clusters."""
    return bound_shares(share, trials, clusters.spread_rates(*RATE_CELLS[name], share))


def bound_shares(share: Array, trials: Array, spreads: list[ClusterSpread]) -> Certainty:
    r"""Bound shares by their effective number of records, Korn and Graubard's way.

    The design effect :math:`d = \hat V / (p(1 - p)/n)` makes n records worth :math:`n / \max(d, 1)`. Where a
    share is 0 or 1 nothing is seen of it: then that of the other codes is taken, weighted by their records. A
    single cluster, or clusters of which nothing is seen anywhere, count as one record each. Of weighted
    records n is Kish's effective number, so that they are never worth more.

    References
    ----------
    Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data. Survey Methodology 24, 193-201.
    """
    variance = np.stack([np.diagonal(one.covariance) for one in spreads])
    clusters, equal, df = (np.stack([getattr(one, name) for one in spreads]) for name in _SPREAD_PARTS)
    simple = share * (1 - share) / np.where(trials > 0, trials, np.nan)
    seen = (simple > 0) & (clusters > 1)
    design = np.where(seen, np.maximum(rate(np.nan_to_num(variance), np.nan_to_num(simple)), 1), 0)
    known = np.where(seen, trials, 0)
    pooled = rate((design * known).sum(axis=-1), known.sum(axis=-1))[:, None]
    unseen = np.where(np.isnan(pooled) | (clusters <= 1), rate(trials, equal), pooled)
    effective = trials / np.where(seen, design, np.maximum(np.nan_to_num(unseen, nan=1.0), 1))
    sd = np.sqrt(np.maximum(np.nan_to_num(variance), np.nan_to_num(simple)))
    covariance = np.nan_to_num(np.stack([one.covariance for one in spreads]))
    correlation = np.nan_to_num(rate(covariance, sd[..., None] * sd[..., None, :]))
    kind, none = np.full(share.shape, SHARE, np.int8), np.zeros(share.shape)
    bounded = Bounded(kind, share, np.round(effective, DIGITS), none, df)
    return Certainty(bounded, _settle(correlation), clusters, _speak(spreads))


DIGITS = 10
"""Decimals kept of errors, correlations and effective records, so that no order of adding up can matter."""


def _settle(correlation: Array) -> Array:
    return np.asarray(np.round(np.clip(correlation, -1, 1), DIGITS), float)


_SPREAD_PARTS = ("clusters", "effective", "df")


def _speak(spreads: list[ClusterSpread]) -> NDArray[np.bool_]:
    return np.stack([one.speaks_of_others for one in spreads])


def bound_means(value: Array, spreads: list[ClusterSpread], theil_records: Array | None = None) -> Certainty:
    """Bound estimates of shape (n_models, n_codes) by their spread between clusters.

    `theil_records` are those that Theil indices rest on: see `unseen_theil`.
    """
    covariance = np.stack([one.covariance for one in spreads])
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    error = np.where(np.isnan(variance), np.inf, np.round(np.sqrt(np.nan_to_num(variance)), DIGITS))
    clusters, _, df = (np.stack([getattr(one, name) for one in spreads]) for name in _SPREAD_PARTS)
    known_error = np.where(np.isfinite(error), error, 0)
    scale = known_error[..., None] * known_error[..., None, :]
    known = scale > 0
    correlation = np.divide(covariance, scale, out=np.zeros_like(covariance), where=known)
    records = np.zeros(value.shape) if theil_records is None else theil_records
    bounded = Bounded(np.full(value.shape, MEAN, np.int8), value, records, error, df)
    return Certainty(bounded, _settle(correlation), clusters, _speak(spreads))


def measure_theil(grouped: Grouped) -> Quantity:
    """Measure the Theil index of b = 1 - abs(y - s) within each group."""
    sums, cells = grouped.groups.add_scores(), grouped.groups.scores.cells
    held = grouped.groups.scores.whole().records.sum(axis=-1)
    value = theil_index(sums.benefit, sums.benefit_log, sums.records.sum(axis=-1))
    worth = grouped.count_bins(in_bins=False)
    rests_on = held if worth is None else worth

    def find(clusters: GroupClusters | None) -> Certainty:
        if clusters is not None:
            return bound_means(value, clusters.spread_theil(), rests_on)
        blank = alone_spread(np.zeros(grouped.n_groups), np.zeros(grouped.n_groups))
        models = grouped.prepared.models
        alone = [_spread_cells(cells[m]) if m in cells else blank for m in models]
        return bound_means(value, alone, rests_on)

    needed = grouped.protocol.min_records
    judged = (rests_on >= max(needed, 1)) & ~np.isnan(value)
    own, site = grouped.find(find)
    judged &= np.isfinite(own.bounded.error)
    groups = np.arange(grouped.n_groups)
    return Quantity("TI", groups, None, held, "records", needed, judged, own, site, worth=worth)


def _spread_cells(cells: ScoreCells) -> ClusterSpread:
    """Measure the same with each record by itself: sums of squares from cells of group, label and bin."""
    score, logs = cells.mean
    event = cells.index // N_BINS % 2 == 1
    benefit, sign = np.where(event, score, 1 - score), np.where(event, 1.0, -1.0)
    first, cross, second = cells.root
    group = cells.index // (2 * N_BINS)
    n_groups = len(cells.sizes)

    def total(values: Array) -> Array:
        return np.bincount(group, cells.held * values, n_groups).astype(float)

    n = total(np.ones(len(group)))
    m, s = (rate(total(part), n) for part in (benefit, logs))
    m = np.where(m > 0, m, np.nan)
    on_logs, on_benefit = (1 / m)[group], (-(s / m + 1) / m)[group]
    off = on_logs * (logs - s[group]) + on_benefit * (benefit - m[group])
    within = (
        on_logs**2 * (cross**2 + second**2)
        + 2 * on_logs * on_benefit * sign * first * cross
        + on_benefit**2 * first**2
    )
    return alone_spread(total(np.nan_to_num(off**2 + within)), n)


def measure_benefit(grouped: Grouped) -> Quantity:
    """Measure the Theil index of b = d - y + 1 over all records, against 0."""
    value = benefit_theil(grouped.groups.count().sum(axis=1, keepdims=True))[..., 0]
    counts = grouped.groups.counts.whole().sum(axis=1, keepdims=True)

    def find(clusters: GroupClusters | None) -> Certainty:
        each = grouped.prepared.part_records(grouped.groups) if clusters is None else clusters  # type: ignore[arg-type]
        return bound_means(value, each.spread_benefit())

    held = counts.sum(axis=-1).astype(float)
    needed = grouped.protocol.min_records
    own, site = grouped.find(find)
    design = grouped.prepared.design
    worth = None if design is None else np.full(value.shape, round(design.effective, DIGITS))
    judged = ((held if worth is None else worth) >= needed) & ~np.isnan(value)
    judged &= np.isfinite(own.bounded.error)
    group, none = np.zeros(1, np.intp), np.zeros(value.shape)
    return Quantity("TI_benefit", group, None, held, "records", needed, judged, own, site, none, worth)


def measure_areas(grouped: Grouped) -> Quantity:
    """Measure the area under the ROC curve within each group."""
    models, n_groups = grouped.prepared.models, grouped.n_groups
    found = grouped.prepared.influence_areas(grouped.groups)  # type: ignore[arg-type]
    events, others = (
        _stack_models([getattr(found.get(model), name, None) for model in models], n_groups)
        for name in ("events", "others")
    )

    def find(clusters: GroupClusters | None) -> Certainty:
        if clusters is not None:
            return _bound_areas(clusters.spread_areas(found), models, n_groups, clusters.holds_both())
        areas = each_model(cluster_areas, list(found.values()))
        return _bound_areas(dict(zip(found, areas, strict=True)), models, n_groups, np.ones(n_groups, bool))

    own, site = grouped.find(find)
    protocol = grouped.protocol
    needed = max(protocol.min_events, protocol.min_non_events)
    judged = (events >= protocol.min_events) & (others >= protocol.min_non_events)
    judged &= own.bounded.effective > 0
    rarer, groups = np.nan_to_num(np.minimum(events, others)), np.arange(n_groups)
    worth = None if grouped.prepared.design is None else np.round(rarer, DIGITS)
    held = rarer if worth is None else _count_rarer(grouped, rarer)
    return Quantity("AUC", groups, None, held, RARER, needed, judged, own, site, worth=worth)


def _count_rarer(grouped: Grouped, worth: Array) -> Array:
    """Count the rarer outcome of each group in records, for the models that order them."""
    rarer = stratum_sizes(grouped.groups.counts.whole()[0]).min(axis=-1)
    return np.where(worth > 0, rarer, 0.0)


RARER = "rarer outcome"
"""What an area rests on."""


def _stack_models(parts: Sequence[Array | None], n_groups: int) -> Array:
    """Stack a row a model; nan where there is none."""
    return np.stack([np.full(n_groups, np.nan) if part is None else part for part in parts])


def _bound_areas(
    found: Mapping[str, ClusteredAreas], models: Sequence[str], n_groups: int, speaks: NDArray[np.bool_]
) -> Certainty:
    """Bound areas by the pairs that they are worth."""
    areas = [found.get(model) for model in models]
    value, events, others, df, clusters = (
        _stack_models([getattr(one, name, None) for one in areas], n_groups)
        for name in ("areas", "events", "others", "df", "clusters")
    )
    blank = np.full((n_groups, n_groups), np.nan)
    covariance = np.stack([blank if one is None else one.covariance for one in areas])
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    worth = np.nan_to_num(np.round(count_worth(value, variance, np.minimum(events, others)), DIGITS))
    correlation = np.stack([np.zeros_like(blank) if one is None else one.correlation for one in areas])
    kind, none = np.full(value.shape, AREA, np.int8), np.zeros(value.shape)
    bounded = Bounded(kind, value, worth, none, np.round(df, DIGITS))
    return Certainty(bounded, _settle(correlation), clusters, np.broadcast_to(speaks, value.shape))


def measure_calibration(grouped: Grouped, *, in_bins: bool) -> Quantity:
    """Measure the event rate of each group, or of each group and score bin, against the mean score there."""
    sums, n_bins = grouped.groups.add_scores(), N_BINS if in_bins else 1
    trials, events, score = (part.reshape(len(part), -1) for part in join_bins(sums, in_bins))
    expected, share = rate(score, trials), rate(events, trials)
    held = join_bins(grouped.groups.scores.whole(), in_bins)[0].reshape(trials.shape)
    worth = grouped.count_bins(in_bins)
    rests_on = held if worth is None else worth

    def find(clusters: GroupClusters | None) -> Certainty:
        if clusters is None:
            return _alone(events, held)
        off = np.nan_to_num(share - expected).reshape(len(share), -1, n_bins)
        return bound_shares(share, rests_on, clusters.spread_bins(off))

    codes, needed = np.arange(grouped.n_groups * n_bins), grouped.protocol.min_records
    own, site = grouped.find(find)
    return Quantity(
        name="CAL" if in_bins else "CAL_large",
        group=codes // n_bins,
        score_bin=codes % n_bins if in_bins else None,
        held=held,
        what="records",
        needed=needed,
        judged=rests_on >= max(needed, 1),
        own=own,
        site=site,
        expected=expected,
        worth=worth,
    )
