"""What did the scores of each group say, and what happened?"""

import math
from typing import Any

from auditbook.report.content import Calibrated, Finding
from auditbook.report.source import Source, to_count, to_number
from auditbook.results import match_rows, rows
from auditbook.verdicts import name_bin


def build_calibration(source: Source, model: str, findings: list[Finding]) -> tuple[Calibrated, ...]:
    """Set predicted beside happened for every group, and for the score bins that are shown to be off."""
    if source.of("models", model=model, kind="probability").empty:
        return ()
    groups = source.of("groups", model=model)
    rates = source.of("rates", model=model, rate="ER")
    found = [
        calibrated
        for row in rows(groups)
        if row.n != 0
        for calibrated in [
            _compare(
                row.attribute,
                row.group,
                row.mean_score,
                match_rows(rates, attribute=row.attribute, group=row.group),
            )
        ]
    ]
    return (*found, *_list_bins(source, model))


def _compare(attribute: str, group: str, mean: float, rate: Any, where: str = "") -> Calibrated:
    """Set the mean score of a group beside its event rate, both of 100."""
    row = rows(rate)[0] if len(rate) else None
    value, low, high, n = (row.value, row.low, row.high, row.n) if row else (math.nan,) * 4
    return Calibrated(
        attribute=attribute,
        group=group,
        predicted=to_number(100 * mean),
        happened=to_number(100 * value),
        low=to_number(100 * low),
        high=to_number(100 * high),
        n=to_count(n),
        where=where,
    )


def _list_bins(source: Source, model: str) -> list[Calibrated]:
    """List the score bins of groups in which the risk is shown to be another than what is said."""
    shown = match_rows(source.shown, model=model, rate="CAL")
    found = []
    for row in rows(shown):
        rate = source.of(
            "rates", model=model, attribute=row.attribute, group=row.group, rate="event rate", bin=row.bin + 1
        )
        if len(rate):
            mean = float(rate["mean_score"].iloc[0])
            found.append(_compare(row.attribute, row.group, mean, rate, name_bin(int(row.bin))))
    return found
