"""How large a gap of areas do groups show that are all ordered equally well?"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from auditbook.evidence import percentile_interval


def spread_by_chance(
    groups: Sequence[int], sizes: Iterable[int], *, area: float, repeats: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Simulate groups that are all ordered equally well: mean and middle 95 % of their gap in area."""
    found = []
    for n_groups in groups:
        for size in sizes:
            areas = simulate_areas(n_groups, size, area=area, repeats=repeats, rng=rng)
            spread = np.ptp(areas, axis=1)
            middle = percentile_interval(spread)
            row = {"name": f"{n_groups} groups", "x": size, "value": spread.mean(), "low": float(middle.low)}
            found.append(row | {"high": float(middle.high), "smallest": areas.min(axis=1).mean()})
    return pd.DataFrame(found)


def simulate_areas(
    n_groups: int, size: int, *, area: float, repeats: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    r"""Simulate areas of normal scores, events :math:`\sqrt2\,\Phi^{-1}(A)` above; (repeats, n_groups)."""
    apart = np.sqrt(2) * ndtri(area)
    half = size // 2
    events = rng.normal(apart, 1, (repeats, n_groups, half))
    both = np.concatenate([events, rng.normal(0, 1, (repeats, n_groups, size - half))], axis=2)
    ranks = both.argsort(axis=2).argsort(axis=2)[:, :, :half].sum(axis=2)
    return np.asarray((ranks - half * (half - 1) / 2) / (half * (size - half)))
