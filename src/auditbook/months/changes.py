"""Has something changed since the baseline, and since when?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from auditbook.evidence import Bounded, prepare
from auditbook.months.mixture import FIRST_SPREAD, boundary, log_either
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.verdicts import (
    GroupRates,
    compare_bounded,
    difference_bounded,
    measure_group_rates,
    standard_error,
)

Array = NDArray[np.float64]

STREAM = ["model", "attribute", "rate", "group", "other"]
"""What names a stream: the rate of a group, or with another group the difference of their rates."""
CHANGE_COLUMNS = (
    *("look", *STREAM, "since", "before", "after", "change", "low", "high", "log_e", "most", "limit"),
    "changed",
)
LOOK_BACK = 12
"""Windows that a change may lie back when it is looked for (ours)."""


@dataclass(frozen=True)
class Streams:
    """The rates of groups, and the differences of every two groups, in one stretch of time."""

    names: pd.DataFrame  # `STREAM`
    bounded: Bounded  # shape (n,)
    judged: NDArray[np.bool_]


def measure_streams(records: AuditRecords, protocol: Protocol) -> Streams:
    """Measure every stream in some records."""
    models = [score.model for score in records.scores]
    parts = [
        part for rates in measure_group_rates(prepare(records), protocol) for part in _split(rates, models)
    ]
    names = pd.DataFrame([row for part in parts for row in part[0]], columns=STREAM)
    bounded = Bounded(
        *(np.concatenate(side) for side in zip(*(part[1].parts() for part in parts), strict=True))
    )
    return Streams(names, bounded, np.concatenate([part[2] for part in parts]))


_Part = tuple[Sequence[tuple[str, ...]], Bounded, NDArray[np.bool_]]


def _split(rates: GroupRates, models: Sequence[str]) -> Iterator[_Part]:
    """Take the rates of the groups of one attribute, then the differences of every two."""
    for place, rate in enumerate(rates.rates):
        for model, name in enumerate(models):
            row = Bounded(*(part[place, model] for part in rates.bounded.parts()))
            judged, head = rates.judged[place, model], (name, rates.attribute, rate)
            yield [(*head, group, "") for group in rates.groups], row, judged
            pairs = np.array(list(combinations(range(len(rates.groups)), 2)), np.intp).reshape(-1, 2)
            one, other = pairs.T
            both = difference_bounded(
                row.take(one), row.take(other), rates.correlation[place, model][one, other]
            )
            texts: list[tuple[str, ...]] = [(*head, rates.groups[a], rates.groups[b]) for a, b in pairs]
            yield texts, both, judged[one] & judged[other]


def limit_changes(n_streams: int, a_year: int, alpha: float) -> float:
    r"""Find the logarithm of the evidence at which a stream is said to have changed.

    .. math:: c = \frac{S W}{\alpha}

    for S streams of a model's board and W windows a year. A change is looked for from every window on, each
    with evidence of its own; the chance that one of the T that begin in T windows ever reaches c on one of S
    streams is at most :math:`S T / c = \alpha T / W`: at most alpha for every year of watching. On average
    :math:`W / 2\alpha` windows or more pass until a false alarm.

    References
    ----------
    Lorden, G. (1971). Procedures for reacting to a change in distribution. doi:10.1214/aoms/1177693055
    Shin, J., Ramdas, A. and Rinaldo, A. (2024). E-detectors: a nonparametric framework for sequential change
    detection. doi:10.51387/23-NEJSDS51
    Shekhar, S. and Ramdas, A. (2023). Reducing sequential change detection to sequential estimation.
    arXiv:2309.09111

    Examples
    --------
    >>> round(float(np.exp(limit_changes(10, 12, 0.05))))
    2400
    """
    return float(np.log(max(n_streams, 1) * a_year / alpha))


def run_length(a_year: int, alpha: float) -> int:
    """Say how many windows pass at least, on average, until a false alarm: see `limit_changes`.

    >>> run_length(12, 0.05)
    120
    """
    return int(a_year / (2 * alpha))


def look_at_changes(
    base: Streams,
    since: dict[int, Streams],
    *,
    look: int,
    baseline: int,
    a_year: int,
    alpha: float,
    before: pd.DataFrame,
) -> pd.DataFrame:
    r"""Hold every stream, from each of the latest windows on, against the baseline.

    The evidence is `log_either` of the quantile of "no difference", with
    :math:`\tau^2 = 2 s_0^2 (1 + b)` from the baseline's b windows and its standard error s_0: two over the
    information that one further window would bring.

    Parameters
    ----------
    base : Streams
        In the baseline.
    since : dict of int to Streams
        By the window from which on the records were taken.
    look, baseline, a_year : int
        Number of the look, windows of the baseline, and windows a year.
    alpha : float
        Chance of a false alarm a year.
    before : DataFrame
        `CHANGE_COLUMNS` of the looks before.

    Returns
    -------
    DataFrame
        `CHANGE_COLUMNS`: one row for every stream that both the baseline and some stretch judge, with
        the stretch that speaks most for a change.
    """
    per_board = int(base.names.groupby("model").size().max()) if len(base.names) else 0
    limit = limit_changes(per_board, a_year, alpha)
    table = _hold_against(base, since, baseline=baseline, limit=limit)
    table = table.sort_values("log_e", ascending=False, kind="stable").drop_duplicates(STREAM)
    order = base.names.assign(order=range(len(base.names)))
    table = order.merge(table, on=STREAM, how="inner").sort_values("order", kind="stable")
    last = before.sort_values("look", kind="stable").drop_duplicates(STREAM, keep="last")[[*STREAM, "most"]]
    past = table[STREAM].merge(last, on=STREAM, how="left")["most"].to_numpy(float)
    most = np.fmax(past, table["log_e"].to_numpy(float))
    filled = table.assign(look=look, most=most, limit=limit, changed=most >= limit)
    return filled[list(CHANGE_COLUMNS)].reset_index(drop=True)


def _hold_against(base: Streams, since: dict[int, Streams], *, baseline: int, limit: float) -> pd.DataFrame:
    """Hold all streams, from every window on, against the baseline."""
    places = {start: np.flatnonzero(base.judged & later.judged) for start, later in since.items()}
    at = np.concatenate([np.zeros(0, np.intp), *places.values()])
    begin = np.repeat(list(places), [len(one) for one in places.values()])
    if not len(at):
        return pd.DataFrame(columns=list(CHANGE_COLUMNS))
    taken = zip(*(since[start].bounded.take(one).parts() for start, one in places.items()), strict=True)
    earlier, later = base.bounded.take(at), Bounded(*(np.concatenate(part) for part in taken))
    change = compare_bounded(earlier, later)
    mixing = FIRST_SPREAD * standard_error(earlier) ** 2 * (1 + baseline)
    spread = np.divide(mixing, change.error**2, out=np.zeros(len(at)), where=change.error > 0)
    reach = boundary(limit + np.log(2), spread) * change.error
    moved = change.after - change.before
    return base.names.iloc[at].assign(
        since=begin,
        before=change.before,
        after=change.after,
        change=moved,
        low=moved - reach,
        high=moved + reach,
        log_e=log_either(change.z, -change.z, spread),
    )


def compare_streams(before: Streams, after: Streams) -> Array:
    """Find the two-sided p-value of "no change" of every stream that both judge, for one single look."""
    places = np.flatnonzero(before.judged & after.judged)
    z = compare_bounded(before.bounded.take(places), after.bounded.take(places)).z
    return np.asarray(2 * ndtr(-np.abs(z)))
