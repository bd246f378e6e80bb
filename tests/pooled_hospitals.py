"""A cohort of three hospitals, as records and as counts of each."""

import numpy as np

from auditbook.evidence import Tally, tally_records
from auditbook.pooling import SiteCounts, bare_tally
from auditbook.records import Attribute, AuditRecords, Score

SITES = ("A", "B", "C")
DEFINITIONS = {"outcome": {"event": "= 1"}, "models": {"m": {"threshold": 0.5}}}


def draw_records(n: int = 3000, *, seed: int = 5, units: bool = False) -> AuditRecords:
    """Draw records of three hospitals of unequal size, two attributes and two models."""
    rng = np.random.default_rng(seed)
    outcome = rng.binomial(1, 0.4, n).astype(np.int8)
    race = Attribute("race", ("Asian", "Black", "White"), rng.choice(3, n, p=[0.15, 0.25, 0.6]), "White")
    sex = Attribute("sex", ("F", "M"), rng.choice(2, n))
    site = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    chance = np.clip(0.3 + 0.3 * outcome + rng.normal(0, 0.2, n), 0.001, 0.999)
    scores = (Score("m", "probability", 0.5, chance), Score("d", "decision", 0.5, (chance > 0.4) * 1.0))
    unit = 700 * site + rng.integers(0, 700, n) if units else None
    return AuditRecords(outcome, (race, sex), scores, site=site, unit=unit)


def take(records: AuditRecords, kept: np.ndarray, *, site: bool = False) -> AuditRecords:
    """Take some of the records."""
    attributes = tuple(
        Attribute(one.name, one.groups, one.codes[kept], one.reference) for one in records.attributes
    )
    scores = tuple(Score(one.model, one.kind, one.threshold, one.values[kept]) for one in records.scores)
    unit = None if records.unit is None else np.unique(records.unit[kept], return_inverse=True)[1]
    return AuditRecords(records.outcome[kept], attributes, scores, records.site[kept] if site else None, unit)


def split_tallies(records: AuditRecords) -> dict[str, Tally]:
    """Count each hospital by itself."""
    return {name: tally_records(take(records, records.site == place)) for place, name in enumerate(SITES)}


def hand_over(tally: Tally, **other: object) -> SiteCounts:
    """Make what a file without suppression holds."""
    return SiteCounts(DEFINITIONS, "digest", 0, bare_tally(tally), **other)
