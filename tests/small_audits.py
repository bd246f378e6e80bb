"""Small audits to test with, and each metric written out slowly, record by record."""

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol

LENIENT = Protocol(resamples=40, min_records=1, min_events=0, min_non_events=0)
SCORES = st.one_of(st.floats(1e-6, 1), st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]))
EVERY_METRIC = ("DI", "SPD", "EOPP", "EOD", "TI", "PP", "CAL", "TI_benefit", "CAL_large", "AUC")


def audit(
    outcome, values, groups, *, declared=None, kind="probability", threshold=0.5, site=None, name="race"
):
    """Make an audit of one model and one attribute from plain lists."""
    names = tuple(declared if declared is not None else sorted(set(groups)))
    codes = np.array([names.index(group) for group in groups])
    scores = (Score("model", kind, threshold, np.asarray(values, float)),)
    return AuditRecords(
        np.asarray(outcome, np.int8),
        (Attribute(name, names, codes),),
        scores,
        None if site is None else np.asarray(site),
    )


def random_audit(rng, n, groups: Sequence[str], *, models=1, n_sites=0):
    """Make an audit with scores that are roughly calibrated."""
    risk = rng.beta(1.3, 1.7, n)
    outcome = (rng.random(n) < risk).astype(np.int8)
    scores = tuple(
        Score(f"m{i}", "probability", 0.5, np.clip(risk + rng.normal(0, 0.1, n), 0, 1)) for i in range(models)
    )
    attributes = (Attribute("race", tuple(groups), rng.integers(0, len(groups), n)),)
    return AuditRecords(outcome, attributes, scores, rng.integers(0, n_sites, n) if n_sites else None)


def slow_groups(outcome, values, codes, n_groups, threshold=0.5):
    """Write out every group's rates, Theil index and calibration errors by loops over records."""
    found = []
    for group in range(n_groups):
        rows = [(int(y), float(s)) for y, s, c in zip(outcome, values, codes, strict=True) if c == group]
        found.append(slow_group(rows, threshold))
    return found


def slow_group(rows, threshold=0.5):
    """Write out one group's numbers; None where undefined."""

    def share(chosen, among):
        return sum(map(chosen, among)) / len(among) if among else None

    def selected(row):
        return row[1] >= threshold

    def event(row):
        return row[0] == 1

    benefit = [1 - abs(y - s) for y, s in rows]
    mean = sum(benefit) / len(rows) if rows else 0
    bins = [[row for row in rows if min(int(row[1] * 10), 9) == place] for place in range(10)]
    error = [abs(share(event, part) - sum(s for _, s in part) / len(part)) for part in bins if part]
    return {
        "SR": share(selected, rows),
        "TPR": share(selected, [row for row in rows if event(row)]),
        "FPR": share(selected, [row for row in rows if not event(row)]),
        "PPV": share(event, [row for row in rows if selected(row)]),
        "T": sum(b / mean * math.log(b / mean) for b in benefit if b > 0) / len(rows) if mean else None,
        "CAL": max(error) if error else None,
        "large": abs(sum(s - y for y, s in rows) / len(rows)) if rows else None,
        "A": slow_area(rows),
    }


def slow_area(rows):
    """Write out one group's area under the ROC curve; None where undefined."""
    pairs = [(s > t) + (s == t) / 2 for y, s in rows if y == 1 for z, t in rows if z == 0]
    return sum(pairs) / len(pairs) if pairs else None


def slow_metric(name, outcome, values, codes, n_groups, threshold=0.5):
    """Write out a metric from the records; nan where undefined."""
    groups = slow_groups(outcome, values, codes, n_groups, threshold)

    def defined(key):
        return [group[key] for group in groups if group[key] is not None]

    def spread(key):
        rates = defined(key)
        return max(rates) - min(rates) if len(rates) >= 2 else math.nan

    if name == "DI":
        rates = defined("SR")
        return min(rates) / max(rates) if len(rates) >= 2 and max(rates) > 0 else math.nan
    if name == "EOD":
        pair = spread("TPR"), spread("FPR")
        return math.nan if any(map(math.isnan, pair)) else max(pair)
    if name == "TI_benefit":
        benefit = [int(s >= threshold) - int(y) + 1 for y, s in zip(outcome, values, strict=True)]
        mean = sum(benefit) / len(benefit)
        return sum(b / mean * math.log(b / mean) for b in benefit if b) / len(benefit) if mean else math.nan
    if name in ("CAL", "CAL_large"):
        return max(defined("CAL" if name == "CAL" else "large"), default=math.nan)
    return spread({"SPD": "SR", "EOPP": "TPR", "PP": "PPV", "TI": "T", "AUC": "A"}[name])
