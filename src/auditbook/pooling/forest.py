"""How does each group fare beside another in every hospital, and over all of them?"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import fill_table, stack_tables
from auditbook.evidence import FN, FP, SHARE, TN, TP, Z_95, Bounded, TalliedAttribute, Tally, mover_bounds
from auditbook.pooling.random_effects import LEAST_PREDICTED, PooledEffect, pool_effects

RATES = {
    "SR": ((TP, FP), (TP, FP, FN, TN)),
    "TPR": ((TP,), (TP, FN)),
    "FPR": ((FP,), (FP, TN)),
    "PPV": ((TP,), (TP, FP)),
}
"""Cells that are counted, and among which."""
Array = NDArray[np.float64]


@dataclass(frozen=True)
class HospitalDifferences:
    """One rate of two groups in each hospital that has records of both; arrays of shape (n_hospitals,)."""

    sites: tuple[str, ...]
    hits: Array
    other_hits: Array
    trials: Array
    other_trials: Array
    difference: Array
    variance: Array
    low: Array
    high: Array
    left_out: int  # Hospitals without records of one of the groups


def compare_hospitals(hits: Array, trials: Array, sites: tuple[str, ...]) -> HospitalDifferences:
    r"""Compare a rate of two groups in each hospital.

    The variance within a hospital is :math:`p_1(1-p_1)/n_1 + p_2(1-p_2)/n_2` with the rates of all
    hospitals together, each with half a hit and half a miss added. Rates of a hospital itself would give one
    with few records and no miss all weight, and weights that hang together with its estimate.

    Parameters
    ----------
    hits, trials : float arrays, shape (2, n_hospitals)
        Of the group and of the other.
    sites : tuple of str
    """
    kept = (trials > 0).all(axis=0)
    x, n = hits[:, kept], trials[:, kept]
    rates = x / n
    pooled = (x.sum(axis=1) + 0.5) / (n.sum(axis=1) + 1)
    variance = (pooled * (1 - pooled))[:, None] / n
    ones = np.ones(int(kept.sum()))
    first, second = _bound(rates[0], n[0]), _bound(rates[1], n[1])
    low, high = mover_bounds(first, second, ones, 0 * ones, Z_95 * ones)
    names = tuple(site for site, keep in zip(sites, kept, strict=True) if keep)
    return HospitalDifferences(
        names,
        x[0],
        x[1],
        n[0],
        n[1],
        rates[0] - rates[1],
        variance.sum(axis=0),
        low,
        high,
        int((~kept).sum()),
    )


def _bound(rate: Array, trials: Array) -> Bounded:
    kind = np.full(len(rate), SHARE, np.int8)
    return Bounded(kind, rate, trials, np.zeros(len(rate)), np.full(len(rate), np.inf))


def find_other(attribute: TalliedAttribute) -> str:
    """Find the group that the others are compared with: the reference, else the largest."""
    if attribute.reference in attribute.groups:
        return str(attribute.reference)
    return attribute.groups[int(attribute.counts[0].sum(axis=(0, 2)).argmax())]


def tabulate_hospitals(tally: Tally) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare every group with the reference in each hospital, and pool by random effects.

    Returns
    -------
    hospital_contrasts, pooled_contrasts : DataFrame
        A row a hospital and contrast; and a row a contrast.
    """
    by_hospital: list[pd.DataFrame] = []
    pooled: list[dict[str, object]] = []
    for key, found in _list_differences(tally):
        effect = pool_effects(found.difference, found.variance)
        by_hospital.append(_tabulate_one(key, found, effect))
        pooled.append(key | _tell_effect(effect, found))
    return stack_tables("hospital_contrasts", by_hospital), fill_table("pooled_contrasts", pooled)


def _list_differences(tally: Tally) -> Iterator[tuple[dict[str, object], HospitalDifferences]]:
    """Go through models, attributes, rates and groups."""
    for place, model in enumerate(tally.models):
        for attribute in tally.attributes:
            other = find_other(attribute)
            last = attribute.groups.index(other)
            counts = attribute.counts[place].astype(float)  # shape (n_sites, n_groups, 4)
            for rate, (counted, among) in RATES.items():
                hits, trials = (counts[..., list(cells)].sum(axis=-1).T for cells in (counted, among))
                for first, group in enumerate(attribute.groups):
                    if group != other:
                        key = {"model": model.model, "attribute": attribute.name, "rate": rate}
                        pair = [first, last]
                        yield (
                            {**key, "group": group, "other": other},
                            compare_hospitals(hits[pair], trials[pair], tally.sites),
                        )


def _tabulate_one(key: dict[str, object], found: HospitalDifferences, effect: PooledEffect) -> pd.DataFrame:
    columns = {
        "site": list(found.sites),
        "hits": found.hits.astype(int),
        "n": found.trials.astype(int),
        "hits_other": found.other_hits.astype(int),
        "n_other": found.other_trials.astype(int),
        "estimate": found.difference,
        "low": found.low,
        "high": found.high,
        "weight": effect.weights,
    }
    return pd.DataFrame({**{name: [value] * len(found.sites) for name, value in key.items()}, **columns})


def _tell_effect(effect: PooledEffect, found: HospitalDifferences) -> dict[str, object]:
    """Lay out what is pooled, and why something is not."""
    names = ("hospitals", "estimate", "low", "high", "tau2", "tau2_low", "tau2_high", "i2")
    told: dict[str, object] = {name: getattr(effect, name) for name in names}
    ahead = {"prediction_low": effect.prediction_low, "prediction_high": effect.prediction_high}
    return told | ahead | {"hospitals_without": found.left_out, "reason": explain_few(effect.hospitals)}


def explain_few(hospitals: int) -> str:
    """Say what is not given with few hospitals; blank where all is.

    >>> explain_few(2)
    'what to expect of the next hospital is told from 3 hospitals on; here are 2'
    """
    if hospitals == 0:
        return "no hospital has records of both groups"
    if hospitals == 1:
        return "only one hospital has records of both groups: nothing is pooled"
    if hospitals < LEAST_PREDICTED:
        least = f"is told from {LEAST_PREDICTED} hospitals on; here are {hospitals}"
        return f"what to expect of the next hospital {least}"
    return ""
