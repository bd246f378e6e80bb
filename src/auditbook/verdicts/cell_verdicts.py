"""Does each cell pass, fail, or stay open, and which verdicts would another sample reverse?"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from auditbook.columns import empty_table, fill_table
from auditbook.evidence import Audited, AuditedGroups, Counts, Evidence, Kind, Shortfall, stratum_sizes
from auditbook.settings import Protocol
from auditbook.verdicts.attribute_audit import AttributeAudit
from auditbook.verdicts.equal_groups import fail_if_equal
from auditbook.verdicts.error_free import error_free_value
from auditbook.verdicts.flips import Stability, resample_values, summarise_resamples
from auditbook.verdicts.metrics import Metric, find_metric
from auditbook.verdicts.next_audit import next_fail_share
from auditbook.verdicts.reversals import draw_units, find_site_obstacles, plan_units, reversal_share
from auditbook.verdicts.support import find_obstacles, write_obstacles


def judge_cells(prepared: Audited, protocol: Protocol, *, beside: bool = True) -> pd.DataFrame:
    """Give every cell its verdict, its flip rates, and (`beside`) what other audits would say of it.

    The columns of the other axes stay blank.
    """
    metrics = [find_metric(name) for name in protocol.metrics]
    times = prepared.site_times(protocol.resamples, protocol.seed)
    units = plan_units(prepared, protocol) if beside else None
    cells = []
    for groups in prepared.groups:
        context = _Context(AttributeAudit(prepared, groups, protocol, units))
        draws = {kind: _draw(context, kind, times) for kind in {metric.evidence for metric in metrics}}
        cells += [_judge_cells(metric, draws[metric.evidence], context, beside) for metric in metrics]
    return _arrange(cells, prepared.models, len(prepared.groups), protocol.metrics)


def predict_next(prepared: Audited, protocol: Protocol) -> pd.DataFrame:
    """Give every cell its verdict and the chance that the next audit differs, as `judge_cells` gives them.

    The columns are model, metric, attribute, estimate, verdict and next_audit; nothing else is resampled.
    """
    units = plan_units(prepared, protocol)
    cells = []
    for groups in prepared.groups:
        context = _Context(AttributeAudit(prepared, groups, protocol, units))
        cells += [_predict_cells(find_metric(name), context) for name in protocol.metrics]
    return pd.concat(cells, ignore_index=True)


def _predict_cells(metric: Metric, context: "_Context") -> pd.DataFrame:
    """Predict one metric and attribute under every model."""
    audit, kind = context.audit, metric.evidence
    threshold = float(context.protocol.thresholds.get(metric.name, metric.threshold))
    whole = audit.sums if kind == "score sums" else context.groups.evidence[kind].whole()
    own_size = _draw_own_size(context, kind) if kind == "areas" else whole
    parts = metric.by_group(whole)
    estimate = metric.combine(parts)
    passes = metric.passes(estimate, threshold=threshold)
    is_open = np.array([bool(found) for found in _find_obstacles(metric, parts, context)])
    fails = next_fail_share(audit, metric, parts=parts, own_size=own_size, threshold=threshold)
    return pd.DataFrame(
        {
            "model": context.prepared.models,
            "metric": metric.name,
            "attribute": context.groups.declared.name,
            "estimate": estimate,
            "verdict": np.where(is_open, "inconclusive", np.where(passes, "pass", "fail")),
            "next_audit": np.where(is_open, np.nan, reversal_share(1 - fails, passes)),
        }
    )


def _draw_own_size(context: "_Context", kind: Kind) -> Evidence:
    """Draw resamples as large as the audit, of units where there are any."""
    protocol, units = context.protocol, context.audit.units
    if units is not None:
        return draw_units(context.groups, kind, units)[1]
    own = context.groups.rows
    return context.groups.evidence[kind].drawn(own, resamples=protocol.resamples, seed=protocol.seed)


@dataclass(frozen=True)
class _Draws:
    """What the groups of one attribute show, in the audit and in resamples."""

    whole: Evidence
    resampled: Evidence  # Of the protocol's size
    own_size: Evidence  # As large as the audit itself
    by_site: Evidence | None  # Of whole sites; None with fewer than two
    # Of whole units: of the protocol's size and of the audit's own; None where each record is its own unit
    by_unit: tuple[Evidence, Evidence] | None


def _draw(context: "_Context", kind: Kind, times: NDArray[np.int64] | None) -> _Draws:
    """Draw the resamples of one attribute."""
    evidence, protocol, site = context.groups.evidence[kind], context.protocol, context.prepared.site
    own = context.groups.rows
    size = context.resample_size

    def draw(size: int) -> Evidence:
        return evidence.drawn(size, resamples=protocol.resamples, seed=protocol.seed)

    resampled = draw(size)
    taken = None
    if times is not None and site is not None:
        taken = evidence.by_site(site, context.prepared.n_sites, times)
    units = context.audit.units
    by_unit = None if units is None else draw_units(context.groups, kind, units)
    whole = context.audit.sums if kind == "score sums" else evidence.whole()
    return _Draws(whole, resampled, resampled if own == size else draw(own), taken, by_unit)


@dataclass(frozen=True)
class _Context:
    """What the cells of one attribute have in common."""

    audit: AttributeAudit

    @property
    def prepared(self) -> Audited:
        """The audited records."""
        return self.audit.prepared

    @property
    def groups(self) -> AuditedGroups:
        """The groups of the attribute."""
        return self.audit.groups

    @property
    def protocol(self) -> Protocol:
        """The constants."""
        return self.audit.protocol

    @cached_property
    def site_obstacles(self) -> list[str]:
        """Why whole sites say nothing of these groups; empty where they do, and without sites."""
        if self.prepared.site is None or self.prepared.n_sites < 2:
            return []
        pairs, held = self.prepared.count_site_records(self.groups)  # type: ignore[arg-type]
        return find_site_obstacles(pairs, held, self.groups.settled.groups)

    @property
    def resample_size(self) -> int:
        """Records a resample; with weights the audit's own, since whole clusters are drawn."""
        if self.prepared.design is not None:
            return self.groups.rows
        return min(self.protocol.resample_size, self.groups.rows)

    @property
    def counts(self) -> Counts:
        """Counts of every model, shape (n_models, n_groups, 4)."""
        return self.groups.counts.whole()

    @property
    def empty_groups(self) -> list[str]:
        """Groups that were declared but hold no record, by name."""
        return sorted(set(self.groups.declared.groups) - set(self.groups.settled.groups))


