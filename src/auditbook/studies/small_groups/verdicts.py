"""Audits of known populations: how far are metric, flip rate and verdict from what they stand for?"""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from auditbook.evidence import open_stream, order_scores, prepare, stratum_sizes, sum_scores
from auditbook.records import AuditRecords
from auditbook.settings import Protocol
from auditbook.studies.small_groups.measures import EVERY, SUPPORTED, Reading, Truth, Truths, mark_right
from auditbook.studies.small_groups.worlds import DESIGNS, VerdictDesign, draw_audits, draw_records
from auditbook.verdicts import Metric, find_metric, flip_rate, judge, lack_support, resample_values

__all__ = ["DESIGNS", "find_truth", "run_replicate"]

RESAMPLES, SCORE_RESAMPLES = 500, 200
FRESH, FRESH_SCORES = 20_000, 1_000
"""Fresh audits behind a true flip rate: by counts, and by records where scores are needed."""
STABLE = Protocol().vfr_stable
METRIC, FLIPS, DOMINANT, STEADY = "metric", "flip rate", "dominant verdict", "stable verdict"

Array = NDArray[np.float64]


@cache
def find_truth(design: VerdictDesign, seed: int) -> Truths:
    """Find what the figures of a design estimate.

    The true flip rate is the share of fresh audits of the same population and size that do not end as most of
    them do. Events are drawn in these audits, unlike in the resamples behind an estimated flip rate.
    """
    rule, rng = find_metric(design.metric), _stream(design, seed, "truth")
    value = Truth(design.value, rule.threshold)
    truths = {(METRIC, EVERY): value, (DOMINANT, EVERY): Truth(np.nan), (STEADY, EVERY): Truth(np.nan)}
    if rule.evidence == "counts":
        values, supported = _judge_counts(rule, draw_audits(design, FRESH, rng))
    else:
        values, supported = _judge_records(rule, design, rng)
    for support, kept in ((EVERY, ~np.isnan(values)), (SUPPORTED, supported)):
        share = rule.passes(values[kept]).mean() if kept.sum() >= 100 else np.nan
        truths[FLIPS, support] = Truth(float(min(share, 1 - share)), STABLE)
    return truths


def _judge_counts(rule: Metric, audits: NDArray[np.int64]) -> tuple[Array, NDArray[np.bool_]]:
    """Compute a metric in many audits, and tell which of these have the minimum support."""
    values = resample_values(rule, audits, required=np.ones((1, audits.shape[1]), bool))
    short = lack_support(
        rule, stratum_sizes(audits), protocol=Protocol(), selected=audits[..., :2].sum(axis=-1)
    )
    return values, ~short & ~np.isnan(values)


def _judge_records(
    rule: Metric, design: VerdictDesign, rng: np.random.Generator
) -> tuple[Array, NDArray[np.bool_]]:
    """Do the same with records, one audit after the other."""
    values, strata = np.empty(FRESH_SCORES), np.empty((FRESH_SCORES, design.groups, 2), np.int64)
    for place in range(FRESH_SCORES):
        audit = draw_records(design, rng)
        codes = audit.attributes[0].codes
        values[place] = rule.values(
            sum_scores(order_scores(audit.outcome, audit.scores[0].values), codes, design.groups)
        )
        events = np.bincount(codes, weights=audit.outcome, minlength=design.groups).astype(np.int64)
        strata[place] = np.stack([events, design.sizes - events], axis=-1)
    return values, ~lack_support(rule, strata, protocol=Protocol()) & ~np.isnan(values)


def _stream(design: VerdictDesign, seed: int, what: str) -> np.random.Generator:
    """Open the stream of one replicate, or of the truth."""
    return open_stream(seed, "small groups", "verdicts", design.name, what)


def run_replicate(design: VerdictDesign, *, replicate: int, seed: int) -> list[Reading]:
    """Draw one audit and read what the package says of it.

    Metrics of counts go through `flip_rate`, with as many records a resample as the audit has; calibration
    goes through `judge`. In an audit that lacks support the figures are those that would have been printed
    without the rule.
    """
    rng = _stream(design, seed, str(replicate))
    rule = find_metric(design.metric)
    if rule.evidence != "counts":
        return _run_scores(design, rng, find_truth(design, seed))
    counts = draw_audits(design, 1, rng)
    values, supported = _judge_counts(rule, counts)
    if np.isnan(values[0]):
        return [(figure, *(np.nan,) * 4, 0.0) for figure in (METRIC, FLIPS, DOMINANT, STEADY)]
    found = flip_rate(counts[0], rule, resamples=RESAMPLES, rng=rng)
    numbers = (found.estimate, found.ci_low, found.ci_high, found.vfr, found.vfr_low, found.vfr_high)
    said = found.verdict == "pass", found.dominant
    return _read(design, numbers, said, bool(supported[0]), find_truth(design, seed))


def _run_scores(design: VerdictDesign, rng: np.random.Generator, truths: Truths) -> list[Reading]:
    """Judge one audit of calibration; an inconclusive cell has its estimate alone."""
    records = draw_records(design, rng)
    whole = Protocol(
        metrics=(design.metric,), resamples=SCORE_RESAMPLES, resample_size=len(records.outcome), min_records=1
    )
    free = replace(whole, min_events=1, min_non_events=1)
    seeded = replace(free, seed=int(rng.integers(2**31)))
    row = judge(prepare(records), seeded, axes=()).verdicts.iloc[0]
    short = lack_support(find_metric(design.metric), _count_strata(records), protocol=Protocol())
    numbers = tuple(row[["estimate", "ci_low", "ci_high", "vfr", "vfr_low", "vfr_high"]].astype(float))
    said = row["verdict"] == "pass", str(row["dominant_verdict"])
    return _read(design, numbers, said, not bool(short), truths)


def _count_strata(records: AuditRecords) -> NDArray[np.int64]:
    """Count each group's events and non-events, shape (groups, 2)."""
    codes = records.attributes[0].codes
    events = np.bincount(codes, weights=records.outcome).astype(np.int64)
    return np.stack([events, np.bincount(codes) - events], axis=-1)


def _read(
    design: VerdictDesign, numbers: tuple[float, ...], said: tuple[bool, str], supported: bool, truths: Truths
) -> list[Reading]:
    """Write down the four figures of one audit."""
    estimate, low, high, vfr, vfr_low, vfr_high = numbers
    truth, held = truths[FLIPS, EVERY].value, float(supported)
    dominant = mark_right(said[1] == "pass", design.passes, known=bool(said[1]))
    stable = dominant if vfr <= STABLE else np.nan
    nothing = (np.nan, np.nan, np.nan)
    return [
        (METRIC, estimate, low, high, mark_right(said[0], design.passes), held),
        (FLIPS, vfr, vfr_low, vfr_high, mark_right(vfr <= STABLE, truth <= STABLE), held),
        (DOMINANT, *nothing, dominant, held),
        (STEADY, *nothing, stable, held),
    ]
