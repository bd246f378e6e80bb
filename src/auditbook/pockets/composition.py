r"""Is a group's error a matter of where its members are, or of how they are treated there?

The overall difference of two groups' mean errors is split, stratum by stratum (Kitagawa 1955):

.. math:: \sum_c p_{fc} m_{fc} - \sum_c p_{rc} m_{rc}
          = \underbrace{\sum_c (p_{fc} - p_{rc}) \frac{m_{fc} + m_{rc}}{2}}_{\text{composition}}
          + \underbrace{\sum_c \frac{p_{fc} + p_{rc}}{2} (m_{fc} - m_{rc})}_{\text{within}}

with p the shares of the focal and reference records that lie in stratum c and m their mean errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditbook.columns import fill_table
from auditbook.pockets.data import Contrast, PocketData
from auditbook.pockets.families import OVERALL
from auditbook.pockets.frozen import ABSTAIN
from auditbook.pockets.testing import MapAudit

Array = NDArray[np.float64]

ABSTAINED = "abstained"
"""Name of the records that no pocket takes: a stratum of their own."""
SPLIT_KEYS = ["model", "other_model", "map", "quantity", "contrast"]


@dataclass(frozen=True)
class Split:
    """An overall difference and its two parts."""

    # The parts and their sum
    composition: float
    within: float
    overall: float
    # Standard errors over units, without a floor; nan with fewer than two units
    composition_se: float
    within_se: float
    overall_se: float
    # Strata in which only one of the groups has records. There is no gap to see in them, so all they add
    # counts as composition
    lone_strata: int


def split_gap(
    errors: Array,
    strata: NDArray[np.integer],
    *,
    focal: NDArray[np.bool_],
    reference: NDArray[np.bool_],
    unit: NDArray[np.integer],
) -> Split:
    r"""Split the difference of two groups' mean errors.

    .. math:: \bar e_f - \bar e_r = \sum_c (p_{fc} - p_{rc}) \frac{m_{fc} + m_{rc}}{2}
              + \sum_c \frac{p_{fc} + p_{rc}}{2} (m_{fc} - m_{rc})

    Parameters
    ----------
    errors : float64 array, shape (n,)
        Prediction minus outcome.
    strata : int array, shape (n,)
        Stratum of each record; any numbers.
    focal, reference : bool arrays, shape (n,)
        Members of the two groups; each has one or more.
    unit : int array, shape (n,)
        Unit of each record; records of one unit may depend on each other.

    Returns
    -------
    Split
        Standard errors come from the records' influence on each part, summed within units.

    References
    ----------
    Kitagawa, E. M. (1955). Components of a difference between two rates. doi:10.1080/01621459.1955.10501299

    Examples
    --------
    >>> errors = np.array([0.0, 1.0, 1.0, 0.0, 0.0, 1.0])  # the second stratum is served worse
    >>> strata = np.array([0, 1, 1, 0, 0, 1])
    >>> focal = np.array([True, True, True, False, False, False])
    >>> found = split_gap(errors, strata, focal=focal, reference=~focal, unit=np.arange(6))
    >>> round(found.composition, 3), found.within
    (0.333, 0.0)
    """
    places = np.unique(strata, return_inverse=True)[1]
    n_strata = int(places.max()) + 1
    counts, means = np.zeros((2, 2, n_strata))
    for side, chosen in enumerate((focal, reference)):
        counts[side] = np.bincount(places[chosen], minlength=n_strata)
        sums = np.bincount(places[chosen], errors[chosen], minlength=n_strata)
        means[side] = sums / np.maximum(counts[side], 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    lone = (counts == 0).any(axis=0)
    means = np.where(lone, np.where(counts > 0, means, means[::-1]), means)
    composition = float(np.sum((shares[0] - shares[1]) * means.mean(axis=0)))
    within = float(np.sum(shares.mean(axis=0) * (means[0] - means[1])))
    influence = _influence(errors, places, (focal, reference), counts, means, lone)
    parts = np.column_stack([influence, influence.sum(axis=1)])
    se = _cluster(parts, unit, focal | reference).tolist()
    alone = int(np.sum(lone & (counts.sum(axis=0) > 0)))
    return Split(composition, within, composition + within, se[0], se[1], se[2], alone)


def composition_share(parts: Split, *, low: float, high: float) -> float:
    r"""Find the share of a gap that is owed to where the groups are.

    .. math:: \frac{\text{composition}}{\text{composition} + \text{within}}

    Parameters
    ----------
    parts : Split
        From `split_gap`.
    low, high : float
        Simultaneous interval of the whole gap.

    Returns
    -------
    float
        0 when the gap lies within the strata, 1 when it is owed to the groups' places alone; below 0 or
        above 1 when the two parts have opposite signs; nan where the interval holds 0, so that there may be
        no gap to divide.

    References
    ----------
    Kitagawa, E. M. (1955). Components of a difference between two rates. doi:10.1080/01621459.1955.10501299

    Examples
    --------
    >>> parts = Split(0.03, 0.01, 0.04, 0.005, 0.005, 0.01, 0)
    >>> composition_share(parts, low=0.02, high=0.06), composition_share(parts, low=-0.01, high=0.09)
    (0.75, nan)
    """
    return parts.composition / parts.overall if low > 0 or high < 0 else float("nan")


def _influence(
    errors: Array,
    places: NDArray[np.integer],
    sides: Sequence[NDArray[np.bool_]],
    counts: Array,
    means: Array,
    lone: NDArray[np.bool_],
) -> Array:
    """Find what each record adds to (composition, within) beyond its expectation, shape (n, 2)."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    middle, gap = means.mean(axis=0), means[0] - means[1]
    influence = np.zeros((len(errors), 2))
    for side, (chosen, sign) in enumerate(zip(sides, (1.0, -1.0), strict=True)):
        at = places[chosen]
        residual = (errors[chosen] - means[side, at]) / counts[side, at]
        total = counts[side].sum()
        by_share = np.where(lone, sign * shares[side], (shares[0] - shares[1]) / 2)
        by_mean = np.where(lone, 0.0, sign * shares.mean(axis=0))
        influence[chosen, 0] += sign * (middle[at] - shares[side] @ middle) / total + by_share[at] * residual
        influence[chosen, 1] += (gap[at] - shares[side] @ gap) / (2 * total) + by_mean[at] * residual
    return influence


