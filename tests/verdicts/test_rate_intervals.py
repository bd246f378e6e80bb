"""Intervals of rates know the patient and the site."""

import numpy as np
import pytest

from auditbook.columns import TABLES
from auditbook.evidence import prepare, wilson_interval
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import tabulate_rates
from small_audits import audit, random_audit

KEYS = ["model", "attribute", "group", "rate", "bin"]


def repeat(records, times):
    """Let every record stand there some times, as the stays of one patient."""
    many = [Attribute(a.name, a.groups, np.repeat(a.codes, times)) for a in records.attributes]
    scores = [Score(s.model, s.kind, s.threshold, np.repeat(s.values, times)) for s in records.scores]
    site = None if records.site is None else np.repeat(records.site, times)
    unit = np.repeat(np.arange(len(records.outcome)), times)
    return AuditRecords(np.repeat(records.outcome, times), tuple(many), tuple(scores), site, unit)


def rates_of(records):
    return tabulate_rates(prepare(records), Protocol())


def test_independent_records_have_wilsons_interval_of_counts_by_hand():
    table = rates_of(audit([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.1, 0.7, 0.2, 0.3], ["a"] * 6))
    assert list(table.columns) == TABLES["rates"].names()
    row = table.set_index("rate").loc["TPR"]
    expected = wilson_interval(2, 3)
    assert (row["value"], row["n"], row["n_effective"]) == (pytest.approx(2 / 3), 3, 3)
    assert (row["low"], row["high"]) == pytest.approx((float(expected.low), float(expected.high)))
    bins = table[table["bin"].notna()].set_index("bin")
    assert bins.index.tolist() == [2, 3, 4, 8, 9, 10]
    assert bins.loc[8, "value"] == 0
    assert bins.loc[8, "mean_score"] == pytest.approx(0.7)


def test_ten_equal_stays_of_a_patient_count_about_once():
    records = random_audit(np.random.default_rng(1), 900, ["a", "b"])
    once, many = rates_of(records), rates_of(repeat(records, 10))
    whole = once["bin"].isna() & (once["n"] > 100)
    np.testing.assert_array_equal(many["n"], 10 * once["n"])
    np.testing.assert_allclose(many["value"], once["value"])
    np.testing.assert_allclose(many["n_effective"][whole], once["n"][whole], rtol=0.1)
    np.testing.assert_allclose(many["low"][whole], once["low"][whole], atol=0.01)
    assert (many["n_effective"] <= many["n"] / 9).all()


def test_groups_in_few_sites_have_no_interval_by_sites_and_it_is_said_why():
    records = random_audit(np.random.default_rng(2), 900, ["a", "b"], n_sites=30)
    table = rates_of(records)
    whole = table[table["bin"].isna()]
    assert whole["site_low"].notna().all()
    assert (whole["site_reason"] == "").all()
    here = np.where(records.attributes[0].codes == 0, np.asarray(records.site) % 3, records.site)
    few = rates_of(AuditRecords(records.outcome, records.attributes, records.scores, here))
    mine = few[few["group"] == records.attributes[0].groups[0]]
    assert mine["site_low"].isna().all()
    assert set(mine["site_reason"]) == {"3 sites, 15 needed"}
    assert few.loc[(few["group"] == "b") & few["bin"].isna(), "site_low"].notna().all()
    assert (rates_of(audit([0, 1], [0.1, 0.9], ["a", "a"]))["site_reason"] == "").all()


def test_names_and_order_of_groups_change_nothing():
    records = random_audit(np.random.default_rng(3), 400, ["a", "b"], n_sites=20)
    one = records.attributes[0]
    turned = Attribute(one.name, one.groups[::-1], 1 - one.codes)
    other = rates_of(AuditRecords(records.outcome, (turned,), records.scores, records.site))
    columns = [*KEYS, "low", "high", "site_low", "n_effective"]
    first = rates_of(records)[columns].sort_values(KEYS, ignore_index=True)
    second = other[columns].sort_values(KEYS, ignore_index=True)
    assert first.equals(second)


def test_bare_decisions_have_rates_and_no_bins():
    scores = (Score("m", "decision", 0.5, np.array([1.0, 0, 1, 0])),)
    sex = Attribute("sex", ("F", "M", "nobody"), np.array([0, 0, 1, 1]))
    table = rates_of(AuditRecords(np.array([1, 0, 1, 1], np.int8), (sex,), scores))
    assert table["bin"].isna().all()
    assert table["group"].unique().tolist() == ["F", "M"]
    assert np.isnan(table.set_index(["group", "rate"]).loc[("M", "FPR"), "value"])
