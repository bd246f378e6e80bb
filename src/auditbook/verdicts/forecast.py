"""Does the flip rate tell the truth: does it foretell how audits of other records end?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from auditbook.evidence import (
    FN,
    TP,
    Tally,
    check_records,
    count_sites,
    list_settled,
    open_stream,
    settle_groups,
    settle_sites,
)
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.verdicts.forecast_compare import Rule, measure_halvings
from auditbook.verdicts.forecast_draw import (
    HalfDraws,
    audit_halves,
    count_taken,
    resample_freely,
    resample_halves,
)
from auditbook.verdicts.forecast_halve import SiteOrders, halve_records, halve_sites, order_sites
from auditbook.verdicts.forecast_tables import calibrate_flips, tabulate_flips
from auditbook.verdicts.metrics import find_metric

__all__ = ["LEAST_SITES", "SIZES", "check_flips", "plan_truth_sizes"]

SIZES = (500, 1_000, 2_500, 5_000, 10_000)
"""Records of an audit, as far as half of a half holds them."""

LEAST_SITES = 10
"""With fewer sites a half would hold four or less, and resampling so few whole sites says nothing."""

AUDITS = 200
"""Audits drawn from each half, and resamples of whole sites, at the most."""

MOST_OF_HALF = 0.6
"""Whole sites do not divide evenly; no audit is larger than this share of the smallest half."""

RECORDS, SITES = "records", "sites"


def plan_truth_sizes(whole: int) -> list[int]:
    """Choose the sizes of the audits: those of `SIZES` that are at most half of a half."""
    return [size for size in SIZES if 4 * size <= whole]


def check_flips(source: AuditRecords | Tally, *, protocol: Protocol, seed: int) -> dict[str, pd.DataFrame]:
    """Foretell from one half of a cohort how often verdicts flip, and look what comes of it in the other.

    The audited records of the first model are halved many times, by record and, with enough sites, by whole
    sites. From the first half come the flip rate of axis 1 at several sizes and one for whole sites; from the
    second, audits of these sizes, drawn without replacement by record and by whole sites. Nothing of the
    second half is used to predict. The distance between an audit of the second and the estimate of the first
    varies as if both were independent samples of a population without end. Yet the halves mirror each other:
    what the first has more than the whole, the second has less. Where the whole lies at the threshold they
    mostly end on opposite sides of it, and where it lies far off hardly ever; over many cohorts, or cells at
    all distances, the two make up for each other. `realised_mixed` pairs halves of different halvings, which
    do not mirror each other but share records, and are nearer to each other than independent ones.

    Nothing is said of records with weights: half of a weighted sample is no smaller audit of its kind.

    Only metrics of counts take part. TI and CAL rest on the scores of the records, which would have to be
    sorted again in every half.

    Parameters
    ----------
    source : AuditRecords or Tally
        What is audited; counts by site and group are all that is asked of it.
    protocol : Protocol
        Gives the number of halvings and of resamples, metrics, thresholds and minimum support.
    seed : int
        Seed of the run. Each attribute, way of halving and size has a stream of its own.

    Returns
    -------
    dict of str to DataFrame
        ``flip_truth``: one row a way of halving, way of drawing, cell and size, see `tabulate_flips`;
        ``flip_truth_summary``: predicted against realised, see `calibrate_flips`. Without a size that fits,
        or a metric of counts, both are empty.

    Raises
    ------
    InputError
        If the records cannot be audited.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846 (the flip rate; the check is ours)

    Examples
    --------
    >>> from auditbook.records import Attribute, AuditRecords, Score
    >>> sex = Attribute("sex", ("F", "M"), np.repeat([0, 1], 1000))
    >>> scores = (Score("m", "decision", 0.5, np.tile([1.0, 0.0], 1000)),)
    >>> records = AuditRecords(np.tile(np.array([1, 1, 0, 0], np.int8), 500), (sex,), scores)
    >>> found = check_flips(records, protocol=Protocol(metrics=("SPD",), halvings=4), seed=1)
    >>> found["flip_truth"][["halving", "drawing", "n", "halvings"]].values.tolist()
    [['records', 'records', 500, 4]]
    """
    counted = _count_tally(source) if isinstance(source, Tally) else _count_records(source)
    plan = _make_plan(counted, protocol, seed)
    measured = list(_measure(plan))
    model = counted.model
    return {
        "flip_truth": tabulate_flips(measured, model=model),
        "flip_truth_summary": calibrate_flips(
            measured, model=model, draws=plan.draws, rng=open_stream(seed, "flip truth", "intervals")
        ),
    }


@dataclass(frozen=True)
class _Counted:
    """The first model's counts."""

    model: str
    rows: int
    weighted: bool
    # shape (n_sites,): Records of each site, in the order of `settle_sites`; None without sites
    sites: NDArray[np.int64] | None
    # By attribute, its groups in the order of `settle_groups`, shape (n_sites, n_groups, 4); one site without
    tables: dict[str, NDArray[np.int64]]


