"""What are calibration intercept and slope where only bins of scores are kept, and how far off are they?"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logit

from auditbook.columns import fill_table
from auditbook.evidence import (
    BinnedGroups,
    TalliedAttribute,
    Tally,
    bin_groups,
    find_within,
    name_shortfall,
    take_steps,
)
from auditbook.ranking.calibration import (
    CLIP,
    LACK,
    NOTHING,
    SEPARATE,
    UNKNOWN,
    UNSETTLED,
    Calibration,
    ClusterSums,
    Fitted,
    bound_by_clusters,
    lack_fit,
    note_edge,
    open_interval,
    settled_at,
    write_fit,
)
from auditbook.ranking.units import WHOLE, explain_site_counts
from auditbook.settings import Protocol

Array = NDArray[np.float64]
Steps = NDArray[np.int64] | None

ROUNDED = 2.0**-32
"""Sums of scores and of their squares are kept in this unit."""


@dataclass(frozen=True)
class BinnedFit:
    """A calibration that was read from bins."""

    found: Calibration
    intercept_bound: float  # The most by which bins can have moved the intercept; nan without one
    slope_bound: float


@dataclass(frozen=True)
class _Cells:
    """One group's records by label and bin, those that hold any."""

    event: Array  # shape (n_cells,), as all: 1 for events
    held: Array
    position: Array  # Mean logit of the scores
    off: Array  # The most that it can be off
    half: Array  # Half the width of the bin in logits
    run: NDArray[np.intp]

    @classmethod
    def of(cls, groups: BinnedGroups) -> "_Cells":
        """Find the mean logit of each cell from mean and variance of its scores, to second order."""
        label, place = np.nonzero(groups.held[0])
        held, width = groups.held[0, label, place].astype(float), groups.width[place]
        known = groups.label(0), groups.label(1)
        mean = np.stack([part.mean[0] for part in known])[label, place]
        square = np.stack([part.square[0] for part in known])[label, place] / held
        low, high = _find_ends(groups.width)
        bend = (2 * mean - 1) / np.square(np.clip(mean * (1 - mean), CLIP, None)) / 2
        variance = np.clip(square - mean**2, 0, width**2 / 4)
        half = (high - low)[place] / 2
        inner = (place > 0) & (place < len(groups.width) - 1) & (held > 1)
        position = logit(np.clip(mean, CLIP, 1 - CLIP)) + np.where(inner, bend * variance, 0.0)
        third = (1 / np.clip(mean, CLIP, 1) ** 3 + 1 / np.clip(1 - mean, CLIP, 1) ** 3) * width**3 / 12
        inside = np.minimum(np.abs(bend) * 2 * ROUNDED, half**2 / 2) + third
        several = held > 1
        single = ROUNDED / np.clip(mean * (1 - mean), CLIP, 1)
        off = np.where(inner, inside, np.where(several, 2 * half, single))
        run = groups.runs[place]
        return cls(label.astype(float), held, position, off, np.where(several, half, 0.0), run)


def _find_ends(width: Array) -> tuple[Array, Array]:
    """Find the logits between which the scores of each bin lie."""
    edges = np.clip(np.concatenate([[0.0], np.cumsum(width)]), CLIP, 1 - CLIP)
    return logit(edges[:-1]), logit(edges[1:])


def fit_binned(
    groups: BinnedGroups, *, unit: Steps = None, site: Steps = None, level: float = 0.95
) -> BinnedFit:
    r"""Fit calibration intercept and slope of one group from bins, as `fit_calibration` does from records.

    Each bin stands for its events and its non-events at the mean of their logits, which mean and variance of
    their scores give to second order. With g(x) what a record of logit x adds to the score equations, the
    coefficients are off by at most

    .. math:: H^{-1} \sum_b n_b \Bigl(\tfrac{r_b^2}{8} |g''| + e_b |g'|\Bigr)

    to first order in that sum, with the information H, :math:`r_b` the width of the bin in logits and
    :math:`e_b` what the mean logit can be off.

    Parameters
    ----------
    groups : BinnedGroups
        One group, of a model that gives probabilities.
    unit, site : int array, shape (n_parts, 2, n_runs), optional
        Records of each unit (or bundle of units) and site by label and run of bins.
    level : float
        Coverage of the intervals.

    Returns
    -------
    BinnedFit
        Reasons are those of `fit_calibration`.

    References
    ----------
    Van Calster, B. et al. (2019). doi:10.1186/s12916-019-1466-7
    """
    held = groups.held[0].sum(axis=1)
    if not held.all():
        return BinnedFit(lack_fit(int(held[1]), int(held.sum())), np.nan, np.nan)
    cells, notes = _Cells.of(groups), note_edge(_count_edge(groups))
    ones, zero = np.ones((len(cells.held), 1)), np.zeros(len(cells.held))
    parts = [None if part is None else part[part.sum(axis=(1, 2)) > 0] for part in (unit, site)]
    intercept, intercept_bound = _fit(cells, ones, cells.position, parts, level)
    slope, slope_bound = NOTHING, np.nan
    if np.ptp(cells.position) <= cells.off.max():
        notes.append(LACK)
    elif find_within(groups)[0] in (0, 1):
        notes.append(SEPARATE)
    else:
        design = np.hstack([ones, cells.position[:, None]])
        slope, slope_bound = _fit(cells, design, zero, parts, level)
        if np.isnan(slope.value):
            notes.append(UNSETTLED.format("slope"))
    if np.isnan(intercept.value):
        notes.append(UNSETTLED.format("intercept"))
    return BinnedFit(Calibration(intercept, slope, "; ".join(notes)), intercept_bound, slope_bound)


