"""What are the counts and rates of every group?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from auditbook.columns import fill_table, stack_tables
from auditbook.evidence import (
    COUNTED,
    FN,
    FP,
    TN,
    TP,
    Tally,
    add_share,
    bin_groups,
    check_records,
    count_effective,
    count_groups,
    count_held,
    find_within,
    group_auc,
    list_shortfalls,
    name_shortfall,
    rank_levels,
    rate,
    stratum_sizes,
    sum_values,
    weigh_areas,
    weigh_groups,
    write_shortfalls,
)
from auditbook.evidence import counts as rates
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import METRIC_NAMES, Protocol
from auditbook.verdicts.metrics import METRICS

FINDERS = MappingProxyType(
    {
        "SR": rates.selection_rate,
        "TPR": rates.true_positive_rate,
        "FPR": rates.false_positive_rate,
        "PPV": rates.positive_predictive_value,
    }
)
RATE_PARTS = MappingProxyType(
    {
        "SR": (("tp", "fp"), ("n",)),
        "TPR": (("tp",), ("tp", "fn")),
        "FPR": (("fp",), ("fp", "tn")),
        "PPV": (("tp",), ("tp", "fp")),
    }
)
"""Columns of the group table whose sums are the numerator and the denominator of a rate."""
WEIGHTED = MappingProxyType(
    {
        "SR": ("selection_rate", "n_effective"),
        "TPR": ("tpr", "events_effective"),
        "FPR": ("fpr", "non_events_effective"),
        "PPV": ("ppv", "selected_effective"),
    }
)
"""Columns with the weighted rate, and with what the records of its denominator are worth."""


def tabulate_groups(source: AuditRecords | Tally, *, protocol: Protocol) -> pd.DataFrame:
    """Tabulate counts and rates of every group under every model; with weights, rates are weighted.

    Of a tally areas are read from bins of scores, and mean scores are sums, rounded by 2^-33 a record.
    """
    if isinstance(source, Tally):
        return stack_tables("groups", list(_tabulate_tally(source, protocol)))
    check_records(source)
    frames = [frame for score in source.scores for frame in _tabulate_model(source, score, protocol)]
    return stack_tables("groups", frames)


def _tabulate_tally(tally: Tally, protocol: Protocol) -> Iterator[pd.DataFrame]:
    """Tabulate every attribute under every model of a tally."""
    for place, model in enumerate(tally.models):
        for attribute in tally.attributes:
            every = range(len(attribute.groups))
            counts, total = attribute.counts[place].sum(axis=0), sum_values(tally, place, attribute, every)
            areas = find_within(bin_groups(tally, place, attribute, every))
            named = _Named(model.model, attribute.name, attribute.groups)
            yield fill_table("groups", _lay_out(named, counts, areas, total.sum(axis=1), protocol))


def _tabulate_model(records: AuditRecords, score: Score, protocol: Protocol) -> list[pd.DataFrame]:
    """Tabulate every attribute under one model; records are put in the order of their scores once for all."""
    order = np.argsort(score.values)
    ranked = replace(score, values=np.take(score.values, order))
    outcome = records.outcome[order]
    weight = None if records.survey is None else np.asarray(records.survey.weight, float)[order]
    return [
        _tabulate(outcome, ranked, replace(attribute, codes=attribute.codes[order]), protocol, weight)
        for attribute in records.attributes
    ]


def _tabulate(
    outcome: NDArray[np.int8],
    score: Score,
    attribute: Attribute,
    protocol: Protocol,
    weight: NDArray[np.float64] | None,
) -> pd.DataFrame:
    """Tabulate one attribute's groups under one model, whose scores must rise."""
    n_groups = len(attribute.groups)
    table = count_groups(outcome, score.decisions, attribute.codes, n_groups)
    areas = group_auc(outcome, score.values, attribute.codes, n_groups)
    total = np.asarray(np.bincount(attribute.codes, score.values, n_groups), float)
    named = _Named(score.model, attribute.name, attribute.groups)
    columns = _lay_out(named, table, areas, total, protocol)
    if weight is not None:
        columns |= _weigh(outcome, score, attribute, weight)
        columns["support"] = _name_worth(columns, protocol)
    return fill_table("groups", columns)


@dataclass(frozen=True)
class _Named:
    """Whose groups are tabulated."""

    model: str
    attribute: str
    groups: tuple[str, ...]


def _lay_out(
    named: _Named,
    table: NDArray[np.int64],
    areas: NDArray[np.float64],
    total: NDArray[np.float64],
    protocol: Protocol,
) -> dict[str, Any]:
    """Lay out counts, areas and sums of scores of some groups in the columns of the table."""
    strata, n = stratum_sizes(table), table.sum(axis=-1)
    return {
        "model": named.model,
        "attribute": named.attribute,
        "group": list(named.groups),
        "n": n,
        "events": strata[:, 0],
        "non_events": strata[:, 1],
        **{name: table[:, place] for place, name in enumerate(("tp", "fp", "fn", "tn"))},
        "selection_rate": rates.selection_rate(table),
        "tpr": rates.true_positive_rate(table),
        "fpr": rates.false_positive_rate(table),
        "ppv": rates.positive_predictive_value(table),
        "accuracy": rates.accuracy(table),
        "auc": areas,
        "mean_score": rate(total, n),
        "event_rate": rates.event_rate(table),
        **dict.fromkeys(EFFECTIVE, np.nan),
        "support": [name_shortfall(e, o, protocol=protocol) for e, o in strata.tolist()],
    }


