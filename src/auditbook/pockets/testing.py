"""Where does a prediction err, and for whom: which pockets of a frozen map are flagged, and how sure is that?

Only a `FrozenMap` is accepted, so no outcome of an audit record can have shaped what is tested. A family is
one map, one model (or pair of models), one quantity and, for gaps, one attribute: its intervals hold
together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import fill_table
from auditbook.pocket_settings import PocketSettings, UnitKind
from auditbook.pockets.cell_support import Cell, tabulate_shortfalls, write_reason
from auditbook.pockets.contributions import Contributions, expected_floor, lacks_variation, sum_contributions
from auditbook.pockets.data import Contrast, PocketData
from auditbook.pockets.families import Family, Quantity, list_families
from auditbook.pockets.frozen import Assignment, FrozenMap
from auditbook.pockets.wild_bootstrap import (
    adjusted_p,
    bound_estimates,
    draw_maxima,
    max_t_critical_value,
    standardise,
)

Array = NDArray[np.float64]

Status = Literal["tested", "untested", "no variability"]
STILL = "errors do not vary between units"


@dataclass(frozen=True)
class MapAudit:
    """What testing a frozen map found."""

    # A row a model, quantity, contrast and pocket, the overall first, with the columns of
    # ``pocket_errors.csv``. Of a gap, `units`, `effective_units` and `largest_unit` are those of the cell
    # that has the least, and `mean_prediction` and `mean_outcome` are focal minus reference, so that their
    # difference is the estimate; of a paired gap the prediction is the first model's minus the other's, and
    # the outcome cancels. Untested rows hold no outcome and no estimate
    errors: pd.DataFrame
    assignment: Assignment  # Pockets of the audit records


@dataclass(frozen=True)
class Levels:
    """Chances of any false flag that the families of one map may use."""

    error: float  # Of mean errors
    gap: float  # Of gaps
    strict: float | None  # Stricter level that is reported beside, for mean errors with sites as units


def audit_map(
    frozen: FrozenMap,
    audit: PocketData,
    *,
    contrasts: Sequence[Contrast],
    settings: PocketSettings,
    seed: int,
    jobs: int = 1,
    share: float = 1.0,
) -> MapAudit:
    """Estimate the mean error and the gaps of every pocket, and flag those that chance does not explain.

    Parameters
    ----------
    frozen : FrozenMap
        Learned from other records.
    audit : PocketData
        The audit records; every model in `predictions` is audited.
    contrasts : sequence of Contrast
        Pairs of groups, declared beforehand. All pairs of one attribute are judged together.
    settings : PocketSettings
        Support, levels, draws, and the pairs of models.
    seed : int
        Of the bootstrap.
    jobs : int
        Threads; they change no result.
    share : float
        Part of the level that this map may use: 1 alone, 1/2 in a combined audit of two maps. The strict
        level of mean errors is one of each map and is not shared.

    Returns
    -------
    MapAudit
        Untested quantities are listed too, with the reason and without an estimate.

    Raises
    ------
    InputError
        If a pair of models is not among those audited.

    References
    ----------
    MacKinnon, J. G., Nielsen, M. Ø. and Webb, M. D. (2023). Cluster-robust inference: a guide to empirical
    practice. doi:10.1016/j.jeconom.2022.04.001

    Examples
    --------
    >>> from auditbook.studies.simulations.fixed_map import fix_map
    >>> from auditbook.studies.simulations.null_worlds import DESIGNS, draw_null
    >>> audit = draw_null(DESIGNS[1], np.random.default_rng(1))
    >>> found = audit_map(fix_map(5), audit, contrasts=(), settings=PocketSettings(draws=99), seed=1)
    >>> found.errors["status"].tolist().count("tested"), bool(found.errors["flagged"].any())
    (6, False)
    """
    assignment = frozen.assign(audit.table)
    drawn = draw_families(
        frozen.pockets, assignment.codes, audit, contrasts=contrasts, settings=settings, seed=seed, jobs=jobs
    )
    levels = find_levels(audit, settings, share)
    rows: list[dict[str, Any]] = []
    for each in drawn:
        tested = [] if each.sums is None else judge_family(each.family, each.sums, each.maxima, levels)
        rows += describe_family(each.family, each.status, tested, audit, levels)
    errors = fill_table("pocket_errors", rows).assign(map=frozen.name)
    return MapAudit(errors.astype({"flagged": bool, "flagged_strict": "boolean"}), assignment)


@dataclass(frozen=True)
class DrawnFamily:
    """A family, which of its quantities are tested, and what the intervals of these are made of."""

    family: Family
    status: list[Status]  # Of each quantity; the last of the three where errors do not vary between units
    sums: Contributions | None  # Of the tested quantities; None without any
    maxima: Array  # shape (draws,), from `draw_maxima`; empty where nothing is tested


def draw_families(
    pockets: Sequence[str],
    codes: NDArray[np.integer],
    audit: PocketData,
    *,
    contrasts: Sequence[Contrast],
    settings: PocketSettings,
    seed: int,
    jobs: int = 1,
    keep: Callable[[Family], bool] = lambda family: True,
) -> list[DrawnFamily]:
    """Look at the support of every family, sum its tested quantities, and draw their bootstrap.

    All families that `keep` takes share the draws, so that leaving some out changes none of the others.

    Parameters
    ----------
    pockets : sequence of str, length C
        Names of the pockets.
    codes : int array, shape (n,)
        Pocket of each audit record; -1 for none.
    audit, contrasts, settings, seed, jobs
        As in `audit_map`.
    """
    listed = list_families(pockets, codes, audit, contrasts=contrasts, settings=settings)
    families = [family for family in listed if keep(family)]
    status = [judge_support(family, audit) for family in families]
    ratios = settings.ratios_of(continuous=audit.continuous, unit_kind=audit.unit_kind)
    sums = [
        sum_family(family, audit, each, corrected=ratios == "corrected")
        for family, each in zip(families, status, strict=True)
    ]
    tested = [each for each in sums if each is not None]
    maxima = iter(draw_maxima(tested, draws=settings.draws, seed=seed, jobs=jobs))
    return [
        DrawnFamily(family, each, found, np.empty(0) if found is None else next(maxima))
        for family, each, found in zip(families, status, sums, strict=True)
    ]


def find_levels(audit: PocketData, settings: PocketSettings, share: float) -> Levels:
    """Find the levels that suit the outcome and the units, of which one map may use a share."""
    sites = audit.unit_kind == "site"
    return Levels(
        share * settings.error_level_of(continuous=audit.continuous, sites=sites),
        share * settings.level_of(continuous=audit.continuous, sites=sites),
        settings.strict_level if sites else None,
    )


def family_errors(family: Family, audit: PocketData) -> Array:
    """Return what a family averages: prediction minus outcome, or one prediction minus the other."""
    first = audit.predictions[family.model]
    return first - (audit.predictions[family.other] if family.other else audit.outcome)


def judge_support(family: Family, audit: PocketData) -> list[Status]:
    """Tell which quantities of a family are tested."""
    errors = family_errors(family, audit)
    return [
        "untested"
        if item.shortfalls
        else "no variability"
        if any(lacks_variation(errors, cell) for cell in item.cells)
        else "tested"
        for item in family.quantities
    ]


def sum_family(
    family: Family, audit: PocketData, status: Sequence[Status], *, corrected: bool
) -> Contributions | None:
    """Sum what the units contribute to the tested quantities; None when nothing is tested.

    The standard errors of mean errors and gaps of a binary outcome have a floor.
    """
    chosen = [item.cells for item, each in zip(family.quantities, status, strict=True) if each == "tested"]
    if not chosen:
        return None
    floor = np.zeros(len(chosen))
    if not audit.continuous and family.kind != "paired":
        floor = np.array([expected_floor(audit.predictions[family.model], cells) for cells in chosen])
    n_units = len(np.unique(audit.unit))
    return sum_contributions(
        family_errors(family, audit), chosen, floor, n_units=n_units, corrected=corrected
    )


def judge_family(family: Family, found: Contributions, maxima: Array, levels: Levels) -> list[dict[str, Any]]:
    """Turn estimates and draws into intervals and flags."""
    critical = max_t_critical_value(maxima, levels.error if family.kind == "mu" else levels.gap)
    ratios = standardise(found)
    lows, highs = bound_estimates(found, critical)
    strict = None
    if family.kind == "mu" and levels.strict is not None:
        strict = np.abs(ratios) > max_t_critical_value(maxima, levels.strict)
    flagged = np.abs(ratios) > critical
    return [
        {
            "estimate": estimate,
            "se": se,
            "ci_low": low,
            "ci_high": high,
            "critical": critical,
            "p_value": p_value,
            "flagged": bool(flagged[place]),
            "direction": ("over" if ratios[place] > 0 else "under") if flagged[place] else "",
            "flagged_strict": None if strict is None else bool(strict[place]),
        }
        for place, (estimate, se, low, high, p_value) in enumerate(
            zip(found.estimate, found.se, lows, highs, adjusted_p(ratios, maxima), strict=True)
        )
    ]


def describe_family(
    family: Family,
    status: Sequence[Status],
    tested: Sequence[dict[str, Any]],
    audit: PocketData,
    levels: Levels,
) -> list[dict[str, Any]]:
    """Write the rows of all quantities of a family, tested or not."""
    judged = iter(tested)
    return [
        {
            "model": family.model,
            "other_model": family.other,
            "quantity": family.kind,
            "contrast": item.contrast.name if item.contrast else "",
            "pocket": item.pocket,
            "level": levels.error if family.kind == "mu" else levels.gap,
            "flagged": False,
            "direction": "",
            "status": each,
            **_describe_lack(item, each, audit.unit_kind),
            **_describe_cells(item),
            **_describe_means(family, item.cells, audit, known=each != "untested"),
            **(next(judged) if each == "tested" else {}),
        }
        for item, each in zip(family.quantities, status, strict=True)
    ]


def _describe_lack(item: Quantity, status: str, unit_kind: UnitKind) -> dict[str, Any]:
    """Say why a quantity is not tested: as data, and in words that are made from it."""
    lack = tabulate_shortfalls(item.shortfalls)
    if status == "no variability":
        return lack | {"lacking": "variability", "reason": STILL}
    return lack | {"reason": write_reason(item.shortfalls, unit_kind)}


def _describe_cells(item: Quantity) -> dict[str, Any]:
    """Count records and units."""
    sizes = [cell.n for cell in item.cells]
    focal, reference = sizes if len(sizes) == 2 else (np.nan, np.nan)
    return {
        "n": sum(sizes),
        "n_focal": focal,
        "n_reference": reference,
        "units": min(len(cell.units) for cell in item.cells),
        "effective_units": min(cell.effective_units for cell in item.cells),
        "largest_unit": max(cell.largest_unit for cell in item.cells),
    }


def _describe_means(
    family: Family, cells: Sequence[Cell], audit: PocketData, *, known: bool
) -> dict[str, float]:
    """Average prediction and outcome, focal minus reference in a gap; untested outcomes stay unread."""
    if not all(cell.n for cell in cells):
        return {}
    prediction = audit.predictions[family.model]
    outcome = audit.outcome
    if family.other:
        prediction, outcome = prediction - audit.predictions[family.other], np.zeros(len(outcome))
    means: dict[str, float] = {"mean_prediction": _contrast(prediction, cells)}
    if known and not family.other:
        means["mean_outcome"] = _contrast(outcome, cells)
    if known:
        means["estimate"] = _contrast(prediction - outcome, cells)
    return means


def _contrast(values: Array, cells: Sequence[Cell]) -> float:
    """Take the mean of the one cell, or that of the first less that of the second."""
    means = [float(values[cell.positions].mean()) for cell in cells]
    return means[0] - sum(means[1:])
