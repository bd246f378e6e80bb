"""Records whose groups differ, to choose thresholds on."""

from dataclasses import replace

import numpy as np

from auditbook.evidence import settle_groups
from auditbook.mitigation.joint_cells import join_cells
from auditbook.mitigation.strata import sort_strata
from auditbook.records import Attribute, AuditRecords, Score

SHARES = {"race": (0.1, 0.2, 0.7), "age": (0.3, 0.3, 0.4), "sex": (0.4, 0.6), "payer": (0.3, 0.7)}
EFFECTS = {"race": 0.5, "age": 0.9, "sex": -0.5, "payer": 0.3}


def differing_records(n=3000, *, seed=1, sites=0, crossed=3):
    """Draw calibrated scores in groups of different event rates; return the records and their joint cells."""
    rng = np.random.default_rng(seed)
    drawn = [
        Attribute(name, tuple("abc"[: len(p)]), rng.choice(len(p), n, p=p)) for name, p in SHARES.items()
    ]
    logit = rng.normal(-1.6, 1.5, n) + sum(EFFECTS[item.name] * item.codes for item in drawn)
    risk = 1 / (1 + np.exp(-logit))
    outcome = (rng.random(n) < risk).astype(np.int8)
    attributes = tuple(settle_groups(item, outcome) for item in drawn)
    site = rng.integers(0, sites, n) if sites else None
    records = AuditRecords(outcome, attributes, (Score("m", "probability", 0.5, risk),), site)
    return records, join_cells(attributes[:crossed])


def decide(records, cells, thresholds):
    """Apply thresholds of cells to the records."""
    score = records.scores[0]
    chosen = replace(score, chosen=score.values >= np.asarray(thresholds)[cells.codes])
    return replace(records, scores=(chosen,))


def stratify(records, cells):
    return sort_strata(records, cells)
