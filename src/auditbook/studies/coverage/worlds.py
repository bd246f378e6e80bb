"""Which populations of patients and sites are audits drawn from, and what is true of their two groups?

Scores are calibrated: the logit of the score is normal in each group, and the event happens with that chance.
Scores and events of one patient's stays are drawn from normal variables of which the patient shares most, and
those of one site's records from such of which the site shares a part. So records resemble each other, and
what is true of a record drawn from endlessly many patients and sites follows from the scores' distribution.
A second model sees the same with noise.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import expit, logit, ndtr
from scipy.stats import norm

from auditbook.records import Attribute, AuditRecords, Score
from auditbook.studies.boards.worlds import set_score

Array = NDArray[np.float64]

RECORDS, THRESHOLD = 2_000, 0.3
GROUPS, SHARES = ("smaller", "larger"), np.array([0.3, 0.7])
EVENT_RATES, AREAS = (0.25, 0.20), (0.75, 0.80)
STEPS = 1_501
"""Points of the scores' distribution between which areas are interpolated; more move none by 0.0001."""
NOISY = 0.8
"""Correlation of the second model's logits with the first's."""
OF_PATIENT, OF_SITE = 0.7, 0.1
"""Part of the variance that stays of a patient, and records of a site, share."""


@dataclass(frozen=True)
class CoverageWorld:
    """How the records of an audit hang together."""

    stays: int = 1  # Most stays a patient
    sites: int = 0
    spread: float = 0.0  # SD of the logarithm of the sites' sizes

    @property
    def name(self) -> str:
        """What names its random numbers."""
        if self.sites:
            return f"{self.sites} sites" + f", sizes spread by {self.spread:g}" * (self.spread > 0)
        return f"1 to {self.stays} stays a patient" if self.stays > 1 else "independent records"


WORLDS = (
    CoverageWorld(),
    CoverageWorld(stays=10),
    CoverageWorld(sites=5),
    CoverageWorld(sites=15),
    CoverageWorld(sites=15, spread=0.5),
    CoverageWorld(sites=30),
    CoverageWorld(sites=30, spread=1.0),
    CoverageWorld(sites=100),
    CoverageWorld(sites=100, spread=1.0),
)


def draw_records(world: CoverageWorld, rng: np.random.Generator) -> AuditRecords:
    """Draw the records of one audit, scored by two models."""
    patient, site = _draw_patients(world, rng)
    share = np.tile(SHARES, (world.sites or 1, 1))
    if world.sites:
        share = rng.dirichlet(40 * SHARES, world.sites)
    codes = (rng.random(len(site)) > share[site, 0]).astype(np.intp)[patient]
    places = patient, site[patient]
    hidden, noise, chance = (_draw_alike(world, places, rng) for _ in range(3))
    mean, sd = (part[codes] for part in _find_logits())
    score = expit(mean + sd * hidden)
    other = expit(mean + sd * (NOISY * hidden + np.sqrt(1 - NOISY**2) * noise))
    scores = tuple(
        Score(name, "probability", THRESHOLD, values)
        for name, values in (("calibrated", score), ("noisy", other))
    )
    outcome = (ndtr(chance) < score).astype(np.int8)
    unit, at = patient if world.stays > 1 else None, places[1] if world.sites else None
    return AuditRecords(outcome, (Attribute("group", GROUPS, codes),), scores, at, unit)


def _draw_patients(
    world: CoverageWorld, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw the patient of each record, and the site of each patient."""
    stays = rng.integers(1, world.stays + 1, RECORDS)
    patient = np.repeat(np.arange(RECORDS), stays)[:RECORDS]
    size = np.exp(world.spread * rng.standard_normal(world.sites or 1))
    return patient, rng.choice(len(size), int(patient[-1]) + 1, p=size / size.sum())


def _draw_alike(
    world: CoverageWorld, places: tuple[NDArray[np.intp], NDArray[np.intp]], rng: np.random.Generator
) -> Array:
    """Draw standard normal variables that records of one patient, and of one site, share in part."""
    parts = OF_PATIENT if world.stays > 1 else 0.0, OF_SITE if world.sites else 0.0
    total = np.sqrt(1 - sum(parts)) * rng.standard_normal(RECORDS)
    for part, place in zip(parts, places, strict=True):
        total += np.sqrt(part) * rng.standard_normal(int(place.max()) + 1)[place]
    return total


def _find_logits() -> tuple[Array, Array]:
    """Find mean and SD of each group's logits."""
    found = [set_score(rate, area) for rate, area in zip(EVENT_RATES, AREAS, strict=True)]
    mean, sd = np.array(found).T
    return mean, sd


@dataclass(frozen=True)
class Truth:
    """What is true of the two groups."""

    rates: dict[str, Array]  # By name: of the first model, one a group
    areas: Array  # shape (2, 2, 2): Of each model, events of the one group and non-events of the other
    overall: Array  # shape (2,): Area over all records, of each model


@cache
def find_truth() -> Truth:
    """Find what is true of endlessly many records, by integration over the scores."""
    hidden = np.linspace(-9, 9, STEPS)
    weight = norm.pdf(hidden) / norm.pdf(hidden).sum()
    mean, sd = _find_logits()
    event = weight * expit(mean[:, None] + sd[:, None] * hidden)
    rate, cut = event.sum(axis=1), (logit(THRESHOLD) - mean) / sd
    hit = np.array([_integrate_hits(*part) for part in zip(mean, sd, cut, strict=True)])
    selected = ndtr(-cut)
    rates = {"SR": selected, "TPR": hit / rate, "FPR": (selected - hit) / (1 - rate), "PPV": hit / selected}
    label = np.stack([event / rate[:, None], (weight - event) / (1 - rate)[:, None]], axis=1)
    spread = np.sqrt(1 - NOISY**2)
    edges = hidden + (hidden[1] - hidden[0]) / 2
    noisy = np.diff(ndtr((edges - NOISY * hidden[:, None]) / spread), axis=1, prepend=0.0)  # [true, told]
    areas = np.stack([_find_areas(label, hidden, mean, sd), _find_areas(label @ noisy, hidden, mean, sd)])
    shares = [SHARES * part / (SHARES @ part) for part in (rate, 1 - rate)]
    return Truth(rates, areas, np.einsum("mgh,g,h->m", areas, *shares))


def _integrate_hits(mean: float, sd: float, cut: float) -> float:
    """Find the share of records that are selected and have the event."""
    return float(quad(lambda at: norm.pdf(at) * expit(mean + sd * at), cut, 12)[0])


def _find_areas(label: Array, hidden: Array, mean: Array, sd: Array) -> Array:
    """Find the areas from densities of the hidden variable, [group, 0 for events]."""
    found = np.empty((2, 2))
    for g in range(2):
        for h in range(2):
            below = np.concatenate([[0.0], np.cumsum(label[h, 1])])
            middle = (below[1:] + below[:-1]) / 2
            at = (mean[g] + sd[g] * hidden - mean[h]) / sd[h]
            found[g, h] = label[g, 0] @ np.interp(at, hidden, middle, left=0.0, right=1.0)
    return found
