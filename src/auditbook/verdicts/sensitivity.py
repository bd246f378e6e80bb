"""Which conclusions of an audit follow from constants that somebody chose?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from auditbook.evidence import OrderedScores, order_probabilities
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.verdicts.audit_size import sweep_sizes
from auditbook.verdicts.judgement import judge
from auditbook.verdicts.monte_carlo import Repeats, repeat_passes
from auditbook.verdicts.site_agreement import rate_agreement
from auditbook.verdicts.site_folds import plan_folds
from auditbook.verdicts.site_verdicts import judge_sites
from auditbook.verdicts.tiers import TIERS, assign_tiers

FLIP_BOUNDS = (0.01, 0.02, 0.05, 0.10, 0.15, 0.20, 0.30)
RESAMPLE_SIZES = (1_000, 2_500, 5_000, 10_000, 25_000, 50_000)
RESAMPLES = (50, 100, 200, 500, 1_000, 2_000, 5_000)
SUPPORTS = ((1, 1, 1), (10, 5, 5), (30, 10, 10), (50, 20, 20), (100, 30, 30))
KAPPA_BOUNDS = (0.0, 0.2, 0.4, 0.6, 0.8)
CV_BOUNDS = (0.02, 0.05, 0.10, 0.20)
FIELD_SIZES = (2_500, 5_000, 10_000, 25_000, 50_000, 100_000)

MOST = 10
"""Times the protocol's number of resamples that are tried at the most."""
FEW = 2
"""Resamples where a verdict is wanted and its flip rate is known."""

TIER_COUNTS = {name: name.lower().replace("-", "_") for name in TIERS}
COUNTS = (
    *"cells inconclusive stable unstable flipped surely_stable surely_unstable mean_vfr max_vfr".split(),
    *TIER_COUNTS.values(),
)
SPREADS = "repeats stable_sd stable_least stable_most pass_share_sd pass_share_sd_predicted".split()
SENSITIVITY_COLUMNS = ["setting", "label", "value", "in_force", "model", *COUNTS, *SPREADS]
CELL_COLUMNS = (
    "setting label value in_force model metric attribute estimate verdict reason smallest_n "
    "vfr vfr_low vfr_high"
).split()


@dataclass(frozen=True)
class Audit:
    """One model's audit, and the constants that it used."""

    records: AuditRecords  # With the scores of one model
    verdicts: pd.DataFrame  # That model's rows of verdicts.csv, audit_size.csv and site_agreement.csv
    sizes: pd.DataFrame  # That model's rows of verdicts.csv, audit_size.csv and site_agreement.csv
    agreement: pd.DataFrame  # That model's rows of verdicts.csv, audit_size.csv and site_agreement.csv
    protocol: Protocol  # The constants in force
    ordered: Mapping[str, OrderedScores]  # From `order_probabilities`

    @property
    def own_size(self) -> int:
        """Records of the audit."""
        return len(self.records.outcome)


def open_audit(
    records: AuditRecords, tables: Mapping[str, pd.DataFrame], *, model: str, protocol: Protocol
) -> Audit:
    """Take one model's part of an audit."""
    one = replace(records, scores=tuple(score for score in records.scores if score.model == model))
    parts = (tables[name] for name in ("verdicts", "audit_size", "site_agreement"))
    verdicts, sizes, agreement = (part[part["model"] == model].reset_index(drop=True) for part in parts)
    return Audit(one, verdicts, sizes, agreement, protocol, order_probabilities(one))


