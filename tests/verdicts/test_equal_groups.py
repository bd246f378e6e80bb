import numpy as np
import pytest

from auditbook.evidence import count_groups, group_auc, order_scores, prepare, sum_scores
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts.attribute_audit import AttributeAudit
from auditbook.verdicts.chance import fail_without_cause
from auditbook.verdicts.equal_groups import fail_if_equal
from auditbook.verdicts.metrics import METRICS
from auditbook.verdicts.reversals import plan_units

PROTOCOL = Protocol(resamples=2_000, min_records=1, min_events=1, min_non_events=1)
NOISE = 0.035
"""Three standard errors of a share of 2,000 draws."""


def scored(rng, sizes, *, unit=None):
    """Scores that mean the same in every group."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    scores = rng.beta(1.2, 3, len(codes))
    outcome = (rng.random(len(codes)) < scores).astype(np.int8)
    names = tuple(f"g{place}" for place in range(len(sizes)))
    model = Score("m", "probability", 0.5, scores)
    return AuditRecords(outcome, (Attribute("race", names, codes),), (model,), unit=unit)


def chance(records, name, threshold):
    prepared = prepare(records)
    audit = AttributeAudit(prepared, prepared.groups[0], PROTOCOL, plan_units(prepared, PROTOCOL))
    evidence = prepared.groups[0].evidence[METRICS[name].evidence]
    own = evidence.drawn(len(records.outcome), resamples=200, seed=1)
    return float(fail_if_equal(audit, METRICS[name], own_size=own, threshold=threshold)[0])


def permuted(records, value, threshold, rng, times=1_000):
    """Deal the records out to the groups anew."""
    codes = records.attributes[0].codes
    return np.mean([value(rng.permutation(codes)) > threshold for _ in range(times)])


def test_five_groups_of_fifty_events_fail_three_times_in_four():
    """Hits are drawn in `fail_without_cause` too, by other code."""
    race = Attribute("race", tuple("ABCDE"), np.repeat(np.arange(5), 100))
    outcome = np.tile(np.array([1, 0], np.int8), 250)
    hit = np.tile(np.repeat([1.0, 1, 1, 0, 0], 2), 50)
    found = chance(AuditRecords(outcome, (race,), (Score("m", "decision", 0.5, hit),)), "EOPP", 0.1)
    table = fail_without_cause(
        [50], rate=0.6, groups=5, threshold=0.1, repeats=20_000, rng=np.random.default_rng(1)
    )
    assert found == pytest.approx(table["fails"][0], abs=NOISE)
    assert found > 0.7


@pytest.mark.parametrize(("name", "threshold"), [("DI", 0.8), ("SPD", 0.05), ("PP", 0.15)])
def test_rates_of_equal_groups_fail_as_often_as_when_records_are_dealt_out_anew(name, threshold):
    rng = np.random.default_rng(2)
    records = scored(rng, [150, 300, 500])
    decisions = records.scores[0].decisions
    sign = -1 if name == "DI" else 1

    def value(codes):
        return sign * METRICS[name].values(count_groups(records.outcome, decisions, codes, 3))

    found = permuted(records, value, sign * threshold, rng)
    assert chance(records, name, threshold) == pytest.approx(found, abs=0.08)


def test_theil_indices_of_equal_groups_fail_as_often_as_when_records_are_dealt_out_anew():
    rng = np.random.default_rng(3)
    records = scored(rng, [40, 120, 400])
    ordered = order_scores(records.outcome, records.scores[0].values)

    def value(codes):
        return METRICS["TI"].values(sum_scores(ordered, codes, 3))

    for threshold in (0.02, 0.04):
        found = permuted(records, value, threshold, rng)
        assert chance(records, "TI", threshold) == pytest.approx(found, abs=0.07)


def test_areas_of_equal_groups_fail_as_often_as_when_records_are_dealt_out_within_labels():
    rng = np.random.default_rng(4)
    records = scored(rng, [80, 200, 400])

    def value(codes):
        dealt = codes.copy()
        own = records.attributes[0].codes
        for label in (0, 1):
            rows = np.flatnonzero(records.outcome == label)
            dealt[rows] = rng.permutation(own[rows])
        areas = group_auc(records.outcome, records.scores[0].values, dealt, 3)
        return areas.max() - areas.min()

    found = permuted(records, value, 0.1, rng)
    assert chance(records, "AUC", 0.1) == pytest.approx(found, abs=0.08)


def test_a_calibrated_score_fails_as_often_as_drawn_outcomes_say():
    rng = np.random.default_rng(5)
    records = scored(rng, [300, 3_000])
    scores, codes = records.scores[0].values, records.attributes[0].codes
    for name, threshold in (("CAL", 0.3), ("CAL_large", 0.05)):
        fails = [
            METRICS[name].values(sum_scores(order_scores(rng.random(len(scores)) < scores, scores), codes, 2))
            > threshold
            for _ in range(600)
        ]
        assert chance(records, name, threshold) == pytest.approx(np.mean(fails), abs=0.08)


def test_equal_records_of_a_patient_count_once():
    rng = np.random.default_rng(6)
    few = scored(rng, [100, 200])
    ten = AuditRecords(
        np.repeat(few.outcome, 10),
        (Attribute("race", ("g0", "g1"), np.repeat(few.attributes[0].codes, 10)),),
        (Score("m", "probability", 0.5, np.repeat(few.scores[0].values, 10)),),
        unit=np.repeat(np.arange(300), 10),
    )
    for name, threshold in (("SPD", 0.05), ("EOPP", 0.15), ("TI", 0.03), ("CAL_large", 0.05)):
        assert chance(ten, name, threshold) == pytest.approx(chance(few, name, threshold), abs=0.06)


def test_a_metric_of_the_whole_sample_compares_no_groups():
    assert np.isnan(chance(scored(np.random.default_rng(7), [50, 50]), "TI_benefit", 0.1))
