"""What a cell needs before it is tested."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.evidence import Shortfall
from auditbook.pocket_settings import PocketSettings
from auditbook.pockets.cell_support import (
    gather_cell,
    growth_needed,
    list_shortfalls,
    shortfall_kind,
    split_cells,
    tabulate_shortfalls,
    write_reason,
)

RULE = PocketSettings()


def short(n, *, chance=0.3, counts=None, kind="record", continuous=False, rule=RULE):
    unit = np.arange(n) if counts is None else np.repeat(np.arange(len(counts)), counts)
    cell = gather_cell(np.arange(n), unit)
    chances = chance if isinstance(chance, list) else [chance]
    return list_shortfalls(
        cell, [np.full(n, each) for each in chances], continuous=continuous, unit_kind=kind, settings=rule
    )


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (dict(n=100), []),
        (dict(n=99), ["99 records, 100 needed"]),
        (
            dict(n=1),
            ["1 record, 100 needed", "0.3 expected events, 10 needed", "0.7 expected non-events, 10 needed"],
        ),
        (dict(n=0), ["no records"]),
        (dict(n=100, chance=0.08), ["8 expected events, 10 needed"]),
        (dict(n=100, chance=0.0999), ["9.9 expected events, 10 needed"]),  # never "10, 10 needed"
        (dict(n=100, chance=0.01), ["1 expected event, 10 needed"]),
        (dict(n=100, chance=0.1), []),
        (dict(n=100, chance=0.92), ["8 expected non-events, 10 needed"]),
        (dict(n=100, chance=[0.3, 0.05]), ["5 expected events, 10 needed"]),  # the model with the fewest
        (dict(n=50, chance=0.0, continuous=True), []),
        (dict(n=49, continuous=True), ["49 records, 50 needed"]),
        (dict(n=300, counts=[20] * 15, kind="site"), []),
        (dict(n=280, counts=[20] * 14, kind="site"), ["14 sites, 15 needed"]),
        (dict(n=280, counts=[20] * 14, kind="unit"), ["14 units, 15 needed"]),
        (dict(n=280, counts=[20] * 14, kind="record"), []),
        (dict(n=400, counts=[80] + [16] * 20, kind="site"), []),  # 20 % is allowed
        (
            dict(n=400, counts=[82] + [15] * 18 + [24] * 2, kind="site"),
            ["largest site holds 20.5 %, at most 20 %"],
        ),
        (
            dict(n=400, counts=[140] + [13] * 20, kind="site"),
            ["6.9 effective sites, 10 needed", "largest site holds 35 %, at most 20 %"],
        ),
    ],
)
def test_each_shortfall_is_said_in_words(case, reason):
    kind = case.get("kind", "record")
    assert [write_reason([each], kind) for each in short(**case)] == reason
    assert write_reason(short(**case), kind) == " and ".join(reason)


def test_shortfalls_are_data_before_they_are_words():
    found = short(280, counts=[20] * 14, chance=0.03, kind="site")
    assert found == [Shortfall("expected events", 8.4, 10), Shortfall("units", 14, 15)]
    assert [growth_needed(each) for each in found] == [pytest.approx(10 / 8.4), np.inf]
    assert [shortfall_kind(each) for each in found] == ["events", "units"]
    assert short(0) == [Shortfall("records", 0, 100)]


def test_the_scarcest_is_laid_out_with_what_it_would_take():
    few, rare = Shortfall("records", 50, 100, "F"), Shortfall("expected events", 8, 10, "F")
    other = Shortfall("expected non-events", 4, 10, "M")
    row = tabulate_shortfalls([few, rare, other])
    assert row == {
        "lacking": "expected non-events",
        "lacking_group": "M",
        "held": 4,
        "needed": 10,
        "growth": 2.5,
        "lacks_records": True,
        "lacks_events": True,
        "lacks_units": False,
    }
    assert write_reason([few, rare, other], "record") == (
        "F: 50 records, 100 needed and 8 expected events, 10 needed; M: 4 expected non-events, 10 needed"
    )


@pytest.mark.parametrize("short", [Shortfall("units", 14, 15), Shortfall("records", 0, 100)])
def test_what_more_records_of_the_same_kind_would_not_mend_has_no_growth(short):
    row = tabulate_shortfalls([Shortfall("records", 50, 100), short])
    assert (row["lacking"], row["held"]) == (short.what, short.held)
    assert np.isnan(row["growth"])
    nothing = tabulate_shortfalls([])
    assert (nothing["lacking"], nothing["lacks_records"]) == ("", False)
    assert np.isnan([nothing["held"], nothing["needed"], nothing["growth"]]).all()


def test_a_share_just_above_the_limit_never_reads_as_the_limit():
    found = short(10_000, counts=[2001] + [421] * 19, kind="site")
    assert write_reason(found, "site") == "largest site holds 20.1 %, at most 20 %"


def test_limits_are_settings():
    rule = PocketSettings(
        support_records=10, support_events=1, min_sites=2, min_effective_sites=1, largest_site=1
    )
    assert short(10, counts=[9, 1], kind="site", rule=rule) == []


def test_effective_units_and_the_largest_by_hand():
    cell = gather_cell(np.arange(6), np.array([5, 5, 5, 5, 8, 9]))
    assert cell.effective_units == pytest.approx(36 / 18)
    assert cell.largest_unit == pytest.approx(4 / 6)
    empty = gather_cell(np.zeros(0, int), np.arange(3))
    assert (empty.n, empty.effective_units, empty.largest_unit) == (0, 0.0, 0.0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 6)), max_size=60))
def test_split_cells_hold_every_record_once_with_its_units(pairs):
    codes, unit = np.array(pairs, int).reshape(-1, 2).T
    for code, cell in enumerate(split_cells(codes, 5, unit)):
        assert cell.positions.tolist() == np.flatnonzero(codes == code).tolist()
        assert (cell.units[cell.member] == unit[cell.positions]).all()
        assert cell.counts.sum() == cell.n
