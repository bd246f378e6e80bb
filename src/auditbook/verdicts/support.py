"""What keeps a cell from getting a verdict, and how is that said?"""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import (
    COUNTED,
    SELECTED,
    Shortfall,
    count_held,
    find_short_groups,
    list_shortfalls,
    write_shortfalls,
)
from auditbook.records import ScoreKind
from auditbook.settings import Protocol
from auditbook.verdicts.metrics import Metric


def lack_support(
    metric: Metric, strata: NDArray[Any], *, protocol: Protocol, selected: NDArray[Any] | None = None
) -> NDArray[np.bool_]:
    """Tell in which of many samples a group has too little of what a metric needs.

    From events and non-events, shape (..., n_groups, 2), of the groups that hold records in the audit, and
    from the records `selected` in each, shape (..., n_groups), for a metric that needs these.

    >>> from auditbook.verdicts.metrics import METRICS
    >>> lack_support(METRICS["DI"], np.array([[[15, 15]], [[15, 14]]]), protocol=Protocol()).tolist()
    [False, True]
    """
    short = find_short_groups(strata, protocol=protocol, needs=metric.needs, selected=selected)
    return np.asarray(short.any(axis=-1))


def weigh_selected(selected: NDArray[Any], strata: NDArray[Any], worth: NDArray[Any]) -> NDArray[np.float64]:
    """Find what selected records are worth, if each is worth as much as the records of its group.

    From counts of shape (..., n_groups), events and non-events of shape (..., n_groups, 2), and what events,
    non-events and records are worth, which broadcasts to (..., n_groups, 3).

    >>> weigh_selected(np.array([20]), np.array([[30, 70]]), np.array([[15.0, 35.0, 50.0]])).tolist()
    [10.0]
    """
    records = strata.sum(axis=-1)
    return np.asarray(selected * worth[..., 2] / np.maximum(records, 1), float)


def find_obstacles(
    metric: Metric,
    *,
    kind: ScoreKind,
    groups: Sequence[str],
    strata: NDArray[np.integer],
    parts: NDArray[np.floating],
    selected: NDArray[np.integer],
    protocol: Protocol,
    worth: NDArray[np.floating] | None = None,
) -> list[Shortfall]:
    """List everything of which a cell has too little for a verdict; empty when nothing is in the way.

    Beside what is counted there can be too few groups, no probability or order, no selected record, no
    value of a group (or of the whole sample) or of the metric.

    Parameters
    ----------
    strata : int array, shape (n_groups, 2)
        Events and non-events of the `groups`, which are those that hold records.
    parts : float array, shape (n_parts, n_groups)
        The metric's group values; of shape (1, 1) for a metric of the whole sample.
    selected : int array, shape (n_groups,)
        Records selected in each.
    worth : float array, shape (n_groups, 3), optional
        Equal records that the weighted events, non-events and records are worth; asked of instead.

    Examples
    --------
    >>> from auditbook.verdicts.metrics import METRICS
    >>> find_obstacles(METRICS["EOPP"], kind="rank", groups=["A", "B"], strata=np.array([[4, 90], [20, 90]]),
    ...                parts=np.array([[0.5, 0.6]]), selected=np.array([20, 20]), protocol=Protocol())
    [Shortfall(what='events', held=4, needed=10, group='A')]
    """
    if len(groups) < 2:
        return [Shortfall("groups", len(groups), 2, "".join(groups))]
    n_selected = int(selected.sum())
    counted = [
        count_held(int(events), int(others), int(chosen))
        for (events, others), chosen in zip(strata, selected, strict=True)
    ]
    if worth is None:
        found = [
            shortfall
            for name, held in zip(groups, counted, strict=True)
            for shortfall in list_shortfalls(held, protocol=protocol, needs=metric.needs, group=name)
        ]
    else:
        chosen = weigh_selected(selected, strata, worth)
        found = [
            shortfall
            for name, held, picked, known in zip(
                groups, worth.tolist(), chosen.tolist(), counted, strict=True
            )
            for shortfall in list_shortfalls(
                dict(zip((*COUNTED, SELECTED), (*held, picked), strict=True)),
                protocol=protocol,
                needs=metric.needs,
                group=name,
                counted=known,
            )
        ]
    if metric.evidence == "score sums" and kind != "probability":
        return [Shortfall("probability", 0, 1), *found]
    if metric.evidence == "areas" and kind == "decision":
        return [Shortfall("order", 0, 1), *found]
    if not n_selected:  # said once, and not of every group
        found = [each for each in found if each.what != SELECTED]
    found += _find_undefined(metric, parts, groups, {each.group for each in found}, n_selected)
    if not found and np.isnan(metric.combine(parts)):
        nobody = not n_selected and metric.evidence == "counts"
        found.append(Shortfall("selected" if nobody else "metric", 0, 1))
    return found


