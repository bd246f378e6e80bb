"""How sure can one be of each rate of a group, by record or unit, and by site?"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from auditbook.columns import fill_table
from auditbook.evidence import Audited, Interval, explain_fence, student_quantile, wilson_interval
from auditbook.settings import Protocol
from auditbook.verdicts.quantities import (
    RATE_CELLS,
    Certainty,
    Grouped,
    Quantity,
    measure_calibration,
    measure_rates,
)

Array = NDArray[np.float64]

CALIBRATION = "event rate"
"""What the rows by score bin are about."""


def tabulate_rates(prepared: Audited, protocol: Protocol, *, level: float = 0.95) -> pd.DataFrame:
    r"""Tabulate the rates of every group, and its event rate by score bin, with intervals: ``rates.csv``.

    .. math:: n^* = \frac{n}{\max(d, 1)} \Bigl(\frac{z}{t_{c - 1}}\Bigr)^2, \qquad
              d = \frac{\hat V}{p(1 - p)/n}

    Where units hold several records, n records are worth n* independent ones: d is the design effect, from
    the variance over the units, and c the equal units that they are worth. The interval is Wilson's for a
    share p of n*. By sites likewise.

    Parameters
    ----------
    prepared : Prepared or PreparedTally
        From `prepare` or `prepare_tally`.
    protocol : Protocol
        The audit's constants.
    level : float
        Coverage of each interval by itself.

    Returns
    -------
    DataFrame
        One row a model, attribute, group and rate; and one a score bin that holds records, with the mean
        score there, for models whose scores are probabilities. 0 where it never happens, 1 where it always
        does, nan without a record to count. No interval by sites where a group has too few: `site_reason`.

    References
    ----------
    Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data. Survey Methodology 24, 193-201.
    Wilson, E. B. (1927). doi:10.1080/01621459.1927.10502953

    Examples
    --------
    >>> from auditbook.evidence import prepare
    >>> from auditbook.records import Attribute, AuditRecords, Score
    >>> scores = (Score("m", "decision", 0.5, np.array([1.0, 0, 1, 0])),)
    >>> sex = Attribute("sex", ("F", "M"), np.array([0, 0, 1, 1]))
    >>> records = AuditRecords(np.array([1, 0, 1, 0], np.int8), (sex,), scores)
    >>> tabulate_rates(prepare(records), Protocol())["value"].tolist()
    [0.5, 1.0, 0.0, 1.0, 0.5, 0.5, 1.0, 0.0, 1.0, 0.5]
    """
    rows = [
        row
        for groups in prepared.groups
        for row in _list_rates(Grouped(prepared, groups, protocol), prepared, level)
    ]
    order = {model: place for place, model in enumerate(prepared.models)}
    return fill_table("rates", sorted(rows, key=lambda row: order[row["model"]]))


def _list_rates(grouped: Grouped, prepared: Audited, level: float) -> Iterator[dict[str, Any]]:
    """Write down the rates of one attribute, groups in their declared order."""
    quantities = list(measure_rates(grouped, tuple(RATE_CELLS)).values())
    quantities.append(measure_calibration(grouped, in_bins=True))
    names, declared = grouped.groups.settled.groups, grouped.groups.declared.groups
    lacks = dict(zip(names, _explain_sites(grouped), strict=True))
    tables = [_bound_quantity(quantity, names, level) for quantity in quantities]
    for place, score in enumerate(prepared.rules):
        for name in declared:
            for quantity, table in zip(quantities, tables, strict=True):
                if name not in names or (quantity.score_bin is not None and score.kind != "probability"):
                    continue
                for row in table[place, names.index(name)]:
                    blank = lacks[name] or (
                        "" if row.pop("by_site") else f"too few sites hold {quantity.what}"
                    )
                    yield {
                        "model": score.model,
                        "attribute": grouped.groups.settled.name,
                        "group": name,
                        **row,
                        "site_reason": "" if prepared.site is None else blank,
                    }


def _explain_sites(grouped: Grouped) -> list[str]:
    """Say of every group what it lacks for figures by sites."""
    if grouped.prepared.site is None:
        return [""] * grouped.n_groups
    return explain_fence(*grouped.prepared.count_site_records(grouped.groups))  # type: ignore[arg-type]


def _bound_quantity(
    quantity: Quantity, names: tuple[str, ...], level: float
) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """Bound the values of one quantity: rows by model and group."""
    own, worth = bound_both_sides(quantity.own, level)
    site = None if quantity.site is None else bound_both_sides(quantity.site, level)[0]
    by_site = np.zeros(quantity.held.shape, bool) if quantity.site is None else quantity.site.speaks_of_others
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for model, code in np.ndindex(*quantity.held.shape):
        rows = found.setdefault((model, int(quantity.group[code])), [])
        if quantity.score_bin is not None and not quantity.held[model, code] > 0:
            continue
        here, speaks = (model, code), bool(by_site[model, code])
        rows.append(
            {
                "rate": CALIBRATION if quantity.score_bin is not None else quantity.name,
                "bin": np.nan if quantity.score_bin is None else quantity.score_bin[code] + 1,
                "value": quantity.own.bounded.value[here],
                "low": own.low[here],
                "high": own.high[here],
                "mean_score": np.nan if quantity.expected is None else quantity.expected[here],
                "n": quantity.held[here],
                "n_effective": worth[here],
                "site_low": site.low[here] if site is not None and speaks else np.nan,
                "site_high": site.high[here] if site is not None and speaks else np.nan,
                "by_site": speaks,
            }
        )
    return found


def bound_both_sides(certainty: Certainty, level: float) -> tuple[Interval, Array]:
    """Bound shares from both sides, and say how many independent records they are worth."""
    bounded, z = certainty.bounded, float(ndtri(0.5 + level / 2))
    quantile = student_quantile(np.full(bounded.df.shape, z), bounded.df)
    worth = bounded.effective * np.square(z / np.where(quantile > 0, quantile, np.inf))
    return wilson_interval(np.nan_to_num(bounded.value) * worth, worth, level=level), worth
