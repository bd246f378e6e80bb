"""Is there enough of every group to give a verdict, and if not, what is missing?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditbook.records import ScoreKind
from auditbook.settings import Protocol
from auditbook.verdicts.metrics import Metric, Need

ALL_NEEDS: tuple[Need, ...] = ("records", "events", "non_events")


def name_shortfall(
    events: int, non_events: int, *, protocol: Protocol, needs: Sequence[Need] = ALL_NEEDS
) -> str:
    """Say what a group has too little of.

    Parameters
    ----------
    events, non_events : int
        What the group has.
    protocol : Protocol
        What is needed.
    needs : sequence of {"records", "events", "non_events", "probability", "order"}
        What counts; all of them by default.

    Returns
    -------
    str
        Blank when there is enough.

    Examples
    --------
    >>> name_shortfall(4, 96, protocol=Protocol())
    '4 events, 10 needed'
    """
    if not events + non_events:
        return "no records"
    held = {
        "events": (events, protocol.min_events),
        "non_events": (non_events, protocol.min_non_events),
        "records": (events + non_events, protocol.min_records),
    }
    short = [
        f"{_count(found, word)}, {wanted} needed"
        for word, (found, wanted) in held.items()
        if word in needs and found < wanted
    ]
    return " and ".join(short)


def _count(number: int, word: str) -> str:
    """Write a number with its noun."""
    noun = word.replace("_", "-")
    return f"{number} {noun[:-1] if number == 1 else noun}"


def lack_support(metric: Metric, strata: NDArray[Any], *, protocol: Protocol) -> NDArray[np.bool_]:
    """Tell in which of many samples a group has too little of what a metric needs.

    Parameters
    ----------
    metric : Metric
        What is judged.
    strata : array, shape (..., n_groups, 2)
        Events and non-events of the groups that hold records in the audit.
    protocol : Protocol
        The minimum support.

    Returns
    -------
    bool array, shape (...)
        True where one group or more falls short.

    Examples
    --------
    >>> from auditbook.verdicts.metrics import METRICS
    >>> lack_support(METRICS["DI"], np.array([[[15, 15]], [[15, 14]]]), protocol=Protocol()).tolist()
    [False, True]
    """
    held = {
        "events": (strata[..., 0], protocol.min_events),
        "non_events": (strata[..., 1], protocol.min_non_events),
        "records": (strata.sum(axis=-1), protocol.min_records),
    }
    short = strata.sum(axis=-1) == 0
    for word in set(metric.needs) & set(held):
        found, wanted = held[word]
        short = short | (found < wanted)
    return np.asarray(short.any(axis=-1))


def find_obstacles(
    metric: Metric,
    *,
    kind: ScoreKind,
    groups: Sequence[str],
    strata: NDArray[np.integer],
    parts: NDArray[np.floating],
    n_selected: int,
    protocol: Protocol,
) -> list[str]:
    """List everything that keeps a cell from getting a verdict.

    Parameters
    ----------
    metric : Metric
        What is judged.
    kind : {"probability", "rank", "decision"}
        What the model's scores mean.
    groups : sequence of str, length n_groups
        The groups that hold records.
    strata : int array, shape (n_groups, 2)
        Their events and non-events.
    parts : float array, shape (n_parts, n_groups)
        The metric's group values; of shape (1, 1) for a metric of the whole sample.
    n_selected : int
        Records selected in all groups together.
    protocol : Protocol
        The minimum support.

    Returns
    -------
    list of str
        Sentences without a full stop; empty when nothing is in the way.

    Examples
    --------
    >>> from auditbook.verdicts.metrics import METRICS
    >>> find_obstacles(METRICS["EOPP"], kind="rank", groups=["A", "B"], strata=np.array([[4, 90], [20, 90]]),
    ...                parts=np.array([[0.5, 0.6]]), n_selected=40, protocol=Protocol())
    ['A: 4 events, 10 needed']
    """
    if len(groups) < 2:
        return [f"only one group has records ({groups[0]})" if groups else "no group has records"]
    short = {
        name: name_shortfall(int(events), int(others), protocol=protocol, needs=metric.needs)
        for name, (events, others) in zip(groups, strata, strict=True)
    }
    found = [f"{name}: {what}" for name, what in short.items() if what]
    if metric.evidence == "score sums" and kind != "probability":
        return [f"no probability: the score is a {kind}", *found]
    if metric.evidence == "areas" and kind == "decision":
        return ["no order: the score is a decision", *found]
    lost = np.isnan(parts).any(axis=0)
    why = f"{metric.undefined}, so {metric.quantity} is undefined"
    if not n_selected and metric.undefined == "no record selected":
        found.append(f"no record is selected, so {metric.quantity} is undefined")
    elif len(lost) == len(groups):
        found += [
            f"{name}: {why}" for name, gone in zip(groups, lost, strict=True) if gone and not short[name]
        ]
    elif lost.any():
        found.append(why)
    if not found and np.isnan(metric.combine(parts)):
        cause = "" if n_selected or metric.evidence != "counts" else "no record is selected, so "
        found.append(f"{cause}{metric.name} is undefined")
    return found