def _judge_cells(
    metric: Metric, draws: _Draws, context: _Context, beside: bool
) -> dict[str, NDArray[np.generic]]:
    """Judge one metric and attribute under every model; columns by name, each with a row a model."""
    threshold = float(context.protocol.thresholds.get(metric.name, metric.threshold))
    parts = metric.by_group(draws.whole)
    estimate = metric.combine(parts)
    obstacles = _find_obstacles(metric, parts, context)
    is_open = np.array([bool(found) for found in obstacles])
    passed = np.where(metric.passes(estimate, threshold=threshold), "pass", "fail")
    found = _stability(metric, draws.resampled, parts, threshold)
    own = _stability(metric, draws.own_size, parts, threshold)
    by_site = None if draws.by_site is None else _stability(metric, draws.by_site, parts, threshold)
    columns: dict[str, ArrayLike] = {
        **_fixed_columns(metric, context),
        "estimate": estimate,
        "threshold": threshold,
        "verdict": np.where(is_open, "inconclusive", passed),
        "reason": _write_reasons(metric, obstacles, found, context),
        **_name_extremes(parts, context.groups.settled.groups),
        **_main_columns(found, is_open),
        **_flip_columns("vfr_own_size", own, is_open),
        **_flip_columns("vfr_site", by_site, is_open),
    }
    columns |= dict.fromkeys(BESIDE, np.nan)
    if beside:
        passes = passed == "pass"
        columns |= _beside_columns(metric, draws, context, parts, threshold)
        columns |= _reversal_columns(metric, draws, context, (found, own, by_site), passes, threshold)
    agrees = found.dominant == np.where(is_open, "inconclusive", passed)
    columns["agrees"] = np.where(is_open | (found.dominant == ""), np.nan, agrees.astype(float))
    columns |= {name: np.where(is_open, np.nan, columns[name]) for name in BESIDE[1:]}
    return {name: np.broadcast_to(column, estimate.shape) for name, column in columns.items()}


