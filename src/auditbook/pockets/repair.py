"""What can be done about a flagged pocket: does a correction in it help others, and who is looked at first?

A correction that is learned and judged on the same records always looks good. So the audit units are dealt
to two halves: pockets are flagged and corrections learned in one half, and looked at in the other, and the
other way round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from auditbook.columns import empty_table, fill_table
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.data import PocketData
from auditbook.pockets.families import OVERALL
from auditbook.pockets.frozen import ABSTAIN, FrozenMap
from auditbook.pockets.testing import MapAudit, audit_map

Array = NDArray[np.float64]

HALVES = ("one", "other")
SURE = 1e-6
"""Predictions are kept this far from 0 and 1 before their log odds are taken (ours)."""
WIDEST = 30.0
"""Corrections of log odds are sought up to this size."""


@dataclass(frozen=True)
class _Half:
    """One half of the audit records, and what testing found in it."""

    data: PocketData
    audit: MapAudit

    def members(self, pocket: int) -> NDArray[np.bool_]:
        """Tell which records are in a pocket."""
        return self.audit.assignment.codes == pocket

    def rows(self, model: str) -> dict[str, dict[str, Any]]:
        """Return the mean errors of one model by pocket."""
        errors = self.audit.errors
        found = errors[(errors["model"] == model) & (errors["quantity"] == "mu")]
        return {str(pocket): dict(row) for pocket, row in found.set_index("pocket").iterrows()}


def repair_pockets(
    frozen: FrozenMap,
    audit: PocketData,
    *,
    settings: PocketSettings,
    seed: int,
    jobs: int = 1,
    share: float = 1.0,
) -> pd.DataFrame:
    """Correct flagged pockets with what one half of the audit units shows, and look at the other half.

    The correction is one number a pocket: added to the log odds of a probability, or to the prediction of a
    continuous outcome, so that the mean error in the half where it is learned is zero.
    """
    plain = replace(settings, paired=())
    first = split_units(audit.unit, np.random.default_rng(seed))
    parts = [audit.take(np.flatnonzero(side)) for side in (first, ~first)]
    if not all(len(part.outcome) for part in parts):
        return empty_table("pocket_repairs")

    def look(data: PocketData) -> _Half:
        found = audit_map(frozen, data, contrasts=(), settings=plain, seed=seed, jobs=jobs, share=share)
        return _Half(data, found)

    halves = [look(part) for part in parts]
    rows: list[dict[str, Any]] = []
    for here, there, name in zip(halves, halves[::-1], HALVES, strict=True):
        learned = learn_corrections(frozen.pockets, there)
        after = look(correct_pockets(here, learned)) if learned else here
        for model in audit.predictions:
            compared = _compare(frozen.pockets, model, (here, there, after), learned)
            rows += [{"model": model, "map": frozen.name, "half": name} | row for row in compared]
    found = fill_table("pocket_repairs", rows)
    place = {model: place for place, model in enumerate(audit.predictions)}
    return found.sort_values("model", key=lambda column: column.map(place), kind="stable", ignore_index=True)


def split_units(unit: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Deal whole units to two halves of as many units, at random."""
    units, member = np.unique(unit, return_inverse=True)
    return np.asarray((rng.permutation(len(units)) < len(units) // 2)[member])


def learn_corrections(pockets: Sequence[str], half: _Half) -> dict[tuple[str, int], float]:
    """Learn a correction for every pocket and model whose mean error is flagged in one half."""
    learned = {}
    for model, predictions in half.data.predictions.items():
        rows = half.rows(model)
        for place, pocket in enumerate(pockets):
            if bool(rows[pocket]["flagged"]):
                inside = half.members(place)
                learned[model, place] = find_correction(
                    predictions[inside], half.data.outcome[inside], continuous=half.data.continuous
                )
    return learned


def find_correction(predictions: Array, outcome: Array, *, continuous: bool) -> float:
    r"""Find the one number that takes the mean error away.

    For a continuous outcome it is the mean of outcome minus prediction. For an event it is the s that solves

    .. math:: \sum_i \operatorname{logit}^{-1}(\operatorname{logit}(p_i) + s) = \sum_i y_i,

    where no event at all counts as half a one, and no non-event likewise, so that s is finite.

    Parameters
    ----------
    predictions, outcome : float64 arrays, shape (n,)
        Of the records of a pocket; at least one.
    continuous : bool
        True when the outcome is a number.

    Returns
    -------
    float
        To be added to predictions, or to their log odds.

    References
    ----------
    Steyerberg, E. W. et al. (2004). Validation and updating of predictive logistic regression models.
    doi:10.1002/sim.1844

    Examples
    --------
    >>> round(find_correction(np.full(4, 0.5), np.array([1.0, 1, 1, 0]), continuous=False), 3)  # log 3
    1.099
    """
    from scipy.optimize import brentq

    if continuous:
        return float(np.mean(outcome - predictions))
    log_odds, n = _log_odds(predictions), len(outcome)
    events = float(np.clip(outcome.sum(), 0.5, n - 0.5))
    # No root lies beyond WIDEST: there every prediction is within 1e-7 of 0 or 1.
    return float(brentq(lambda shift: _chance(log_odds + shift).sum() - events, -WIDEST, WIDEST))


def apply_correction(predictions: Array, correction: float, *, continuous: bool) -> Array:
    """Add a correction to predictions, or to their log odds."""
    return predictions + correction if continuous else _chance(_log_odds(predictions) + correction)


def _log_odds(predictions: Array) -> Array:
    safe = np.clip(predictions, SURE, 1 - SURE)
    return np.asarray(np.log(safe / (1 - safe)))


def _chance(log_odds: Array) -> Array:
    return np.asarray(expit(log_odds))


def correct_pockets(half: _Half, learned: Mapping[tuple[str, int], float]) -> PocketData:
    """Correct the records of one half, pocket by pocket."""
    predictions = {name: values.copy() for name, values in half.data.predictions.items()}
    for (model, place), correction in learned.items():
        inside = half.members(place)
        predictions[model][inside] = apply_correction(
            predictions[model][inside], correction, continuous=half.data.continuous
        )
    return replace(half.data, predictions=predictions)


def _compare(
    pockets: Sequence[str],
    model: str,
    halves: tuple[_Half, _Half, _Half],
    learned: Mapping[tuple[str, int], float],
) -> list[dict[str, Any]]:
    """Set the pockets of one model side by side: a half as it is, what the other shows, and corrected."""
    here, there, after = halves
    rows = []
    for place, pocket in enumerate(pockets):
        correction = learned.get((model, place))
        before, looked = (half.rows(model)[pocket] for half in (here, there))
        row = {"pocket": pocket, "flagged": bool(looked["flagged"]), "n": int(before["n"])}
        row |= _write_error("before", before) | {"brier_before": _square(here, model, place)}
        if correction is not None:
            row |= _write_error("after", after.rows(model)[pocket])
            row |= {"correction": correction, "brier_after": _square(after, model, place)}
        rows.append(row)
    return rows


def _write_error(when: str, row: Mapping[str, Any]) -> dict[str, float]:
    """Take a mean error and its interval; nan where it was not tested."""
    return {when: row["estimate"], f"{when}_low": row["ci_low"], f"{when}_high": row["ci_high"]}


def _square(half: _Half, model: str, place: int) -> float:
    """Return the mean squared error in a pocket; nan without records."""
    inside = half.members(place)
    wrong = half.data.predictions[model][inside] - half.data.outcome[inside]
    return float(np.mean(wrong**2)) if len(wrong) else np.nan


@dataclass(frozen=True)
class RepairSummary:
    """What corrections did to the halves in which they were not learned."""

    judged: pd.DataFrame  # Corrected halves in which the mean error could be tested
    nearer: int  # Of these, where it came nearer to zero
    left: pd.DataFrame  # Where an error is left whose interval excludes zero
    worse: pd.DataFrame  # Where the squared error grew


def summarise_repairs(repairs: pd.DataFrame) -> RepairSummary:
    """Find where corrections, rows of ``pocket_repairs.csv``, helped, did not help, and harmed."""
    judged = repairs[repairs["after"].notna()]
    return RepairSummary(
        judged,
        int((judged["after"].abs() < judged["before"].abs()).sum()),
        judged[(judged["after_low"] > 0) | (judged["after_high"] < 0)],
        judged[judged["brier_after"] > judged["brier_before"]],
    )


def list_findings(
    codes: Sequence[NDArray[np.integer]], *, maps: Sequence[FrozenMap], errors: pd.DataFrame
) -> pd.DataFrame:
    """List what was flagged in the pocket of each record, for every model and pair of groups.

    The overall comparison points at nobody, and differences between two models at no direction; neither is
    looked at. Gives a row a record, map and finding, by record: the columns of `review_list`, `model`, and
    `contrast` (blank for a mean error). `conflict` is True where the maps disagree on the direction for the
    record.
    """
    kept = errors["flagged"].fillna(False).astype(bool) & (errors["pocket"] != OVERALL)
    flags = errors[kept & (errors["quantity"] != "paired")]
    flags = flags.assign(contrast=flags["contrast"].fillna("") if "contrast" in flags else "")
    parts = [_list_flagged(code, frozen, flags) for code, frozen in zip(codes, maps, strict=True)]
    found = pd.concat(parts).sort_values("record", kind="stable", ignore_index=True)
    ways = found.groupby(["record", "model", "contrast"])["direction"].transform("nunique")
    return found.assign(conflict=ways.astype(float) > 1)


def _list_flagged(codes: NDArray[np.integer], frozen: FrozenMap, flags: pd.DataFrame) -> pd.DataFrame:
    """List the records in the flagged pockets of one map, each with the findings in their order."""
    here = flags.loc[flags["map"] == frozen.name, ["pocket", "model", "contrast", "direction"]]
    titles = dict(zip(frozen.pockets, frozen.titles or frozen.pockets, strict=True))
    record = np.flatnonzero(codes != ABSTAIN)
    pockets = np.array(frozen.pockets, dtype=object)[codes[record]]
    held = pd.DataFrame({"record": record, "map": frozen.name, "pocket": pockets})
    found = held[held["pocket"].isin(here["pocket"])].merge(here, on="pocket", how="left")
    return found.assign(name=found["pocket"].map(titles).astype(object))
