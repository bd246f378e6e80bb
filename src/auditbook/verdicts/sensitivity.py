"""Which conclusions of an audit follow from constants that somebody chose?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import TABLES, fill_table
from auditbook.evidence import Audited, Tally, prepare, prepare_tally, rate, take_model
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.verdicts.judgement import judge
from auditbook.verdicts.monte_carlo import repeat_passes
from auditbook.verdicts.site_folds import plan_prepared_folds
from auditbook.verdicts.tiers import TIERS, Axes, read_axes

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
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Audit:
    """One model's audit, and the constants that it used."""

    prepared: Audited  # With the scores of one model
    # That model's rows of verdicts.csv, audit_size.csv and site_agreement.csv
    verdicts: pd.DataFrame
    sizes: pd.DataFrame
    agreement: pd.DataFrame
    protocol: Protocol  # The constants in force

    @property
    def own_size(self) -> int:
        """Records of the audit."""
        return self.prepared.rows


def open_audit(
    source: AuditRecords | Tally, tables: Mapping[str, pd.DataFrame], *, model: str, protocol: Protocol
) -> Audit:
    """Take one model's part of an audit."""
    parts = (tables[name] for name in ("verdicts", "audit_size", "site_agreement"))
    verdicts, sizes, agreement = (part[part["model"] == model].reset_index(drop=True) for part in parts)
    return Audit(_prepare_model(source, model), verdicts, sizes, agreement, protocol)


def _prepare_model(source: AuditRecords | Tally, model: str) -> Audited:
    """Prepare one model of what is audited."""
    if isinstance(source, Tally):
        return prepare_tally(take_model(source, model))
    scores = tuple(score for score in source.scores if score.model == model)
    return prepare(replace(source, scores=scores))


def vary_constants(
    source: AuditRecords | Tally, tables: Mapping[str, pd.DataFrame], *, model: str, protocol: Protocol
) -> dict[str, pd.DataFrame]:
    """Count stable verdicts and tiers of one model again under other constants, one constant at a time.

    `tables` are ``verdicts``, ``audit_size`` and ``site_agreement`` of the audit under `protocol`; every
    sweep holds the value in force. By file name:

    - ``sensitivity``: one row a setting (named as the key of ``[protocol]`` that sets it; ``min_records``
      stands for all three minima) and value. Counts of cells: with a verdict, inconclusive, stable, unstable,
      flipped at least once; `surely_stable` and `surely_unstable` lie on their side of the bound with the
      whole Monte Carlo interval; and the cells of each tier. Along ``resamples`` (up to ten times the
      protocol's) every count is the mean of `repeats` runs, with spreads;
    - ``sensitivity_cells``: verdict and flip rate of every cell along ``resample_size`` and ``min_records``.

    Weighted records are drawn by whole clusters, as many as there are, whatever the size; so that along
    ``resample_size`` there is the audit's own alone.

    References
    ----------
    Joy, M. J. R., Vo, V. and Chua, C. (2026). arXiv:2608.30846
    """
    audit = open_audit(source, tables, model=model, protocol=protocol)
    rows: list[dict[str, Any]] = []
    cells: list[pd.DataFrame] = []
    for sweep in (_sweep_bounds, _sweep_sizes, _sweep_support):
        for where, varied, keeps_cells in sweep(audit):
            rows.append(where | {"model": model} | count_outcomes(varied))
            if keeps_cells:
                cells.append(varied.verdicts.assign(**where)[TABLES["sensitivity_cells"].names()])
    rows += [where | {"model": model} | counts for where, counts in _sweep_resamples(audit)]
    table = fill_table("sensitivity", rows)
    return {"sensitivity": table, "sensitivity_cells": pd.concat(cells, ignore_index=True)}


Varied = tuple[dict[str, Any], Audit, bool]


def count_outcomes(audit: Audit) -> dict[str, Any]:
    """Count the cells of one audit by what is said of them."""
    return {name: number.item() for name, number in _read_cells(audit).count(audit.protocol).items()}


