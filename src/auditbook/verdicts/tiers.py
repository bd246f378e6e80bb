"""On how many of three axes does a published verdict fall short, and what does that ask for?"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.evidence import name_band
from auditbook.settings import Protocol
from auditbook.verdicts.audit_size import CELL, list_n_star
from auditbook.verdicts.site_agreement import DEFINED, UNDEFINED

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Tier:
    """A grade of how far parts of an audit agree on a verdict, as published."""

    name: str  # As in verdicts.csv
    violations: int  # Axes on which the verdict falls short
    action: str  # What the tier asks for


_ALL = (
    Tier("Practical-Stability", 0, "Quote the verdict; act on it only if it is also shown."),
    Tier("Caution-Required", 1, "Say beside the verdict which axis is weak, and mend that axis."),
    Tier("High-Variance", 2, "Pool records or sites before the verdict is quoted."),
    Tier("Catastrophic-Instability", 3, "Quote the verdict nowhere until parts of the audit agree on it."),
)
TIERS = MappingProxyType({tier.name: tier for tier in _ALL})
NO_TIER = "Claim nothing; see what is missing."
NEEDS = (
    "fails, at most one axis short",
    "fails, two or three axes short",
    "passes, two or three axes short",
    "no verdict",
    "passes, one axis short",
    "passes, no axis short",
)
"""Verdict and axes that fall short, in the order of the board of tiers."""


@dataclass(frozen=True)
class Axes:
    """The numbers by which the axes of many cells are judged."""

    vfr: Array  # shape (..., n_cells): Flip rate; nan where the metric is undefined in every resample
    # shape (n_cells,): Infinite where no size up to half of the audit settles the metric; nan where none so
    # small was tried
    n_star: Array
    # shape (n_cells,): nan where folds all say the same, or were not judged, or did not rate the attribute
    kappa: Array

    def fall_short(self, protocol: Protocol) -> NDArray[np.bool_]:
        """Tell which axes fall short, shape (..., n_cells, 3): the one rule of all tiers."""
        flips = ~(self.vfr <= protocol.vfr_stable)
        size, sites = self.n_star > protocol.field_size, self.kappa < protocol.kappa_stable
        return np.stack(np.broadcast_arrays(flips, size, sites), axis=-1)

    def count_tiers(self, protocol: Protocol) -> dict[str, NDArray[np.intp]]:
        """Count the cells of each tier, by its name, shape (...)."""
        broken = self.fall_short(protocol).sum(axis=-1)
        return {tier.name: np.count_nonzero(broken == tier.violations, axis=-1) for tier in _ALL}


def read_axes(
    verdicts: pd.DataFrame, sizes: pd.DataFrame, agreement: pd.DataFrame, *, cv_stable: float
) -> Axes:
    """Read the axes of every cell from an audit's tables."""
    kappa = dict(
        zip(zip(agreement["model"], agreement["metric"], strict=True), agreement["kappa"], strict=True)
    )
    n_star = list_n_star(sizes, cv_stable=cv_stable)
    never = math.inf if tries_sizes(sizes) else math.nan
    cells = list(verdicts[CELL].itertuples(index=False, name=None))
    unrated = verdicts["folds_rated"].to_numpy(float) < LEAST_RATINGS
    return Axes(
        verdicts["vfr"].to_numpy(float),
        np.array([n_star.get(cell, never) for cell in cells]),
        np.where(unrated, np.nan, np.array([kappa[cell[:2]] for cell in cells], float)),
    )


LEAST_RATINGS = 2
"""An attribute that fewer folds rate has no part in the kappa of its metric."""


def tries_sizes(sizes: pd.DataFrame) -> bool:
    """Tell whether axis 2 tried any size of at most half of the audit."""
    return not sizes["above_half"].all()


