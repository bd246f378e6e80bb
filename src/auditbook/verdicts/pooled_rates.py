r"""Where do the groups' true rates probably lie, when each small group is read beside the others?

A rate that was counted in few records is drawn towards what the other groups promise for it, the more so the
less the groups differ among themselves (partial pooling). It stands beside the counted rate, never instead of
it, and no verdict looks at it.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from auditbook.columns import empty_table, fill_table, stack_tables
from auditbook.evidence import Audited, AuditedGroups
from auditbook.settings import Protocol
from auditbook.verdicts.additive_rates import code_parts, weigh_crossings
from auditbook.verdicts.quantities import RATE_CELLS, Grouped, Quantity, measure_rates
from auditbook.verdicts.rate_intervals import bound_both_sides
from auditbook.verdicts.shrunk_rates import RateGrid, weigh_rates

LEAST_GROUPS = 3
"""From two groups nothing can be learned of how far groups differ."""
FEW_GROUPS, NO_TRIALS = "fewer than three groups to learn from", "nothing counted"

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PooledRates:
    """Partially pooled rates; every array has the shape of the counts."""

    pooled: Array  # Mean of what the true rate may be
    low: Array  # Lower end of its 95 % interval
    high: Array
    expected: Array  # What the other groups promise
    shrinkage: Array  # Weight of that promise in `pooled`; the rest is the counted rate's


def pool_rates(counted: ArrayLike, trials: ArrayLike, design: Array | None = None) -> PooledRates:
    r"""Pool the rates of some groups partially, by a beta-binomial model of how far groups differ.

    .. math:: \tilde r_g = \sum_k p_k \frac{\kappa_{gk} m_{gk} + x_g}{\kappa_{gk} + n_g},\qquad
              B_g = \sum_k p_k \frac{\kappa_{gk}}{\kappa_{gk} + n_g},

    over the widths k that are tried, with chances p. The interval is that of the Beta distribution with the
    mean and the variance of the average. It knows that the centre (or the main effects) and the width are not
    known.

    Parameters
    ----------
    counted, trials : arrays, shape (..., n_groups)
        How many of how many; effective numbers need not be whole.
    design : float array, shape (n_groups, n_columns), or None
        Of crossings, from `code_parts`; None takes one centre for all groups.

    Returns
    -------
    PooledRates
        A shrinkage of 0 leaves the counted rate as it is, 1 replaces it by `expected`. All is nan where fewer
        than three groups have trials, and in a group without any.

    References
    ----------
    Morris, C. N. (1983). Parametric empirical Bayes inference. doi:10.1080/01621459.1983.10477920

    Examples
    --------
    >>> found = pool_rates([0, 30, 33, 27], [5, 100, 100, 100])
    >>> found.pooled.round(2).tolist()
    [0.28, 0.3, 0.31, 0.29]
    """
    seen, held = np.asarray(counted, float), np.asarray(trials, float)
    grid = weigh_rates(seen, held) if design is None else weigh_crossings(seen, held, design)
    known = (held > 0) & ((held > 0).sum(axis=-1, keepdims=True) >= LEAST_GROUPS)
    return _summarise(grid, seen, held, known)


def _summarise(grid: RateGrid, seen: Array, held: Array, known: NDArray[np.bool_]) -> PooledRates:
    """Summarise the distributions that rates may have."""
    chance = grid.chance[..., None]
    after = grid.alpha + grid.beta
    before = np.maximum(after - held[..., None, :], np.finfo(float).tiny)
    middle = grid.alpha / after
    mean = (chance * middle).sum(axis=-2)
    spread = (chance * (middle * (1 - middle) / (after + 1) + (middle - mean[..., None, :]) ** 2)).sum(
        axis=-2
    )
    total = mean * (1 - mean) / spread - 1
    ends = (betaincinv(mean * total, (1 - mean) * total, share) for share in (0.025, 0.975))
    expected = (chance * (grid.alpha - seen[..., None, :]) / before).sum(axis=-2)
    shrinkage = (chance * before / after).sum(axis=-2)
    return PooledRates(*(np.where(known, part, np.nan) for part in (mean, *ends, expected, shrinkage)))


def tabulate_pooled_rates(prepared: Audited, *, protocol: Protocol) -> pd.DataFrame:
    """Tabulate counted and partially pooled rates of every group: ``pooled_rates.csv``.

    Where units hold several records, numbers are effective: divided by the design effect.
    """
    alone = prepared.without_sites()
    frames = [frame for groups in alone.groups for frame in _tabulate(alone, groups, protocol)]
    return stack_tables("pooled_rates", frames) if frames else empty_table("pooled_rates")


def _tabulate(prepared: Audited, groups: AuditedGroups, protocol: Protocol) -> list[pd.DataFrame]:
    """Tabulate one attribute: a frame a rate and model."""
    rates = measure_rates(Grouped(prepared, groups, protocol), tuple(RATE_CELLS))
    parts = dict(zip(groups.declared.groups, groups.declared.parts, strict=False))
    design = code_parts([parts[name] for name in groups.settled.groups]) if parts else None
    found = {name: _pool(quantity, design) for name, quantity in rates.items()}
    models = prepared.models
    return [
        _lay_out(groups, model, place, rates[name], found[name])
        for place, model in enumerate(models)
        for name in rates
    ]


def _pool(quantity: Quantity, design: Array | None) -> PooledRates:
    """Pool the rates of every model by their effective numbers."""
    worth = np.nan_to_num(quantity.own.bounded.effective)
    return pool_rates(np.nan_to_num(quantity.own.bounded.value) * worth, worth, design)


def _lay_out(
    groups: AuditedGroups, model: str, place: int, quantity: Quantity, found: PooledRates
) -> pd.DataFrame:
    """Lay out one rate of one model, the groups in their declared order."""
    order = [
        groups.settled.groups.index(name) for name in groups.declared.groups if name in groups.settled.groups
    ]
    raw, worth = (part[place, order] for part in (quantity.own.bounded.value, quantity.own.bounded.effective))
    raw_bounds, _ = bound_both_sides(quantity.own, 0.95)
    trials = quantity.held[place, order]
    hits = groups.counts.whole()[place][order][:, list(RATE_CELLS[quantity.name][0])].sum(axis=-1)
    worth = np.nan_to_num(worth)
    few = np.count_nonzero(trials > 0) < LEAST_GROUPS
    return fill_table(
        "pooled_rates",
        {
            "model": model,
            "attribute": groups.settled.name,
            "group": [groups.settled.groups[code] for code in order],
            "rate": quantity.name,
            "hits": hits,
            "trials": trials.astype(np.int64),
            "n_effective": worth,
            "raw": raw,
            "raw_low": raw_bounds.low[place, order],
            "raw_high": raw_bounds.high[place, order],
            **{name: getattr(found, name)[place, order] for name in _PARTS},
            "reason": [NO_TRIALS if n == 0 else FEW_GROUPS if few else "" for n in trials],
        },
    )


_PARTS = ("pooled", "low", "high", "expected", "shrinkage")
