"""Is a gap shown to lie beyond its threshold, by all records up to now?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import prepare
from auditbook.months.mixture import FIRST_SPREAD, as_p, boundary, log_either, log_mixture, mean_evidence
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.verdicts import CONTRAST, Board, adjust_holm, find_board, name_shown

Array = NDArray[np.float64]

CELL = ["model", "metric", "attribute"]
GAP_COLUMNS = (
    *("look", *CONTRAST, "estimate", "low", "high", "threshold", "n", "n_other"),
    *("mixing", "log_e_fail", "log_e_pass", "most_fail"),
)
CELL_COLUMNS = (
    *("look", *CELL, "threshold", "possible", "log_e_fail", "most_fail", "p_fail", "p_pass", "shown"),
    "left_out",
)


@dataclass(frozen=True)
class GapLook:
    """What one look says of every gap and of every cell."""

    gaps: pd.DataFrame  # `GAP_COLUMNS`
    cells: pd.DataFrame  # `CELL_COLUMNS`


def look_at_gaps(
    records: AuditRecords, protocol: Protocol, *, look: int, gaps: pd.DataFrame, cells: pd.DataFrame
) -> GapLook:
    r"""Ask of all records up to now which gaps are shown to lie beyond their thresholds, and which within.

    Each contrast's evidence is `log_mixture` of the quantile at which its bound meets the threshold
    (`verdicts`), with :math:`\tau^2 = 2/I_1` from the first look that judges it. A cell's evidence against
    "no gap beyond the threshold" is the mean over the contrasts that it could have; one over the largest
    that it has reached is a p-value at every look. Over the cells of a model Holm's adjustment bounds the
    chance that a board ever says "fail" wrongly by `shown_alpha`. "Pass" needs every contrast within,
    by what is known at this look: it lapses when the evidence does.

    Parameters
    ----------
    records : AuditRecords
        All records up to now.
    protocol : Protocol
        Metrics, thresholds, minimum support and `shown_alpha`.
    look : int
        The number of the look.
    gaps, cells : DataFrame
        Those of the looks before; empty at the first.

    References
    ----------
    Ville, J. (1939). Etude critique de la notion de collectif. Vovk, V. and Wang, R. (2021).
    doi:10.1214/20-AOS2020. Howard et al. (2021). doi:10.1214/20-AOS1991
    """
    board = find_board(prepare(records), protocol)
    if board is None:
        return GapLook(pd.DataFrame(columns=list(GAP_COLUMNS)), pd.DataFrame(columns=list(CELL_COLUMNS)))
    found = _weigh_contrasts(board, protocol, look=look, before=gaps)
    return GapLook(found, _judge_cells(board, found, protocol, look=look, before=cells))


def _weigh_contrasts(board: Board, protocol: Protocol, *, look: int, before: pd.DataFrame) -> pd.DataFrame:
    """Weigh the evidence of every contrast, with what it was at earlier looks."""
    table = board.contrasts.assign(bin=lambda one: one["bin"].astype(float), look=look)
    past = _summarise_past(before)
    known = table[CONTRAST].merge(past, on=CONTRAST, how="left")
    fresh = np.divide(FIRST_SPREAD, board.information, out=np.zeros(len(table)), where=board.information > 0)
    mixing = known["mixing"].fillna(pd.Series(fresh)).to_numpy(float)
    spread = mixing * board.information
    fail = log_either(board.beyond, board.opposite, spread)
    passed = np.minimum(log_mixture(-board.beyond, spread), log_mixture(-board.opposite, spread))
    possible = _count_of_cells(board, table)
    z = boundary(np.log(2 * possible / protocol.shown_alpha), spread)
    estimate, low, high = _turn(board, *board.bound(z))
    cells = table[CELL].merge(board.cells[[*CELL, "threshold"]], on=CELL, how="left")
    return table.assign(
        estimate=estimate,
        low=low,
        high=high,
        threshold=cells["threshold"].to_numpy(float),
        mixing=mixing,
        log_e_fail=fail,
        log_e_pass=passed,
        most_fail=np.fmax(known["most_fail"].to_numpy(float), fail),
    )[list(GAP_COLUMNS)]


def _summarise_past(before: pd.DataFrame) -> pd.DataFrame:
    """Take what the latest look that judged a contrast has kept of it."""
    kept = [*CONTRAST, "mixing", "most_fail"]
    last = before.sort_values("look", kind="stable").drop_duplicates(CONTRAST, keep="last")
    return last[kept].astype({"bin": float, "mixing": float, "most_fail": float})


def _count_of_cells(board: Board, table: pd.DataFrame) -> Array:
    """Count the contrasts that each contrast's model could have, over all cells."""
    total = board.cells.groupby("model")["possible"].sum()
    return np.maximum(table["model"].map(total).to_numpy(float), 1.0)


