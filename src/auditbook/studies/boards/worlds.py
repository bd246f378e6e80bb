"""Which populations is a whole board drawn from, and what is true of each of its cells there?

Every world has four attributes, whose groups are drawn independently of each other, and seven metrics: 28
cells. In an *equal* world a calibrated score is drawn alike for everybody, and the highest scores are
selected. In an *edge* world outcomes are as before, but the first group of each attribute is treated so
that a metric lies exactly on its threshold: of the first attribute the gap in TPR (and its scores promise
0.05 too little), of the second that in FPR, of the third the ratio of selection rates, of the fourth the gap
in PPV. There neither answer is true.

Patients and sites: whether the event happens is drawn from a normal variable part of which the patient, or
the site, shares, so that the score stays calibrated and records of one patient are alike. Selection follows
in the same way. Where there are enough sites to speak of others, the shares of the groups differ between them
too. With fewer a conclusion is for these sites, and what a site does to everybody would be part of the truth:
there sites differ in their scores only.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from auditbook.records import Attribute, AuditRecords, Score
from auditbook.verdicts import METRICS

Array = NDArray[np.float64]

NAMES = ("race", "sex", "payer", "age")
TPR, PPV, MOST_FPR, CAL_SHIFT = 0.60, 0.55, 0.30, 0.05
LEAST_RATE = 0.05
"""With rarer events a gap in FPR would leave no PPV to speak of: only the first and third are treated."""
SHARED = 0.3
"""Part of the variance of the hidden variable that a patient's stays share; of a site's, a tenth of it."""


@dataclass(frozen=True)
class BoardWorld:
    """A population, and how an audit is drawn from it."""

    kind: str  # "equal" or "edge", or "gap": a TPR that is lower by `gap` in the first race
    records: int
    groups: tuple[int, int, int, int] = (5, 2, 3, 4)
    event_rate: float = 0.2
    area: float = 0.8  # Area under the ROC curve of the score
    smallest: int = 0  # Events in the first group of each attribute; 0: all groups are of one size
    stays: int = 1  # Most stays a patient
    sites: int = 0
    unequal: bool = False  # Whether sites are of lognormal size
    selected: float = 0.1  # Share with the highest scores, in an equal world
    gap: float = 0.0

    @property
    def name(self) -> str:
        """What names its random numbers."""
        groups = "-".join(map(str, self.groups))
        clusters = f" stays {self.stays}" * (self.stays > 1) + f" sites {self.sites}" * (self.sites > 0)
        return (
            f"{self.kind}{f' {self.gap:g}' * (self.gap > 0)} {self.records} groups {groups} "
            f"rate {self.event_rate:g} area {self.area:g} selected {self.selected:g}"
            f"{f' smallest {self.smallest}' * (self.smallest > 0)}{clusters}{' unequal' * self.unequal}"
        )

    @property
    def speaks_of_others(self) -> bool:
        """Whether there are enough sites; with fewer, groups have the same shares at each."""
        return self.sites > 5 and not (self.unequal and self.sites <= 15)

    def shares(self, groups: int) -> Array:
        """Share of each group of an attribute."""
        if not self.smallest:
            return np.full(groups, 1 / groups)
        first = min(self.smallest / (self.records * self.event_rate), 1 / groups)
        return np.concatenate([[first], np.full(groups - 1, (1 - first) / (groups - 1))])


@cache
def set_score(event_rate: float, area: float) -> tuple[float, float]:
    """Find mean and SD of normal logits whose inverse is a calibrated score of that event rate and area."""
    nodes, weights = hermegauss(81)
    weights = weights / weights.sum()

    def mean_of(sd: float) -> float:
        return float(brentq(lambda m: weights @ expit(m + sd * nodes) - event_rate, -60, 60))

    def excess(sd: float) -> float:
        risk = expit(mean_of(sd) + sd * nodes)
        events, others = weights * risk, weights * (1 - risk)
        below = np.cumsum(others) - others / 2
        return float(events @ below / events.sum() / others.sum() - area)

    sd = float(brentq(excess, 0.05, 20))
    return mean_of(sd), sd


@dataclass(frozen=True)
class Rates:
    """TPR and FPR of everybody, and by how much the first group of each attribute differs, shape (4,)."""

    tpr: float
    fpr: float
    off_tpr: Array
    off_fpr: Array


def set_rates(world: BoardWorld) -> Rates:
    """Set the rates at which metrics lie on their thresholds, group by group, over the other attributes."""
    first = np.array([world.shares(groups)[0] for groups in world.groups])
    off_tpr, off_fpr = np.zeros(4), np.zeros(4)
    odds = world.event_rate / (1 - world.event_rate)
    fpr = min(TPR * odds * (1 - PPV) / PPV, MOST_FPR)
    if world.kind == "gap":
        off_tpr[0] = -world.gap
        return Rates(TPR, fpr, off_tpr, off_fpr)
    off_tpr[0] = -METRICS["EOPP"].threshold
    common = world.event_rate >= LEAST_RATE
    off_fpr[1] = METRICS["EOD"].threshold if common else 0.0
    ratio = METRICS["DI"].threshold
    for _ in range(200):  # the attributes' means hang on each other
        rest_tpr = TPR + (first * off_tpr).sum() - first * off_tpr
        rest_fpr = fpr + (first * off_fpr).sum() - first * off_fpr
        off_tpr[2], off_fpr[2] = (ratio - 1) * rest_tpr[2], (ratio - 1) * rest_fpr[2]
        if not common:
            continue
        ppv = rest_tpr[3] * odds / (rest_tpr[3] * odds + rest_fpr[3]) - METRICS["PP"].threshold
        off_fpr[3] = odds * rest_tpr[3] * (1 - ppv) / ppv - rest_fpr[3]
    return Rates(TPR, fpr, off_tpr, off_fpr)


def find_truth(world: BoardWorld) -> dict[tuple[str, str], str]:
    """Say of each metric and attribute what is true: "pass", "fail", or "edge": neither may be shown."""
    found = {
        (metric, name): "pass" for metric in ("DI", "SPD", "EOPP", "EOD", "TI", "PP", "CAL") for name in NAMES
    }
    if world.kind == "equal":
        return found
    rates = set_rates(world)
    first = np.array([world.shares(groups)[0] for groups in world.groups])
    for place, name in enumerate(NAMES):
        mean = [(first * off).sum() - first[place] * off[place] for off in (rates.off_tpr, rates.off_fpr)]
        tpr = rates.tpr + mean[0] + np.array([rates.off_tpr[place], 0])
        fpr = rates.fpr + mean[1] + np.array([rates.off_fpr[place], 0])
        selected = world.event_rate * tpr, (1 - world.event_rate) * fpr
        counts = np.stack([selected[0], selected[1], world.event_rate - selected[0]], axis=-1)
        table = np.concatenate([counts, 1 - counts.sum(axis=-1, keepdims=True)], axis=-1)
        for metric in ("DI", "SPD", "EOPP", "EOD", "PP"):
            rule = METRICS[metric]
            value = float(rule.values(table))
            passes = bool(rule.passes(value))
            found[metric, name] = (
                "edge" if abs(value - rule.threshold) < 1e-6 else "pass" if passes else "fail"
            )
    if world.kind == "edge":
        found["CAL", NAMES[0]] = "edge"
    return found


def draw_board(world: BoardWorld, rng: np.random.Generator) -> AuditRecords:
    """Draw the records of one audit."""
    people = _draw_people(world, rng)
    mean, sd = set_score(world.event_rate, world.area)
    score = expit(mean + sd * people.normal(rng, SHARED))
    outcome = (ndtr(people.normal(rng, SHARED, by_site=world.speaks_of_others)) < score).astype(np.int8)
    chosen = None
    told = score
    if world.kind != "equal":
        rates = set_rates(world)
        is_first = np.stack([attribute.codes == 0 for attribute in people.attributes])
        tpr, fpr = rates.tpr + rates.off_tpr @ is_first, rates.fpr + rates.off_fpr @ is_first
        hidden = ndtr(people.normal(rng, SHARED, by_site=world.speaks_of_others))
        chosen = hidden < np.where(outcome == 1, tpr, fpr)
        if world.kind == "edge":
            told = np.clip(score - CAL_SHIFT * is_first[0], 0, 1)
    threshold = float(np.quantile(told, 1 - world.selected))
    scores = (Score("model", "probability", threshold, told, chosen),)
    unit = people.patient if world.stays > 1 else None
    site = people.site if world.sites else None
    return AuditRecords(outcome, people.attributes, scores, site, unit)


@dataclass(frozen=True)
class _People:
    """Who the records belong to."""

    patient: NDArray[np.intp]
    site: NDArray[np.intp]
    attributes: tuple[Attribute, ...]
    stays: int
    sites: int

    def normal(self, rng: np.random.Generator, shared: float, *, by_site: bool = True) -> Array:
        """Draw standard normal variables that records of one patient, and of one site, share in part."""
        n = len(self.patient)
        by_patient = shared if self.stays > 1 else 0.0
        of_site = shared / 10 if self.sites and by_site else 0.0
        own = rng.standard_normal(n) * np.sqrt(1 - by_patient - of_site)
        patient = rng.standard_normal(int(self.patient[-1]) + 1)[self.patient] * np.sqrt(by_patient)
        return own + patient + rng.standard_normal(max(self.sites, 1))[self.site] * np.sqrt(of_site)


def _draw_people(world: BoardWorld, rng: np.random.Generator) -> _People:
    """Draw patients with their stays, sites and groups."""
    stays = rng.integers(1, world.stays + 1, world.records)
    ends = np.cumsum(stays)
    n_patients = int(np.searchsorted(ends, world.records)) + 1
    patient = np.repeat(np.arange(n_patients), stays[:n_patients])[: world.records]
    weight = rng.lognormal(0, 1, max(world.sites, 1)) if world.unequal else np.ones(max(world.sites, 1))
    site = rng.choice(len(weight), n_patients, p=weight / weight.sum())
    attributes = []
    for name, groups in zip(NAMES, world.groups, strict=True):
        share = np.tile(world.shares(groups), (len(weight), 1))
        if world.speaks_of_others:
            share = np.stack([rng.dirichlet(20 * groups * row) for row in share])
        cuts = np.cumsum(share, axis=1)[site]
        codes = np.minimum((rng.random(n_patients)[:, None] > cuts).sum(axis=1), groups - 1)
        names = tuple(f"group {place + 1}" for place in range(groups))
        attributes.append(Attribute(name, names, codes[patient]))
    return _People(patient, site[patient], tuple(attributes), world.stays, world.sites)
