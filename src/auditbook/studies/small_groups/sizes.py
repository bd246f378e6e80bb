"""Subsamples of one audit: is their coefficient of variation that of audits of this size?

The populations are those of `small_groups_worlds` with two groups. The audit is so many times as large as
the subsamples; within it, nothing is drawn twice. What CV estimates is the spread of fresh audits of the
subsamples' size, drawn from the population one by one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from auditbook.evidence import open_stream
from auditbook.settings import Protocol
from auditbook.studies.small_groups.measures import EVERY, Reading, Truth, Truths, mark_right
from auditbook.studies.small_groups.worlds import SIZES, VerdictDesign, set_rates
from auditbook.verdicts import find_metric, resample_values, summarise_resamples, sweep_counts

FRESH = 20_000
REPEATS, BOUND = Protocol().size_repeats, Protocol().cv_stable
SPREAD = "CV"


@dataclass(frozen=True)
class SizeDesign:
    """A population, the subsample's smallest group, and the size of the audit."""

    metric: str  # Name of a metric of counts
    smallest: int  # Records of the smallest group in a subsample, on average; the other group has 10,000
    distance: float  # Of the true value from the threshold; above 0 it passes
    times: int  # Size of the audit, in subsamples

    @property
    def name(self) -> str:
        """What names its random numbers."""
        return f"{self.metric} {self.smallest} {self.distance:g} {self.times}"

    @property
    def population(self) -> VerdictDesign:
        """The population that is audited."""
        return VerdictDesign(self.metric, 2, self.smallest, 0.2, self.distance)


def _list_designs() -> Iterator[SizeDesign]:
    for metric in ("DI", "EOPP"):
        for smallest in SIZES:
            yield from (SizeDesign(metric, smallest, 0.05, times) for times in (10, 2))


DESIGNS = tuple(_list_designs())


@cache
def find_truth(design: SizeDesign, seed: int) -> Truths:
    """Find the coefficient of variation of fresh audits of the subsamples' size."""
    rule, rng = find_metric(design.metric), _stream(design, seed, "truth")
    values = resample_values(rule, _draw(design, 1, FRESH, rng), required=np.ones((1, 2), bool))
    found = summarise_resamples(rule, values)
    return {(SPREAD, EVERY): Truth(float(found.sd / abs(found.mean)), BOUND)}


def _draw(design: SizeDesign, scale: int, times: int, rng: np.random.Generator) -> np.ndarray:
    """Draw simple random samples of the population, shape (times, 2, 4)."""
    sizes = scale * design.population.sizes
    records = rng.multinomial(sizes.sum(), sizes / sizes.sum(), size=times)
    events = rng.binomial(records, design.population.event_rate)
    strata = np.stack([events, records - events], axis=-1)
    selected = rng.binomial(strata, set_rates(design.population))
    return np.concatenate([selected, strata - selected], axis=-1)


def _stream(design: SizeDesign, seed: int, what: str) -> np.random.Generator:
    return open_stream(seed, "small groups", "sizes", design.name, what)


def run_replicate(design: SizeDesign, *, replicate: int, seed: int) -> list[Reading]:
    """Draw one audit and read the spread of its subsamples."""
    rng = _stream(design, seed, str(replicate))
    counts = _draw(design, design.times, 1, rng)[0]
    size = int(design.population.sizes.sum())
    found = sweep_counts(counts, design.metric, sizes=[size], repeats=REPEATS, rng=rng).iloc[0]
    cv, truth = float(found["cv"]), find_truth(design, seed)[SPREAD, EVERY].value
    right = mark_right(cv < BOUND, truth < BOUND, known=not np.isnan(cv))
    held = float(found["undefined_share"] == 0)
    return [(SPREAD, cv, float(found["cv_low"]), float(found["cv_high"]), right, held)]