BESIDE = ("error_free", "fail_if_equal", "reversal", "reversal_own_size", "reversal_site", "next_audit")
"""What stands beside a verdict; all but the first are blank in an inconclusive cell."""


def _beside_columns(
    metric: Metric, draws: _Draws, context: _Context, parts: NDArray[np.float64], threshold: float
) -> dict[str, ArrayLike]:
    """Say what a model without error, one with equal groups, and other patients would bring."""
    audit = context.audit
    own_size = draws.own_size if draws.by_unit is None else draws.by_unit[1]
    fails = next_fail_share(audit, metric, parts=parts, own_size=own_size, threshold=threshold)
    passes = metric.passes(metric.combine(parts), threshold=threshold)
    free = error_free_value(metric, audit.outcomes, protocol=context.protocol, held=audit.strata)
    return {
        "error_free": np.full(len(fails), free),
        "fail_if_equal": fail_if_equal(audit, metric, own_size=own_size, threshold=threshold),
        "next_audit": reversal_share(1 - fails, passes),
    }


def _reversal_columns(
    metric: Metric,
    draws: _Draws,
    context: _Context,
    found: tuple[Stability, Stability, Stability | None],
    passed: NDArray[np.bool_],
    threshold: float,
) -> dict[str, ArrayLike]:
    """Give the share of resamples against the row's verdict; whole units are drawn where there are any."""
    main, own, by_site = found
    if draws.by_unit is not None:
        parts = metric.by_group(draws.whole)
        main, own = (_stability(metric, drawn, parts, threshold) for drawn in draws.by_unit)
    told = by_site is not None and not context.site_obstacles
    return {
        "reversal": reversal_share(main.pass_share, passed),
        "reversal_own_size": reversal_share(own.pass_share, passed),
        "reversal_site": reversal_share(by_site.pass_share, passed)
        if by_site is not None and told
        else np.nan,
    }


def _fixed_columns(metric: Metric, context: _Context) -> dict[str, ArrayLike]:
    """Give the columns that need no resample, and those that other axes will fill."""
    return {
        "model": context.prepared.models,
        "metric": metric.name,
        "attribute": context.groups.declared.name,
        "smallest_n": int(context.counts[0].sum(axis=-1).min()),
        "site_count": context.prepared.n_sites or np.nan,
        "resample_size": context.resample_size,
        "n_star": np.nan,
        "folds_rated": np.nan,
        "kappa": np.nan,
        "tier": "",
        "tier_reasons": "",
        **dict.fromkeys(("shown", "shown_alone", "gap_groups", "scope", "left_out", "standing"), ""),
    }


def _stability(
    metric: Metric, resampled: Evidence, parts: NDArray[np.float64], threshold: float
) -> Stability:
    """Summarise the resamples of every model; groups with a value in the whole sample must keep one."""
    values = resample_values(metric, resampled, required=~np.isnan(parts)[:, None])
    return summarise_resamples(metric, values, threshold=threshold)


def _main_columns(found: Stability, is_open: NDArray[np.bool_]) -> dict[str, ArrayLike]:
    """Columns from the resamples of the protocol's size; blank in inconclusive cells."""
    numbers = {
        "resample_mean": found.mean,
        "resample_sd": found.sd,
        "margin": found.margin,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
    }
    return {
        "dominant_verdict": np.where(is_open, "", found.dominant),
        **{name: np.where(is_open, np.nan, part) for name, part in numbers.items()},
        **_flip_columns("vfr", found, is_open),
    }