def assign_tiers(
    verdicts: pd.DataFrame,
    sizes: pd.DataFrame,
    agreement: pd.DataFrame,
    *,
    protocol: Protocol,
    weighted: bool = False,
) -> pd.DataFrame:
    r"""Give every cell its tier, with reasons: n_star, kappa, tier and tier_reasons of ``verdicts.csv``.

    .. math:: 1[\mathrm{VFR} > 0.10] + 1[N^* > 50{,}000] + 1[\kappa < 0.40]

    by default. The tier counts the axes that fall short: a flip rate above `vfr_stable`, an N* above
    `field_size`, a kappa below `kappa_stable`. An axis that could not be judged is not counted, and the
    reasons say that it was not. Where all folds say the same, kappa is undefined and the folds count as
    agreeing. `n_star` is infinite where no size up to half of the audit settles the metric, nan where none so
    small was tried; kappa is nan for an attribute that fewer than two folds rate. An inconclusive cell has
    no N*, no kappa and no tier, and a reason why.

    Parameters
    ----------
    verdicts, sizes, agreement : DataFrame
        From `judge_cells`, `sweep_sizes` and `rate_agreement`.
    weighted : bool
        Whether the records have weights, so that no smaller audit could be made of them.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846

    Examples
    --------
    >>> cell = {"model": ["m"], "metric": ["DI"], "attribute": ["sex"], "folds_rated": [20]}
    >>> verdicts = pd.DataFrame(cell | {"verdict": ["pass"], "reason": [""], "vfr": [0.02]})
    >>> sizes = pd.DataFrame(cell | {"n": [1000], "cv": [0.01], "undefined_share": 0.0, "above_half": False})
    >>> agreement = pd.DataFrame({"model": ["m"], "metric": "DI", "kappa": 0.5, "band": "moderate",
    ...                           "status": "defined", "reason": ""})
    >>> assign_tiers(verdicts, sizes, agreement, protocol=Protocol())["tier"].tolist()
    ['Practical-Stability']
    """
    of_metric = {(row.model, row.metric): row for row in agreement.itertuples(index=False)}
    axes = read_axes(verdicts, sizes, agreement, cv_stable=protocol.cv_stable)
    limit = _Limit(
        int(sizes["n"].max()) // 2 if len(sizes) else 0, tried=tries_sizes(sizes), weighted=weighted
    )
    short = axes.fall_short(protocol)
    found = [
        _grade(cell, (n_star, kappa), of_metric[cell.model, cell.metric], broken, limit, protocol)
        for cell, n_star, kappa, broken in zip(
            verdicts.itertuples(index=False),
            axes.n_star.tolist(),
            axes.kappa.tolist(),
            short.tolist(),
            strict=True,
        )
    ]
    filled = pd.DataFrame(found, columns=["n_star", "kappa", "tier", "tier_reasons"], index=verdicts.index)
    return verdicts.assign(**{str(name): column for name, column in filled.items()})


@dataclass(frozen=True)
class _Limit:
    """How far axis 2 could look: half of the audit's records, and whether any size tried is that small."""

    half: int
    tried: bool
    weighted: bool


def _grade(
    cell: Any, found: tuple[float, float], folds: Any, broken: list[bool], limit: _Limit, protocol: Protocol
) -> dict[str, Any]:
    """Grade one cell, and say why; axes that fall short come first."""
    if cell.verdict == "inconclusive":
        reason = f"no tier, since there is no verdict ({cell.reason})"
        return {"n_star": math.nan, "kappa": math.nan, "tier": "", "tier_reasons": reason}
    n_star, kappa = found
    rated = not cell.folds_rated < LEAST_RATINGS
    told = (
        _tell_flips(cell.vfr, broken[0], protocol),
        _tell_size(n_star, broken[1], limit, protocol),
        _tell_folds(folds, broken[2], rated, protocol),
    )
    reasons = [
        text for short in (True, False) for text, one in zip(told, broken, strict=True) if one is short
    ]
    judged = 1 + limit.tried + (rated and folds.status in (DEFINED, UNDEFINED))
    if judged < 3:
        reasons.append(f"{('one', 'two')[judged - 1]} of three axes judged")
    tier = next(tier.name for tier in _ALL if tier.violations == sum(broken))
    return {"n_star": n_star, "kappa": kappa, "tier": tier, "tier_reasons": "; ".join(reasons)}