@dataclass(frozen=True)
class _Cells:
    """The cells that have a verdict, as arrays; flip rates of shape (..., n_cells), one row a run."""

    axes: Axes
    vfr_low: Array
    vfr_high: Array
    inconclusive: int

    def count(self, protocol: Protocol) -> dict[str, NDArray[Any]]:
        """Count the cells by what is said of them, arrays of shape (...)."""
        vfr, bound = self.axes.vfr, protocol.vfr_stable
        many, known = vfr.shape[-1], ~np.isnan(vfr)
        stable = np.count_nonzero(vfr <= bound, axis=-1)
        counts = {
            "cells": np.full_like(stable, many),
            "inconclusive": np.full_like(stable, self.inconclusive),
            "stable": stable,
            "unstable": many - stable,
            "flipped": np.count_nonzero(vfr > 0, axis=-1),
            "surely_stable": np.count_nonzero(self.vfr_high <= bound, axis=-1),
            "surely_unstable": np.count_nonzero(self.vfr_low > bound, axis=-1),
            "mean_vfr": rate(np.where(known, vfr, 0.0).sum(axis=-1), known.sum(axis=-1)),
            "max_vfr": np.fmax.reduce(vfr, axis=-1, initial=np.nan),
        }
        tiers = self.axes.count_tiers(protocol)
        return {name: np.asarray(part) for name, part in counts.items()} | {
            column: np.asarray(tiers[name]) for name, column in TIER_COUNTS.items()
        }


def _read_cells(audit: Audit) -> _Cells:
    """Read the cells of one audit that have a verdict."""
    judged = audit.verdicts[audit.verdicts["verdict"] != "inconclusive"]
    axes = read_axes(judged, audit.sizes, audit.agreement, cv_stable=audit.protocol.cv_stable)
    low, high = (judged[name].to_numpy(float) for name in ("vfr_low", "vfr_high"))
    return _Cells(axes, low, high, len(audit.verdicts) - len(judged))


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
    """Draw resamples of other sizes, up to the audit's own; weighted records are drawn at that alone."""
    weighted = audit.prepared.design is not None
    in_force = audit.own_size if weighted else min(audit.protocol.resample_size, audit.own_size)
    whole = audit.prepared.without_sites()
    for value in list_values(() if weighted else RESAMPLE_SIZES, in_force, most=audit.own_size):
        moved = replace(audit.protocol, resample_size=int(value))
        varied = replace(audit, verdicts=judge(whole, moved, axes=()).verdicts, protocol=moved)
        yield _where("resample_size", value, in_force), varied, True


def _sweep_support(audit: Audit) -> Iterator[Varied]:
    """Ask more or less of every group; the other axes are judged again as well."""
    protocol, names = audit.protocol, ("min_records", "min_events", "min_non_events")
    in_force = (protocol.min_records, protocol.min_events, protocol.min_non_events)
    folds = plan_prepared_folds(audit.prepared, n_folds=protocol.site_folds)
    levels = sorted({*SUPPORTS, in_force})
    lowest = [min(level) for level in zip(*levels, strict=True)]
    least = _move(protocol, dict(zip(names, lowest, strict=True)))
    flips = judge(audit.prepared.without_sites(), least, axes=()).verdicts
    for minima in levels:
        moved = _move(protocol, dict(zip(names, minima, strict=True)))
        found = judge(audit.prepared, replace(moved, resamples=FEW), axes=("size", "sites"), folds=folds)
        where = _where("min_records", minima[0], in_force[0], "/".join(map(str, minima)))
        where["in_force"] = minima == in_force
        verdicts = _take_flips(found.verdicts, flips)
        yield where, Audit(audit.prepared, verdicts, found.audit_size, found.site_agreement, moved), True


def _take_flips(verdicts: pd.DataFrame, flips: pd.DataFrame) -> pd.DataFrame:
    """Give cells that have a verdict the flip rates that were drawn for all: support changes none."""
    names = ["vfr", "vfr_low", "vfr_high"]
    return verdicts.assign(**flips[names].where(verdicts["verdict"] != "inconclusive"))


def _sweep_resamples(audit: Audit) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Draw more or fewer resamples, many times over."""
    in_force = audit.protocol.resamples
    values = [int(value) for value in list_values(RESAMPLES, in_force) if value <= MOST * in_force]
    drawn = repeat_passes(audit.prepared, audit.verdicts, values, audit.protocol)
    cells = _read_cells(audit)
    for place, value in enumerate(values):
        vfr, low, high = drawn.flip_rates(place)
        runs = replace(cells, axes=replace(cells.axes, vfr=vfr), vfr_low=low, vfr_high=high)
        table = pd.DataFrame(runs.count(audit.protocol))
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
