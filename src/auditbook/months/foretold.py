"""Which conclusions have changed from one audit to the next, and had the first one foretold it?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from auditbook.months.gaps import CELL
from auditbook.months.setups import ModelPair
from auditbook.verdicts import TIE

CELL_CHANGES = (
    *("model_before", "model_after", "metric", "attribute", "threshold_before", "threshold_after"),
    *("estimate_before", "estimate_after", "verdict_before", "verdict_after", "shown_before", "shown_after"),
    *("standing_before", "standing_after", "next_audit", "foretold", "turned"),
)
SIDES = ("threshold", "estimate", "verdict", "shown", "standing")
VERDICTS = ("pass", "fail")


def compare_cells(
    first: pd.DataFrame, second: pd.DataFrame, pairs: Sequence[ModelPair], *, others: bool
) -> pd.DataFrame:
    """Lay the cells of two audits side by side.

    Parameters
    ----------
    first, second : DataFrame
        ``verdicts.csv`` of each.
    pairs : sequence of ModelPair
        Which models are held against each other.
    others : bool
        Whether the second audit is of other records: only then was it foretold.

    Returns
    -------
    DataFrame
        `CELL_CHANGES`, one row a cell that both have: `turned` is 1 where the published verdict is the other
        one, 0 where it is the same, nan where one of the two has none. `foretold` tells whether the first
        audit's `next_audit` speaks of it: both have a verdict, at the same threshold.
    """
    kept = [*CELL, *SIDES]
    parts = []
    for pair in pairs:
        one = first[first["model"] == pair.before][[*kept, "next_audit"]].assign(model_after=pair.after)
        other = second[second["model"] == pair.after][kept].rename(columns={"model": "model_after"})
        keys = ["model_after", "metric", "attribute"]
        both = one.merge(other, on=keys, how="inner", suffixes=("_before", "_after"))
        parts.append(both.rename(columns={"model": "model_before"}))
    if not parts:
        return pd.DataFrame(columns=list(CELL_CHANGES))
    table = pd.concat(parts, ignore_index=True)
    judged = table["verdict_before"].isin(VERDICTS) & table["verdict_after"].isin(VERDICTS)
    turned = (table["verdict_before"] != table["verdict_after"]).astype(float).where(judged)
    alike = (table["threshold_before"] - table["threshold_after"]).abs() <= TIE
    foretold = judged & alike & table["next_audit"].notna() & others
    return table.assign(turned=turned, foretold=foretold)[list(CELL_CHANGES)]


@dataclass(frozen=True)
class Forecast:
    """How many verdicts were expected to turn, and how many did."""

    cells: int
    expected: float
    turned: int
    spread: float  # Standard deviation were the cells independent
    most: float  # Were all of them to turn together


def sum_forecasts(cells: pd.DataFrame) -> Forecast:
    r"""Add up the printed chances that a verdict turns, beside how many turned.

    .. math:: \sum_j p_j, \qquad \sqrt{\sum_j p_j (1 - p_j)} \le \mathrm{sd} \le \sum_j \sqrt{p_j (1 - p_j)}

    Cells of one audit share their records, so that the spread lies between that of independent cells and
    that of cells which go together (a verdict that turns against another would make it smaller still).

    >>> cells = pd.DataFrame({"foretold": [True, True], "next_audit": [0.5, 0.1], "turned": [1.0, 0.0]})
    >>> found = sum_forecasts(cells)
    >>> found.turned, round(found.expected, 3), round(found.spread, 3), round(found.most, 3)
    (1, 0.6, 0.583, 0.8)
    """
    told = cells[cells["foretold"].astype(bool)]
    p = told["next_audit"].to_numpy(float)
    variance = p * (1 - p)
    return Forecast(
        len(told),
        float(p.sum()),
        int(told["turned"].sum()),
        float(np.sqrt(variance.sum())),
        float(np.sqrt(variance).sum()),
    )
