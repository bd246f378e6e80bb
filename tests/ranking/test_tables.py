"""The result tables of the AUC matrix."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from auditbook.columns import TABLES
from auditbook.errors import InputError
from auditbook.evidence.cross import cross_attributes
from auditbook.ranking.area_metrics import AUC_METRICS
from auditbook.ranking.compare import tabulate_auc_differences
from auditbook.ranking.matrix import auc_matrix, matrix_interval
from auditbook.ranking.tables import (
    measure_areas,
    tabulate_areas,
    tabulate_auc_fairness,
    tabulate_auc_matrix,
    weigh_entries,
)
from auditbook.ranking.units import explain_sites
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from small_audits import audit, random_audit

ARGUMENTS = {"protocol": Protocol(), "seed": 1}


def both(records):
    return tabulate_auc_matrix(records, **ARGUMENTS), tabulate_auc_fairness(records, **ARGUMENTS)


def test_columns_start_as_designed():
    matrix, fairness = both(random_audit(np.random.default_rng(1), 300, ["b", "a"], models=2, n_sites=9))
    designed = "model attribute event_group nonevent_group auc se ci_low ci_high n_events n_nonevents status"
    assert list(matrix.columns) == TABLES["auc_matrix"].names()
    assert list(matrix.columns)[:11] == designed.split()
    assert list(fairness.columns) == TABLES["auc_fairness"].names()
    assert list(fairness.columns)[:7] == "model attribute metric value ci_low ci_high advice".split()
    assert matrix["model"].tolist() == ["m0"] * 4 + ["m1"] * 4
    assert matrix["event_group"].tolist() == ["b", "b", "a", "a"] * 2
    assert fairness["metric"].drop_duplicates().tolist() == list(AUC_METRICS)
    assert fairness["advice"].isin(["report beside", "recommended", "with caution", "not recommended"]).all()


def test_entries_are_those_of_the_matrix_and_joint_intervals_are_wider():
    records = random_audit(np.random.default_rng(2), 900, ["c", "a", "b"], n_sites=20)
    table = tabulate_auc_matrix(records, **ARGUMENTS)
    plain = auc_matrix(records.outcome, records.scores[0].values, records.attributes[0].codes, 3)
    np.testing.assert_allclose(table["auc"], plain.auc.ravel(), atol=1e-12)
    np.testing.assert_allclose(table["ci_low"], matrix_interval(plain).low.ravel(), atol=1e-12)
    assert (table["joint_low"] < table["ci_low"]).all()
    assert (table["joint_high"] > table["ci_high"]).all()
    assert (table["sites"] == 20).all()
    assert (table["site_low"] < table["site_high"]).all()
    assert (table["status"] == "two-sided").all()
    assert (table["reason"] == "").all()


def test_order_of_records_and_groups_and_names_of_sites_change_no_number():
    rng = np.random.default_rng(3)
    records = random_audit(rng, 400, ["c", "a", "b"], n_sites=11)
    order, names = rng.permutation(400), rng.permutation(11)
    race = records.attributes[0]
    turned = Attribute("race", race.groups[::-1], 2 - race.codes[order])
    scores = (replace(records.scores[0], values=records.scores[0].values[order]),)
    other = AuditRecords(records.outcome[order], (turned,), scores, names[records.site[order]])
    for one, two, keys in zip(
        both(records), both(other), (["event_group", "nonevent_group"], ["metric", "group"]), strict=True
    ):
        first, second = (part.sort_values(keys).reset_index(drop=True) for part in (one, two))
        pd.testing.assert_frame_equal(first, second, rtol=1e-9)


def test_two_runs_give_the_same_table_and_sites_of_one_kind_are_left_blank():
    records = random_audit(np.random.default_rng(4), 300, ["a", "b"])
    for one, two in zip(both(records), both(records), strict=True):
        pd.testing.assert_frame_equal(one, two)
    one_site = replace(records, site=np.full(300, 7))
    assert both(one_site)[0][["se_site", "site_low", "sites"]].isna().all(axis=None)
    assert both(one_site)[1][["site_low", "site_high"]].isna().all(axis=None)


def test_a_group_of_one_class_and_an_empty_one_are_listed_with_their_reasons():
    groups = ["a"] * 60 + ["b"] * 40
    records = audit([0, 1] * 30 + [0] * 40, np.linspace(0.1, 0.9, 100), groups, declared=["b", "nobody", "a"])
    matrix, fairness = both(records)
    table = matrix.set_index(["event_group", "nonevent_group"])
    assert len(table) == 9
    assert table.loc[("b", "a"), "status"] == "undefined"
    assert table.loc[("b", "a"), "reason"] == "b: 0 events, 10 needed"
    assert table.loc[("nobody", "a"), "status"] == "undefined"
    assert "nobody: 0 events" in table.loc[("nobody", "a"), "reason"]
    assert table.loc[("a", "b"), "status"] == "one-sided"
    assert table.loc[("a", "a"), "status"] == "two-sided"
    assert table.loc[("a", "b"), ["n_events", "n_nonevents"]].tolist() == [30, 40]
    rows = fairness.set_index(["metric", "group"])
    assert np.isnan(rows.loc[("within_parity", ""), "value"])
    assert rows.loc[("within_parity", ""), "reason"] == "b: 0 events, 10 needed; nobody: no records"
    assert rows.loc[("xauc1", "nobody"), "reason"] == "no records"
    assert fairness.loc[fairness["metric"] == "xauc1", "group"].tolist() == ["b", "nobody", "a"]


def test_one_record_all_ties_and_separation_say_why_there_is_no_usual_interval():
    one = audit([1, 0, 1, 0, 1, 0], [5, 2, 3, 4, 1, 6], list("abbbbb"), kind="rank")
    table = tabulate_auc_matrix(one, **ARGUMENTS).set_index(["event_group", "nonevent_group"])
    assert "one record does not vary" in table.loc[("a", "b"), "reason"]
    assert table.loc[("a", "b"), "status"] == "no interval"
    ties = tabulate_auc_matrix(audit([0, 1] * 40, [0.3] * 80, list("aabb") * 20), **ARGUMENTS)
    assert set(ties["auc"]) == {0.5}
    assert set(ties["reason"]) == {"the placements do not vary, so there is no interval"}
    parted = tabulate_auc_matrix(audit([0, 1] * 40, [0.1, 0.9] * 40, list("aabb") * 20), **ARGUMENTS)
    assert set(parted["status"]) == {"one-sided"}
    assert (parted["ci_low"] < 0.9).all()
    assert (parted["ci_high"] == 1).all()


def test_a_patient_who_stands_there_ten_times_counts_once():
    once = random_audit(np.random.default_rng(6), 300, ["a", "b"], models=2)
    many = AuditRecords(
        np.repeat(once.outcome, 10),
        (replace(once.attributes[0], codes=np.repeat(once.attributes[0].codes, 10)),),
        tuple(replace(score, values=np.repeat(score.values, 10)) for score in once.scores),
        unit=np.repeat(np.arange(300), 10),
    )
    for one, ten in zip(both(once), both(many), strict=True):
        # Student's t has other degrees of freedom, and the records' DeLong variance n - 1
        np.testing.assert_allclose(ten["ci_low"], one["ci_low"], atol=0.01)
        np.testing.assert_allclose(ten["ci_high"], one["ci_high"], atol=0.01)
    naive = tabulate_auc_matrix(replace(many, unit=None), **ARGUMENTS)
    assert (naive["se"] * 3 < both(many)[0]["se"]).all()
    differ = [tabulate_auc_differences(records)["se"] for records in (once, many)]
    np.testing.assert_allclose(differ[1], differ[0], rtol=0.02)


def test_units_of_one_record_each_change_nothing():
    once = random_audit(np.random.default_rng(6), 200, ["a", "b"])
    for one, two in zip(both(once), both(replace(once, unit=np.arange(200)[::-1])), strict=True):
        pd.testing.assert_frame_equal(one, two)


def test_a_group_of_one_site_has_no_figure_by_sites_and_the_others_keep_theirs():
    records = random_audit(np.random.default_rng(7), 900, ["a", "b", "c"], models=2, n_sites=30)
    site = np.where(records.attributes[0].codes == 2, 4, records.site)
    matrix, fairness = both(replace(records, site=site))
    table = matrix[matrix["model"] == "m0"].set_index(["event_group", "nonevent_group"])
    assert table.loc[("c", "c"), ["se_site", "site_low", "site_high"]].isna().all()
    assert table.loc[("a", "c"), "site_reason"] == "c: 1 site, 15 needed"
    assert table.loc[("a", "b"), ["se_site", "site_low", "site_high"]].notna().all()
    assert table.loc[("a", "b"), "site_reason"] == ""
    rows = fairness[fairness["model"] == "m0"].set_index(["metric", "group"])
    assert np.isnan(rows.loc["within_parity", "site_low"]).all()
    assert np.isnan(rows.loc[("xauc1", "c"), "site_low"])
    differ = tabulate_auc_differences(replace(records, site=site)).set_index(
        ["event_group", "nonevent_group"]
    )
    assert np.isnan(differ.loc[("a", "c"), "site_p_value"])
    assert differ.loc[("a", "c"), "site_reason"] == "c: 1 site, 15 needed"
    assert differ.loc[("a", "b"), "site_p_value"] > 0


def test_sites_that_are_too_unequal_are_named():
    codes = np.zeros(1000, int)
    many = Attribute("sex", ("F",), codes)
    assert explain_sites(np.arange(1000) % 15, many) == [""]
    assert explain_sites(None, many) == [""]
    site = np.where(np.arange(1000) < 250, 0, np.arange(1000) % 40)
    assert explain_sites(site, many) == ["one site holds 27% of the records, 20% at most"]
    site = np.where(np.arange(1000) < 900, np.arange(1000) % 6, np.arange(1000) % 40)
    assert explain_sites(site, many) == ["7.2 effective sites, 10 needed"]


def test_very_many_units_are_put_together_into_random_groups(monkeypatch):
    records = replace(random_audit(np.random.default_rng(8), 4_000, ["a", "b"]), unit=np.arange(4_000) // 2)
    whole = tabulate_auc_matrix(records, **ARGUMENTS)
    monkeypatch.setattr("auditbook.ranking.units.HELD", 1)
    some = tabulate_auc_matrix(records, **ARGUMENTS)
    np.testing.assert_allclose(some["se"], whole["se"], rtol=0.25)  # a sum of 200 squares: SD of 5 %


def test_ranks_and_decisions_have_areas_too():
    rng = np.random.default_rng(5)
    outcome = rng.integers(0, 2, 200).astype(np.int8)
    sex = Attribute("sex", ("F", "M"), rng.integers(0, 2, 200))
    scores = (
        Score("ranks", "rank", 0.0, rng.normal(size=200) * 9),
        Score("decides", "decision", 0.5, rng.integers(0, 2, 200).astype(float)),
    )
    matrix = tabulate_auc_matrix(AuditRecords(outcome, (sex,), scores), **ARGUMENTS)
    assert matrix["auc"].between(0.3, 0.7).all()


def test_an_intersection_of_race_and_sex_is_an_attribute_like_any_other():
    rng = np.random.default_rng(6)
    records = random_audit(rng, 500, ["a", "b", "c"])
    race = records.attributes[0]
    sex = Attribute("sex", ("F", "M"), np.where(race.codes == 2, 0, rng.integers(0, 2, 500)))
    crossed = replace(records, attributes=(cross_attributes(race, sex),))
    table = tabulate_auc_matrix(crossed, **ARGUMENTS).set_index(["event_group", "nonevent_group"])
    assert len(table) == 36
    assert (table.loc["c x M", "status"] == "undefined").all()
    assert table.loc["a x F", "auc"].notna().sum() == 5
    assert len(tabulate_auc_fairness(crossed, **ARGUMENTS)) == 9 + 2 * 6


@pytest.mark.parametrize("count", [50, pytest.param(200, marks=pytest.mark.slow)])
def test_many_groups_give_right_entries_or_a_reason(count):
    rng = np.random.default_rng(7)
    n, names = 20 * count, tuple(f"g{i}" for i in range(count))
    records = AuditRecords(
        (rng.random(n) < 0.2).astype(np.int8),
        (Attribute("many", names, rng.integers(0, count, n)),),
        (Score("m", "rank", 0.5, rng.normal(size=n)),),
    )
    table = tabulate_auc_matrix(records, **ARGUMENTS)
    assert len(table) == count**2
    assert (table["auc"].notna() | (table["reason"] != "")).all()
    areas = auc_matrix(records.outcome, records.scores[0].values, records.attributes[0].codes, count).auc
    np.testing.assert_allclose(table["auc"], areas.ravel(), atol=1e-12)


def test_nothing_to_tabulate_gives_empty_tables_and_bad_records_are_refused():
    bare = AuditRecords(np.array([0, 1], np.int8), (), (Score("m", "rank", 0.5, np.array([1.0, 2.0])),))
    assert [len(table) for table in both(bare)] == [0, 0]
    with pytest.raises(InputError, match="there is no model to audit"):
        measure_areas(replace(bare, scores=()))


@given(seed=st.integers(0, 1_000))
def test_weighted_entries_are_the_overall_area(seed):
    rng = np.random.default_rng(seed)
    outcome, score = np.append(rng.integers(0, 2, 20), [0, 1]), rng.integers(0, 6, 22)
    matrix = tabulate_areas(outcome, score, rng.choice(list("ABC"), 22))
    assert weigh_entries(matrix) == pytest.approx(roc_auc_score(outcome, score), abs=1e-12)