def _count_records(records: AuditRecords) -> _Counted:
    """Count records by site and group under the first model."""
    check_records(records)
    site, n_sites = np.zeros(len(records.outcome), np.intp), 1
    if records.site is not None:
        site, n_sites = settle_sites(records.site, records.outcome)
    outcome, decisions = records.outcome, records.scores[0].decisions
    tables = {}
    for attribute in records.attributes:
        settled = settle_groups(attribute, outcome)
        groups = settled.codes, len(settled.groups)
        tables[attribute.name] = count_sites(outcome, decisions, *groups, site=site, n_sites=n_sites)
    sizes = None if records.site is None else np.bincount(site)
    return _Counted(records.scores[0].model, len(outcome), records.survey is not None, sizes, tables)


def _count_tally(tally: Tally) -> _Counted:
    """Take the first model's counts of a tally."""
    tables, sizes = {}, None
    for attribute in tally.attributes:
        counts = attribute.counts[0]
        whole = counts.sum(axis=1)
        order = np.lexsort((whole[:, [TP, FN]].sum(axis=1), whole.sum(axis=1)))
        tables[attribute.name] = counts[order][:, list_settled(attribute)]
        sizes = whole.sum(axis=1)[order] if tally.sites else None
    rows = min((int(table.sum()) for table in tables.values()), default=tally.rows)
    return _Counted(tally.models[0].model, rows, False, sizes, tables)


@dataclass(frozen=True)
class _Plan:
    """What all attributes have in common."""

    tables: dict[str, NDArray[np.int64]]  # By attribute, shape (n_sites, n_groups, 4)
    protocol: Protocol
    seed: int
    sizes: list[int]
    by_site: dict[str, "_SitePlan"]

    @property
    def draws(self) -> tuple[int, int]:
        """Resamples and audits of a half."""
        return self.protocol.resamples, min(AUDITS, self.protocol.resamples)

    def stream(self, *names: str) -> np.random.Generator:
        """Open a stream of its own for anything that is drawn."""
        return open_stream(self.seed, "flip truth", *names)


@dataclass(frozen=True)
class _Taken:
    """Which sites the samples of one size take, by halving; the same for all attributes."""

    resamples: list[csr_matrix]
    audits_first: list[csr_matrix]
    audits_second: list[csr_matrix]


@dataclass(frozen=True)
class _SitePlan:
    """How whole sites are drawn from the halves of one way of halving.

    `first` tells which sites stand in the first half, shape (halvings, n_sites); both halves of a halving by
    record have records of every site. `smallest` is the number of records in the smallest half.
    """

    first: NDArray[np.bool_]
    resamples: list[SiteOrders]
    audits_first: list[SiteOrders]
    audits_second: list[SiteOrders]
    smallest: int

    def take(self, size: int) -> _Taken:
        """Take sites for samples of one size."""
        orders = self.resamples, self.audits_first, self.audits_second
        return _Taken(*([order.take(size) for order in part] for part in orders))


def _make_plan(counted: _Counted, protocol: Protocol, seed: int) -> _Plan:
    """Fix sizes and sites; with fewer than `LEAST_SITES` all records count as one site."""
    halved = [] if counted.weighted else plan_truth_sizes(counted.rows)
    sizes = counted.sites
    if sizes is None or len(sizes) < LEAST_SITES:
        alone = {name: table.sum(axis=0, keepdims=True) for name, table in counted.tables.items()}
        return _Plan(alone, protocol, seed, halved, {})
    bare = _Plan(counted.tables, protocol, seed, halved, {})
    if not bare.sizes:
        return bare
    first = halve_sites(sizes, halvings=protocol.halvings, rng=bare.stream("sites"))
    everywhere = np.ones_like(first)
    plans = {
        RECORDS: _plan_sites(bare, RECORDS, sizes / 2, everywhere, everywhere),
        SITES: _plan_sites(bare, SITES, sizes.astype(float), first, ~first),
    }
    return replace(bare, by_site=plans)