def _turn(board: Board, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Turn estimates and bounds to the order in which the groups are named."""
    table, estimate = board.contrasts, board.contrasts["estimate"].to_numpy(float)
    contrasts = board.found.contrasts
    below = (table["other"] == "").to_numpy() & (estimate < 0)
    turned = table["flipped"].to_numpy(bool) | below
    difference = turned & ~contrasts.is_ratio
    low, high = np.where(difference, -high, low), np.where(difference, -low, high)
    estimate = np.where(difference & ~below, -estimate, estimate)
    ratio = turned & contrasts.is_ratio
    with np.errstate(divide="ignore"):
        low, high = np.where(ratio, 1 / high, low), np.where(ratio, 1 / low, high)
        estimate = np.where(ratio, 1 / estimate, estimate)
    return tuple(np.where(np.isfinite(one), one, np.nan) for one in (estimate, low, high))  # type: ignore[return-value]


def _judge_cells(
    board: Board, found: pd.DataFrame, protocol: Protocol, *, look: int, before: pd.DataFrame
) -> pd.DataFrame:
    """Judge the cells of every model, with errors bounded over its board and over all looks."""
    cells = board.cells.assign(look=look)
    row = found[CELL].merge(cells[CELL].assign(row=range(len(cells))), on=CELL, how="left")["row"]
    place = row.to_numpy(np.intp)
    log_e = mean_evidence(found["log_e_fail"].to_numpy(float), place, cells["possible"].to_numpy(float))
    last = before.sort_values("look", kind="stable").drop_duplicates(CELL, keep="last")[[*CELL, "most_fail"]]
    past = cells[CELL].merge(last, on=CELL, how="left")["most_fail"].to_numpy(float)
    most = np.fmax(past, log_e)
    least = np.full(len(cells), np.inf)
    np.minimum.at(least, place, found["log_e_pass"].to_numpy(float))
    whole = cells["whole"].to_numpy(bool) & np.isfinite(least)
    fail, passed = as_p(most), np.where(whole, as_p(np.where(whole, least, 0.0)), 1.0)
    possible = (cells["possible"] > 0).to_numpy()
    p_fail, p_pass = (
        _adjust(np.where(possible, one, np.nan), cells["model"].to_numpy()) for one in (fail, passed)
    )
    judged = np.isin(np.arange(len(cells)), place) | (past > 0)
    shown = name_shown(np.where(judged, p_fail, np.nan), p_pass, whole, protocol.shown_alpha)
    return cells.assign(log_e_fail=log_e, most_fail=most, p_fail=p_fail, p_pass=p_pass, shown=shown)[
        list(CELL_COLUMNS)
    ]


def _adjust(p: Array, model: NDArray[np.object_]) -> Array:
    """Adjust the cells of each model for being several."""
    adjusted = np.full(len(p), np.nan)
    for name in dict.fromkeys(model):
        adjusted[model == name] = adjust_holm(p[model == name])
    return adjusted
