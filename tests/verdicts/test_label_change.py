"""The same decisions, judged by another outcome of the same records."""

from dataclasses import replace

import numpy as np
import pytest

from auditbook.evidence import open_stream, prepare
from auditbook.records import Survey
from auditbook.settings import Protocol
from auditbook.verdicts import bound_missing_attribute, compare_labels, judge
from auditbook.verdicts.label_change import change_gap, take
from small_audits import random_audit

PROTOCOL = Protocol(resamples=2, metrics=("SPD", "EOPP", "EOD", "PP"))


def compare(records, others):
    verdicts = judge(prepare(records), PROTOCOL, axes=("shown",)).verdicts
    return verdicts, compare_labels(records, verdicts, others, PROTOCOL, name="los")


def test_the_same_outcome_changes_nothing_and_agrees_wholly():
    records = random_audit(np.random.default_rng(1), 1_500, ("a", "b", "c"))
    _, tables = compare(records, {"same": records.outcome.astype(float)})
    table, agreement = tables["label_change"], tables["label_agreement"]
    assert set(table["metric"]) == {"EOPP", "EOD", "PP"}
    first, other = (table[table["outcome"] == name].reset_index(drop=True) for name in ("los", "same"))
    for column in ("estimate", "verdict", "shown", "n", "events"):
        assert first[column].tolist() == other[column].tolist()
    pair = other[other["metric"].isin(["EOPP", "PP"])]
    assert pair[["change", "change_low", "change_high"]].to_numpy() == pytest.approx(0)
    assert agreement[["share_of_events", "share_of_other"]].to_numpy() == pytest.approx(1)


def test_another_outcome_is_judged_as_an_audit_of_it_would_be_where_it_is_known():
    rng = np.random.default_rng(2)
    records = random_audit(rng, 1_200, ("a", "b"))
    other = np.where(rng.random(1_200) < 0.2, 1.0 - records.outcome, records.outcome)
    other[rng.random(1_200) < 0.1] = np.nan
    _, tables = compare(records, {"ill": other})
    known = ~np.isnan(other)
    alone = replace(
        records,
        outcome=other[known].astype(np.int8),
        attributes=tuple(replace(one, codes=one.codes[known]) for one in records.attributes),
        scores=tuple(replace(one, values=one.values[known]) for one in records.scores),
    )
    direct = judge(prepare(alone), PROTOCOL, axes=("shown",)).verdicts.set_index("metric")
    table = tables["label_change"].query("outcome == 'ill'").set_index("metric")
    for name in ("EOPP", "EOD", "PP"):
        assert table.loc[name, "estimate"] == pytest.approx(direct.loc[name, "estimate"])
        assert table.loc[name, "shown"] == direct.loc[name, "shown"]
    assert (table["n"] == known.sum()).all()
    row = tables["label_agreement"].iloc[0]
    mine = known & (records.attributes[0].codes == 0)
    assert row["both"] == int((records.outcome[mine] * other[mine]).sum())


@pytest.mark.parametrize("known", [1, 2, 3, 40])
def test_an_outcome_known_of_few_records_has_no_change_whose_interval_has_no_width(known):
    records = random_audit(np.random.default_rng(5), 600, ("a", "b"))
    other = np.where(np.arange(600) < known, 0.0, np.nan)
    other[0] = 1
    _, tables = compare(records, {"ill": other})
    table = tables["label_change"].query("outcome == 'ill'")
    assert set(table["verdict"]) == {"inconclusive"}
    assert table[["change", "change_low", "change_high"]].isna().all(axis=None)
    assert tables["label_agreement"]["n"].sum() == known


def test_an_outcome_that_is_known_of_no_audited_record_has_no_row():
    records = random_audit(np.random.default_rng(5), 600, ("a", "b"))
    _, tables = compare(records, {"ill": np.full(600, np.nan)})
    assert all(table.empty for table in tables.values())
    _, tables = compare(records, {"ill": np.full(600, np.nan), "same": records.outcome.astype(float)})
    assert set(tables["label_change"]["outcome"]) == {"los", "same"}


def test_without_another_outcome_there_is_no_row():
    _, tables = compare(random_audit(np.random.default_rng(1), 300, ("a", "b")), {})
    assert all(table.empty for table in tables.values())


@pytest.mark.parametrize("metric", ["EOPP", "PP"])
def test_the_paired_interval_of_no_change_holds_zero_as_often_as_it_says(metric):
    held, times = 0, 400
    rng = open_stream(3, "label change")
    for _ in range(times):
        group, unit = np.repeat([0, 1], 300), np.repeat(np.arange(200), 3)
        shared = rng.normal(size=200)[unit]
        chosen = shared + rng.normal(size=600) > 0.3
        both = [(0.8 * chosen + shared + rng.normal(size=600) > 0.6).astype(np.int8) for _ in range(2)]
        found = change_gap(*both, chosen, [group == 0, group == 1], metric=metric, unit=unit)
        held += found.low <= 0 <= found.high
    assert held / times > 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / times)


def test_costs_and_illness_of_the_hand_table():
    patient = np.arange(1, 13)
    costs, ill, chosen = (
        np.isin(patient, part)
        for part in ([1, 2, 3, 4, 7, 8], [1, 2, 3, 4, 7, 8, 10, 11], [1, 2, 3, 7, 8, 9])
    )
    found = change_gap(costs * 1, ill * 1, chosen, [patient > 6, patient <= 6], metric="EOPP")
    assert found.change == pytest.approx(-0.5)


def test_weights_go_with_their_records_and_leave_no_interval_of_counts():
    rng = np.random.default_rng(4)
    records = random_audit(rng, 900, ("a", "b"))
    weighted = replace(records, survey=Survey(rng.uniform(0.5, 2, 900)))
    other = records.outcome.astype(float)
    other[:50] = np.nan
    _, tables = compare(weighted, {"ill": other})
    table = tables["label_change"].query("outcome == 'ill'")
    assert table["change"].isna().all()
    known = np.arange(50, 900)
    alone = judge(prepare(take(weighted, known)), PROTOCOL, axes=("shown",)).verdicts.set_index("metric")
    assert table.set_index("metric")["estimate"].to_dict() == alone["estimate"].drop("SPD").to_dict()
    assert bound_missing_attribute(prepare(weighted), {}, PROTOCOL, unplaced="a").empty
