"""How much do the groups of one attribute hold, in effective numbers where units hold several records?"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import (
    Audited,
    AuditedGroups,
    BenefitMoments,
    Bounded,
    Evidence,
    Kind,
    ScoreSums,
    UnitBundles,
    find_design_effects,
    rate,
    stratum_sizes,
)
from auditbook.settings import Protocol
from auditbook.verdicts.compared_rates import ComparedRates, list_rates, read_rates
from auditbook.verdicts.metrics import Metric
from auditbook.verdicts.quantities import (
    RATE_CELLS,
    Grouped,
    measure_calibration,
    measure_rates,
    measure_theil,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ExpectedRates:
    """Event rates and the mean scores that promised them, in cells of one group or of one group and bin."""

    counted: Array  # shape (n_models, n_cells): Events
    trials: Array  # Records likewise
    expected: Array  # Mean score likewise; 0 without records


@dataclass(frozen=True)
class AttributeAudit:
    """What the audit holds of one attribute's groups under every model.

    Numbers are effective: divided by the design effect, so that a rate of n of them is as uncertain as the
    rate of the records that were counted.
    """

    prepared: Audited
    groups: AuditedGroups
    protocol: Protocol
    units: UnitBundles | None  # None where each record is its own unit

    @cached_property
    def strata(self) -> NDArray[np.int64]:
        """Events and non-events of each group, shape (n_groups, 2); with weights, what they are worth."""
        if self.groups.weighted is not None:
            return np.rint(self.groups.weighted.counts.worth[:, :2]).astype(np.int64)
        return stratum_sizes(self.groups.counts.whole()[0])

    @cached_property
    def outcomes(self) -> NDArray[np.int64] | Array:
        """Events and non-events of each group, shape (n_groups, 2); with weights, the sums of these."""
        return stratum_sizes(self.groups.count()[0])

    @cached_property
    def _grouped(self) -> Grouped:
        return Grouped(self.prepared, self.groups, self.protocol)

    @cached_property
    def _weighted_rates(self) -> dict[str, Bounded]:
        found = measure_rates(self._grouped, tuple(RATE_CELLS))
        return {name: one.own.bounded for name, one in found.items()}

    @cached_property
    def sums(self) -> ScoreSums:
        """Score sums of every model, leading shape (n_models,)."""
        return self.groups.add_scores()

    @cached_property
    def _bundled_counts(self) -> NDArray[np.int64] | None:
        return None if self.units is None else self._bundle("counts")  # type: ignore[return-value]

    @cached_property
    def _bundled_sums(self) -> ScoreSums | None:
        return None if self.units is None else self._bundle("score sums")  # type: ignore[return-value]

    def _bundle(self, kind: Kind) -> Evidence:
        """Measure each bundle of units, leading shape (n_models, n_bundles)."""
        units = self.units
        if units is None:
            raise TypeError("there are no units")
        return self.groups.by_unit(kind, units.bundle, units.n_bundles)

    def rates(self, metric: Metric) -> ComparedRates:
        """Read what a metric of rates compares, shape (n_models, n_parts, n_groups)."""
        if self.groups.weighted is not None:
            found = [self._weighted_rates[name] for name in list_rates(metric)]
            counted = [np.nan_to_num(one.value) * one.effective for one in found]
            trials = [one.effective for one in found]
            return ComparedRates(np.stack(counted, axis=-2), np.stack(trials, axis=-2))
        whole = read_rates(metric, self.groups.counts.whole())
        if self._bundled_counts is None:
            return whole
        bundled = read_rates(metric, self._bundled_counts)
        parts = [np.moveaxis(part, 1, -2) for part in (bundled.counted, bundled.trials)]
        effect = find_design_effects(*parts)
        return ComparedRates(whole.counted / effect, whole.trials / effect)

    def expected_rates(self, *, by_bin: bool) -> ExpectedRates:
        """Read event rates and mean scores of groups, or of groups and bins."""
        if self.groups.weighted is not None:
            one = measure_calibration(self._grouped, in_bins=by_bin)
            worth = np.nan_to_num(one.own.bounded.effective)
            expected = np.zeros_like(worth) if one.expected is None else np.nan_to_num(one.expected)
            return ExpectedRates(np.nan_to_num(one.own.bounded.value) * worth, worth, expected)
        sums = self.sums
        counted, trials, score = (_by_cell(part, by_bin) for part in (sums.events, sums.records, sums.score))
        expected = np.nan_to_num(rate(score, trials))
        if self._bundled_sums is not None:
            bundled = self._bundled_sums
            effect = find_design_effects(_by_cell(bundled.events, by_bin), _by_cell(bundled.records, by_bin))
            counted, trials = counted / effect, trials / effect
        return ExpectedRates(counted, trials, expected)

    @cached_property
    def moments(self) -> BenefitMoments:
        """Moments of the benefit, shape (n_models, n_groups)."""
        return self.groups.scores.benefit_moments()

    @cached_property
    def theil_errors(self) -> Array:
        r"""Standard error of each group's Theil index, shape (n_models, n_groups).

        From the influence of a record with benefit b, of mean m, and :math:`l = b \ln b`, of mean :math:`k`:
        :math:`(l - k)/m - (k/m^2 + 1/m)(b - m)`.
        """
        if self.groups.weighted is not None:
            error = measure_theil(self._grouped).own.bounded.error
            return np.where(np.isfinite(error), error, 0)  # of a single record; such a cell has no verdict
        return np.sqrt(self._theil_variance * self.theil_effects)

    @cached_property
    def _theil_slope(self) -> Array:
        """Slope of the Theil index in the means of b and of b ln b, shape (n_models, n_groups, 2)."""
        mean, logs = np.moveaxis(self.moments.mean, -1, 0)
        return np.stack([-rate(logs + mean, mean**2), rate(1, mean)], axis=-1)

    @cached_property
    def _theil_variance(self) -> Array:
        """Variance of each group's Theil index were the records independent."""
        slope = self._theil_slope
        variance = np.einsum("...i,...ij,...j->...", slope, self.moments.covariance, slope)
        return rate(np.maximum(variance, 0), self.moments.sums[..., 0])

    @cached_property
    def theil_effects(self) -> Array:
        """How many times larger that variance is because of the units, shape (n_models, n_groups)."""
        sums = self._bundled_sums
        if sums is None:
            return np.ones_like(self._theil_variance)
        both = np.stack([sums.benefit, sums.benefit_log], axis=-1)
        records = sums.records.sum(axis=-1)[..., None]
        away = ((both - records * self.moments.mean[:, None]) * self._theil_slope[:, None]).sum(axis=-1)
        bundles = away.shape[1]
        spread = rate((away**2).sum(axis=1), self.moments.sums[..., 0] ** 2) * bundles / max(bundles - 1, 1)
        return np.maximum(np.nan_to_num(rate(spread, self._theil_variance), nan=1.0), 1.0)

    def area_errors(self, own_size: Evidence) -> Array:
        """Find the standard error of each group's area from resamples, shape (n_models, n_groups)."""
        if isinstance(own_size, ScoreSums):
            raise TypeError("areas are needed, not score sums")
        defined = ~np.isnan(own_size)
        count = np.count_nonzero(defined, axis=1)
        mean = rate(np.where(defined, own_size, 0).sum(axis=1), count)
        away = np.where(defined, own_size - mean[:, None], 0)
        spread = np.nan_to_num(np.sqrt(rate((away**2).sum(axis=1), count)))
        lower = 0.5 / np.maximum(self.strata.min(axis=-1), 1)
        return np.where(spread > 0, spread, lower)

    def area_effects(self, own_size: Evidence) -> Array:
        """Find how many times larger the variance of each area is because of the units."""
        protocol = self.protocol
        records = self.groups.rows
        alone = self.groups.areas.drawn(records, resamples=protocol.resamples, seed=protocol.seed)
        ratio = rate(self.area_errors(own_size) ** 2, self.area_errors(alone) ** 2)
        return np.maximum(np.nan_to_num(ratio, nan=1.0), 1.0)

    def count_alike(self) -> Array:
        """Find how many units the records of each group are worth if all of a unit's are alike.

        With weights, how many equal records they are worth.
        """
        if self.groups.weighted is not None:
            return self.groups.weighted.counts.worth[:, 2]
        held = self.strata.sum(axis=-1).astype(float)
        squares = self.prepared.square_units(self.groups)  # type: ignore[arg-type]
        return held if squares is None else held**2 / np.maximum(squares, 1)


def _by_cell(part: Array, by_bin: bool) -> Array:
    """Lay groups and bins out in one axis, or add the bins up."""
    return part.reshape(*part.shape[:-2], -1) if by_bin else part.sum(axis=-1)