EFFECTIVE = ("n_effective", "events_effective", "non_events_effective", "selected_effective")
"""What weighted records, events, non-events and selected records are worth."""


def _weigh(
    outcome: NDArray[np.int8], score: Score, attribute: Attribute, weight: NDArray[np.float64]
) -> dict[str, Any]:
    """Find the weighted rates of one attribute's groups under one model, and what their records are worth."""
    n_groups = len(attribute.groups)
    table, squares = (
        weigh_groups(outcome, score.decisions, attribute.codes, n_groups, weight=part)
        for part in (weight, weight**2)
    )
    cells = ((TP, FP, FN, TN), (TP, FN), (FP, TN), (TP, FP))
    worth = [
        count_effective(*(part[:, list(each)].sum(axis=-1) for part in (table, squares))) for each in cells
    ]
    areas = weigh_areas(rank_levels(outcome, score.values), attribute.codes, n_groups, weight)
    held = table.sum(axis=-1)
    return {
        "selection_rate": rates.selection_rate(table),
        "tpr": rates.true_positive_rate(table),
        "fpr": rates.false_positive_rate(table),
        "ppv": rates.positive_predictive_value(table),
        "accuracy": rates.accuracy(table),
        "auc": areas.areas,
        "mean_score": rate(np.bincount(attribute.codes, weight * score.values, n_groups), held),
        "event_rate": rates.event_rate(table),
        **dict(zip(EFFECTIVE, worth, strict=True)),
    }


def _name_worth(columns: dict[str, Any], protocol: Protocol) -> list[str]:
    """Say what the weighted records of each group are worth too little of."""
    counted = zip(columns["events"].tolist(), columns["non_events"].tolist(), strict=True)
    names = ("events_effective", "non_events_effective", "n_effective")
    worth = np.stack([columns[name] for name in names], axis=-1).tolist()
    return [
        write_shortfalls(
            list_shortfalls(
                dict(zip(COUNTED, held, strict=True)), protocol=protocol, counted=count_held(*known)
            )
        )
        for known, held in zip(counted, worth, strict=True)
    ]


def tabulate_counts(names: Sequence[str], counts: ArrayLike) -> pd.DataFrame:
    """Lay out the four counts and the four rates of some groups."""
    table = np.asarray(counts)
    frame = pd.DataFrame(table, columns=["tp", "fp", "fn", "tn"])
    frame.insert(0, "group", list(names))
    found = {symbol: find(table) for symbol, find in FINDERS.items()}
    return frame.assign(n=table.sum(axis=1), **found)


def bound_rate(groups: pd.DataFrame, rate: str, bounds: pd.DataFrame | None = None) -> pd.DataFrame:
    """Find SR, TPR, FPR or PPV of every group of groups.csv, with its interval; nan without trials.

    What is withheld is nan and no zero.

    The interval is that of the same groups in `bounds`, of the form of rates.csv, which knows the unit;
    without it Wilson's for independent records.

    Of weighted records `hits` and `trials` count, the value is weighted, and the interval is that of as many
    records as they are worth.

    >>> table = pd.DataFrame({"group": ["A"], "n": [4], "tp": [1], "fp": [1], "fn": [0], "tn": [2]})
    >>> bound_rate(table, "SR")[["hits", "trials", "value"]].values.tolist()
    [[2.0, 4.0, 0.5]]
    """
    hits, trials = (groups[list(names)].sum(axis=1, skipna=False).to_numpy() for names in RATE_PARTS[rate])
    table = pd.DataFrame({"group": groups["group"].to_numpy(), "hits": hits, "trials": trials})
    if EFFECTIVE[0] in groups and groups[EFFECTIVE[0]].notna().any():
        name, worth = WEIGHTED[rate]
        share, held = groups[name].to_numpy(float), groups[worth].to_numpy(float)
        bounded = add_share(table, "value", np.where(held > 0, share * held, 0.0), held)
    else:
        bounded = add_share(table, "value", hits, trials)
    bounded = bounded.rename(columns={"value_low": "low", "value_high": "high"})
    if bounds is None:
        return bounded
    keys = ["model", "attribute", "group"]
    mine = bounds.loc[(bounds["rate"] == rate) & bounds["bin"].isna(), [*keys, "low", "high"]]
    found = groups[keys].reset_index(drop=True).merge(mine, on=keys, how="left", validate="one_to_one")
    return bounded.assign(low=found["low"], high=found["high"])


def judge_counts(counts: ArrayLike) -> pd.DataFrame:
    """Compute and compare every published metric that is made of counts, without asking for support.

    From counts of shape (n_groups, 4): metric, value, threshold, result ("pass", "fail" or "undefined").

    >>> judge_counts([[40, 10, 10, 40], [20, 10, 30, 40]]).loc[0, ["metric", "result"]].tolist()
    ['DI', 'fail']
    """
    found = []
    for metric in (METRICS[name] for name in METRIC_NAMES if METRICS[name].evidence == "counts"):
        value = float(metric.values(np.asarray(counts)))
        result = "undefined" if np.isnan(value) else "pass" if metric.passes(value) else "fail"
        found.append((metric.name, value, metric.threshold, result))
    return pd.DataFrame(found, columns=["metric", "value", "threshold", "result"])