def _find_undefined(
    metric: Metric, parts: NDArray[np.floating], groups: Sequence[str], short: set[str], n_selected: int
) -> list[Shortfall]:
    """List the values that are undefined, but those of groups that are too small anyway."""
    lost = np.isnan(parts).any(axis=0)
    if not n_selected and metric.undefined == NOBODY:
        return [Shortfall("selected", 0, 1)]
    if len(lost) == len(groups):
        named = zip(groups, lost, strict=True)
        return [Shortfall("value", 0, 1, name) for name, gone in named if gone and name not in short]
    return [Shortfall("value", 0, 1)] if lost.any() else []


NOBODY = "no record selected"
"""Why a metric of the selected records is undefined."""


def write_obstacles(metric: Metric, kind: ScoreKind, obstacles: Sequence[Shortfall]) -> list[str]:
    """Put what is in the way of a verdict into words, what one group lacks in one."""
    counted = groupby(obstacles, key=lambda each: (each.group, each.what in (*COUNTED, SELECTED)))
    return [
        f"{group}: {write_shortfalls(list(part))}" if is_counted else _write_other(metric, kind, next(part))
        for (group, is_counted), part in counted
    ]


def _write_other(metric: Metric, kind: ScoreKind, obstacle: Shortfall) -> str:
    """Put anything but too few records and events into words."""
    quantity = metric.quantity if metric.undefined == NOBODY else metric.name
    where = f"{obstacle.group}: " if obstacle.group else ""
    alone = f"only one group has records ({obstacle.group})" if obstacle.held else "no group has records"
    return {
        "groups": alone,
        "probability": f"no probability: the score is a {kind}",
        "order": "no order: the score is a decision",
        "selected": f"no record is selected, so {quantity} is undefined",
        "value": f"{where}{metric.undefined}, so {metric.quantity} is undefined",
        "metric": f"{metric.name} is undefined",
    }[obstacle.what]


def find_shortfalls(groups: pd.DataFrame, *, protocol: Protocol) -> pd.DataFrame:
    """List the groups that lack support, and how many audited records would probably bring it.

    The number scales the audit up until the group meets every minimum, its share and event rate unchanged. Of
    groups.csv the rows of the first model are read. One row a group that lacks something: attribute, group,
    n, events, non_events, shortfalls (a list of `Shortfall`) and needed, which is nan where the group has
    none of what it lacks: nothing says then how rare that is.

    >>> held = pd.DataFrame({"model": "m", "attribute": "sex", "group": ["F", "M"], "n": [40, 160],
    ...                      "events": [5, 80], "non_events": [35, 80]})
    >>> find_shortfalls(held, protocol=Protocol())[["group", "needed"]].values.tolist()
    [['F', 400.0]]
    """
    first = groups[groups["model"] == groups["model"].iloc[0]] if len(groups) else groups
    first = first.dropna(subset=["n", "events", "non_events"])  # of the others nothing can be told
    table = first[["attribute", "group", "n", "events", "non_events"]].reset_index(drop=True)
    lists = [list_shortfalls(one, protocol=protocol) for one in _read_held(first)]
    sums = table.groupby("attribute")["n"].sum()
    total = [int(sums.max())] * len(table)
    needed = [_scale_up(whole, part) for whole, part in zip(total, lists, strict=True)]
    full = table.assign(shortfalls=pd.Series(lists, dtype=object), needed=np.array(needed, float))
    return full[[bool(part) for part in lists]].reset_index(drop=True)


def _read_held(groups: pd.DataFrame) -> list[dict[str, float]]:
    """Read what groups hold of events, non-events and records; with weights, what they are worth."""
    worth = [f"{name}_effective" for name in ("events", "non_events", "n")]
    if worth[0] in groups and groups[worth[0]].notna().any():
        whole = np.floor(groups[worth].to_numpy(float)).tolist()
        return [dict(zip(COUNTED, line, strict=True)) for line in whole]
    held = groups[["events", "non_events"]].astype(int).itertuples(index=False, name=None)
    return [count_held(*pair) for pair in held]


def _scale_up(total: int, shortfalls: Sequence[Shortfall]) -> float:
    """Scale an audit up until a group lacks nothing; nan where that cannot be told."""
    if not shortfalls or not all(each.held for each in shortfalls):
        return math.nan
    return max(math.ceil(total * each.needed / each.held) for each in shortfalls)