def _tell_flips(vfr: float, broken: bool, protocol: Protocol) -> str:
    """Axis 1: do resamples agree on the verdict?"""
    if math.isnan(vfr):
        return "flip rate unknown, because the metric is undefined in every resample"
    return f"flip rate {vfr:.3f}" + (f", above {protocol.vfr_stable:g}" if broken else "")


def _tell_size(n_star: float, broken: bool, limit: _Limit, protocol: Protocol) -> str:
    """Axis 2: how many records does the metric need?"""
    if limit.weighted:
        return "size not judged: some of a weighted sample is no smaller audit of its kind"
    if not limit.tried:
        return (
            f"size not judged: no size that is tried is at most half of this audit ({limit.half:,} records)"
        )
    if math.isinf(n_star):
        return f"N* not reached within half of this audit ({limit.half:,} records)"
    return f"N* {n_star:,.0f}" + (
        f", above the {protocol.field_size:,} records of one site" if broken else ""
    )


def _tell_folds(folds: Any, broken: bool, rated: bool, protocol: Protocol) -> str:
    """Axis 3: do other sites agree?"""
    if not rated and folds.status in (DEFINED, UNDEFINED):
        return "sites not judged: fewer than two folds have enough of every group of this attribute"
    if folds.status == UNDEFINED:
        return f"kappa undefined, because {folds.reason}; counted as agreeing"
    if folds.status != DEFINED:
        return f"sites not judged: {folds.reason}"
    below = f", below {protocol.kappa_stable:g}" if broken else ""
    return f"kappa of {folds.metric} {folds.kappa:.3f} ({folds.band}){below}"


def recommend(tier: str) -> str:
    """Say in one sentence what a tier asks for; blank stands for a cell without a tier.

    >>> recommend("")
    'Claim nothing; see what is missing.'
    """
    return TIERS[tier].action if tier else NO_TIER


def grade_cases(cases: Mapping[str, Mapping[str, float]], protocol: Protocol) -> pd.DataFrame:
    """Grade made-up cells, each with a vfr, an n_star and a kappa, by the rule that grades the real ones."""
    names = {"metric": "DI", "attribute": "sex"}
    verdicts = pd.DataFrame(
        [
            {"model": label, **names, "verdict": "pass", "reason": "", "vfr": case["vfr"], "folds_rated": 20}
            for label, case in cases.items()
        ]
    )
    sizes = pd.DataFrame(
        [
            {"model": label, **names, "n": n, "cv": 0.0 if n >= case["n_star"] else 1.0}
            for label, case in cases.items()
            for n in (*protocol.audit_sizes, 4 * max(protocol.audit_sizes))
        ]
    ).assign(undefined_share=0.0)
    sizes["above_half"] = sizes["n"] > max(protocol.audit_sizes)
    agreement = pd.DataFrame(
        [
            {
                "model": label,
                "metric": "DI",
                "kappa": case["kappa"],
                "band": name_band(case["kappa"]),
                "status": UNDEFINED if math.isnan(case["kappa"]) else DEFINED,
                "reason": "every rating is a pass",
            }
            for label, case in cases.items()
        ]
    )
    graded = assign_tiers(verdicts, sizes, agreement, protocol=protocol)
    return graded.rename(columns={"model": "label"})[["label", "tier", "tier_reasons"]]


def name_need(verdict: str, tier: str) -> str:
    """Name what a cell asks of a board, one of `NEEDS`."""
    if not tier:
        return NEEDS[3]
    broken = TIERS[tier].violations
    if verdict == "fail":
        return NEEDS[1 if broken >= 2 else 0]
    return NEEDS[2] if broken >= 2 else NEEDS[4 if broken else 5]
