"""How far can a verdict be trusted, judged on three axes, and what does that ask for?"""

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd

from auditbook.settings import Protocol
from auditbook.verdicts.audit_size import list_n_star
from auditbook.verdicts.site_agreement import DEFINED, UNDEFINED


@dataclass(frozen=True)
class Tier:
    """A grade of how far a verdict can be trusted."""

    name: str  # As in verdicts.csv
    violations: int  # Axes on which the verdict falls short
    action: str  # What the tier asks for


_ALL = (
    Tier("Practical-Stability", 0, "Act on the verdict; audit again when the model or its patients change."),
    Tier("Caution-Required", 1, "Act on the verdict, say beside it which axis is weak, and mend that axis."),
    Tier("High-Variance", 2, "Pool records or sites, and let people review before anything is certified."),
    Tier("Catastrophic-Instability", 3, "Certify nothing for use elsewhere until the verdict has settled."),
)
TIERS = MappingProxyType({tier.name: tier for tier in _ALL})
NO_TIER = "Claim nothing; see what is missing."


def assign_tiers(
    verdicts: pd.DataFrame, sizes: pd.DataFrame, agreement: pd.DataFrame, *, protocol: Protocol
) -> pd.DataFrame:
    """Give every cell its tier, with reasons: four columns of ``verdicts.csv``.

    The tier counts the axes that fall short: a flip rate above `vfr_stable`, an N* above `field_size`, a
    kappa below `kappa_stable`. An axis that could not be judged is not counted, and the reasons say that it
    was not. Where all folds say the same, kappa is undefined and the folds count as agreeing.

    Parameters
    ----------
    verdicts : DataFrame
        From `judge`.
    sizes : DataFrame
        From `sweep_sizes`.
    agreement : DataFrame
        From `rate_agreement`.
    protocol : Protocol
        The bounds.

    Returns
    -------
    DataFrame
        `verdicts`, with n_star, kappa, tier and tier_reasons filled. `n_star` is infinite where no size up to
        half of the audit settles the metric. An inconclusive cell has no N*, no kappa and no tier, and a
        reason why.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846

    Examples
    --------
    >>> cell = {"model": ["m"], "metric": ["DI"], "attribute": ["sex"]}
    >>> verdicts = pd.DataFrame(cell | {"verdict": ["pass"], "reason": [""], "vfr": [0.02]})
    >>> sizes = pd.DataFrame(cell | {"n": [1000], "cv": [0.01], "undefined_share": 0.0, "above_half": False})
    >>> agreement = pd.DataFrame({"model": ["m"], "metric": "DI", "kappa": 0.5, "band": "moderate",
    ...                           "status": "defined", "reason": ""})
    >>> assign_tiers(verdicts, sizes, agreement, protocol=Protocol())["tier"].tolist()
    ['Practical-Stability']
    """
    of_metric = {(row.model, row.metric): row for row in agreement.itertuples(index=False)}
    n_star = list_n_star(sizes, cv_stable=protocol.cv_stable)
    limit = _Limit(int(sizes["n"].max()) // 2 if len(sizes) else 0, tried=not sizes["above_half"].all())
    found = [
        _grade(
            cell,
            n_star.get((str(cell.model), str(cell.metric), str(cell.attribute)), math.inf),
            of_metric[cell.model, cell.metric],
            limit,
            protocol,
        )
        for cell in verdicts.itertuples(index=False)
    ]
    filled = pd.DataFrame(found, columns=["n_star", "kappa", "tier", "tier_reasons"], index=verdicts.index)
    return verdicts.assign(**{str(name): column for name, column in filled.items()})


@dataclass(frozen=True)
class _Limit:
    """How far axis 2 could look: half of the audit's records, and whether any size tried is that small."""

    half: int
    tried: bool


def _grade(cell: Any, n_star: float, folds: Any, limit: _Limit, protocol: Protocol) -> dict[str, Any]:
    """Grade one cell."""
    if cell.verdict == "inconclusive":
        reason = f"no tier, since there is no verdict ({cell.reason})"
        return {"n_star": math.nan, "kappa": math.nan, "tier": "", "tier_reasons": reason}
    axes = [_judge_flips(cell, protocol), _judge_size(n_star, limit, protocol), _judge_folds(folds, protocol)]
    broken = sum(axis.broken for axis in axes)
    judged = sum(axis.judged for axis in axes)
    reasons = [axis.reason for axis in sorted(axes, key=lambda axis: not axis.broken)]
    if judged < len(axes):
        reasons.append(f"{('no', 'one', 'two')[judged]} of three axes judged")
    tier = next(tier.name for tier in _ALL if tier.violations == broken)
    return {"n_star": n_star, "kappa": folds.kappa, "tier": tier, "tier_reasons": "; ".join(reasons)}


@dataclass(frozen=True)
class _Axis:
    """What one axis says of a cell."""

    reason: str
    broken: bool = False
    judged: bool = True


def _judge_flips(cell: Any, protocol: Protocol) -> _Axis:
    """Axis 1: would another sample reverse the verdict?"""
    if math.isnan(cell.vfr):
        return _Axis("flip rate unknown, because the metric is undefined in every resample", broken=True)
    if cell.vfr > protocol.vfr_stable:
        return _Axis(f"flip rate {cell.vfr:.3f}, above {protocol.vfr_stable:g}", broken=True)
    return _Axis(f"flip rate {cell.vfr:.3f}")


def _judge_size(n_star: float, limit: _Limit, protocol: Protocol) -> _Axis:
    """Axis 2: how many records does the metric need?"""
    if math.isinf(n_star):
        why = "" if limit.tried else ": no size that is tried is so small"
        return _Axis(f"N* not reached within half of this audit ({limit.half:,} records){why}", broken=True)
    if n_star > protocol.field_size:
        return _Axis(f"N* {n_star:,.0f}, above the {protocol.field_size:,} records of one site", broken=True)
    return _Axis(f"N* {n_star:,.0f}")


def _judge_folds(folds: Any, protocol: Protocol) -> _Axis:
    """Axis 3: do other sites agree?"""
    if folds.status == UNDEFINED:
        return _Axis(f"kappa undefined, because {folds.reason}; counted as agreeing")
    if folds.status != DEFINED:
        return _Axis(f"sites not judged: {folds.reason}", judged=False)
    if folds.kappa < protocol.kappa_stable:
        text = f"kappa of {folds.metric} {folds.kappa:.3f} ({folds.band}), below {protocol.kappa_stable:g}"
        return _Axis(text, broken=True)
    return _Axis(f"kappa of {folds.metric} {folds.kappa:.3f} ({folds.band})")


def recommend(tier: str) -> str:
    """Say what a tier asks for.

    Parameters
    ----------
    tier : str
        A key of `TIERS`; blank for a cell without a tier.

    Returns
    -------
    str
        One sentence.

    Examples
    --------
    >>> recommend("")
    'Claim nothing; see what is missing.'
    """
    return TIERS[tier].action if tier else NO_TIER
