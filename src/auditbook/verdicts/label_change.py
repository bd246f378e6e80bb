"""Does the conclusion stand when another outcome of the same records counts as the event?"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import empty_table, fill_table, stack_tables
from auditbook.evidence import Z_95, prepare, rate
from auditbook.records import Attribute, AuditRecords, take_survey
from auditbook.results import rows
from auditbook.settings import Protocol
from auditbook.verdicts.judgement import judge

Array = NDArray[np.float64]

LABEL_FREE = ("DI", "SPD")
"""Metrics that no outcome can change."""
KEYS = ["model", "metric", "attribute"]
_TOLD = ["estimate", "threshold", "verdict", "shown"]


@dataclass(frozen=True)
class PairedChange:
    """How far apart two groups are by one outcome, less by another, with its 95 % interval."""

    change: float
    low: float
    high: float


UNKNOWN = PairedChange(np.nan, np.nan, np.nan)


def compare_labels(
    records: AuditRecords,
    verdicts: pd.DataFrame,
    others: Mapping[str, Array],
    protocol: Protocol,
    *,
    name: str,
) -> dict[str, pd.DataFrame]:
    """Judge the same scores and decisions by each of several outcomes.

    Parameters
    ----------
    records : AuditRecords
        What was audited.
    verdicts : DataFrame
        From `judge`, of these records.
    others : mapping of str to float array, shape (n,)
        The other outcomes by name: 1 for an event, 0 for none, nan where unknown; such records are left out
        where that outcome judges.
    name : str
        What the audited outcome is called in the tables.

    Returns
    -------
    dict of str to DataFrame
        ``label_change`` and ``label_agreement``; both without a row when there is no other outcome that is
        known of any record.
    """
    others = {label: other for label, other in others.items() if not np.isnan(other).all()}
    if not others:
        return {table: empty_table(table) for table in ("label_change", "label_agreement")}
    n, events = len(records.outcome), int(records.outcome.sum())
    tables = [_lay_out(verdicts, name, n, events)]
    tables += [_judge_by(records, verdicts, other, label, protocol) for label, other in others.items()]
    agreement = [
        _tabulate_agreement(records, attribute, other, label)
        for label, other in others.items()
        for attribute in records.attributes
    ]
    return {
        "label_change": stack_tables("label_change", tables),
        "label_agreement": stack_tables("label_agreement", agreement),
    }


def _lay_out(verdicts: pd.DataFrame, outcome: str, n: int, events: int, **paired: Array) -> pd.DataFrame:
    """Lay out the verdicts by one outcome, of the metrics that an outcome can change."""
    kept = ~verdicts["metric"].isin(LABEL_FREE).to_numpy()
    columns = {column: verdicts[column].to_numpy()[kept] for column in KEYS + _TOLD}
    blank = np.full(int(kept.sum()), np.nan)
    told = {
        part: paired[part][kept] if part in paired else blank
        for part in ("change", "change_low", "change_high")
    }
    counted = {"outcome": outcome, "n": n, "events": events}
    return fill_table("label_change", columns | counted | told)


def _judge_by(
    records: AuditRecords, verdicts: pd.DataFrame, other: Array, label: str, protocol: Protocol
) -> pd.DataFrame:
    """Judge by another outcome, where it is known."""
    known = np.flatnonzero(~np.isnan(other))
    changed = replace(take(records, known), outcome=other[known].astype(np.int8))
    found = judge(prepare(changed), replace(protocol, resamples=2), axes=("shown",)).verdicts
    before = verdicts.set_index(KEYS).loc[pd.MultiIndex.from_frame(found[KEYS])].reset_index()
    part = take(records, known)
    open_now = found["verdict"].to_numpy() == "inconclusive"
    changes = [
        UNKNOWN
        if is_open or row.verdict == "inconclusive"
        else _change_of(
            part, changed.outcome, row.model, row.metric, row.attribute, row.lowest_group, row.highest_group
        )
        for row, is_open in zip(rows(before), open_now, strict=True)
    ]
    paired = {
        "change": np.array([one.change for one in changes]),
        "change_low": np.array([one.low for one in changes]),
        "change_high": np.array([one.high for one in changes]),
    }
    return _lay_out(found, label, len(known), int(changed.outcome.sum()), **paired)


def take(records: AuditRecords, places: NDArray[np.intp]) -> AuditRecords:
    """Take some of the audited records; whoever was selected stays so."""
    return AuditRecords(
        records.outcome[places],
        tuple(replace(one, codes=one.codes[places]) for one in records.attributes),
        tuple(
            replace(one, values=one.values[places], chosen=one.decisions[places]) for one in records.scores
        ),
        None if records.site is None else records.site[places],
        None if records.unit is None else records.unit[places],
        None if records.survey is None else take_survey(records.survey, places),
    )


def _change_of(
    records: AuditRecords,
    other: NDArray[np.int8],
    model: str,
    metric: str,
    attribute: str,
    lowest: str,
    highest: str,
) -> PairedChange:
    """Find the change of one cell with a verdict; nan where it is not the gap of one rate of counts."""
    if records.survey is not None or metric not in ("EOPP", "PP") or not lowest:
        return UNKNOWN
    score = next(one for one in records.scores if one.model == model)
    held = next(one for one in records.attributes if one.name == attribute)
    groups = [held.codes == held.groups.index(name) for name in (highest, lowest)]
    return change_gap(records.outcome, other, score.decisions, groups, metric=metric, unit=records.unit)


def change_gap(
    outcome: NDArray[np.int8],
    other: NDArray[np.int8],
    decisions: NDArray[np.bool_],
    groups: list[NDArray[np.bool_]],
    *,
    metric: str,
    unit: NDArray[np.integer] | None = None,
) -> PairedChange:
    r"""Find how much further apart two groups are by another outcome, with an interval from the same records.

    With :math:`r_g` the TPR (EOPP) or the PPV (PP) of a group by the first outcome, and :math:`r'_g` by the
    other,

    .. math:: D = (r'_1 - r'_2) - (r_1 - r_2), \qquad
              \widehat{\mathrm{Var}}(D) = \sum_u \Bigl( \sum_{i \in u} \psi_i \Bigr)^2,

    :math:`\psi_i` being the influence of record i on D and u a unit: the two outcomes of a record, and the
    records of a unit, are not independent, and need not be.

    Parameters
    ----------
    outcome, other : array of 0 and 1, shape (n,)
        The two outcomes.
    decisions : bool array, shape (n,)
        Who is selected.
    groups : two bool arrays, shape (n,)
        Who belongs to the first group, and who to the second.
    metric : {"EOPP", "PP"}
        Which rate is compared.
    unit : int array, shape (n,), optional
        Number of each record's unit; each record is its own without.

    Returns
    -------
    PairedChange
        0 when the two outcomes tell the same of both groups; nan where a rate is undefined.

    References
    ----------
    Binder, D. A. (1983). On the variances of asymptotically normal estimators from complex surveys.
    doi:10.2307/1402588

    Examples
    --------
    >>> y, z, d = (np.array(part) for part in ([1, 1, 1, 1], [1, 0, 1, 1], [True, False, True, False]))
    >>> first = np.array([True, True, False, False])
    >>> change_gap(y, z, d, [first, ~first], metric="EOPP").change
    0.5
    """
    change, influence = 0.0, np.zeros(len(outcome))
    for label, side in ((other, 1.0), (outcome, -1.0)):
        event = label == 1
        hit, trial = decisions & event, event if metric == "EOPP" else decisions
        for group, sign in zip(groups, (side, -side), strict=True):
            held = (trial & group).sum()
            share = float(rate((hit & group).sum(), held))
            change += sign * share
            influence += sign * (group & trial) * (hit - share) / max(int(held), 1)
    place = np.arange(len(outcome)) if unit is None else np.unique(unit, return_inverse=True)[1]
    reach = Z_95 * float(np.sqrt((np.bincount(place, influence) ** 2).sum()))
    return PairedChange(change, change - reach, change + reach)


def _tabulate_agreement(
    records: AuditRecords, attribute: Attribute, other: Array, label: str
) -> pd.DataFrame:
    """Count by group how often both outcomes say the same."""
    known, n_groups = ~np.isnan(other), len(attribute.groups)
    codes, first, second = attribute.codes[known], records.outcome[known] == 1, other[known] == 1

    def count(which: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(codes[which], minlength=n_groups)

    n, events, others, both = map(count, (np.ones(len(codes), bool), first, second, first & second))
    columns = {
        "attribute": attribute.name,
        "group": list(attribute.groups),
        "outcome": label,
        "n": n,
        "events": events,
        "other_events": others,
        "both": both,
        "share_of_events": rate(both, events),
        "share_of_other": rate(both, others),
    }
    return fill_table("label_agreement", columns)
