"""How do rates, benefits and areas vary between units, when only products of what they hold are known?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from auditbook.evidence.area_limits import AreaInfluence, ClusteredAreas
from auditbook.evidence.clusters import ClusterSpread, scale_products
from auditbook.evidence.counts import rate
from auditbook.evidence.group_clusters import BENEFITS, Cells, PairedGroups
from auditbook.evidence.score_sums import ScoreSums
from auditbook.evidence.tally import UNIT_SUM
from auditbook.evidence.tally_units import TRIALS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class UnitMoments:
    """Units by the products of what they hold; arrays as in `TalliedUnits`."""

    number: int
    whole: Array  # shape (n_models, n_groups, 4): Counts of all units together
    sums: ScoreSums  # Score sums likewise, leading shape (n_models,)
    counts: Array
    held: Array
    largest: Array
    benefits: Array
    bins: Array
    bin_held: Array
    bin_largest: Array
    bundles: PairedGroups | None  # Units in bundles, for areas; None where each record is its own

    @property
    def n_groups(self) -> int:
        """Groups that hold records."""
        return self.whole.shape[1]

    def _count(self, bottom: Cells, model: int) -> tuple[Array, tuple[Array, Array, Array]]:
        """Give the sum of some counts by group, and what `count_clusters` gives of them."""
        side = np.isin(np.arange(4), bottom).astype(float)
        total = self.whole[model] @ side
        place = next(k for k, cells in enumerate(TRIALS) if set(cells) == set(bottom))
        rows = np.kron(np.eye(self.n_groups), side)
        squares = np.einsum("gi,ij,gj->g", rows, self.counts[model], rows)
        largest = rate(self.largest[model, :, place], total)
        return total, (self.held[model, :, place], rate(total**2, squares), largest)

    def spread_rates(self, top: Cells, bottom: Cells, share: Array) -> list[ClusterSpread]:
        """Measure how rates vary."""
        hits, trials = (np.isin(np.arange(4), part).astype(float) for part in (top, bottom))
        found = []
        for model, p in enumerate(np.nan_to_num(share)):
            rows = np.kron(np.eye(self.n_groups), hits) - p[:, None] * np.kron(np.eye(self.n_groups), trials)
            products = rows @ self.counts[model] @ rows.T
            found.append(scale_products(products, *self._count(bottom, model)))
        return found

    def spread_theil(self) -> list[ClusterSpread]:
        """Measure how the Theil index of each group varies."""
        scale = np.array([1.0, UNIT_SUM, UNIT_SUM])
        n = self.sums.records.sum(axis=-1)
        found = []
        for model, products in enumerate(self.benefits):
            mean, logs = (rate(part[model], n[model]) for part in (self.sums.benefit, self.sums.benefit_log))
            m = np.where(mean > 0, mean, np.nan)
            slope = np.stack([np.ones_like(m), -(logs / m + 1) / m, 1 / m], axis=1) * scale
            rows = np.nan_to_num(_lay_out(slope))
            counted = self._count(TRIALS[0], model)
            if not n[model].any():
                nothing = np.zeros(self.n_groups)
                counted = nothing, (nothing, np.full_like(nothing, np.nan), np.full_like(nothing, np.nan))
            found.append(scale_products(rows @ products @ rows.T, *counted))
        return found

    def spread_benefit(self) -> list[ClusterSpread]:
        """Measure how the Theil index of b = d - y + 1 over all records varies."""
        logs = xlogy(BENEFITS, BENEFITS)
        found = []
        for table, products in zip(self.whole.sum(axis=1), self.counts, strict=True):
            n = table.sum()
            m, s = rate(table @ BENEFITS, n), rate(table @ logs, n)
            m = np.where(m > 0, m, np.nan)
            each = np.nan_to_num((logs - s) / m - (s / m + 1) * (BENEFITS - m) / m)
            row, ones = np.tile(each, self.n_groups), np.ones(4 * self.n_groups)
            squares = np.array([ones @ products @ ones])
            largest = np.array([np.nan_to_num(rate(self.largest[0, :, 0].sum(), n))])
            counted = np.array([float(self.number)]), rate(np.array([n]) ** 2, squares), largest
            found.append(scale_products(np.array([[row @ products @ row]]), np.array([n]), counted))
        return found

    def spread_bins(self, off: Array) -> list[ClusterSpread]:
        """Measure how event rate less mean score varies."""
        bins = slice(0, -1) if off.shape[-1] > 1 else slice(-1, None)
        rows = np.stack([-off, np.ones_like(off), np.full_like(off, -UNIT_SUM)], axis=-1)
        products = self.bins[:, :, bins]
        square = np.einsum("mgki,mgkij,mgkj->mgk", rows, products, rows)
        total = self.sums.records if off.shape[-1] > 1 else self.sums.records.sum(axis=-1, keepdims=True)
        counted = (
            self.bin_held[:, :, bins],
            rate(total**2, products[..., 0, 0]),
            rate(self.bin_largest[:, :, bins], total),
        )
        return [
            scale_products(
                np.diag(square[model].ravel()),
                total[model].ravel(),
                tuple(part[model].ravel() for part in counted),
            )
            for model in range(len(off))
        ]

    def spread_areas(self, found: Mapping[str, AreaInfluence]) -> dict[str, ClusteredAreas]:
        """Measure how areas vary, between bundles of units."""
        return {} if self.bundles is None else self.bundles.spread_areas(found)

    def holds_both(self) -> NDArray[np.bool_]:
        """Tell which groups have both outcomes in units enough."""
        blank = np.zeros((self.n_groups, self.n_groups))
        sides = [scale_products(blank, *self._count(cells, 0)) for cells in TRIALS[1:3]]
        return sides[0].speaks_of_others & sides[1].speaks_of_others


def _lay_out(slopes: Array) -> Array:
    """Write each group's slopes into its own columns, shape (n_groups, n_groups k)."""
    n_groups, wide = slopes.shape
    rows = np.zeros((n_groups, n_groups, wide))
    rows[np.arange(n_groups), np.arange(n_groups)] = slopes
    return rows.reshape(n_groups, -1)


def list_alone(counts: Sequence[Array] | Array) -> tuple[Array, Array, Array]:
    """Give products, numbers and largest of units that hold one record each, from counts (n_models, ...)."""
    tables = np.asarray(counts, float)
    products = np.stack([np.diag(table.ravel()) for table in tables])
    held = np.stack([tables[..., list(cells)].sum(axis=-1) for cells in TRIALS], axis=-1)
    return products, held, np.minimum(held, 1)