def _count_edge(groups: BinnedGroups) -> int:
    """Count scores of 0 or 1 where all scores of the outermost bins are."""
    first = groups.held[0, :, 0] * (groups.score[0, :, 0] == 0)
    whole = groups.score[0, :, -1] == groups.held[0, :, -1] << 32
    return int((first + groups.held[0, :, -1] * whole).sum())


def _fit(
    cells: _Cells, design: Array, offset: Array, parts: list[Steps], level: float
) -> tuple[Fitted, float]:
    """Fit a logistic regression to cells and bound its last coefficient."""
    # Imported here, since it takes longer than opening a finished run.
    from statsmodels.api import GLM
    from statsmodels.genmod.families import Binomial
    from statsmodels.tools.sm_exceptions import PerfectSeparationError

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # what they warn of is checked below
        try:
            model = GLM(cells.event, design, family=Binomial(), offset=offset, freq_weights=cells.held)
            found = model.fit(maxiter=200, rtol=1e-12)
            if not settled_at(found.params, bool(found.converged)):
                return NOTHING, np.nan
            plain = found.conf_int(alpha=1 - level)[-1]
            unit, site = (None if part is None else _sum_parts(found, cells, part) for part in parts)
            own = plain if unit is None else bound_by_clusters(found, unit, level)
            by_site = UNKNOWN if site is None else bound_by_clusters(found, site, level)
        except (np.linalg.LinAlgError, PerfectSeparationError):
            return NOTHING, np.nan
    fitted = Fitted(float(found.params[-1]), *open_interval(own), *open_interval(by_site))
    return fitted, _bound(found, cells, design)


def _sum_parts(found: Any, cells: _Cells, steps: NDArray[np.int64]) -> ClusterSums:
    """Add up what the records of each part add: in each run of bins the mean of all such records."""
    design, chance = found.model.exog, found.predict()
    weight, away = chance * (1 - chance), cells.event - chance
    place = cells.event.astype(np.intp) * steps.shape[-1] + cells.run
    size = np.maximum(np.bincount(place, cells.held, 2 * steps.shape[-1]), 1)
    flat = steps.reshape(len(steps), -1).astype(float)

    def add(values: Array) -> Array:
        return np.asarray(flat @ (np.bincount(place, cells.held * values, len(size)) / size))

    count = range(design.shape[1])
    score = np.stack([add(away * design[:, k]) for k in count], axis=-1)
    own = np.array([[add(weight * design[:, j] * design[:, k]) for k in count] for j in count])
    return ClusterSums(flat.sum(axis=1), score, np.moveaxis(own, -1, 0))


def _bound(found: Any, cells: _Cells, design: Array) -> float:
    """Bound how far the last coefficient can be off."""
    chance, slope = found.predict(), 1.0 if design.shape[1] == 1 else float(found.params[1])
    steep = chance * (1 - chance) * np.exp(2 * cells.half * abs(slope))
    x, b = np.abs(cells.position) + 2 * cells.half, abs(slope)
    bends = [b**2 * steep, (2 * b + x * b**2) * steep]
    rises = [b * steep, np.abs(cells.event - chance) + x * b * steep]
    off = [
        float(cells.held @ (cells.half**2 / 2 * bend + cells.off * rise))
        for bend, rise in zip(bends, rises, strict=True)
    ]
    inverse = np.abs(np.asarray(found.cov_params(), float))
    return float(inverse[-1] @ off[: design.shape[1]])


def tabulate_tallied_calibration(tally: Tally, *, protocol: Protocol, level: float = 0.95) -> pd.DataFrame:
    """Tabulate calibration intercept and slope of every group of a tally: ``calibration.csv``."""
    rows = [
        row
        for place in range(len(tally.models))
        for number, attribute in enumerate(tally.attributes)
        for together in ((True, False) if number == 0 else (False,))
        for row in _fit_groups(tally, place, attribute, protocol, level, together=together)
    ]
    return fill_table("calibration", rows)


def _fit_groups(
    tally: Tally, place: int, attribute: TalliedAttribute, protocol: Protocol, level: float, *, together: bool
) -> Iterator[dict[str, Any]]:
    """Write down one attribute's groups, or all records `together`, under one model."""
    every, model = list(range(len(attribute.groups))), tally.models[place]
    names = (WHOLE,) if together else attribute.groups
    chosen = [every] if together else [[one] for one in every]
    counts, sited = attribute.counts[place], len(tally.sites) > 1
    at_site = np.stack([counts[:, part].sum(axis=(1, 2)) for part in chosen], axis=1)
    lacks = explain_site_counts(at_site) if sited else [""] * len(names)
    clustered = attribute.units is not None and attribute.units.number < tally.rows
    for name, part, lack, mine in zip(names, chosen, lacks, at_site.T, strict=True):
        tp, fp, fn, tn = (int(each) for each in counts[:, part].sum(axis=(0, 1)))
        row: dict[str, Any] = {"model": model.model, "group": name}
        row["attribute"] = WHOLE if together else attribute.name
        row |= {"n": tp + fp + fn + tn, "events": tp + fn, "site_reason": ""}
        row |= {"reason": f"no probability: the score is a {model.kind}"}
        if model.kind == "probability":
            short = name_shortfall(tp + fn, fp + tn, protocol=protocol)
            lack = lack or (short if sited else "")
            groups = bin_groups(tally, place, attribute, part).together()
            unit = take_steps(attribute, place, part, units=True).sum(axis=1) if clustered else None
            site = take_steps(attribute, place, part).sum(axis=1) if sited and not lack else None
            fit = fit_binned(groups, unit=unit, site=site, level=level)
            row |= write_fit(fit.found, short, clustered=clustered)
            row |= {"intercept_bound": fit.intercept_bound, "slope_bound": fit.slope_bound}
            row |= {"sites": int((mine > 0).sum()) if sited else np.nan, "site_reason": lack}
        yield row
