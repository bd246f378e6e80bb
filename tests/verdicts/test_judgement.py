from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.columns import TABLES
from auditbook.errors import InputError
from auditbook.evidence import prepare
from auditbook.evidence.counts import count_groups
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts.flips import flip_rate
from auditbook.verdicts.judgement import judge
from small_audits import EVERY_METRIC, LENIENT, SCORES, audit, random_audit, slow_metric

EVERYTHING = replace(LENIENT, metrics=EVERY_METRIC)
RESAMPLED = (
    "vfr vfr_low vfr_high vfr_own_size vfr_own_size_low vfr_own_size_high vfr_site vfr_site_low "
    "vfr_site_high resample_mean resample_sd margin ci_low ci_high undefined_share "
    "undefined_share_own_size undefined_share_site agrees"
).split()


def cells(records, protocol=EVERYTHING, seed=1):
    """Judge, and index the cells of the first model and attribute by metric."""
    frame = judge(prepare(records), replace(protocol, seed=seed), axes=("shown",)).verdicts
    return frame.drop_duplicates("metric").set_index("metric")


def rows():
    one = st.tuples(st.integers(0, 1), SCORES, st.sampled_from("abc"), st.integers(0, 3))
    return st.lists(one, min_size=8, max_size=40)


def test_the_columns_are_those_of_the_design_and_cells_come_in_declared_order():
    records = random_audit(np.random.default_rng(1), 300, ["b", "a"], models=2)
    second = Attribute("sex", ("M", "F"), np.arange(300) % 2)
    records = replace(records, attributes=(*records.attributes, second))
    frame = judge(prepare(records), replace(LENIENT, metrics=("SPD", "DI"), seed=1), axes=("shown",)).verdicts
    assert list(frame.columns) == TABLES["verdicts"].names()
    keys = [(m, k, a) for m in ("m0", "m1") for k in ("SPD", "DI") for a in ("race", "sex")]
    assert list(frame[["model", "metric", "attribute"]].itertuples(index=False, name=None)) == keys
    assert (frame["tier"] == "").all()
    assert frame["kappa"].isna().all()


@settings(max_examples=20)
@given(rows())
def test_the_statistic_recomputed_on_the_original_records_is_the_estimate(data):
    outcome, values, groups, _ = zip(*data, strict=True)
    records = audit(outcome, values, groups)
    found = cells(records)
    codes = records.attributes[0].codes
    for name in EVERY_METRIC:
        value = slow_metric(name, outcome, values, codes, len(records.attributes[0].groups))
        np.testing.assert_allclose(found.loc[name, "estimate"], value, atol=1e-9)


@settings(max_examples=20)
@given(rows(), st.randoms())
def test_shuffled_records_and_reordered_groups_give_exactly_the_same_table(data, random):
    declared = ["a", "b", "c", "empty"]
    shuffled, reordered = random.sample(data, len(data)), random.sample(declared, 4)
    tables = []
    for part, order in ((data, declared), (shuffled, reordered)):
        outcome, values, groups, site = zip(*part, strict=True)
        records = audit(outcome, values, groups, declared=order, site=site)
        tables.append(judge(prepare(records), replace(EVERYTHING, seed=7), axes=("shown",)).verdicts)
    pd.testing.assert_frame_equal(*tables, check_exact=True)


def test_renamed_groups_and_sites_give_the_same_numbers():
    rng = np.random.default_rng(6)
    n, groups, site = 600, rng.choice(["a", "b", "c"], 600, p=[0.5, 0.3, 0.2]), rng.integers(0, 9, 600)
    outcome, values = rng.integers(0, 2, n), rng.uniform(size=n)
    assert len(set(np.bincount(site))) == 9
    renamed = np.array([{"a": "z", "b": "y", "c": "x"}[name] for name in groups])
    first = judge(
        prepare(audit(outcome, values, groups, site=site)), replace(EVERYTHING, seed=7), axes=("shown",)
    ).verdicts
    again = judge(
        prepare(audit(outcome, values, renamed, site=8 - site)), replace(EVERYTHING, seed=7), axes=("shown",)
    ).verdicts
    numbers = first.select_dtypes("number").columns
    pd.testing.assert_frame_equal(first[numbers], again[numbers], check_exact=False, rtol=1e-12)
    assert first["verdict"].equals(again["verdict"])


