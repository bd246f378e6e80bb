"""What are the areas within and across groups, what do the fairness metrics say, and how sure is all that?"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from auditbook.columns import fill_table, stack_tables
from auditbook.evidence import (
    Tally,
    check_records,
    each_model,
    list_shortfalls,
    name_shortfall,
    rank_levels,
    settle_groups,
    write_shortfalls,
)
from auditbook.ranking.area_metrics import AUC_METRICS, AreaFinding, assess_areas
from auditbook.ranking.binned_metrics import bound_finding
from auditbook.ranking.joint import joint_levels
from auditbook.ranking.matrix import (
    AucMatrix,
    matrix_interval,
    matrix_site_interval,
    order_matrix,
    site_errors,
    standard_errors,
)
from auditbook.ranking.measured import MeasuredAreas
from auditbook.ranking.tallied_areas import measure_tallied_areas, write_bin_note
from auditbook.ranking.units import WHOLE, explain_sites, find_site_units, find_units
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol

UNDEFINED, NO_INTERVAL, ONE_SIDED, KNOWN = "undefined", "no interval", "one-sided", "two-sided"
"""Status of an area: not there, there without an interval, with a one-sided one, with a two-sided one."""


def measure_areas(source: AuditRecords | Tally) -> list[MeasuredAreas]:
    """Find the AUC matrix of every attribute under every model; scores are sorted once a model."""
    return measure_tallied_areas(source) if isinstance(source, Tally) else _measure_records(source)


def _measure_records(records: AuditRecords) -> list[MeasuredAreas]:
    """Find the AUC matrices from records."""
    check_records(records)
    settled = [settle_groups(attribute, records.outcome) for attribute in records.attributes]
    site = find_site_units(records)
    units = [find_units(records, len(kept.groups)) for kept in settled]
    lacks = [tuple(explain_sites(site, kept)) for kept in settled]
    whole = explain_sites(site, Attribute(WHOLE, (WHOLE,), np.zeros(len(records.outcome), np.intp)))[0]

    def measure(score: Score) -> list[MeasuredAreas]:
        levels = rank_levels(records.outcome, score.values)
        found = []
        for declared, kept, unit, lack in zip(records.attributes, settled, units, lacks, strict=True):
            asked = levels, kept.codes, len(kept.groups)
            by_unit = None if unit is None else order_matrix(*asked, site=unit)
            matrix = order_matrix(*asked, site=site)
            found.append(MeasuredAreas(score.model, declared, kept, matrix, by_unit, lack, whole))
        return found

    return [one for found in each_model(measure, records.scores) for one in found]


def tabulate_auc_matrix(
    source: AuditRecords | Tally,
    *,
    protocol: Protocol,
    seed: int,
    level: float = 0.95,
    areas: Sequence[MeasuredAreas] | None = None,
) -> pd.DataFrame:
    """Tabulate all areas within and across groups: ``auc_matrix.csv``.

    References
    ----------
    DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). doi:10.2307/2531595
    """
    measured = measure_areas(source) if areas is None else areas
    return stack_tables("auc_matrix", [_tabulate(one, protocol, seed, level) for one in measured])


def _tabulate(one: MeasuredAreas, protocol: Protocol, seed: int, level: float) -> pd.DataFrame:
    """Tabulate one matrix, empty groups included."""
    matrix, declared = one.matrix, one.declared
    n_settled, n_groups = len(one.settled.groups), len(declared.groups)
    free, bound = one.independent, matrix_site_interval if one.clustered else matrix_interval
    joint = joint_levels(free, level=level, by_site=one.clustered, rng=one.stream(seed, "matrix")).entries
    single, together = bound(free, level=level), bound(free, level=joint)
    sites, by_site = site_errors(matrix), matrix_site_interval(matrix, level=level)
    fenced = np.array([bool(lack) for lack in one.sites], bool)
    fenced = fenced[:, None] | fenced
    place = np.array([_find(one.settled.groups, name) for name in declared.groups])
    first, second = (part.ravel() for part in np.meshgrid(place, place, indexing="ij"))
    held = (first >= 0) & (second >= 0)

    def spread(part: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(held, part[first, second], np.nan) if n_settled else np.full(n_groups**2, np.nan)

    counts = np.stack([np.append(part, 0).astype(int)[place] for part in (matrix.events, matrix.others)])
    columns: dict[str, Any] = {
        "model": one.model,
        "attribute": declared.name,
        "event_group": np.repeat(np.array(declared.groups, dtype=object), n_groups),
        "nonevent_group": np.tile(np.array(declared.groups, dtype=object), n_groups),
        "auc": spread(matrix.auc),
        "se": spread(site_errors(free).se if one.clustered else standard_errors(matrix)),
        "ci_low": spread(single.low),
        "ci_high": spread(single.high),
        "n_events": np.repeat(counts[0], n_groups),
        "n_nonevents": np.tile(counts[1], n_groups),
        "joint_low": spread(together.low),
        "joint_high": spread(together.high),
        "se_site": spread(np.where(fenced, np.nan, sites.se)),
        "site_low": spread(np.where(fenced, np.nan, by_site.low)),
        "site_high": spread(np.where(fenced, np.nan, by_site.high)),
        "sites": np.where(held & (matrix.by_site is not None), spread(sites.sites), np.nan),
    }
    columns |= _tell_bins(matrix, columns["se"], spread)
    columns["status"] = _name_status(columns)
    columns["reason"] = _explain(declared.groups, counts, columns, protocol)
    lacks = [one.sites[found] if found >= 0 else "" for found in place]
    columns["site_reason"] = _explain_pairs(declared.groups, lacks)
    return fill_table("auc_matrix", columns)


def _tell_bins(
    matrix: AucMatrix, se: NDArray[np.float64], spread: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> dict[str, Any]:
    """Say of every area how far bins can have moved it; blank where it is that of records."""
    if matrix.bins is None:
        return {"bin_bound": np.nan, "bin_spread": np.nan, "bin_note": ""}
    bound, usual = spread(matrix.bins.bound), spread(matrix.bins.spread)
    notes = [write_bin_note(*row) for row in zip(bound.tolist(), usual.tolist(), se.tolist(), strict=True)]
    return {"bin_bound": bound, "bin_spread": usual, "bin_note": notes}


def _explain_pairs(groups: Sequence[str], lacks: Sequence[str]) -> list[str]:
    """Say of every pair of groups why there is no figure by sites."""
    said = [f"{group}: {lack}" if lack else "" for group, lack in zip(groups, lacks, strict=True)]
    return ["; ".join(dict.fromkeys(part for part in (one, two) if part)) for one in said for two in said]


def _find(groups: Sequence[str], name: str) -> int:
    """Position of a group; -1 when it is not there."""
    return groups.index(name) if name in groups else -1


def _name_status(columns: dict[str, Any]) -> NDArray[np.object_]:
    """Say of every area what there is."""
    status = np.where(np.isnan(columns["ci_low"]), NO_INTERVAL, KNOWN).astype(object)
    status[np.isin(columns["auc"], (0, 1)) & (status == KNOWN)] = ONE_SIDED
    status[np.isnan(columns["auc"])] = UNDEFINED
    return status


def _explain(
    groups: Sequence[str], counts: NDArray[np.integer], columns: dict[str, Any], protocol: Protocol
) -> list[str]:
    """Say of every area what is missing; blank where nothing is."""
    events, others = (
        [write_shortfalls(list_shortfalls({what: held}, protocol=protocol)) for held in part.tolist()]
        for what, part in zip(("events", "non_events"), counts, strict=True)
    )
    reasons = []
    for row, status in enumerate(columns["status"]):
        first, second = divmod(row, len(groups))
        notes = [f"{groups[first]}: {events[first]}"] if events[first] else []
        notes += [f"{groups[second]}: {others[second]}"] if others[second] else []
        if status == ONE_SIDED:
            notes.append("perfectly separated, so the interval is one-sided")
        elif status == NO_INTERVAL and min(counts[0][first], counts[1][second]) > 1:
            notes.append("the placements do not vary, so there is no interval")
        elif status == NO_INTERVAL:
            notes.append("one record does not vary, so there is no interval")
        reasons.append("; ".join(notes))
    return reasons


def tabulate_auc_fairness(
    source: AuditRecords | Tally,
    *,
    protocol: Protocol,
    seed: int,
    level: float = 0.95,
    areas: Sequence[MeasuredAreas] | None = None,
) -> pd.DataFrame:
    """Tabulate every AUC-based fairness metric with the advice on it: ``auc_fairness.csv``.

    References
    ----------
    Matos, J. et al. (2026). Fairness metrics based on the AUC in clinical predictive AI.
    """
    measured = measure_areas(source) if areas is None else areas
    rows = [row for one in measured for row in _list_findings(one, protocol, seed, level)]
    return fill_table("auc_fairness", rows)


def _list_findings(
    one: MeasuredAreas, protocol: Protocol, seed: int, level: float
) -> Iterator[dict[str, Any]]:
    """Write down every metric of one attribute under one model, groups in their declared order."""
    stream = one.stream(seed, "metrics")
    findings = assess_areas(one.independent, level=level, by_site=one.clustered, rng=stream)
    sited: tuple[AreaFinding | None, ...] = (None,) * len(findings)
    if one.matrix.by_site is not None:
        sited = assess_areas(one.matrix, level=level, by_site=True, rng=one.stream(seed, "site metrics"))
    groups, reasons = one.settled.groups, _list_shortfalls(one, protocol)
    rank = {name: place for place, name in enumerate(one.declared.groups)}
    order = {name: place for place, name in enumerate(AUC_METRICS)}
    rows = []
    for finding, by_site in zip(findings, sited, strict=True):
        single = finding.metric in ("xauc1", "xauc0")
        lacking = _list_lacking(one, finding)
        name = "" if finding.group is None else groups[finding.group]
        row = {
            "model": one.model,
            "attribute": one.declared.name,
            "metric": finding.metric,
            "value": finding.value,
            "ci_low": finding.low,
            "ci_high": finding.high,
            "advice": AUC_METRICS[finding.metric].advice,
            "group": name,
            "other_group": "" if finding.other is None else groups[finding.other],
            "site_low": np.nan if by_site is None or lacking else by_site.low,
            "site_high": np.nan if by_site is None or lacking else by_site.high,
            "reason": reasons.get(name, "") if single else _join(reasons, finding.metric),
            "site_reason": lacking,
            "bin_bound": bound_finding(one.matrix, finding),
        }
        rows.append((order[finding.metric], rank[name] if single else 0, row))
    for name in one.empty:
        blank = dict.fromkeys(("value", "ci_low", "ci_high", "site_low", "site_high"), np.nan)
        for metric in ("xauc1", "xauc0"):
            row = {"model": one.model, "attribute": one.declared.name, "metric": metric, "group": name}
            row |= {"advice": AUC_METRICS[metric].advice, "other_group": "", "reason": "no records", **blank}
            row["site_reason"] = ""
            rows.append((order[metric], rank[name], row))
    yield from (row for *_, row in sorted(rows, key=lambda item: item[:2]))


def _list_lacking(one: MeasuredAreas, finding: AreaFinding) -> str:
    """Say which of the groups that a metric rests on have too few sites; blank where none has."""
    mine = dict(zip(one.settled.groups, one.sites, strict=True))
    if finding.metric in ("xauc1", "xauc0") and finding.group is not None:
        mine = {name: mine[name] for name in (one.settled.groups[finding.group],)}
    parts = [] if finding.metric == "auc" else [f"{name}: {lack}" for name, lack in mine.items() if lack]
    return "; ".join(sorted(parts) or ([f"{WHOLE} records: {one.all_sites}"] if one.all_sites else []))


def _list_shortfalls(one: MeasuredAreas, protocol: Protocol) -> dict[str, str]:
    """Say of every group what it lacks."""
    held = zip(one.settled.groups, one.matrix.events, one.matrix.others, strict=True)
    short = {name: name_shortfall(int(e), int(o), protocol=protocol) for name, e, o in held}
    return {name: what for name, what in short.items() if what} | dict.fromkeys(one.empty, "no records")


def _join(reasons: dict[str, str], metric: str) -> str:
    """Join what the groups lack; the overall area needs none of them."""
    return "" if metric == "auc" else "; ".join(f"{name}: {what}" for name, what in sorted(reasons.items()))


def tabulate_areas(outcome: ArrayLike, score: ArrayLike, group: Sequence[str]) -> pd.DataFrame:
    """Tabulate the areas of a few records, in the form of ``auc_matrix.csv``."""
    names, codes = np.unique(np.asarray(group, dtype=str), return_inverse=True)
    attribute = Attribute("group", tuple(str(name) for name in names), codes)
    scores = (Score("example", "rank", 0.5, np.asarray(score, float)),)
    records = AuditRecords(np.asarray(outcome, np.int8), (attribute,), scores)
    found = tabulate_auc_matrix(records, protocol=Protocol(), seed=1)
    return found.assign(reason=found["reason"].where(found["auc"].isna(), ""))


def weigh_entries(matrix: pd.DataFrame) -> float:
    r"""Find the overall area from the areas within and across groups and the shares of their pairs.

    .. math:: \mathrm{AUC} = \frac{\sum_{g,h} n^1_g\, n^0_h\, A_{gh}}{\sum_{g,h} n^1_g\, n^0_h}

    Parameters
    ----------
    matrix : DataFrame
        One attribute's rows of auc_matrix.csv under one model.

    Returns
    -------
    float
        1 when every event scores above every non-event, 0.5 without any order; nan without a pair.

    Examples
    --------
    >>> weigh_entries(tabulate_areas([1, 0, 1, 0], [0.9, 0.6, 0.3, 0.3], list("AABB")))
    0.625
    """
    pairs = matrix["n_events"] * matrix["n_nonevents"]
    total = float(pairs.sum())
    return float((matrix["auc"].fillna(0) * pairs).sum() / total) if total else float("nan")