def _flip_columns(name: str, found: Stability | None, is_open: NDArray[np.bool_]) -> dict[str, ArrayLike]:
    """Give a flip rate, its bounds and the share of undefined resamples; blank where there is none."""
    keys = (name, f"{name}_low", f"{name}_high", name.replace("vfr", "undefined_share"))
    if found is None:
        return dict.fromkeys(keys, np.nan)
    parts = (found.vfr, found.vfr_low, found.vfr_high, found.undefined_share)
    return {key: np.where(is_open, np.nan, part) for key, part in zip(keys, parts, strict=True)}


def _name_extremes(parts: NDArray[np.float64], groups: Sequence[str]) -> dict[str, list[str]]:
    """Name the groups with the least and the largest value, in the part with the larger gap."""
    names: dict[str, list[str]] = {"lowest_group": [], "highest_group": []}
    for table in parts:
        comparable = (
            table.shape[-1] == len(groups) and (np.count_nonzero(~np.isnan(table), axis=-1) >= 2).all()
        )
        if comparable:
            part = table[np.argmax(np.fmax.reduce(table, axis=-1) - np.fmin.reduce(table, axis=-1))]
            names["lowest_group"].append(groups[int(np.nanargmin(part))])
            names["highest_group"].append(groups[int(np.nanargmax(part))])
        else:
            names["lowest_group"].append("")
            names["highest_group"].append("")
    return names


def _find_obstacles(metric: Metric, parts: NDArray[np.float64], context: _Context) -> list[list[Shortfall]]:
    """List what is in the way of a verdict, for every model."""
    weighted = context.groups.weighted
    return [
        find_obstacles(
            metric,
            kind=score.kind,
            groups=context.groups.settled.groups,
            strata=stratum_sizes(table),
            parts=values,
            selected=table[:, :2].sum(axis=-1),
            protocol=context.protocol,
            worth=None if weighted is None else weighted.counts.worth,
        )
        for score, table, values in zip(context.prepared.rules, context.counts, parts, strict=True)
    ]


def _write_reasons(
    metric: Metric, obstacles: list[list[Shortfall]], found: Stability, context: _Context
) -> list[str]:
    """Join obstacles and notes into one sentence a model."""
    empty = [f"{name}: no records" for name in context.empty_groups]
    reasons = []
    for place, (score, in_the_way) in enumerate(zip(context.prepared.rules, obstacles, strict=True)):
        selected, everyone = int(context.counts[place, :, :2].sum()), int(context.counts[place].sum())
        notes = write_obstacles(metric, score.kind, in_the_way)
        said = any(each.what == "selected" for each in in_the_way)
        if metric.evidence == "counts" and selected in (0, everyone) and not said:
            notes.append(f"{'every' if selected else 'no'} record is selected")
        if not in_the_way and found.undefined_share[place] == 1:
            notes.append("undefined in every resample")
        elif not in_the_way and np.isnan(found.ci_low[place]):
            notes.append("the resamples hardly vary, so there is no interval")
        if not in_the_way and context.site_obstacles:
            notes.append(f"no reversal by sites: {', '.join(context.site_obstacles)}")
        reasons.append("; ".join(notes + empty))
    return reasons


def _arrange(
    found: list[dict[str, NDArray[np.generic]]],
    models: list[str],
    n_attributes: int,
    metrics: tuple[str, ...],
) -> pd.DataFrame:
    """Order cells by model, metric and attribute, each in its declared order."""
    if not found:
        return empty_table("verdicts")
    n_metrics = len(metrics)
    rows = np.arange(len(found) * len(models)).reshape(n_attributes, n_metrics, len(models))
    order = rows.transpose(2, 1, 0).ravel()
    columns = {name: np.concatenate([cell[name] for cell in found])[order] for name in found[0]}
    return fill_table("verdicts", columns)
