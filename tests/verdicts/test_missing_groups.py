"""Bounds over who belongs where hold every dealing of the records, and are reached where that is said."""

import itertools

import numpy as np
import pytest

from auditbook.evidence import prepare
from auditbook.records import Attribute, AuditRecords, Score
from auditbook.settings import Protocol
from auditbook.verdicts import bound_missing_attribute, show_cells
from auditbook.verdicts.metrics import METRICS
from auditbook.verdicts.missing_groups import COUNTED, bound_missing, deal_at_random

KINDS = ((1, 1), (0, 1), (1, 0), (0, 0))


def records_of(counts, times=1):
    parts = [
        (place, y, d, n * times)
        for place, row in enumerate(counts.values())
        for (y, d), n in zip(KINDS, row, strict=True)
    ]
    codes, y, d = (np.repeat([part[k] for part in parts], [part[3] for part in parts]) for k in range(3))
    group = Attribute("g", tuple(counts), codes)
    return AuditRecords(y.astype(np.int8), (group,), (Score("m", "decision", 0.5, d.astype(float)),))


def deal_all_ways(counts, missing):
    """Deal the missing records to the groups in every way."""
    n_groups = len(counts)
    ways = [
        [way for way in itertools.product(range(n + 1), repeat=n_groups) if sum(way) == n] for n in missing
    ]
    for way in itertools.product(*ways):
        yield counts + np.array(way).T


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("n_groups", [2, 3])
def test_the_worst_value_is_that_of_all_dealings_and_no_dealing_is_better_than_the_best(name, n_groups):
    rng = np.random.default_rng(7)
    for _ in range(12):
        counts = rng.integers(1, 12, (n_groups, 4))
        missing = rng.integers(0, 4 if n_groups == 2 else 3, 4)
        values = [float(METRICS[name].values(dealt)) for dealt in deal_all_ways(counts, missing)]
        found = bound_missing(METRICS[name], counts, missing)
        low, high = float(found.low), float(found.high)
        assert low <= min(values) + 1e-12
        assert high >= max(values) - 1e-12
        worst, sharp = (low, min(values)) if name == "DI" else (high, max(values))
        assert worst == pytest.approx(sharp, abs=1e-12)
        best, reached = (high, max(values)) if name == "DI" else (low, min(values))
        inside = best == pytest.approx(1.0 if name == "DI" else 0.0)
        if n_groups == 2 and not inside and name != "EOD":
            assert best == pytest.approx(reached, abs=1e-12)


def test_nothing_missing_leaves_the_metric_as_it_is():
    counts = np.random.default_rng(1).integers(5, 50, (6, 3, 4))
    for name in COUNTED:
        found = bound_missing(METRICS[name], counts, np.zeros((6, 4), int))
        assert found.low == pytest.approx(METRICS[name].values(counts))
        assert found.high == pytest.approx(METRICS[name].values(counts))


def test_dealt_at_random_keeps_shares_and_adds_up():
    counts, missing = np.array([[30, 5, 10, 40], [10, 5, 10, 60]]), np.array([4, 1, 2, 10])
    dealt = deal_at_random(counts, missing)
    assert dealt.sum(axis=0) == pytest.approx(counts.sum(axis=0) + missing)
    assert dealt[0] / dealt[1] == pytest.approx(counts[0] / counts[1])
    assert np.isnan(deal_at_random(np.array([[1, 0, 1, 1], [1, 0, 1, 1]]), np.array([0, 1, 0, 0]))[0, 1])


COUNTS = {"a": (160, 40, 40, 360), "b": (110, 45, 90, 455), "(missing)": (6, 2, 5, 20)}


def table_of(counts, **settings):
    prepared = prepare(records_of(counts))
    return bound_missing_attribute(prepared, {}, Protocol(**settings), unplaced="(missing)").set_index(
        "metric"
    )


def test_the_group_without_an_entry_is_dealt_and_the_estimate_is_of_the_others():
    table = table_of(COUNTS)
    assert table.loc["EOPP", ["missing", "missing_events", "groups"]].tolist() == [33, 11, 2]
    assert table.loc["EOPP", "estimate"] == pytest.approx(0.25)
    assert table.loc["EOPP", "high"] == pytest.approx(166 / 206 - 110 / 205)
    assert table.loc["EOPP", "low"] == pytest.approx(160 / 205 - 116 / 206)
    assert set(table.index) == set(COUNTED)


def test_what_is_shown_however_they_are_dealt_is_shown_in_every_extreme_dealing():
    rng = np.random.default_rng(4)
    stood = 0
    for _ in range(15):
        base = rng.integers(60, 400, 4)
        counts = {"a": tuple(base), "b": tuple(np.maximum(base + rng.integers(-40, 40, 4), 30))}
        missing = rng.integers(0, 12, 4)
        table = table_of(counts | {"(missing)": tuple(missing)}, metrics=("SPD", "EOPP", "PP"))
        for to_a in itertools.product((0, 1), repeat=4):
            share = np.where(to_a, missing, 0)
            dealt = {"a": tuple(counts["a"] + share), "b": tuple(counts["b"] + missing - share)}
            cells = show_cells(prepare(records_of(dealt)), Protocol(metrics=("SPD", "EOPP", "PP")))[0]
            shown = cells.set_index("metric")["shown"]
            for name in ("SPD", "EOPP", "PP"):
                if table.loc[name, "shown_dealt"] in ("fail", "pass"):
                    stood += 1
                    assert shown[name] == table.loc[name, "shown_dealt"]
    assert stood > 50


def test_a_cohort_in_which_nobody_lacks_anything_has_no_row():
    assert bound_missing_attribute(
        prepare(records_of({"a": (5, 5, 5, 5), "b": (5, 5, 5, 5)})), {}, Protocol(), unplaced="(missing)"
    ).empty


def test_records_left_out_are_given_as_counts():
    known = {name: row for name, row in COUNTS.items() if name != "(missing)"}
    lost = {"g": np.array([COUNTS["(missing)"]])}
    given = bound_missing_attribute(prepare(records_of(known)), lost, Protocol(), unplaced="(missing)")
    grouped = table_of(COUNTS).reset_index()[list(given)]
    assert given.to_dict() == grouped.to_dict()