def _plan_sites(
    plan: _Plan, halving: str, sizes: NDArray[np.float64], first: NDArray[np.bool_], second: NDArray[np.bool_]
) -> _SitePlan:
    """Put the sites of every half in random order."""

    def order(what: str, half: NDArray[np.bool_]) -> list[SiteOrders]:
        rng = plan.stream("orders", halving, what)
        return [
            order_sites(
                sizes, row, repeats=plan.draws[1], most=max(plan.sizes), replace=what == "resamples", rng=rng
            )
            for row in half
        ]

    smallest = int(min((first @ sizes).min(), (second @ sizes).min()))
    return _SitePlan(
        first, order("resamples", first), order("first", first), order("second", second), smallest
    )


def _measure(plan: _Plan) -> Iterator[pd.DataFrame]:
    """Measure every cell: a frame for each way, size, attribute and metric, with a row for each halving."""
    rules = [
        Rule(metric, plan.protocol)
        for name in plan.protocol.metrics
        if (metric := find_metric(name)).evidence == "counts"
    ]
    tables = plan.tables
    for halving in (RECORDS, SITES) if plan.by_site else (RECORDS,) if plan.sizes else ():
        sites = plan.by_site.get(halving)
        halves = {name: _halve(plan, halving, name, table) for name, table in tables.items()}
        for size in plan.sizes:
            if sites is not None and size > MOST_OF_HALF * sites.smallest:
                continue
            taken = None if sites is None else sites.take(size)
            for name, first in halves.items():
                rng = plan.stream("draws", halving, name, str(size))
                draws = _draw_size(plan, (first, tables[name] - first), size, taken, rng)
                for rule in rules:
                    yield from _measure_cell(rule, draws, halving, name, tables[name].sum(axis=0))


def _halve(plan: _Plan, halving: str, attribute: str, at_site: NDArray[np.int64]) -> NDArray[np.int64]:
    """Take the first half of every halving, shape (halvings, n_sites, n_groups, 4)."""
    if halving == SITES:
        return at_site * plan.by_site[SITES].first[:, :, None, None]
    return halve_records(
        at_site, halvings=plan.protocol.halvings, rng=plan.stream("halves", halving, attribute)
    )


def _draw_size(
    plan: _Plan,
    halves: tuple[NDArray[np.int64], NDArray[np.int64]],
    size: int,
    taken: "_Taken | None",
    rng: np.random.Generator,
) -> HalfDraws:
    """Draw all samples of one size from the halves of one attribute."""
    first, second = (half.sum(axis=1) for half in halves)
    resamples, audits = plan.draws
    resampled = resample_halves(first, size=size, resamples=resamples, rng=rng)
    free = resample_freely(first, size=size, resamples=audits, rng=rng)
    one, other = (audit_halves(half, size=size, audits=audits, rng=rng) for half in (first, second))
    if taken is None:
        return HalfDraws(first, second, resampled, free, None, {RECORDS: (one, other)}, size)
    by_site = count_taken(taken.resamples, halves[0])
    whole = count_taken(taken.audits_first, halves[0]), count_taken(taken.audits_second, halves[1])
    return HalfDraws(first, second, resampled, free, by_site, {RECORDS: (one, other), SITES: whole}, size)


def _measure_cell(
    rule: Rule, draws: HalfDraws, halving: str, attribute: str, counts: NDArray[np.int64]
) -> Iterator[pd.DataFrame]:
    """Measure one cell at one size, for each way of drawing audits."""
    for drawing, measures in measure_halvings(rule, draws).items():
        fixed = {
            "halving": halving,
            "drawing": drawing,
            "metric": rule.metric.name,
            "attribute": attribute,
            "n": draws.size,
            "estimate": float(rule.metric.values(counts)),
            "threshold": rule.protocol.thresholds.get(rule.metric.name, rule.metric.threshold),
            "turn": np.arange(len(draws.first)),
        }
        yield pd.DataFrame(fixed | measures)
