"""Which differences between two audits are beyond noise?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from auditbook.evidence import SHARE, Bounded, prepare
from auditbook.months.setups import ModelPair
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.results import Run
from auditbook.settings import Protocol
from auditbook.verdicts import (
    METRICS,
    adjust_holm,
    compare_bounded,
    list_watched_rates,
    measure_group_rates,
    standard_error,
)

Array = NDArray[np.float64]
NAMED = ["metric", "attribute", "rate", "bin", "group", "other"]
DIFFERENCES = (
    *("kind", "model_before", "model_after", *NAMED, "before", "after", "change", "low", "high"),
    *("low_board", "high_board", "p", "p_board", "beyond_noise", "paired"),
)
LEVEL = 0.95


@dataclass(frozen=True)
class Paired:
    """Two models' decisions on the same records."""

    before: AuditRecords  # With the one score of the first
    after: AuditRecords  # The same records, with that of the second


def compare_values(
    first: Run, second: Run, pairs: Sequence[ModelPair], *, paired: dict[str, Paired]
) -> pd.DataFrame:
    r"""Compare every group's rate and every gap of two audits.

    Rates are compared by the MOVER interval of two shares, gaps as estimates with the standard error that
    their printed interval has, of a ratio on the logarithmic scale:
    :math:`z = (d_2 - d_1)/\sqrt{s_1^2 + s_2^2}`. Records are taken to be others, unless the decisions of both
    models on the same records are given: then covariances over records, or units, enter.

    Parameters
    ----------
    first, second : Run
        Two finished audits.
    pairs : sequence of ModelPair
        Which models are held against each other.
    paired : dict of str to Paired
        By the second model's name, the records that are shared.

    Returns
    -------
    DataFrame
        `DIFFERENCES`: `low` to `high` is a 95% interval of each change by itself (of a ratio, of the factor),
        `low_board` to `high_board` hold all changes of a pair together (Bonferroni), and `p_board` is Holm's:
        the chance of any false `beyond_noise` among a pair of models is at most 5%.

    References
    ----------
    Newcombe, R. G. (1998). doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand J Statist 6, 65-70.
    """
    found = []
    for pair in pairs:
        if pair.after in paired:
            parts = [_compare_paired(paired[pair.after], first.protocol)]
        else:
            parts = [_compare_rates(first, second, pair), _compare_gaps(first, second, pair)]
        table = pd.concat([part for part in parts if len(part)] or [pd.DataFrame(columns=[*_MADE])])
        found.append(_bound_board(table.reset_index(drop=True), pair, is_paired=pair.after in paired))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(DIFFERENCES))


_MADE = ("kind", *NAMED, "before", "after", "moved", "error", "z", "ratio")


def _bound_board(table: pd.DataFrame, pair: ModelPair, *, is_paired: bool) -> pd.DataFrame:
    """Bound all changes of a pair of models, each by itself and all together."""
    z, moved, error = (table[name].to_numpy(float) for name in ("z", "moved", "error"))
    ratio = table["ratio"].to_numpy(bool)
    p = 2 * ndtr(-np.abs(z))
    alone, board = (-ndtri((1 - LEVEL) / 2 / count) for count in (1, max(len(table), 1)))
    columns = {
        name: np.where(ratio, np.exp(moved + side * error), moved + side * error)
        for name, side in (
            ("change", 0.0),
            ("low", -alone),
            ("high", alone),
            ("low_board", -board),
            ("high_board", board),
        )
    }
    p_board = adjust_holm(p)
    return table.assign(
        model_before=pair.before,
        model_after=pair.after,
        **columns,
        p=p,
        p_board=p_board,
        beyond_noise=p_board <= 1 - LEVEL,
        paired=is_paired,
    )[list(DIFFERENCES)]


def _compare_rates(first: Run, second: Run, pair: ModelPair) -> pd.DataFrame:
    """Compare the rates of the groups that both audits have."""
    names = ["attribute", "group", "rate"]
    sides = [
        run.rates[(run.rates["model"] == model) & run.rates["bin"].isna() & (run.rates["n_effective"] > 0)]
        for run, model in ((first, pair.before), (second, pair.after))
    ]
    both = sides[0].merge(sides[1], on=names, how="inner", suffixes=("_before", "_after"))
    earlier, later = (_as_shares(both, side) for side in ("before", "after"))
    change = compare_bounded(earlier, later)
    return _lay_out(both.assign(metric="", other="", bin=np.nan), "rate", change.before, change.after).assign(
        moved=change.after - change.before, error=change.error, z=change.z, ratio=False
    )


def _lay_out(table: pd.DataFrame, kind: str, before: Array, after: Array) -> pd.DataFrame:
    return table[NAMED].assign(kind=kind, before=before, after=after)


def _as_shares(table: pd.DataFrame, side: str) -> Bounded:
    """Read shares with the independent records that each is worth."""
    value, effective = (table[f"{name}_{side}"].to_numpy(float) for name in ("value", "n_effective"))
    none = np.zeros(len(value))
    return Bounded(np.full(len(value), SHARE, np.int8), value, effective, none, np.full(len(value), np.inf))


