"""A conclusion falls at the share of unrecorded events at which a slow recount says that it does."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.evidence import prepare
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import find_tipping_points, judge, show_cells
from auditbook.verdicts.metrics import METRICS
from auditbook.verdicts.shown import adjust_holm
from auditbook.verdicts.tipping_points import find_level
from auditbook.verdicts.unrecorded import AMONG, most_missed, part_selected, record_missed
from small_audits import random_audit

FAILS = {"a": (160, 40, 40, 360), "b": (110, 45, 90, 455)}
PASSES = {"a": (640, 150, 160, 1500), "b": (630, 140, 170, 1400), "c": (560, 130, 140, 1300)}


def records_of(counts, *, times=1):
    codes, outcome, chosen = [], [], []
    for place, row in enumerate(counts.values()):
        for (y, d), n in zip(((1, 1), (0, 1), (1, 0), (0, 0)), row, strict=True):
            codes += [place] * n
            outcome += [y] * n
            chosen += [float(d)] * n
    codes, outcome, chosen = (np.repeat(part, times) for part in (codes, outcome, chosen))
    group = Attribute("group", tuple(counts), codes)
    unit = np.repeat(np.arange(len(codes) // times), times) if times > 1 else None
    return AuditRecords(outcome.astype(np.int8), (group,), (Score("m", "decision", 0.5, chosen),), None, unit)


def tip(records, **chosen):
    prepared, protocol = prepare(records), Protocol(resamples=2, **chosen)
    found = judge(prepared, protocol, axes=("shown",))
    return find_tipping_points(prepared, found.verdicts, found.contrasts, protocol)


def move(row, missed, among):
    tp, fp, fn, tn = row
    return (tp + missed, fp - missed, fn, tn) if among == "selected" else (tp, fp, fn + missed, tn - missed)


def shown_of(counts, metric):
    return show_cells(prepare(records_of(counts)), Protocol(metrics=(metric,)))[0]["shown"].iloc[0]


def falls(counts, group, among, metric, missed):
    """Whether something else is shown when so many records are moved."""
    changed = counts | {group: move(counts[group], missed, among)}
    return shown_of(changed, metric) != shown_of(counts, metric)


@pytest.mark.parametrize(("counts", "metric"), [(FAILS, "EOPP"), (FAILS, "EOD"), (PASSES, "PP")])
def test_what_is_shown_falls_with_the_record_that_a_recount_names(counts, metric):
    table = tip(records_of(counts), metrics=(metric,)).set_index(["group", "among"])
    finite = 0
    for group in ("a", "b"):
        for among in ("not selected", "selected"):
            row = table.loc[(group, among)]
            assert row["shown"] in ("fail", "pass")
            room = counts[group][1] if among == "selected" else counts[group][3]
            room = min(room, sum(counts[group][1::2]) - (10 if metric == "EOD" else 0))
            if np.isinf(row["shown_missed"]):
                assert not any(falls(counts, group, among, metric, n) for n in (1, room // 3, room))
                continue
            finite += 1
            at = int(np.ceil(row["shown_missed"] + 0.5))
            assert falls(counts, group, among, metric, min(at, room))
            assert not any(falls(counts, group, among, metric, n) for n in (at // 2, at - 2) if n > 0)
            share = row["shown_missed"] / (row["events"] + row["shown_missed"])
            assert row["shown_share"] == pytest.approx(share)
    assert finite


def test_a_published_verdict_turns_where_the_algebra_says():
    table = tip(records_of(FAILS), metrics=("EOPP",)).set_index(["group", "among"])
    # TPR 0.80 and 0.55. In a, missed events that were not selected bring 160/(200 + m) down to 0.65
    assert table.loc[("a", "not selected"), "verdict_missed"] == pytest.approx(160 / 0.65 - 200, abs=1e-4)
    # In b, selected ones bring (110 + m)/(200 + m) up to 0.70, which takes 100; there are 45
    assert np.isinf(table.loc[("b", "selected"), "verdict_missed"])
    # Of all alike, one in ten of a's non-events was selected: (160 + m/10)/(200 + m) = 0.65
    assert table.loc[("a", "any"), "verdict_missed"] == pytest.approx(30 / 0.55, abs=1e-4)
    # Where b has missed any, its TPR falls further
    assert np.isinf(table.loc[("b", "any"), "verdict_share"])


@settings(max_examples=12)
@given(st.integers(0, 10_000))
def test_a_verdict_is_as_before_below_its_tipping_point_and_another_above(seed):
    rng = np.random.default_rng(seed)
    counts = {g: tuple(int(n) for n in rng.integers(15, 200, 4)) for g in "abc"[: rng.integers(2, 4)]}
    metrics = ("EOPP", "EOD", "PP")
    table = tip(records_of(counts), metrics=metrics)
    whole = np.array(list(counts.values()), float)
    for row in table.itertuples():
        place = list(counts).index(row.group)
        metric = METRICS[row.metric]
        selected = part_selected(whole[place], row.among)

        def passes(share, place=place, metric=metric, selected=selected):
            changed = whole.copy()
            changed[place] = record_missed(whole[place], share, selected)
            return bool(metric.passes(metric.values(changed)))

        before = passes(0)
        ends = np.linspace(0, min(row.verdict_share, row.most) - 1e-6, 7)
        assert all(passes(share) == before for share in ends if share >= 0)
        if np.isfinite(row.verdict_share):
            assert passes(row.verdict_share + 1e-6) != before


def test_drawn_from_all_alike_lies_between_the_two_extremes():
    rng = np.random.default_rng(3)
    for _ in range(20):
        row, share = rng.integers(5, 100, 4), 0.03
        three = [record_missed(row, share, part_selected(row, among)) for among in AMONG]
        for rate in (
            lambda c: c[0] / (c[0] + c[2]),
            lambda c: c[1] / (c[1] + c[3]),
            lambda c: c[0] / (c[0] + c[1]),
        ):
            any_, low, high = map(rate, three)
            assert min(low, high) - 1e-12 <= any_ <= max(low, high) + 1e-12


def test_counting_missed_events_keeps_records_and_decisions():
    row = np.array([6.0, 2.0, 2.0, 8.0])
    for among in AMONG:
        changed = record_missed(row, 0.1, part_selected(row, among))
        assert changed.sum() == pytest.approx(18)
        assert changed[0] + changed[1] == pytest.approx(8)
        assert changed[0] + changed[2] == pytest.approx(8 / 0.9)
        full = record_missed(row, most_missed(row, among), part_selected(row, among))
        assert full.min() == pytest.approx(0, abs=1e-12)
    assert np.isnan(most_missed([0, 2, 0, 8], "any"))


def test_selection_asks_nothing_of_the_outcome_and_has_no_row():
    table = tip(records_of(FAILS), metrics=("DI", "SPD", "EOPP"))
    assert set(table["metric"]) == {"EOPP"}
    assert tip(records_of(FAILS), metrics=("DI", "SPD")).empty


def test_a_failure_that_others_show_too_does_not_fall_with_one_group():
    counts = FAILS | {"c": (160, 40, 40, 360)}
    table = tip(records_of(counts), metrics=("EOPP",)).set_index(["group", "among"])
    assert np.isinf(table.loc["a", "shown_share"]).all()
    assert table.loc["b", "shown"].eq("fail").all()


def test_an_inconclusive_cell_has_no_verdict_to_turn():
    counts = FAILS | {"tiny": (2, 3, 2, 4)}
    table = tip(records_of(counts), metrics=("EOPP",))
    assert table["verdict_share"].isna().all()
    assert (table["verdict"] == "inconclusive").all()
    assert table.query("group == 'a'")["shown_share"].notna().all()
    assert np.isinf(table.query("group == 'tiny'")["shown_share"]).all()


def test_the_level_of_a_cell_is_where_holm_stops_to_reject_it():
    rng = np.random.default_rng(1)
    for _ in range(50):
        p = rng.random(6) ** 4
        for place, level in enumerate(find_level(p, 0.05)):
            for value, rejected in ((level * 0.999, True), (level * 1.001, False)):
                changed = p.copy()
                changed[place] = value
                assert (adjust_holm(changed)[place] <= 0.05) == rejected


def test_over_a_board_a_cell_falls_when_its_adjusted_p_value_passes_the_level():
    counts = {"a": (180, 40, 20, 360), "b": (130, 60, 70, 440)}
    records = records_of(counts)
    twice = replace(records, attributes=(*records.attributes, replace(records.attributes[0], name="same")))
    table = tip(twice, metrics=("EOPP",))
    alone = tip(records, metrics=("EOPP",))
    pick = {"group": "a", "among": "not selected"}
    both = [
        part.loc[(part[list(pick)] == pd.Series(pick)).all(axis=1), "shown_share"] for part in (table, alone)
    ]
    # The other attribute is rejected before, so each stands at the level that it would have alone
    assert both[0].tolist() == pytest.approx([both[1].iloc[0]] * 2)


def test_records_of_a_unit_that_are_all_alike_count_once():
    small = tip(records_of(FAILS), metrics=("EOPP",))
    repeated = tip(records_of(FAILS, times=3), metrics=("EOPP",))
    assert repeated["verdict_share"].to_numpy() == pytest.approx(small["verdict_share"].to_numpy(), abs=1e-6)
    finite = np.isfinite(small["shown_share"])
    assert finite.any()
    # Student's quantile with hundreds of units, and 1/(n - 1) for 1/n: nearly the same, and not the same
    assert repeated["shown_share"][finite].to_numpy() == pytest.approx(small["shown_share"][finite], abs=0.01)


def test_order_and_names_of_groups_and_records_do_not_matter():
    records = records_of(PASSES)
    order = np.random.default_rng(1).permutation(len(records.outcome))
    group, score = records.attributes[0], records.scores[0]
    turned = AuditRecords(
        records.outcome[order],
        (Attribute("group", ("z", "y", "x"), 2 - group.codes[order]),),
        (replace(score, values=score.values[order]),),
    )
    one, other = tip(records), tip(turned).replace({"group": {"x": "a", "y": "b", "z": "c"}})
    keys = ["metric", "group", "among"]
    pd.testing.assert_frame_equal(
        one.sort_values(keys, ignore_index=True)[list(one)],
        other.sort_values(keys, ignore_index=True)[list(one)],
    )


def test_extreme_audits_have_rows_or_none_and_no_fault():
    rng = np.random.default_rng(0)
    records = random_audit(rng, 400, ("a", "b", "empty"))
    for outcome in (np.zeros(400, np.int8), np.ones(400, np.int8), records.outcome):
        for value in (0.0, 1.0):
            score = Score("m", "decision", 0.5, np.full(400, value))
            found = tip(replace(records, outcome=outcome, scores=(score,)))
            assert (found["verdict_share"].dropna() >= 0).all()


def test_twelve_attributes_groups_and_models_take_well_under_a_second_each():
    records = random_audit(np.random.default_rng(5), 20_000, tuple("abcde"), models=2)
    prepared, protocol = prepare(records), Protocol(resamples=2)
    found = judge(prepared, protocol, axes=("shown",))
    find_tipping_points(prepared, found.verdicts, found.contrasts, protocol)
    started = time.process_time()
    find_tipping_points(prepared, found.verdicts, found.contrasts, protocol)
    assert time.process_time() - started < 2  # 0.1 measured