def vary_constants(
    records: AuditRecords, tables: Mapping[str, pd.DataFrame], *, model: str, protocol: Protocol
) -> dict[str, pd.DataFrame]:
    """Count stable verdicts and tiers of one model again under other constants, one constant at a time.

    Parameters
    ----------
    records : AuditRecords
        What was audited.
    tables : mapping of str to DataFrame
        ``verdicts``, ``audit_size`` and ``site_agreement`` of that audit.
    model : str
        Name of the model.
    protocol : Protocol
        The audit's constants; every sweep holds the value in force.

    Returns
    -------
    dict of str to DataFrame
        By file name:

        - ``sensitivity``: one row a setting (named as the key of ``[protocol]`` that sets it; ``min_records``
          stands for all three minima) and value. Counts of cells: with a verdict, inconclusive, stable,
          unstable, flipped at least once; `surely_stable` and `surely_unstable` lie on their side of the
          bound with the whole Monte Carlo interval; and the cells of each tier. Along ``resamples`` (up to
          ten times the protocol's) every count is the mean of `repeats` runs, with spreads;
        - ``sensitivity_cells``: verdict and flip rate of every cell along ``resample_size`` and
          ``min_records``.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846
    """
    audit = open_audit(records, tables, model=model, protocol=protocol)
    rows: list[dict[str, Any]] = []
    cells: list[pd.DataFrame] = []
    for sweep in (_sweep_bounds, _sweep_sizes, _sweep_support):
        for where, varied, keeps_cells in sweep(audit):
            rows.append(where | {"model": model} | count_outcomes(varied))
            if keeps_cells:
                cells.append(varied.verdicts.assign(**where))
    rows += [where | {"model": model} | counts for where, counts in _sweep_resamples(audit)]
    table = pd.DataFrame(rows, columns=SENSITIVITY_COLUMNS)
    return {
        "sensitivity": table,
        "sensitivity_cells": pd.concat(cells, ignore_index=True)[CELL_COLUMNS],
    }


Varied = tuple[dict[str, Any], Audit, bool]


def count_outcomes(audit: Audit) -> dict[str, Any]:
    """Count the cells of one audit by what is said of them."""
    verdicts, bound = audit.verdicts, audit.protocol.vfr_stable
    judged = verdicts[verdicts["verdict"] != "inconclusive"]
    stable = int((judged["vfr"] <= bound).sum())
    graded = assign_tiers(verdicts, audit.sizes, audit.agreement, protocol=audit.protocol)
    tally = graded["tier"].value_counts()
    return {
        "cells": len(judged),
        "inconclusive": len(verdicts) - len(judged),
        "stable": stable,
        "unstable": len(judged) - stable,
        "flipped": int((judged["vfr"] > 0).sum()),
        "surely_stable": int((judged["vfr_high"] <= bound).sum()),
        "surely_unstable": int((judged["vfr_low"] > bound).sum()),
        "mean_vfr": judged["vfr"].mean(),
        "max_vfr": judged["vfr"].max(),
        **{column: int(tally.get(name, 0)) for name, column in TIER_COUNTS.items()},
    }


def list_values(grid: Sequence[float], in_force: float, *, most: float = np.inf) -> list[float]:
    """Choose the values that are tried: those of a grid below a bound, and the one in force."""
    kept = {value for value in (*grid, in_force) if value < most}
    return sorted(kept | ({most} if np.isfinite(most) else set()))


def _move(protocol: Protocol, constants: Mapping[str, Any]) -> Protocol:
    return replace(protocol, **constants)


def _where(setting: str, value: float, in_force: float, label: str = "") -> dict[str, Any]:
    """Name one setting and value."""
    return {
        "setting": setting,
        "label": label or (f"{value:,.0f}" if value >= 1_000 else f"{value:g}"),
        "value": value,
        "in_force": bool(value == in_force),
    }


def _sweep_bounds(audit: Audit) -> Iterator[Varied]:
    """Move one bound at a time; no number is drawn again."""
    grids: dict[str, Sequence[float]] = {
        "vfr_stable": FLIP_BOUNDS,
        "kappa_stable": KAPPA_BOUNDS,
        "cv_stable": CV_BOUNDS,
        "field_size": FIELD_SIZES,
    }
    for name, grid in grids.items():
        in_force = getattr(audit.protocol, name)
        for value in list_values(grid, in_force):
            moved = _move(audit.protocol, {name: value})
            yield _where(name, value, in_force), replace(audit, protocol=moved), False


