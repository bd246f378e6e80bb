"""Audits at many sites: does kappa say how far sites agree, and its interval how sure that is?

Four attributes, each with a small group of a fifth of the records of every site. A record is selected with
probability 0.3, times the ratio of every small group that it belongs to; so each attribute's DI is its
ratio. At each site the ratios differ from those of the population by a lognormal factor. All sites are of
one size. Forty sites stand in twenty folds of two, as the protocol has it.

What kappa estimates: that of endlessly many folds of the same size. Its interval, from leaving out one fold
at a time, is for the chance of having asked these folds and no others, so that is what it must cover.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import (
    count_passes,
    fleiss_kappa,
    gwet_ac1,
    jackknife_kappa,
    open_stream,
    raw_agreement,
    stratum_sizes,
)
from auditbook.settings import Protocol
from auditbook.studies.small_groups.measures import EVERY, Reading, Truth, Truths, mark_right
from auditbook.verdicts import find_metric, lack_support

SIZES = (30, 60, 125, 250, 500, 1_000, 2_000)
ITEMS = ("age", "ethnicity", "race", "sex")
SHARE, SELECTED, EVENTS = 0.2, 0.3, 0.2
FRESH = 10_000
RULE, BOUND = find_metric("DI"), Protocol().kappa_stable
KAPPA, RAW, AC1 = "kappa", "raw agreement", "AC1"
MEMBERS = np.array(list(product((0, 1), repeat=len(ITEMS))))
"""Which small groups a record belongs to, shape (16, 4)."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SiteDesign:
    """Sites, and how far the attributes lie from the threshold there."""

    sites: int  # Number of sites
    smallest: int  # Records of each small group that a site has on average
    distance: float  # Distance of every attribute's DI from 0.80 in the population
    sides: int  # 2 when two attributes fail and two pass, 1 when all four pass
    scatter: float  # SD of the sites' factors on the logarithmic scale

    @property
    def name(self) -> str:
        """What names its random numbers."""
        return f"{self.sites} {self.smallest} {self.distance:g} {self.sides} {self.scatter:g}"

    @property
    def ratios(self) -> Array:
        """DI of each attribute in the population, shape (4,)."""
        below = -1 if self.sides == 2 else 1
        return RULE.threshold + self.distance * np.array([below, below, 1, 1])

    @property
    def folds(self) -> int:
        """Number of folds."""
        return min(self.sites, Protocol().site_folds)


def _list_designs() -> Iterator[SiteDesign]:
    """Distances and sites; then attributes that all pass, and sites that differ more."""
    for smallest in SIZES:
        base = SiteDesign(20, smallest, 0.05, 2, 0.05)
        yield from (replace(base, sites=sites) for sites in (5, 20, 40))
        yield from (replace(base, distance=distance) for distance in (0.02, 0.1))
        yield replace(base, distance=0.1, sides=1)
        yield replace(base, scatter=0.15)


DESIGNS = tuple(_list_designs())


def draw_sites(design: SiteDesign, sites: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw sites by the small groups that their records belong to."""
    shares = np.where(MEMBERS == 1, SHARE, 1 - SHARE).prod(axis=1)
    records = rng.multinomial(round(design.smallest / SHARE), shares, size=sites)
    ratios = design.ratios * np.exp(design.scatter * rng.standard_normal((sites, len(ITEMS))))
    chance = SELECTED * np.where(MEMBERS == 1, ratios[:, None], 1.0).prod(axis=-1)
    selected = rng.binomial(records, np.minimum(chance, 1))
    strata = np.stack([selected, records - selected], axis=-1)
    events = rng.binomial(strata, EVENTS)
    return np.concatenate([events, strata - events], axis=-1)[..., [0, 2, 1, 3]]


def count_folds(design: SiteDesign, at_site: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put sites together into folds and count the groups of every attribute."""
    together = design.sites // design.folds
    folds = at_site.reshape(-1, together, *at_site.shape[1:]).sum(axis=1)
    inside = np.einsum("fmc,mi->ifc", folds, MEMBERS)
    return np.stack([folds.sum(axis=1) - inside, inside], axis=2)


def judge_folds(counts: NDArray[np.int64]) -> Array:
    """Judge every attribute in every fold."""
    values = RULE.values(counts)
    short = lack_support(RULE, stratum_sizes(counts), protocol=Protocol()) | np.isnan(values)
    return np.where(short, np.nan, RULE.passes(values).astype(float))


@cache
def find_truth(design: SiteDesign, seed: int) -> Truths:
    """Find the agreement of very many folds."""
    sites = FRESH * (design.sites // design.folds)
    table = count_passes(
        judge_folds(count_folds(design, draw_sites(design, sites, _stream(design, seed, "truth"))))
    )
    return {
        (KAPPA, EVERY): Truth(fleiss_kappa(table), BOUND),
        (RAW, EVERY): Truth(raw_agreement(table)),
        (AC1, EVERY): Truth(gwet_ac1(table)),
    }


def _stream(design: SiteDesign, seed: int, what: str) -> np.random.Generator:
    return open_stream(seed, "small groups", "sites", design.name, what)


def run_replicate(design: SiteDesign, *, replicate: int, seed: int) -> list[Reading]:
    """Draw one set of sites and read how far their folds agree."""
    at_site = draw_sites(design, design.sites, _stream(design, seed, str(replicate)))
    ratings = judge_folds(count_folds(design, at_site))
    ratings = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]  # as `rate_agreement` has it
    table, bounds = count_passes(ratings), jackknife_kappa(ratings)
    kappa, truth = fleiss_kappa(table), find_truth(design, seed)[KAPPA, EVERY].value
    known = not np.isnan(kappa) and not np.isnan(truth)
    held = float(not np.isnan(kappa))
    right = mark_right(kappa >= BOUND, truth >= BOUND, known=known)
    return [
        (KAPPA, kappa, bounds.low, bounds.high, right, held),
        (RAW, raw_agreement(table), np.nan, np.nan, np.nan, held),
        (AC1, gwet_ac1(table), np.nan, np.nan, np.nan, held),
    ]
