"""Are verdicts and what is shown weighted, and are they those of the records where all weights are equal?"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal

from auditbook.evidence import prepare
from auditbook.records import Attribute, AuditRecords, Score, Survey
from auditbook.settings import EXTRA_METRIC_NAMES, METRIC_NAMES, Protocol
from auditbook.verdicts import bound_rate, find_shortfalls, judge, tabulate_groups
from auditbook.verdicts.quantities import Grouped, measure_calibration, measure_theil
from survey_records import slow_area, slow_error, stored_survey, take_rows, weigh

PROTOCOL = Protocol(metrics=(*METRIC_NAMES, *EXTRA_METRIC_NAMES), resamples=40, size_repeats=3)
ROUNDING = 1e-9
"""Sums of 900 weights, added up in another order."""
KEYS = ["model", "metric", "attribute"]


@pytest.fixture(scope="module")
def judged() -> pd.DataFrame:
    """The verdicts on the stored survey."""
    return judge(prepare(stored_survey()), PROTOCOL).verdicts


def weighted_rates(records: AuditRecords, codes: np.ndarray, mask: np.ndarray) -> list[float]:
    """Find the weighted share of the selected among some records of each group."""
    weight, chosen = records.survey.weight, records.scores[0].decisions
    return [
        float((weight * chosen)[mask & (codes == g)].sum() / weight[mask & (codes == g)].sum())
        for g in range(codes.max() + 1)
    ]


def test_verdicts_rest_on_weighted_rates(judged: pd.DataFrame) -> None:
    records = stored_survey()
    for attribute in records.attributes:
        cells = judged[judged["attribute"] == attribute.name].set_index("metric")["estimate"]
        everybody = np.ones(len(records.outcome), bool)
        selected = weighted_rates(records, attribute.codes, everybody)
        found = weighted_rates(records, attribute.codes, records.outcome == 1)
        assert_allclose(cells["DI"], min(selected) / max(selected), atol=1e-8)
        assert_allclose(cells["SPD"], max(selected) - min(selected), atol=1e-8)
        assert_allclose(cells["EOPP"], max(found) - min(found), atol=1e-8)
        areas = []
        for g in range(len(attribute.groups)):
            mine = attribute.codes == g
            parts = records.outcome, records.scores[0].values, records.survey.weight
            areas.append(slow_area(*(part[mine] for part in parts)))
        assert_allclose(cells["AUC"], max(areas) - min(areas), atol=1e-8)


def test_theil_index_and_its_error_are_weighted() -> None:
    records = stored_survey()
    prepared = prepare(records)
    groups = prepared.groups[1]
    found = measure_theil(Grouped(prepared, groups, PROTOCOL)).own.bounded
    benefit = 1 - np.abs(records.outcome - records.scores[0].values)
    for g in range(2):
        mine = groups.settled.codes == g
        weight = records.survey.weight * mine
        m = (weight * benefit).sum() / weight.sum()
        index = (weight * benefit / m * np.log(benefit / m)).sum() / weight.sum()
        s = (weight * benefit * np.log(benefit)).sum() / weight.sum()
        influence = (benefit * np.log(benefit) - s) / m - (s / m + 1) * (benefit - m) / m
        assert_allclose(found.value[0, g], index, atol=1e-8)
        assert_allclose(
            found.error[0, g], slow_error(weight * influence / weight.sum(), records.survey), atol=1e-8
        )


def test_calibration_is_weighted_in_every_bin() -> None:
    records = stored_survey()
    prepared = prepare(records)
    groups = prepared.groups[1]
    found = measure_calibration(Grouped(prepared, groups, PROTOCOL), in_bins=True)
    score = records.scores[0].values
    for code, (group, score_bin) in enumerate(zip(found.group, found.score_bin, strict=True)):
        mine = (groups.settled.codes == group) & (np.minimum(score * 10, 9).astype(int) == score_bin)
        weight = records.survey.weight * mine
        if mine.any():
            assert_allclose(found.own.bounded.value[0, code], (weight * records.outcome).sum() / weight.sum())
            assert_allclose(found.expected[0, code], (weight * score).sum() / weight.sum())
            assert_allclose(found.worth[0, code], weight.sum() ** 2 / (weight**2).sum())


def test_a_bin_of_little_weight_counts_for_calibration() -> None:
    outcome, score = np.tile(np.array([0, 1], np.int8), 50), np.tile([0.45, 0.55], 50)
    outcome[0], score[0] = 0, 0.95
    weight = np.where(score > 0.9, 0.2, 1.0)
    group = Attribute("sex", ("F", "M"), np.repeat([0, 1], 50))
    records = AuditRecords(outcome, (group,), (Score("m", "probability", 0.5, score),), survey=Survey(weight))
    rules = Protocol(metrics=("CAL",), resamples=2)
    assert judge(prepare(records), rules, axes=("shown",)).verdicts["estimate"].item() == pytest.approx(0.95)


def test_weights_times_seven_change_nothing(judged: pd.DataFrame) -> None:
    records = stored_survey()
    seven = judge(prepare(weigh(records, 7 * records.survey.weight)), PROTOCOL).verdicts
    assert_frame_equal(seven, judged, check_exact=False, atol=ROUNDING, rtol=ROUNDING)


def test_order_of_rows_changes_nothing(judged: pd.DataFrame) -> None:
    rows = np.random.default_rng(1).permutation(900)
    other = judge(prepare(take_rows(stored_survey(), rows)), PROTOCOL).verdicts
    assert_frame_equal(other, judged, check_exact=False, atol=ROUNDING, rtol=ROUNDING)


def test_order_of_rows_changes_nothing_without_strata_and_clusters() -> None:
    records = stored_survey()
    alone = replace(records, survey=Survey(records.survey.weight))
    rows = np.random.default_rng(1).permutation(900)
    one, other = (judge(prepare(part), PROTOCOL).verdicts for part in (alone, take_rows(alone, rows)))
    assert_frame_equal(other, one, check_exact=False, atol=ROUNDING, rtol=ROUNDING)
    assert set(one["scope"]) <= {"records", ""}


def test_equal_weights_give_the_estimates_of_the_records() -> None:
    records = stored_survey()
    equal = judge(prepare(weigh(records, np.full(900, 3.0))), PROTOCOL).verdicts
    plain = judge(prepare(replace(records, survey=None)), PROTOCOL).verdicts
    for name in ("estimate", "error_free"):
        assert_allclose(equal[name], plain[name], atol=ROUNDING)
    assert equal["verdict"].tolist() == plain["verdict"].tolist()
    groups = [tabulate_groups(one, protocol=PROTOCOL) for one in (replace(records, survey=None), records)]
    assert groups[0]["n_effective"].isna().all()
    assert (groups[1]["n_effective"] < groups[1]["n"]).all()


def test_equal_weights_without_clusters_bound_shares_like_records() -> None:
    records = replace(stored_survey(), survey=None)
    weighted = replace(records, survey=Survey(np.ones(900)))
    plain, equal = (judge(prepare(one), PROTOCOL).contrasts for one in (records, weighted))
    shares = plain["rate"].isin(["SR", "TPR", "FPR", "PPV"]).to_numpy()
    assert plain["n"].tolist() == equal["n"].tolist()
    assert_allclose(equal["n_effective"][shares], plain["n_effective"][shares], rtol=2 / 900)
    many = shares & (equal["clusters"] > 200).to_numpy()  # Student's t is near the normal distribution
    assert many.sum() > 5
    for name in ("low", "high"):
        assert_allclose(equal[name][many], plain[name][many], atol=0.005)


def test_support_is_asked_of_what_records_are_worth() -> None:
    n = 400
    outcome = np.tile(np.array([1, 0], np.int8), n // 2)
    sex = Attribute("sex", ("F", "M"), np.repeat([0, 1], n // 2))
    weight = np.ones(n)
    weight[0] = 1_000.0  # one woman with the event stands for nearly all of them
    score = Score("m", "decision", 0.5, np.tile([1.0, 0, 0, 1], n // 4))
    records = AuditRecords(outcome, (sex,), (score,), survey=Survey(weight))
    found = judge(prepare(records), Protocol(metrics=("EOPP",), resamples=20)).verdicts.iloc[0]
    assert found["verdict"] == "inconclusive"
    assert found["reason"].startswith("F: 100 events worth 1.2, 10 needed")
    assert found["left_out"] == "F: 100 events worth 1.2, 10 needed"
    groups = tabulate_groups(records, protocol=Protocol())
    assert groups["support"].tolist() == [
        "100 events worth 1.2, 10 needed and 200 records worth 1.4, 30 needed",
        "",
    ]
    assert find_shortfalls(groups, protocol=Protocol())["group"].tolist() == ["F"]


def test_size_axis_is_not_judged_and_says_why(judged: pd.DataFrame) -> None:
    graded = judged[judged["tier"] != ""]
    assert len(graded)
    assert graded["tier_reasons"].str.contains("size not judged: some of a weighted sample").all()
    assert judged["n_star"].isna().all()
    sizes = judge(prepare(stored_survey()), PROTOCOL).audit_size
    assert sizes["n"].unique().tolist() == [900]
    assert sizes["mean"].isna().all()
    assert not sizes["cv"].notna().any()


def test_resamples_are_as_large_as_the_audit(judged: pd.DataFrame) -> None:
    assert set(judged["resample_size"]) == {900}
    assert_allclose(judged["vfr"], judged["vfr_own_size"])


def test_rates_of_groups_are_weighted_and_their_intervals_rest_on_effective_records() -> None:
    records = stored_survey()
    groups = tabulate_groups(records, protocol=PROTOCOL)
    race = groups[groups["attribute"] == "race"]
    everybody = np.ones(900, bool)
    assert_allclose(race["selection_rate"], weighted_rates(records, records.attributes[0].codes, everybody))
    assert race["n"].sum() == 900
    found = bound_rate(race, "SR")
    assert_allclose(found["value"], race["selection_rate"])
    plain = bound_rate(
        tabulate_groups(replace(records, survey=None), protocol=PROTOCOL).iloc[: len(race)], "SR"
    )
    assert ((found["high"] - found["low"]) > (plain["high"] - plain["low"])).all()


def test_sites_are_judged_only_where_clusters_lie_within_them() -> None:
    records = stored_survey()
    across = replace(records, site=np.arange(900) % 20)
    within = replace(records, site=records.survey.stratum * 2 + records.survey.cluster)
    scopes = [set(judge(prepare(one), PROTOCOL).contrasts["scope"]) for one in (across, within)]
    assert scopes[0] == {"clusters"}
    assert "sites" in scopes[1]


def test_every_row_is_a_number_or_blank_with_one_tiny_group_and_equal_scores() -> None:
    records = stored_survey()
    tiny = replace(records.attributes[0], codes=np.r_[0, np.ones(899, int)])
    score = replace(records.scores[0], values=np.full(900, 0.5))
    odd = replace(records, attributes=(tiny, records.attributes[1]), scores=(score,))
    found = judge(prepare(odd), PROTOCOL)
    assert len(found.verdicts) == 2 * len(PROTOCOL.metrics)
    assert (found.verdicts["shown"] != "").all()
    assert not found.verdicts["left_out"].str.contains("nan").any()


def test_key_columns_stand(judged: pd.DataFrame) -> None:
    assert not judged.duplicated(KEYS).any()
