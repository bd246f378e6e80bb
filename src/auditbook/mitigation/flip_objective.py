r"""How unstable are the verdicts at some thresholds, answered thousands of times a second?

The instrument draws counts anew for every question, so two answers differ by luck as well as by substance,
and a search would chase the luck. Here every question is answered with the same random numbers (common random
numbers): one standard normal z for each resample, group and label, drawn once. A stratum of m records a share
q of which is selected has

.. math:: \mathrm{round}\left(m q + z \sqrt{m q (1 - q)}\right)

selected in that resample, kept between 0 and m: the normal limit of the binomial that the instrument draws.
The search uses this. What is reported is always judged by the instrument itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditbook.evidence import allocate_strata, open_stream, stratum_sizes
from auditbook.mitigation.strata import Strata
from auditbook.settings import Protocol
from auditbook.verdicts import Metric, find_metric, find_obstacles, resample_values

SEARCH_RESAMPLES = 200
"""Resamples behind each answer (ours)."""
UNDEFINED = 0.5
"""Flip rate of a cell that is undefined in every resample, so that no search seeks that out (ours)."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FlipObjective:
    """The mean flip rate of the verdicts that thresholds can change."""

    strata: Strata  # The records that the thresholds are chosen on
    # Attribute (its position), metric and threshold of each cell of the grid that has enough support
    cells: tuple[tuple[int, Metric, float], ...]
    # shape (n_groups, 2): By attribute: events and non-events of each group in a resample
    sizes: tuple[NDArray[np.int64], ...]
    noise: tuple[Array, ...]  # shape (n_resamples, n_groups, 2): By attribute: the standard normals

    def evaluate(self, counts: ArrayLike) -> Array:
        """Find the mean flip rate at some thresholds."""
        table = np.asarray(counts)
        rates = [
            self._flip_rates(self.strata.gather(table, place), place)
            for place in sorted({place for place, _, _ in self.cells})
        ]
        if not rates:
            return np.full(table.shape[:-2], np.nan)
        return np.concatenate(rates, axis=-1).mean(axis=-1)

    def _flip_rates(self, groups: NDArray[np.int64], place: int) -> Array:
        """Find the flip rates of one attribute's cells, shape (..., n_cells)."""
        draws = self._draw(groups, place)
        found = []
        for _, metric, threshold in (cell for cell in self.cells if cell[0] == place):
            required = ~np.isnan(metric.by_group(groups))[..., None, :, :]
            values = resample_values(metric, draws, required=required)
            defined = np.count_nonzero(~np.isnan(values), axis=-1)
            passes = np.count_nonzero(metric.passes(values, threshold=threshold), axis=-1)
            fewer = np.minimum(passes, defined - passes) / np.maximum(defined, 1)
            found.append(np.where(defined > 0, fewer, UNDEFINED))
        return np.stack(found, axis=-1)

    def _draw(self, groups: NDArray[np.int64], place: int) -> Array:
        """Draw resamples of one attribute's counts, shape (..., n_resamples, n_groups, 4).

        Groups and counts come first in memory, which makes what is done along them several times faster.
        """
        drawn, noise = self.sizes[place], self.noise[place]
        share = groups[..., :2] / np.maximum(stratum_sizes(groups), 1)
        draws = np.empty((*groups.shape[-2:], *groups.shape[:-2], len(noise)))
        for group, label in np.ndindex(drawn.shape):
            here, q = drawn[group, label], share[..., group, label, None]
            selected = np.rint(here * q + np.sqrt(here * q * (1 - q)) * noise[:, group, label])
            np.clip(selected, 0, here, out=draws[group, label])
            np.subtract(here, draws[group, label], out=draws[group, label + 2])
        return np.moveaxis(draws, (0, 1), (-2, -1))


def make_objective(strata: Strata, thresholds: ArrayLike, *, protocol: Protocol, seed: int) -> FlipObjective:
    """Draw the random numbers once and find the cells of the grid that thresholds can change.

    Metrics of scores (TI, CAL) do not change with a threshold and are left out, and so is every cell without
    a verdict for want of support.
    """
    counts = strata.count(thresholds)
    size = min(protocol.resample_size, int(counts.sum()))
    tables = [strata.gather(counts, place) for place in range(len(strata.attributes))]
    sizes = tuple(allocate_strata(stratum_sizes(table), total=size) for table in tables)
    noise = tuple(
        open_stream(seed, "mitigation", name).standard_normal((SEARCH_RESAMPLES, *held.shape))
        for name, held in zip(strata.attributes, sizes, strict=True)
    )
    metrics = [metric for name in protocol.metrics if (metric := find_metric(name)).evidence == "counts"]
    cells = tuple(
        (place, metric, float(protocol.thresholds.get(metric.name, metric.threshold)))
        for place, table in enumerate(tables)
        for metric in metrics
        if _has_verdict(metric, table, strata.groups[place], protocol)
    )
    return FlipObjective(strata, cells, sizes, noise)


def _has_verdict(
    metric: Metric, table: NDArray[np.int64], groups: tuple[str, ...], protocol: Protocol
) -> bool:
    """Tell whether nothing is in the way of a verdict."""
    return not find_obstacles(
        metric,
        kind="probability",
        groups=groups,
        strata=stratum_sizes(table),
        parts=metric.by_group(table),
        selected=table[:, :2].sum(axis=-1),
        protocol=protocol,
    )