def _sweep_sizes(audit: Audit) -> Iterator[Varied]:
    """Draw resamples of other sizes, up to the audit's own."""
    in_force = min(audit.protocol.resample_size, audit.own_size)
    records = replace(audit.records, site=None)
    for value in list_values(RESAMPLE_SIZES, in_force, most=audit.own_size):
        moved = replace(audit.protocol, resample_size=int(value))
        verdicts = judge(records, protocol=moved, seed=moved.seed, ordered=audit.ordered)
        varied = replace(audit, verdicts=verdicts, protocol=moved)
        yield _where("resample_size", value, in_force), varied, True


def _sweep_support(audit: Audit) -> Iterator[Varied]:
    """Ask more or less of every group; the other axes are judged again as well."""
    protocol, names = audit.protocol, ("min_records", "min_events", "min_non_events")
    in_force = (protocol.min_records, protocol.min_events, protocol.min_non_events)
    folds = plan_folds(audit.records, n_folds=protocol.site_folds)
    whole, levels = replace(audit.records, site=None), sorted({*SUPPORTS, in_force})
    lowest = [min(level) for level in zip(*levels, strict=True)]
    least = _move(protocol, dict(zip(names, lowest, strict=True)))
    flips = judge(whole, protocol=least, seed=protocol.seed, ordered=audit.ordered)
    for minima in levels:
        moved = _move(protocol, dict(zip(names, minima, strict=True)))
        verdicts = _take_flips(
            judge(whole, protocol=replace(moved, resamples=FEW), seed=protocol.seed, ordered=audit.ordered),
            flips,
        )
        records, ordered = audit.records, audit.ordered
        sizes = sweep_sizes(records, verdicts, protocol=moved, seed=protocol.seed, ordered=ordered)
        by_fold = judge_sites(records, verdicts, folds, protocol=moved, ordered=ordered)
        agreement = rate_agreement(by_fold, verdicts)
        where = _where("min_records", minima[0], in_force[0], "/".join(map(str, minima)))
        where["in_force"] = minima == in_force
        yield where, Audit(records, verdicts, sizes, agreement, moved, ordered), True


def _take_flips(verdicts: pd.DataFrame, flips: pd.DataFrame) -> pd.DataFrame:
    """Give cells that have a verdict the flip rates that were drawn for all: support changes none."""
    names = ["vfr", "vfr_low", "vfr_high"]
    return verdicts.assign(**flips[names].where(verdicts["verdict"] != "inconclusive"))


def _sweep_resamples(audit: Audit) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Draw more or fewer resamples, many times over."""
    in_force = audit.protocol.resamples
    values = [int(value) for value in list_values(RESAMPLES, in_force) if value <= MOST * in_force]
    drawn = repeat_passes(
        audit.records, audit.verdicts, values, protocol=audit.protocol, ordered=audit.ordered
    )
    for place, value in enumerate(values):
        runs = [count_outcomes(_put_flips(audit, drawn, turn, place)) for turn in range(drawn.runs)]
        table = pd.DataFrame(runs)
        spread = {
            "repeats": drawn.runs,
            "stable_sd": table["stable"].std(),
            "stable_least": table["stable"].min(),
            "stable_most": table["stable"].max(),
            "pass_share_sd": drawn.spread(place),
            "pass_share_sd_predicted": drawn.predict_spread(place),
        }
        means = {str(name): mean for name, mean in table.mean().items()}
        yield _where("resamples", value, in_force), means | spread


def _put_flips(audit: Audit, drawn: Repeats, turn: int, place: int) -> Audit:
    """Put the flip rates of one repeat in the place of the audit's own."""
    verdicts = audit.verdicts.copy()
    verdicts.loc[drawn.rows, ["vfr", "vfr_low", "vfr_high"]] = drawn.flip_rates(turn, place)
    return replace(audit, verdicts=verdicts)
