"""How far do two groups differ, and is that shown to lie beyond a threshold, or within it?"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from auditbook.evidence import FIXED, Audited, Bounded, mover_bounds
from auditbook.verdicts.metrics import Metric
from auditbook.verdicts.quantities import Certainty, Quantity

Array = NDArray[np.float64]

Z_MOST = 12.0
"""Beyond this normal quantile nothing is told apart: its level differs from 1 by less than 1e-32."""
SCOPES = ("records", "units", "clusters", "sites")
"""What was taken as independent, the weakest first."""


def name_scope(prepared: Audited) -> str:
    """Name what is taken as independent where sites are not."""
    if prepared.design is not None:
        return prepared.design.drawn
    return "units" if prepared.has_units else "records"


@dataclass(frozen=True)
class Contrasts:
    """Contrasts of many cells, shape (n,): the group with the larger value first, of a ratio the smaller."""

    model: NDArray[np.intp]  # Position of the model
    cell: NDArray[np.intp]  # Position of metric and attribute
    part: NDArray[np.intp]  # Position of the quantity within the metric
    group: NDArray[np.intp]  # Position of the first group
    other: NDArray[np.intp]  # Of the second; -1 where a group is compared with what is expected of it
    score_bin: NDArray[np.intp]  # -1 where it is the whole group
    first: Bounded
    second: Bounded
    correlation: Array
    held: Array  # What the two values rest on, in number
    held_other: Array
    clusters: Array  # The smaller number of clusters of the two
    scope: NDArray[np.intp]  # Position in `SCOPES`
    threshold: Array
    is_ratio: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.model)

    def take(self, places: NDArray[np.intp] | NDArray[np.bool_]) -> "Contrasts":
        """Take those at some places."""
        rows = np.flatnonzero(places) if places.dtype == bool else places
        parts = (getattr(self, one.name) for one in fields(self))
        return Contrasts(*(part.take(rows) for part in parts))

    @property
    def estimate(self) -> Array:
        """Difference or ratio of the two values."""
        one, other = self.first.value, self.second.value
        share = np.divide(one, other, out=np.full(len(self), np.nan), where=other > 0)
        return np.where(self.is_ratio, share, one - other)


def contrast_quantity(
    quantity: Quantity, metric: Metric, *, cell: int, part: int, threshold: float, scope: str
) -> Contrasts:
    """Set every pair of groups, or every group beside what is expected of it, under every model."""
    if quantity.expected is None:
        pairs = np.array(list(combinations(range(len(quantity.group)), 2)), np.intp).reshape(-1, 2)
    else:
        pairs = np.repeat(np.arange(len(quantity.group))[:, None], 2, axis=1)
    is_ratio = metric.direction == "at_least"
    judged = quantity.judged[:, pairs].all(axis=-1)
    model, place = np.nonzero(judged)
    one, other = pairs[place].T
    if quantity.expected is None:
        value = quantity.own.bounded.value
        swap = (value[model, one] < value[model, other]) != is_ratio
        one, other = np.where(swap, other, one), np.where(swap, one, other)
    by_site = _choose_site(quantity, model, one, other)
    first, correlation, clusters = _pick(quantity, by_site, model, one, other)
    second = _expect(quantity, model, one) if quantity.expected is not None else None
    if second is None:
        second, _, clusters_other = _pick(quantity, by_site, model, other, one)
        clusters = np.minimum(clusters, clusters_other)
    alone = quantity.expected is not None
    bins = np.full(len(one), -1) if quantity.score_bin is None else quantity.score_bin[one]
    return _orient(
        Contrasts(
            model=model,
            cell=np.full(len(model), cell),
            part=np.full(len(model), part),
            group=quantity.group[one],
            other=np.full(len(model), -1) if alone else quantity.group[other],
            score_bin=bins,
            first=first,
            second=second,
            correlation=np.zeros(len(model)) if alone else correlation,
            held=quantity.held[model, one],
            held_other=np.full(len(model), np.nan) if alone else quantity.held[model, other],
            clusters=clusters,
            scope=np.where(by_site, SCOPES.index("sites"), SCOPES.index(scope)),
            threshold=np.full(len(model), threshold),
            is_ratio=np.full(len(model), is_ratio),
        )
    )


def _choose_site(quantity: Quantity, model: NDArray, one: NDArray, other: NDArray) -> NDArray[np.bool_]:
    """Tell which pairs are compared by site: those of which both have enough."""
    if quantity.site is None:
        return np.zeros(len(model), bool)
    speaks = quantity.site.speaks_of_others
    return speaks[model, one] & speaks[model, other]


def _pick(
    quantity: Quantity, by_site: NDArray[np.bool_], model: NDArray, one: NDArray, other: NDArray
) -> tuple[Bounded, Array, Array]:
    """Take what bounds each value, its correlation with the other, and its clusters."""

    def of(certainty: Certainty) -> tuple[list[NDArray], Array, Array]:
        parts = [part[model, one] for part in certainty.bounded.parts()]
        return parts, certainty.correlation[model, one, other], certainty.clusters[model, one]

    parts, correlation, clusters = of(quantity.own)
    if quantity.site is not None:
        site = of(quantity.site)
        parts = [np.where(by_site, there, here) for there, here in zip(site[0], parts, strict=True)]
        correlation, clusters = np.where(by_site, site[1], correlation), np.where(by_site, site[2], clusters)
    return Bounded(*parts), correlation, clusters


def _expect(quantity: Quantity, model: NDArray, one: NDArray) -> Bounded:
    """Give what is expected of each value, as known without error."""
    blank = np.zeros(len(model))
    value = quantity.expected[model, one] if quantity.expected is not None else blank
    return Bounded(np.full(len(model), FIXED, np.int8), value, blank, blank, np.full(len(model), np.inf))


def _orient(contrasts: Contrasts) -> Contrasts:
    """Let a value below what is expected of it stand second, so that every difference is at least 0."""
    swap = (contrasts.other < 0) & (contrasts.first.value < contrasts.second.value)
    pairs = zip(contrasts.first.parts(), contrasts.second.parts(), strict=True)
    both = [(np.where(swap, b, a), np.where(swap, a, b)) for a, b in pairs]
    parts = {one.name: getattr(contrasts, one.name) for one in fields(contrasts)}
    first, second = (Bounded(*side) for side in zip(*both, strict=True))
    return Contrasts(**(parts | {"first": first, "second": second}))


def stack_contrasts(parts: Sequence[Contrasts]) -> Contrasts:
    """Put the contrasts of several cells behind each other."""
    stacked: dict[str, Any] = {}
    for one in fields(Contrasts):
        found = [getattr(part, one.name) for part in parts]
        if isinstance(found[0], Bounded):
            columns = zip(*(each.parts() for each in found), strict=True)
            stacked[one.name] = Bounded(*(np.concatenate(column) for column in columns))
        else:
            stacked[one.name] = np.concatenate(found)
    return Contrasts(**stacked)


def find_z(first: Bounded, second: Bounded, factor: Array, correlation: Array, limit: Array) -> Array:
    r"""Find the normal quantile at which a bound of :math:`\theta_1 - f\theta_2` meets a limit.

    Positive where the estimate lies above the limit: then the lower bound at level :math:`\Phi(z)` meets it;
    negative where it lies below, with the upper bound. So :math:`\Phi(-z)` is the p-value of "at most the
    limit", and :math:`\Phi(z)` that of "at least the limit". Bounds that never reach it give +-12.
    """
    above = first.value - factor * second.value > limit
    rows = np.arange(len(limit), dtype=float)

    def distance(z: Array, row: Array) -> Array:
        at = row.astype(np.intp)
        low, high = mover_bounds(first.take(at), second.take(at), factor[at], correlation[at], z)
        return np.where(above[at], low - limit[at], limit[at] - high)

    if not len(rows):
        return rows
    from scipy.optimize import elementwise  # takes long to import, and chapters that show a run need it not

    ends = np.zeros(len(rows)), np.full(len(rows), Z_MOST)
    near, far = (distance(end, rows) for end in ends)
    found = elementwise.find_root(distance, ends, args=(rows,), tolerances={"xatol": 1e-7, "xrtol": 1e-7})
    z = np.where(near <= 0, 0.0, np.where(far > 0, Z_MOST, found.x))
    return np.where(above, z, -z)


@dataclass(frozen=True)
class Tests:
    """How strongly each contrast speaks, shape (n,)."""

    z: Array  # See `find_z`; positive beyond the threshold
    far: Array  # The same for the other edge, positive where the estimate does not lie beyond that
    p_fail: Array  # Of "the two differ by no more than the threshold"
    p_pass: Array  # Of "they differ by the threshold or more"


def test_contrasts(contrasts: Contrasts) -> Tests:
    r"""Test every contrast against its threshold, on both sides.

    A difference :math:`\delta \ge 0` beyond the threshold t is shown when its lower bound exceeds t. As the
    order of the two groups was chosen by their values, the chance of the opposite order is added:
    :math:`p = \Phi(-z_t) + \Phi(-z_{-t})`, the p-value of the hypothesis :math:`|\delta| \le t` at its edge.
    That it lies within is shown when both bounds do: :math:`p = \max(\Phi(z_t), \Phi(-z_{-t}))`. Limits of
    shares reach further on one side than on the other, so that either edge can be the one that is met first.
    Of a ratio the same with :math:`f\theta_2 - \theta_1 > 0` in place of :math:`\delta > t`.
    """
    small, large = contrasts.first, contrasts.second
    none, one = np.zeros(len(contrasts)), np.ones(len(contrasts))
    factor = np.where(contrasts.is_ratio, contrasts.threshold, one)
    limit = np.where(contrasts.is_ratio, none, contrasts.threshold)
    z = find_z(small, large, factor, contrasts.correlation, limit)
    z = np.where(contrasts.is_ratio, -z, z)
    far = find_z(*_turn(contrasts), factor, contrasts.correlation, -limit)
    p_fail = ndtr(-z) + np.where(z > 0, ndtr(-np.abs(far)), 0.0)
    p_pass = np.maximum(ndtr(z), ndtr(-far))
    undefined = np.isnan(contrasts.estimate)
    return Tests(z, far, np.where(undefined, np.nan, p_fail), np.where(undefined, np.nan, p_pass))


def find_opposite(contrasts: Contrasts, tests: Tests) -> Array:
    """Find the normal quantile at which a contrast within its threshold t meets the other edge, -t.

    It takes the standard error to be the one at the near edge, whose quantile is z (see `find_z`), so that
    the two are to each other as the distances are. Where a rate is 0 or 1 its limits lie on one side only and
    that is far off: if the other edge is met at less than half of z, its quantile is today's. Infinite where
    the near edge is met.
    """
    one, other, limit = contrasts.first.value, contrasts.second.value, contrasts.threshold
    near = np.where(contrasts.is_ratio, one - limit * other, limit - (one - other))
    far = np.where(contrasts.is_ratio, other - limit * one, limit + (one - other))
    least = np.abs(tests.z)
    apart = np.divide(least * far, near, out=np.full(len(least), np.inf), where=near > 0)
    return np.where((near > 0) & (tests.far < least / 2), tests.far, apart)


def _turn(part: Contrasts) -> tuple[Bounded, Bounded]:
    """Let the larger value stand first: of a ratio the second, of a difference the first."""
    sides = zip(part.first.parts(), part.second.parts(), strict=True)
    both = [(np.where(part.is_ratio, b, a), np.where(part.is_ratio, a, b)) for a, b in sides]
    first, second = (Bounded(*side) for side in zip(*both, strict=True))
    return first, second


def bound_contrasts(contrasts: Contrasts, alpha: Array) -> tuple[Array, Array]:
    """Bound every contrast, each side at level 1 - alpha; an upper bound of a ratio can be infinite."""
    z = -ndtri(alpha)
    low, high = mover_bounds(contrasts.first, contrasts.second, np.ones(len(z)), contrasts.correlation, z)
    ratio = contrasts.is_ratio
    part = contrasts.take(ratio)
    low[ratio], high[ratio] = ratio_bounds(part.first, part.second, part.correlation, z[ratio])
    return low, high


def ratio_bounds(first: Bounded, second: Bounded, correlation: Array, z: Array) -> tuple[Array, Array]:
    r"""Bound :math:`\theta_1/\theta_2`: the factors f at which a bound of :math:`\theta_1 - f\theta_2` is 0.

    With :math:`a = \theta_1 - l_1` and :math:`b = u_2 - \theta_2` the lower bound is the smaller root of
    :math:`(\theta_2^2 - b^2) f^2 - 2(\theta_1\theta_2 - \rho ab) f + \theta_1^2 - a^2 = 0`; the upper is the
    larger, with :math:`a = u_1 - \theta_1`, :math:`b = \theta_2 - l_2`, infinite where :math:`l_2 = 0`.

    References
    ----------
    Donner, A. and Zou, G. Y. (2012). Closed-form confidence intervals for functions of the normal mean and
    standard deviation. Stat Methods Med Res 21, 347-359.
    """
    (low, high), (other_low, other_high) = first.limits(z), second.limits(z)
    one, other = first.value, second.value

    def roots(a: Array, b: Array) -> tuple[Array, Array, Array, Array]:
        square, middle, rest = other**2 - b**2, one * other - correlation * a * b, one**2 - a**2
        return square, middle, rest, np.sqrt(np.maximum(middle**2 - square * rest, 0))

    _, middle, rest, root = roots(one - low, other_high - other)
    below = np.divide(rest, middle + root, out=np.zeros_like(rest), where=middle + root > 0)
    square, middle, _, root = roots(high - one, other - other_low)
    above = np.divide(middle + root, square, out=np.full_like(rest, np.inf), where=square > 0)
    return np.where(other > 0, below, np.nan), np.where(other > 0, above, np.nan)