def _cluster(parts: Array, unit: NDArray[np.integer], used: NDArray[np.bool_]) -> Array:
    """Sum the influence within units and take the standard errors, one a column."""
    member = np.unique(unit[used], return_inverse=True)[1]
    units = int(member.max(initial=-1)) + 1
    if units < 2:
        return np.full(parts.shape[1], np.nan)
    sums = np.stack([np.bincount(member, column[used]) for column in parts.T])
    return np.asarray(np.sqrt(units / (units - 1) * np.sum(sums**2, axis=1)))


def split_gaps(found: MapAudit, audit: PocketData, *, contrasts: Sequence[Contrast]) -> pd.DataFrame:
    """Split the overall gap of every model and contrast of one map."""
    pairs = {pair.name: pair for pair in contrasts}
    overall = found.errors[(found.errors["pocket"] == OVERALL) & (found.errors["quantity"] != "mu")]
    rows = [
        _split_row({str(name): cell for name, cell in row.items()}, pairs[row["contrast"]], found, audit)
        for row in overall.to_dict("records")
    ]
    figures = [*Split.__annotations__, "composition_share"]
    return pd.DataFrame(rows, columns=[*SPLIT_KEYS, *figures]).astype(dict.fromkeys(figures, float))


def bound_split(summary: pd.DataFrame) -> pd.DataFrame:
    r"""Take the split of every overall gap on the forest map, with a 95% interval for each part.

    .. math:: \hat\theta \pm 1.96\, \mathrm{SE}

    Parameters
    ----------
    summary : DataFrame
        Rows of ``pocket_summary.csv``.

    Returns
    -------
    DataFrame
        A row a model and contrast, with `_low`, `_high` and `_clear` (the interval excludes zero; false where
        nothing was split) of the overall gap, of composition and of within, and `opposed`: both parts are
        clear and pull in opposite directions.

    Examples
    --------
    >>> parts = {"overall": 0.05, "composition": 0.08, "within": -0.03}
    >>> row = {"map": "forest", "quantity": "delta", "model": "m", "contrast": "sex: F - M", **parts}
    >>> bound_split(pd.DataFrame([row | {f"{part}_se": 0.01 for part in parts}]))["opposed"].tolist()
    [True]
    """
    found = summary[(summary["map"] == "forest") & (summary["quantity"] == "delta")]
    found = found.drop_duplicates(["model", "contrast"]).reset_index(drop=True)
    for part in ("overall", "composition", "within"):
        half = 1.96 * found[f"{part}_se"]
        found[f"{part}_low"], found[f"{part}_high"] = found[part] - half, found[part] + half
        found[f"{part}_clear"] = (found[f"{part}_low"] > 0) | (found[f"{part}_high"] < 0)
    against = found["composition"] * found["within"] < 0
    return found.assign(opposed=found["composition_clear"] & found["within_clear"] & against)


def _split_row(row: dict[str, Any], pair: Contrast, found: MapAudit, audit: PocketData) -> dict[str, Any]:
    """Split one overall gap."""
    cells: dict[str, Any] = {key: row[key] for key in SPLIT_KEYS}
    if row["status"] == "untested":
        return cells
    codes = next(item.codes for item in audit.attributes if item.name == pair.attribute)
    errors = audit.predictions[row["model"]] - (
        audit.predictions[row["other_model"]] if row["other_model"] else audit.outcome
    )
    parts = split_gap(
        errors,
        found.assignment.codes,
        focal=codes == pair.focal_code,
        reference=codes == pair.reference_code,
        unit=audit.unit,
    )
    share = composition_share(parts, low=row["ci_low"], high=row["ci_high"])
    return cells | vars(parts) | {"composition_share": share}


def share_groups(
    pockets: Sequence[str], codes: NDArray[np.integer], audit: PocketData, *, map_name: str
) -> pd.DataFrame:
    """Count where the members of each group are."""
    places = np.where(np.asarray(codes) == ABSTAIN, len(pockets), codes)
    rows = []
    for item in audit.attributes:
        shape = (len(pockets) + 1, len(item.groups))
        counts = np.bincount(places * shape[1] + item.codes, minlength=shape[0] * shape[1]).reshape(shape)
        totals = counts.sum(axis=0)
        rows += [
            (
                map_name,
                pocket,
                item.name,
                group,
                int(counts[at, code]),
                _share(counts[at, code], totals[code]),
            )
            for at, pocket in enumerate((*pockets, ABSTAINED))
            for code, group in enumerate(item.groups)
        ]
    return fill_table("pocket_groups", rows)


def _share(part: int, total: int) -> float:
    """Divide; nan without a total."""
    return float(part / total) if total else float("nan")
