from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import hadamard

from auditbook.evidence import prepare
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import judge
from small_audits import EVERY_METRIC, random_audit

PROTOCOL = Protocol(metrics=("EOPP",), seed=3)


def cell(records, metric="EOPP", **constants):
    protocol = replace(PROTOCOL, metrics=(metric,), **constants)
    return judge(prepare(records), protocol, axes=("shown",)).verdicts.iloc[0]


def decide(outcome, chosen, codes, **more):
    names = tuple("ABCDEFGH"[: int(codes.max()) + 1])
    score = Score("m", "decision", 0.5, np.asarray(chosen, float))
    return AuditRecords(np.asarray(outcome, np.int8), (Attribute("race", names, codes),), (score,), **more)


def test_three_groups_of_fifteen_events_are_reversed_by_most_resamples():
    """12, 13 and 12 found: the range passes, and three resamples in four fail."""
    hits = np.concatenate([np.arange(15) < found for found in (12, 13, 12)])
    codes = np.tile(np.repeat(np.arange(3), 15), 2)
    row = cell(decide(np.repeat([1, 0], 45), np.concatenate([hits, np.zeros(45)]), codes))
    assert row["verdict"] == "pass"
    assert row["reversal_own_size"] == pytest.approx(0.76, abs=0.06)
    assert row["vfr_own_size"] == pytest.approx(1 - row["reversal_own_size"])


def eight_groups():
    """40,000 records at 40 sites: rates are equal over all sites, and differ at each."""
    signs = np.vstack([hadamard(8)[1:], -hadamard(8)[1]])
    site, group = np.repeat(np.arange(40), 1_000), np.tile(np.repeat(np.arange(8), 125), 40)
    rate = 0.2 + 0.18 * signs[group, site % 8]
    chosen = np.tile(np.arange(125), 320) < rate * 125
    return decide(np.tile([1, 0], 20_000), chosen, group, site=site)


def test_a_verdict_that_whole_sites_contradict_says_so():
    row = cell(eight_groups(), "DI")
    assert row["verdict"] == "pass"
    assert row["vfr_site"] < 0.1
    assert row["reversal_site"] == pytest.approx(1 - row["vfr_site"])
    assert row["reversal_site"] > 0.9


def test_a_group_at_one_of_many_sites_has_no_figure_by_sites_and_the_reason_says_so():
    records = eight_groups()
    codes = np.where(records.site == 5, 1, 0)
    row = cell(replace(records, attributes=(Attribute("race", ("A", "B"), codes),)), "DI")
    assert np.isnan(row["reversal_site"])
    assert "no reversal by sites: B stands in 1 site, 15 needed" in row["reason"]
    assert not np.isnan(row["vfr_site"])


def patients(rng, times):
    outcome, codes = rng.random(300) < 0.4, np.arange(300) % 2
    chosen = np.where(outcome, rng.random(300) < 0.7 - 0.07 * codes, rng.random(300) < 0.2)
    unit = np.repeat(np.arange(300), times)
    return decide(np.repeat(outcome, times), np.repeat(chosen, times), codes[unit], unit=unit)


@pytest.mark.parametrize("metric", ["EOPP", "DI", "PP"])
def test_ten_equal_records_of_a_patient_are_drawn_together(metric):
    """The resamples of patients, by a loop over the patients that are drawn."""
    rng = np.random.default_rng(5)
    records = patients(rng, 10)
    row = cell(records, metric)
    once = slice(None, None, 10)
    table = np.stack([records.outcome[once], records.scores[0].decisions[once]])
    codes = records.attributes[0].codes[once]
    fails = []
    for _ in range(2_000):
        rows = rng.integers(0, 300, 300)
        (event, chosen), group = table[:, rows], codes[rows]
        among = {"EOPP": event == 1, "DI": event >= 0, "PP": chosen == 1}[metric]
        counted = event if metric == "PP" else chosen
        first, second = (counted[among & (group == place)].mean() for place in (0, 1))
        low, high = sorted([first, second])
        fails.append(low / high < 0.8 if metric == "DI" else high - low > 0.1)
    expected = np.mean(fails) if row["verdict"] == "pass" else 1 - np.mean(fails)
    assert row["reversal_own_size"] == pytest.approx(expected, abs=0.07)
    assert row["reversal"] == row["reversal_own_size"]


def test_bundles_of_many_patients_vary_as_the_patients_do():
    """6,000 patients with two equal records: as 6,000 records drawn one by one."""
    rng = np.random.default_rng(6)
    outcome, codes = rng.random(6_000) < 0.3, np.arange(6_000) % 4
    chosen = np.where(outcome, rng.random(6_000) < 0.7 - 0.09 * (codes == 0), rng.random(6_000) < 0.2)
    single = cell(decide(outcome, chosen, codes), resamples=2_000)
    unit = np.repeat(np.arange(6_000), 2)
    double = decide(outcome[unit], chosen[unit], codes[unit], unit=unit)
    double_row = cell(double, resamples=2_000, resample_size=12_000)
    assert double_row["reversal_own_size"] == pytest.approx(single["reversal_own_size"], abs=0.06)


@pytest.mark.parametrize("metric", EVERY_METRIC)
def test_shares_stay_within_their_bounds_with_units_and_without(metric):
    records = random_audit(np.random.default_rng(7), 600, ["a", "b", "c"], n_sites=20)
    for given in (records, replace(records, unit=np.arange(600) // 3)):
        row = cell(given, metric, resamples=60)
        shares = row[["reversal", "reversal_own_size", "reversal_site", "next_audit"]].astype(float)
        assert shares.between(0, 1).all()
        assert metric == "TI_benefit" or 0 <= row["fail_if_equal"] <= 1


def test_an_inconclusive_cell_has_no_figures_on_other_audits():
    records = random_audit(np.random.default_rng(8), 40, ["a", "b", "c"])
    row = cell(records, "EOPP")
    assert row["verdict"] == "inconclusive"
    assert row[["fail_if_equal", "reversal", "reversal_own_size", "next_audit"]].isna().all()
