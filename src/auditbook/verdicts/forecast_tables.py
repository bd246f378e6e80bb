"""How far are predicted flip rates from realised ones, cell by cell and over all?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import TABLES, empty_table, fill_table
from auditbook.evidence import rate

KEYS = ["halving", "drawing", "metric", "attribute", "n"]
MEANS = (
    "records predicted predicted_site predicted_wide predicted_site_wide realised realised_mixed "
    "realised_any own wrong_side against_whole error from_range from_spread from_halves bias_half "
    "bias_resample bias_audit resample_sd site_sd audit_sd pair_predicted pair_realised pair_across"
).split()
EDGES = (0.0, 0.01, 0.05, 0.10, 0.20, 0.35, 0.50)
"""Bounds of the bins of predicted flip rates; a bin holds its upper bound, the first its lower one too."""

PREDICTIONS = {
    "vfr": "predicted",
    "vfr_wide": "predicted_wide",
    "vfr_site": "predicted_site",
    "vfr_site_wide": "predicted_site_wide",
}
REPEATS = 1000
"""Resamples of the halvings behind an interval."""

Array = NDArray[np.float64]


def tabulate_flips(measured: Sequence[pd.DataFrame], *, model: str) -> pd.DataFrame:
    r"""Average over the halvings: ``flip_truth.csv``."""
    if not measured:
        return empty_table("flip_truth")
    table = pd.DataFrame([_average(part) for part in measured]).assign(model=model)
    order = table[KEYS].assign(**{name: pd.factorize(table[name])[0] for name in KEYS[:-1]})
    return table.loc[order.sort_values(KEYS).index, TABLES["flip_truth"].names()].reset_index(drop=True)


def _average(part: pd.DataFrame) -> dict[str, object]:
    """Average one cell and size."""
    judged = part["judged"].to_numpy()
    means = rate(part[MEANS].to_numpy()[judged].sum(axis=0), judged.sum())
    realised, gap = (part[name].to_numpy()[judged] for name in ("realised", "halves_gap"))
    errors = {name: realised - part[column].to_numpy()[judged] for name, column in PREDICTIONS.items()}
    low, high = np.quantile(realised, [0.025, 0.975]) if len(realised) else (np.nan, np.nan)
    return {
        **{name: part[name].iloc[0] for name in (*KEYS, "estimate", "threshold")},
        **dict(zip(MEANS, means, strict=True)),
        "no_verdict_share": part["no_verdict_share"].mean(),
        "halvings": len(realised),
        "halvings_left_out": len(part) - len(realised),
        "realised_low": low,
        "realised_high": high,
        "abs_error": _average_size(errors["vfr"]),
        "abs_error_site": _average_size(errors["vfr_site"]),
        "halves_sd": np.sqrt(_average_size(gap**2) / 2),
    }


def _average_size(values: Array) -> float:
    """Mean absolute value; nan without values."""
    return float(rate(np.abs(values).sum(), len(values)))


@dataclass(frozen=True)
class _Turns:
    """Predictions of one kind, and the halving that each belongs to."""

    predicted: Array
    realised: Array
    mixed: Array
    turn: NDArray[np.intp]
    halvings: int

    def pick(self, chosen: NDArray[np.bool_]) -> "_Turns":
        """Keep some of them."""
        predicted, realised, mixed = self.predicted[chosen], self.realised[chosen], self.mixed[chosen]
        return _Turns(predicted, realised, mixed, self.turn[chosen], self.halvings)

    def interval(self, values: Array, weights: Array) -> tuple[float, float]:
        """Bound a mean by resampling whole halvings, since the cells of one halving belong together."""
        top, held = (np.bincount(self.turn, part, self.halvings) for part in (values, np.ones_like(values)))
        means = rate(weights @ top, weights @ held)
        if np.count_nonzero(held) < 2:
            return np.nan, np.nan
        low, high = np.nanquantile(means, [0.025, 0.975])
        return float(low), float(high)


def calibrate_flips(
    measured: Sequence[pd.DataFrame], *, model: str, draws: tuple[int, int], rng: np.random.Generator
) -> pd.DataFrame:
    r"""Set predicted against realised flip rates, in bins and over all: ``flip_truth_summary.csv``.

    The Brier score takes a flip rate for the forecast that an audit of the second half ends in the other
    verdict: with forecast f and realised share r it is the mean of :math:`(f - r)^2 + r(1 - r)`.
    """
    if not measured:
        return empty_table("flip_truth_summary")
    table = pd.concat(measured, ignore_index=True)
    halvings = int(table["turn"].max()) + 1
    weights = rng.multinomial(halvings, np.full(halvings, 1 / halvings), size=REPEATS).astype(float)
    found = []
    for (halving, drawing), part in table[table["judged"]].groupby(["halving", "drawing"], sort=False):
        for prediction, column in PREDICTIONS.items():
            known = part[part[column].notna()]
            turns = _Turns(
                known[column].to_numpy(),
                known["realised"].to_numpy(),
                known["realised_mixed"].to_numpy(),
                known["turn"].to_numpy(),
                halvings,
            )
            for row in _fill_bins(turns, draws, weights) if len(known) else []:
                found.append({"halving": halving, "drawing": drawing, "prediction": prediction, **row})
    return fill_table("flip_truth_summary", found).assign(model=model)


def _fill_bins(turns: _Turns, draws: tuple[int, int], weights: Array) -> list[dict[str, object]]:
    """Summarise all predictions, then those of each bin that has any."""
    place = np.maximum(np.searchsorted(EDGES, turns.predicted, side="left"), 1)
    rows = [_summarise(0, (EDGES[0], EDGES[-1]), turns, draws, weights)]
    for number, bounds in enumerate(pairwise(EDGES), start=1):
        here = turns.pick(place == number)
        if len(here.predicted):
            rows.append(_summarise(number, bounds, here, draws, weights))
    return rows


def _summarise(
    number: int, bounds: tuple[float, float], turns: _Turns, draws: tuple[int, int], weights: Array
) -> dict[str, object]:
    """Summarise some predictions."""
    predicted, realised = turns.predicted, turns.realised
    error = realised - predicted
    low, high = turns.interval(realised, weights)
    error_low, error_high = turns.interval(error, weights)
    spread = realised * (1 - realised)
    chance = np.sqrt(2 / np.pi * spread * sum(1 / number for number in draws))
    return {
        "bin": number,
        "bin_low": bounds[0],
        "bin_high": bounds[1],
        "predictions": len(error),
        "predicted": predicted.mean(),
        "realised": realised.mean(),
        "realised_low": low,
        "realised_high": high,
        "realised_mixed": turns.mixed.mean(),
        "error": error.mean(),
        "error_low": error_low,
        "error_high": error_high,
        "abs_error": np.abs(error).mean(),
        "chance_error": chance.mean(),
        "wrong_side": (realised > 0.5).mean(),
        "brier": (error**2 + spread).mean(),
        "brier_constant": realised.mean() * (1 - realised.mean()),
    }