def test_a_cell_does_not_depend_on_the_other_models_and_attributes_or_their_order():
    rng = np.random.default_rng(2)
    records = random_audit(rng, 400, ["a", "b", "c"], models=3, n_sites=9)
    other = Attribute("sex", ("F", "M"), rng.integers(0, 2, 400))
    many = replace(records, attributes=(other, *records.attributes), scores=records.scores[::-1])
    protocol = replace(EVERYTHING, resample_size=200)
    alone = judge(
        prepare(replace(records, scores=records.scores[1:2])), replace(protocol, seed=3), axes=("shown",)
    ).verdicts
    among = judge(prepare(many), replace(protocol, seed=3), axes=("shown",)).verdicts
    kept = among[(among["model"] == "m1") & (among["attribute"] == "race")].reset_index(drop=True)
    board = ["shown", "p_fail", "p_pass", "n_to_show", "standing"]  # adjusted over all cells of the model
    pd.testing.assert_frame_equal(alone.drop(columns=board), kept.drop(columns=board), check_exact=True)


def test_the_same_seed_gives_the_same_table_and_another_seed_another():
    records = random_audit(np.random.default_rng(3), 300, ["a", "b"])
    first, again, other = (
        judge(prepare(records), replace(EVERYTHING, seed=seed), axes=("shown",)).verdicts
        for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    assert not first["resample_mean"].equals(other["resample_mean"])
    assert first["estimate"].equals(other["estimate"])


def test_a_cells_flip_rate_is_that_of_its_counts():
    records = random_audit(np.random.default_rng(4), 1500, ["a", "b", "c"])
    protocol = replace(LENIENT, metrics=("SPD",), resamples=20_000, resample_size=500)
    found = cells(records, protocol)
    decisions = records.scores[0].decisions
    table = count_groups(records.outcome, decisions, records.attributes[0].codes, 3)
    for column, size in (("vfr", 500), ("vfr_own_size", 1500)):
        expected = flip_rate(table, "SPD", resamples=20_000, size=size, rng=np.random.default_rng(5))
        tolerance = 4 * np.sqrt(2 * 0.25 / 20_000)
        assert found.loc["SPD", column] == pytest.approx(expected.vfr, abs=tolerance)
    assert found.loc["SPD", "resample_size"] == 500


def test_a_resample_as_large_as_the_audit_gives_both_columns_the_same_flip_rate():
    found = cells(random_audit(np.random.default_rng(5), 300, ["a", "b"]))
    assert (found["vfr"] == found["vfr_own_size"]).all()
    assert (found["resample_size"] == 300).all()


def test_group_without_events_is_inconclusive_and_named_with_its_count():
    records = audit([0, 0, 0, 1, 0, 1], [0, 1, 0, 1, 0, 1], list("aaabbb"), kind="decision")
    found = cells(records, replace(LENIENT, metrics=("EOPP", "EOD"), min_events=1))
    assert (found["verdict"] == "inconclusive").all()
    assert found["estimate"].isna().all()
    assert (found["reason"] == "a: 0 events, 1 needed").all()
    strict = cells(records, Protocol(metrics=("EOD",)))
    assert "a: 0 events, 10 needed" in strict.loc["EOD", "reason"]


def test_a_rate_that_no_minimum_protects_is_inconclusive_too():
    records = audit([0, 0, 0, 1, 0, 1], [0, 1, 0, 1, 0, 1], list("aaabbb"), kind="decision")
    assert cells(records, LENIENT).loc["EOPP", "reason"] == "a: no events, so TPR is undefined"


@pytest.mark.parametrize("metric", EVERY_METRIC)
def test_every_short_group_is_named_with_its_counts_and_there_is_never_a_pass(metric):
    groups = ["a"] * 30 + ["b"] * 30 + ["c"] + ["d"] * 100
    outcome = [0] * 60 + [1] + [0, 1] * 50
    found = cells(audit(outcome, [0.2] * 161, groups), replace(Protocol(), metrics=(metric,))).loc[metric]
    assert found["verdict"] == "inconclusive"
    assert "c: " in found["reason"]
    assert "1 record, 30 needed" in found["reason"]
    assert ("a: 0 events, 10 needed; b: 0 events, 10 needed" in found["reason"]) == (
        metric in ("EOPP", "EOD", "CAL", "CAL_large", "AUC")
    )
    assert ("no record is selected" in found["reason"]) == (
        metric in ("DI", "SPD", "EOPP", "EOD", "PP", "TI_benefit")
    )
    assert "d: " not in found["reason"].replace("d: no record selected", "")
    assert found[RESAMPLED].isna().all()
    assert found["dominant_verdict"] == ""
    assert found["smallest_n"] == 1


def test_one_selected_record_is_no_predictive_parity():
    """A 300/100/100/500, B 1/0/19/180: B holds 20 events, and one selected record."""
    table = {"A": (300, 100, 100, 500), "B": (1, 0, 19, 180)}
    held = [np.repeat([1, 0, 1, 0], row) for row in table.values()]
    chosen = [np.repeat([1, 1, 0, 0], row) for row in table.values()]
    names = np.repeat(list(table), [len(part) for part in held])
    records = audit(np.concatenate(held), np.concatenate(chosen), names, kind="decision")
    found = cells(records, Protocol(metrics=("PP", "EOPP", "EOD")))
    assert found.loc["PP", ["verdict", "shown"]].tolist() == ["inconclusive", "none"]
    assert found.loc["PP", "reason"] == found.loc["PP", "left_out"] == "B: 1 selected record, 10 needed"
    assert found.loc["PP", "standing"] == "cannot be judged"
    assert np.isnan(found.loc["PP", "next_audit"])
    assert found.loc[["EOPP", "EOD"], "verdict"].tolist() == ["fail", "fail"]
    assert found.loc[["EOPP", "EOD"], "left_out"].tolist() == ["", ""]


@pytest.mark.parametrize(
    ("table", "silent"),
    [
        ((12, 9, 13, 0), {"EOPP": False, "EOD": True, "PP": False}),  # 25 events, 9 non-events
        ((5, 4, 15, 70), {"EOPP": False, "EOD": False, "PP": True}),  # 9 selected records
        ((4, 8, 3, 100), {"EOPP": True, "EOD": True, "PP": False}),  # 12 selected, 7 events
    ],
)
def test_verdict_and_what_is_shown_ask_for_the_same_denominators(table, silent):
    rows = ((300, 100, 100, 500), table)
    held = np.concatenate([np.repeat([1, 0, 1, 0], row) for row in rows])
    chosen = np.concatenate([np.repeat([1, 1, 0, 0], row) for row in rows])
    records = audit(held, chosen, np.repeat(["A", "B"], [sum(row) for row in rows]), kind="decision")
    found = cells(records, Protocol(metrics=tuple(silent)))
    assert ((found["verdict"] == "inconclusive") == pd.Series(silent)).all()
    assert ((found["left_out"] != "") == pd.Series(silent)).all()
    told = found[pd.Series(silent)]
    assert (told["reason"] == told["left_out"]).all()


def test_inconclusive_cells_keep_their_estimate_but_no_flip_rate_and_no_interval():
    records = random_audit(np.random.default_rng(6), 60, ["a", "b"], n_sites=5)
    found = cells(records, replace(Protocol(resamples=20), metrics=("DI", "SPD"), min_records=50))
    assert (found["verdict"] == "inconclusive").all()
    assert found["estimate"].notna().all()
    assert found[RESAMPLED].isna().all().all()
    assert (found["site_count"] == 5).all()


def test_a_group_with_one_record_gets_no_interval():
    records = audit([1] * 50 + [0] * 50 + [1], [0.7] * 100 + [0.9], ["a"] * 50 + ["b"] * 50 + ["c"])
    found = cells(records, Protocol(metrics=EVERY_METRIC, resamples=50))
    assert (found["verdict"] == "inconclusive").all()
    assert found["ci_low"].isna().all()


@settings(max_examples=20)
@given(rows())
def test_no_interval_is_of_zero_width_anywhere(data):
    outcome, values, groups, site = zip(*data, strict=True)
    found = judge(
        prepare(audit(outcome, values, groups, site=site)), replace(EVERYTHING, seed=1), axes=("shown",)
    ).verdicts
    for low, high in (("ci_low", "ci_high"), ("vfr_low", "vfr_high"), ("vfr_site_low", "vfr_site_high")):
        known = found[found[low].notna()]
        assert (known[low] < known[high]).all()
        assert found[high].isna().equals(found[low].isna())


def test_eleven_records_in_three_groups_and_three_resamples_are_judged():
    records = audit([1, 0] * 5 + [1], [0.9, 0.1, 0.4] * 3 + [0.6, 0.7], list("aaaabbbbccc"))
    found = cells(records, replace(EVERYTHING, resamples=3))
    assert set(found["verdict"]) <= {"pass", "fail", "inconclusive"}
    judged = found[found["verdict"] != "inconclusive"]
    assert len(judged)
    assert (judged["undefined_share"] * 3 % 1 == 0).all()


def test_when_nobody_is_selected_the_reason_says_so():
    found = cells(audit([0, 1] * 50, [0.1] * 100, ["a", "a", "b", "b"] * 25))
    assert found.loc["DI", "reason"] == "no record is selected, so DI is undefined"
    assert found.loc["PP", "reason"] == "no record is selected, so PPV is undefined"
    assert found.loc[["DI", "PP"], "verdict"].tolist() == ["inconclusive"] * 2
    assert found.loc["SPD", "estimate"] == 0
    assert "no record is selected" in found.loc["SPD", "reason"]
    assert found.loc["TI", "verdict"] == "pass"


def test_a_group_that_is_never_selected_has_a_ratio_of_zero_and_no_stand_in():
    found = cells(audit([0, 1] * 50, [0.1, 0.1, 0.9, 0.9] * 25, ["a", "a", "b", "b"] * 25))
    assert (found.loc["DI", "estimate"], found.loc["DI", "verdict"]) == (0, "fail")
    assert (found.loc["DI", "lowest_group"], found.loc["DI", "highest_group"]) == ("a", "b")
    assert found.loc["PP", "reason"] == "a: no record selected, so PPV is undefined"


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("outcome", [[0, 1], [0, 0], [1, 1]])
def test_equal_scores_and_equal_outcomes_are_judged_without_a_crash(value, outcome):
    records = audit(outcome * 50, [value] * 100, ["a", "a", "b", "b"] * 25, site=[0, 1, 2, 3] * 25)
    found = cells(records)
    assert set(found["verdict"]) <= {"pass", "fail", "inconclusive"}
    assert (found.loc[found["verdict"] == "inconclusive", "reason"] != "").all()
    assert found.loc["SPD", "verdict"] == "pass"
    assert "there is no interval" in found.loc["SPD", "reason"]
    assert np.isnan(found.loc["SPD", "ci_low"])


@pytest.mark.parametrize("kind", ["rank", "decision"])
def test_scores_that_are_no_probabilities_leave_calibration_and_theil_open(kind):
    found = cells(audit([0, 1, 1, 0] * 25, [0, 1, 1, 1] * 25, ["a", "a", "b", "b"] * 25, kind=kind))
    for name in ("TI", "CAL", "CAL_large"):
        assert found.loc[name, "verdict"] == "inconclusive"
        assert found.loc[name, "reason"] == f"no probability: the score is a {kind}"
        assert np.isnan(found.loc[name, "estimate"])
    assert found.loc["SPD", "verdict"] == "fail"


def test_a_declared_group_without_a_record_is_listed_and_closes_nothing():
    found = cells(audit([0, 1] * 50, [0.4, 0.6] * 50, ["a", "a", "b", "b"] * 25, declared=["b", "zeta", "a"]))
    assert found["reason"].str.contains("zeta: no records").all()
    assert found.loc["SPD", "verdict"] == "pass"


def test_one_group_with_records_is_nothing_to_compare():
    found = cells(audit([0, 1] * 50, [0.4, 0.6] * 50, ["a"] * 100, declared=["a", "b"]))
    assert (found["verdict"] == "inconclusive").all()
    assert (found["reason"] == "only one group has records (a); b: no records").all()


def test_extremes_are_named_and_ties_go_to_the_first_name():
    groups = ["z"] * 4 + ["y"] * 4 + ["x"] * 4
    records = audit(
        [1, 1, 0, 0] * 3, [1, 1, 1, 0] + [1, 0, 0, 0] * 2, groups, kind="decision", declared="zyx"
    )
    found = cells(records, LENIENT)
    assert (found.loc["SPD", "lowest_group"], found.loc["SPD", "highest_group"]) == ("x", "z")
    assert (found.loc["EOD", "lowest_group"], found.loc["EOD", "highest_group"]) == ("x", "z")


def test_equalised_odds_names_the_groups_of_its_larger_gap():
    table = {"a": [1, 1, 1, 0, 0, 0, 0, 0], "b": [1, 1, 0, 0, 1, 1, 1, 0]}
    records = audit([1] * 4 + [0] * 4 + [1] * 4 + [0] * 4, [*table["a"], *table["b"]], "a" * 8 + "b" * 8)
    found = cells(records, LENIENT).loc["EOD"]
    assert (found["estimate"], found["lowest_group"], found["highest_group"]) == (0.75, "a", "b")


def test_thresholds_and_the_minimum_support_come_from_the_protocol():
    records = audit([0, 1] * 50, [0.6, 0.6, 0.6, 0.6, 0.6, 0.4, 0.6, 0.4] * 12 + [0.6] * 4, list("aabb") * 25)
    first = cells(records, replace(LENIENT, metrics=("SPD",))).loc["SPD"]
    loose = MappingProxyType({"SPD": 0.9})
    again = cells(records, replace(LENIENT, metrics=("SPD",), thresholds=loose)).loc["SPD"]
    assert again["threshold"] == 0.9
    assert again["verdict"] == "pass"
    assert first["estimate"] == again["estimate"]


def test_whole_sites_flip_where_records_within_strata_do_not():
    site = np.repeat(np.arange(6), 100)
    groups = np.tile(["a", "b"], 300)
    selected = np.where((groups == "a") & (site >= 5), 0.9, np.where(groups == "b", 0.1, 0.1))
    records = audit(np.tile([1, 1, 0, 0], 150), selected, groups.tolist(), site=site)
    found = cells(records, replace(LENIENT, metrics=("SPD",), resamples=400)).loc["SPD"]
    assert found["estimate"] == pytest.approx(1 / 6)
    assert found["vfr"] < 0.01
    assert found["vfr_site"] == pytest.approx((5 / 6) ** 6, abs=0.1)
    assert found["vfr_site_low"] < found["vfr_site"] < found["vfr_site_high"]
    assert found["site_count"] == 6


def test_resamples_of_sites_that_lack_a_group_are_counted():
    site = np.repeat(np.arange(6), 100)
    groups = np.where(site == 0, "only here", np.tile(["a", "b"], 300))
    records = audit(np.tile([1, 1, 0, 0], 150), np.tile([0.9, 0.1, 0.2], 200), groups.tolist(), site=site)
    found = cells(records, replace(LENIENT, metrics=("SPD", "CAL"), resamples=2000))
    assert (found["undefined_share"] == 0).all()
    assert (found["undefined_share_own_size"] == 0).all()
    left_out = (5 / 6) ** 6
    tolerance = 4 * np.sqrt(left_out * (1 - left_out) / 2000)
    assert found["undefined_share_site"].to_numpy() == pytest.approx(left_out, abs=tolerance)


def test_sites_that_hold_no_audited_record_do_not_count():
    records = random_audit(np.random.default_rng(8), 200, ["a", "b"])
    few = replace(records, site=np.where(np.arange(200) % 2, 3, 8))
    assert (cells(few)["site_count"] == 2).all()
    assert cells(few)["vfr_site"].notna().any()


@pytest.mark.parametrize("site", [None, np.zeros(200, int)])
def test_fewer_than_two_sites_have_no_site_flip_rate(site):
    found = cells(replace(random_audit(np.random.default_rng(9), 200, ["a", "b"]), site=site))
    assert found[["vfr_site", "vfr_site_low", "vfr_site_high"]].isna().all().all()


def test_agrees_says_whether_most_resamples_give_the_verdict_of_the_whole():
    found = cells(random_audit(np.random.default_rng(10), 150, ["a", "b", "c"]))
    judged = found[found["verdict"] != "inconclusive"]
    assert ((judged["dominant_verdict"] == judged["verdict"]) == (judged["agrees"] == 1)).all()
    assert set(judged["agrees"]) <= {0.0, 1.0}


def records_with(**changes):
    return replace(audit([0, 1], [0.2, 0.8], ["a", "b"]), **changes)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (records_with(outcome=np.array([], np.int8)), "there is no record to audit"),
        (records_with(scores=()), "there is no model to audit"),
        (records_with(outcome=np.array([0, 3], np.int8)), "outcomes must be 0 or 1; found 3"),
        (
            records_with(attributes=(Attribute("sex", ("F",), np.array([0, 1])),)),
            "sex: a record's group is none",
        ),
        (records_with(attributes=(Attribute("sex", ("F",), np.array([0])),)), "sex: 1 groups for 2 records"),
        (records_with(site=np.array([0])), "1 sites for 2 records"),
        (
            records_with(scores=(Score("logit", "probability", 0.0, np.array([-4.2, 3.9])),)),
            "logit: scores run from -4.2 to 3.9: not probabilities",
        ),
        (
            records_with(scores=(Score("percent", "decision", 0.5, np.array([0.0, 97.0])),)),
            "percent: decisions must be 0 or 1; found 97.0",
        ),
        (
            records_with(scores=(Score("gap", "rank", 0.5, np.array([0.0, np.nan])),)),
            "gap: 1 scores are missing or infinite",
        ),
        (
            records_with(scores=(Score("short", "rank", 0.5, np.array([0.0])),)),
            "short: 1 scores for 2 records",
        ),
    ],
)
def test_records_that_cannot_be_audited_are_refused_with_what_was_found(records, message):
    with pytest.raises(InputError, match=message):
        prepare(records)


def test_all_faults_are_named_at_once():
    faulty = records_with(site=np.array([0]), scores=(Score("m", "rank", 0.5, np.array([0.0])),))
    with pytest.raises(InputError) as caught:
        prepare(faulty)
    assert len(caught.value.faults) == 2


def test_a_resample_too_small_for_the_groups_is_refused():
    with pytest.raises(InputError, match="raise resample_size"):
        judge(
            prepare(random_audit(np.random.default_rng(1), 200, ["a", "b"])),
            replace(LENIENT, resample_size=3, seed=1),
        )


def test_no_attribute_gives_an_empty_table_with_the_columns():
    bare = AuditRecords(np.array([0, 1], np.int8), (), (Score("m", "rank", 0.5, np.array([0.0, 1.0])),))
    assert list(judge(prepare(bare), Protocol()).verdicts.columns) == TABLES["verdicts"].names()