def _compare_gaps(first: Run, second: Run, pair: ModelPair) -> pd.DataFrame:
    """Compare the gaps of every two groups, or of a group and what is expected of it."""
    sides = [_read_gaps(run, model) for run, model in ((first, pair.before), (second, pair.after))]
    both = sides[0].merge(sides[1], on=[*NAMED, "ratio"], how="inner", suffixes=("_before", "_after"))
    value_before, value_after = both["value_before"].to_numpy(float), both["value_after"].to_numpy(float)
    error = np.hypot(both["error_before"].to_numpy(float), both["error_after"].to_numpy(float))
    moved, ratio = value_after - value_before, both["ratio"].to_numpy(bool)
    known = error > 0
    before, after = (np.where(ratio, np.exp(value), value) for value in (value_before, value_after))
    z = np.divide(moved, error, out=np.zeros(len(both)), where=known)
    table = _lay_out(both, "gap", before, after).assign(moved=moved, error=error, z=z, ratio=ratio)
    return table[known]


def _read_gaps(run: Run, model: str) -> pd.DataFrame:
    """Read contrasts with their standard errors, the group that is first by alphabet standing first."""
    table = run.contrasts[run.contrasts["model"] == model]
    low, high, value = (table[name].to_numpy(float) for name in ("low_alone", "high_alone", "estimate"))
    ratio = np.array([METRICS[name].direction == "at_least" for name in table["metric"]], bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high, value = (np.where(ratio, np.log(part), part) for part in (low, high, value))
        error = (high - low) / (2 * -ndtri(run.protocol.shown_alpha))
    flip = ((table["other"] != "") & (table["group"] > table["other"])).to_numpy(bool)
    group, other = table["group"].where(~flip, table["other"]), table["other"].where(~flip, table["group"])
    found = table[NAMED].assign(
        group=group, other=other, ratio=ratio, value=np.where(flip, -value, value), error=error
    )
    return found[np.isfinite(found["value"]) & np.isfinite(found["error"])]


def _compare_paired(paired: Paired, protocol: Protocol) -> pd.DataFrame:
    """Compare two models' rates, and gaps of every two groups, on the same records."""
    found = []
    for place, attribute in enumerate(paired.before.attributes):
        rates = measure_group_rates(prepare(_double(paired, place)), protocol)[0]
        for number, name in enumerate(list_watched_rates(protocol)):
            row = Bounded(*(part[number, 0] for part in rates.bounded.parts()))
            found.append(
                _set_side_by_side(row, rates.correlation[number, 0], rates.judged[number, 0], attribute, name)
            )
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(_MADE))


def _double(paired: Paired, place: int) -> AuditRecords:
    """Let every record stand twice, in one cluster: as the first model decides it, and as the second does."""
    before, after = paired.before, paired.after
    n, attribute = len(before.outcome), before.attributes[place]
    count = len(attribute.groups)
    names = tuple(f"{side} {name}" for side in ("1", "2") for name in attribute.groups)
    decisions = [records.scores[0].decisions.astype(float) for records in (before, after)]
    unit = np.arange(n) if before.unit is None else np.asarray(before.unit)
    return AuditRecords(
        np.tile(before.outcome, 2),
        (Attribute(attribute.name, names, np.concatenate([attribute.codes, attribute.codes + count])),),
        (Score("both", "decision", 0.5, np.concatenate(decisions)),),
        unit=np.tile(unit, 2),
    )


def _set_side_by_side(
    row: Bounded, correlation: Array, judged: NDArray[np.bool_], attribute: Attribute, rate: str
) -> pd.DataFrame:
    """Compare one rate of all groups, then of every two, by the covariance of all four."""
    count = len(attribute.groups)
    error = np.nan_to_num(standard_error(row))
    covariance = correlation * error[:, None] * error
    np.fill_diagonal(covariance, error**2)
    made = []
    for groups in [(g,) for g in range(count)] + list(combinations(range(count), 2)):
        signs = np.zeros(2 * count)
        for group, sign in zip(groups, (1.0, -1.0), strict=False):
            signs[group], signs[count + group] = -sign, sign
        used = np.flatnonzero(signs)
        if not judged[used].all():
            continue
        part = np.zeros(2 * count)
        part[used] = row.value[used] * signs[used]
        before, after = -part[:count].sum(), part[count:].sum()
        names = [attribute.groups[g] for g in groups]
        variance = float(signs @ covariance @ signs)
        moved, s = after - before, float(np.sqrt(max(variance, 0.0)))
        made.append(
            {
                "kind": "rate" if len(groups) == 1 else "gap",
                "metric": "",
                "attribute": attribute.name,
                "rate": rate,
                "bin": np.nan,
                "group": names[0],
                "other": names[1] if len(names) > 1 else "",
                "before": before,
                "after": after,
                "moved": moved,
                "error": s,
                "z": moved / s if s > 0 else 0.0,
                "ratio": False,
            }
        )
    return pd.DataFrame(made, columns=list(_MADE))
