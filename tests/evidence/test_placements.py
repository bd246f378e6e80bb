"""Placements, summed in one pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.errors import InputError
from auditbook.evidence import placements
from auditbook.evidence.placements import rank_levels, sum_placements
from slow_areas import draw_audit

records = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 6), st.integers(0, 2), st.integers(0, 3)),
    min_size=1,
    max_size=40,
)


def slow_sums(outcome, values, codes, n_groups):
    event_sum, other_sum = np.zeros((2, n_groups, n_groups))
    event_cross, other_cross = np.zeros((2, n_groups, n_groups, n_groups))
    for y, s, g in zip(outcome, values, codes, strict=True):
        opposite = (outcome != y)[:, None] & (codes[:, None] == np.arange(n_groups))
        ahead = values < s if y else values > s
        placed = (opposite * (2 * ahead + (values == s))[:, None]).sum(axis=0)
        total, cross = (event_sum, event_cross) if y else (other_sum, other_cross)
        total[g] += placed
        cross[g] += np.outer(placed, placed)
    return event_sum, event_cross, other_sum, other_cross


@settings(max_examples=60)
@given(records)
def test_sums_equal_the_loop_over_pairs(rows):
    outcome, values, codes, _ = np.array(rows).T
    found = sum_placements(rank_levels(outcome, values), codes, 3)
    slow = slow_sums(outcome, values, codes, 3)
    for part, expected in zip(
        (found.event_sum, found.event_cross, found.other_sum, found.other_cross), slow, strict=True
    ):
        np.testing.assert_array_equal(part, expected)


@settings(max_examples=60)
@given(records)
def test_sums_of_the_sites_add_up_to_the_whole(rows):
    outcome, values, codes, site = np.array(rows).T
    levels = rank_levels(outcome, values)
    found, whole = sum_placements(levels, codes, 3, site=site, n_sites=4), sum_placements(levels, codes, 3)
    np.testing.assert_array_equal(found.by_site.event_sum.sum(axis=0), whole.event_sum)
    np.testing.assert_array_equal(found.by_site.other_sum.sum(axis=0), whole.other_sum)
    np.testing.assert_array_equal(found.by_site.events.sum(axis=0), whole.events)
    np.testing.assert_array_equal(found.event_cross, whole.event_cross)
    at_two = sum_placements(rank_levels(outcome, values), codes, 3, site=site, n_sites=4).by_site.events[2]
    np.testing.assert_array_equal(at_two, np.bincount(codes[(site == 2) & (outcome == 1)], minlength=3))


@pytest.mark.parametrize("ties", [True, False])
def test_small_blocks_give_the_same_sums_as_one_large_one(monkeypatch, ties):
    outcome, values, codes = draw_audit(np.random.default_rng(3), 500, 4, ties=ties)
    site = np.arange(500) % 7
    whole = sum_placements(rank_levels(outcome, values), codes, 4, site=site, n_sites=7)
    monkeypatch.setattr(placements, "BLOCK", 40)
    monkeypatch.setattr(placements, "LEVELS", 5)
    parts = sum_placements(rank_levels(outcome, values), codes, 4, site=site, n_sites=7)
    np.testing.assert_array_equal(parts.event_cross, whole.event_cross)
    np.testing.assert_array_equal(parts.other_cross, whole.other_cross)
    np.testing.assert_array_equal(parts.by_site.event_sum, whole.by_site.event_sum)


def test_two_hundred_groups_do_not_overflow_small_codes():
    rng = np.random.default_rng(4)
    outcome, codes, values = rng.integers(0, 2, 3000), rng.integers(0, 200, 3000), rng.random(3000)
    found = sum_placements(rank_levels(outcome, values), codes, 200)
    np.testing.assert_array_equal(found.event_sum, found.other_sum.T)
    np.testing.assert_array_equal(found.events, np.bincount(codes[outcome == 1], minlength=200))


def test_no_record_gives_zeros():
    found = sum_placements(rank_levels([], []), np.array([], int), 2)
    assert found.event_sum.tolist() == [[0, 0], [0, 0]]
    assert rank_levels([], []).count == 0


def test_bad_input_is_refused_with_its_reason():
    levels = rank_levels([0, 1], [0.1, 0.2])
    with pytest.raises(InputError, match="3 groups for 2 records"):
        sum_placements(levels, [0, 0, 0], 1)
    with pytest.raises(InputError, match="group positions run from 0 to 2, but there are 2"):
        sum_placements(levels, [0, 2], 2)
    with pytest.raises(InputError, match="2 outcomes and 3 scores"):
        rank_levels([0, 1], [1, 2, 3])
    with pytest.raises(InputError, match="1 of 2 scores are missing"):
        rank_levels([0, 1], [1, np.nan])
    with pytest.raises(InputError, match="outcomes must be 0 or 1"):
        rank_levels([0, 2], [1, 2])


@settings(max_examples=60)
@given(records)
def test_bins_of_one_score_each_give_the_sums_of_the_records(rows):
    outcome, values, codes, _ = np.array(rows).T
    held = np.zeros((3, 2, 7), int)
    np.add.at(held, (codes, outcome, values), 1)
    found = placements.sum_bin_placements(held)
    exact = sum_placements(rank_levels(outcome, values), codes, 3)
    for name in ("events", "others", "event_sum", "event_cross", "other_sum", "other_cross"):
        assert (getattr(found, name) == getattr(exact, name)).all()
