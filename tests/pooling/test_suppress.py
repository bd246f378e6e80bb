"""Small counts: none is told, none follows by subtraction, and what is withheld is said and bounded."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.errors import InputError
from auditbook.evidence import tally_records
from auditbook.pooling import bound_withheld, pool_counts, suppress, suppress_small, write_site_counts
from auditbook.records import Attribute, AuditRecords, Score
from pooled_hospitals import DEFINITIONS, SITES, draw_records, hand_over, split_tallies, take

MARK = "Tuvaluan-marked"


def plant(records: AuditRecords) -> AuditRecords:
    """Make one record of the first hospital the only one of a group of its own."""
    race = records.attributes[0]
    codes = race.codes.copy()
    codes[np.flatnonzero(records.site == 0)[0]] = 3
    marked = Attribute("race", (*race.groups, MARK), codes, race.reference)
    return replace(records, attributes=(marked, *records.attributes[1:]))


@pytest.mark.parametrize("smallest", [2, 5, 10, 20])
def test_no_small_count_is_told_and_none_follows_from_the_totals(smallest):
    tally = tally_records(take(plant(draw_records(1500)), np.arange(1500), site=True), sites=SITES)
    found = suppress_small(tally, smallest, crosses={})
    for one in found.tally.attributes:
        counts = one.counts
        assert not ((counts > 0) & (counts < smallest)).any()
    for part in found.withheld:
        assert not ((part.together > 0) & (part.together < smallest)).any()
        whole = next(one for one in tally.attributes if one.name == part.attribute)
        site = tally.sites.index(part.site)
        told = next(one for one in found.tally.attributes if one.name == part.attribute)
        shown = told.counts[:, site].sum(axis=1)
        np.testing.assert_array_equal(whole.counts[:, site].sum(axis=1) - shown, part.together)
        hidden = [g for g, n in zip(whole.groups, whole.counts[0, site].sum(-1), strict=True) if n]
        hidden = set(hidden) - {
            g for g, n in zip(told.groups, told.counts[0, site].sum(-1), strict=True) if n
        }
        assert len(hidden) >= 2


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 40), min_size=12, max_size=12), st.integers(2, 12))
def test_every_withheld_group_can_hold_another_number(cells, smallest):
    # Three groups, one model that selects all or none: counts by enumeration of all fillings
    outcome, codes, chosen = [], [], []
    for place, (group, event, select) in enumerate(product(range(3), (0, 1), (0, 1))):
        outcome += [event] * cells[place]
        codes += [group] * cells[place]
        chosen += [float(select)] * cells[place]
    if len(set(outcome)) < 2:
        return
    records = AuditRecords(
        np.array(outcome, np.int8),
        (Attribute("g", ("a", "b", "c"), np.array(codes)),),
        (Score("m", "decision", 0.5, np.array(chosen)),),
    )
    tally = tally_records(records)
    try:
        found = suppress_small(tally, smallest, crosses={})
    except InputError:
        return
    told = found.tally.attributes[0]
    n_told = sum(bool(n) for n in told.counts[0, 0].sum(-1))
    held = int((tally.attributes[0].counts[0, 0].sum(-1) > 0).sum())
    assert held - n_told != 1
    assert not ((told.counts > 0) & (told.counts < smallest)).any()


def test_a_marked_record_is_nowhere_in_the_file(tmp_path):
    records = plant(draw_records(units=True))
    part = take(records, records.site == 0)
    tally = tally_records(
        part, unit_key=np.arange(10**15, 10**15 + 700, dtype=np.uint64)[: part.unit.max() + 1]
    )
    found = suppress_small(tally, 10, crosses={})
    one = replace(hand_over(found.tally), minimum=10, withheld=found.withheld)
    write_site_counts(one, tmp_path / "A.json")
    text = (tmp_path / "A.json").read_text()
    assert MARK not in text
    assert "10000000000" not in text  # no key of a unit, bundled or not
    write_site_counts(hand_over(tally), tmp_path / "all.json")
    assert "10000000000" not in (tmp_path / "all.json").read_text()


def test_a_site_that_is_small_as_a_whole_is_refused():
    records = take(draw_records(), np.arange(30))
    with pytest.raises(InputError, match=r"fewer than 10 .* in all"):
        suppress_small(tally_records(records), 10, crosses={})


def test_two_groups_hide_each_other_or_are_both_told():
    records = draw_records(600)
    ward = Attribute("ward", ("one", "rest"), (np.arange(600) > 0).astype(int))
    found = suppress_small(tally_records(replace(records, attributes=(ward,), site=None)), 10, crosses={})
    assert found.tally.attributes[0].groups == ()
    assert found.withheld[0].groups == ("rest",)  # the other is too small to be named


def test_nothing_is_written_where_a_small_group_would_follow(monkeypatch):
    monkeypatch.setattr(suppress, "withhold", lambda cells, small, smallest: small)
    tally = tally_records(take(plant(draw_records()), np.arange(3000)))
    with pytest.raises(InputError, match="attribute race no group is left"):
        suppress_small(tally, 10, crosses={})


def test_bounds_hold_the_true_rates():
    records = plant(draw_records(12_000))
    whole = tally_records(records, sites=SITES)
    files = {}
    for name, tally in split_tallies(records).items():
        found = suppress_small(tally, 10, crosses={})
        files[f"{name}.json"] = replace(hand_over(found.tally), minimum=10, withheld=found.withheld)
    table = bound_withheld(pool_counts(files))
    assert len(table) > 0
    race = whole.attributes[0]
    for row in table[table["rate"] == "TPR"].itertuples():
        place = [one.model for one in whole.models].index(row.model)
        if row.group == MARK:  # its one record is no event: the rate is not defined
            continue
        tp, _, fn, _ = race.counts[place, :, race.groups.index(row.group)].sum(axis=0)
        assert row.low - 1e-12 <= tp / (tp + fn) <= row.high + 1e-12
        assert row.low <= row.estimate <= row.high


def test_decisions_alone_are_said_to_be_all():
    parts = split_tallies(draw_records())
    small = suppress_small(parts["B"], 10, crosses={})
    mixed = pool_counts(
        {
            "A.json": hand_over(parts["A"]),
            "B.json": replace(hand_over(small.tally), minimum=10, withheld=small.withheld),
        }
    )
    assert mixed.notes == (
        "areas, calibration and the Theil index are not judged: B.json holds decisions only",
    )
    assert {one.kind for one in mixed.tally.models} == {"decision"}
    assert mixed.definitions == DEFINITIONS
