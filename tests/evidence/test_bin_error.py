"""Areas of records of which only the bin of the score is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditbook.evidence.bin_error import BinnedLabel, measure_bin_error, place_parts
from auditbook.evidence.placements import rank_levels, sum_bin_placements, sum_placements

EDGES = 1 / (1 + np.exp(-np.linspace(-10, 10, 1025)[1:-1]))
WIDTH = np.diff(EDGES, prepend=0.0, append=1.0)

records = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 100), st.integers(0, 2), st.integers(0, 3)),
    min_size=1,
    max_size=60,
)


def bin_records(outcome, values, codes, *, edges=EDGES):
    """Count, sum and square by group, label and bin, with each value rounded to 2^-32."""
    shape = 3, 2, len(edges) + 1
    cell = (codes * 2 + outcome) * shape[2] + np.searchsorted(edges, values, side="right")
    parts = np.ones(len(values)), values, values**2
    parts = (np.bincount(cell, np.rint(part * 2**32), 6 * shape[2]) / 2**32 for part in parts)
    held, score, square = (part.reshape(shape) for part in parts)
    return [BinnedLabel(*(part[:, label] for part in (held, score, square))) for label in (1, 0)]


def read_areas(sums):
    with np.errstate(invalid="ignore"):
        return sums.event_sum / (2 * np.outer(sums.events, sums.others))


def find_difference(outcome, values, codes):
    """The binned area less that of the records, and what was said of it."""
    events, others = bin_records(outcome, values, codes)
    error = measure_bin_error(events, others, WIDTH)
    tied = read_areas(sum_bin_placements(np.stack([others.held, events.held], axis=1)))
    exact = read_areas(sum_placements(rank_levels(outcome, values), codes, 3))
    return tied + error.lean - exact, error


@settings(max_examples=25)
@given(records)
def test_difference_lies_within_the_bound(rows):
    outcome, values, codes, _ = np.array(rows).T
    difference, error = find_difference(outcome, values / 100, codes)
    assert (np.isnan(difference) == np.isnan(error.bound)).all()
    known = ~np.isnan(difference)
    assert (np.abs(difference[known]) <= error.bound[known] + 1e-12).all()


@settings(max_examples=25)
@given(records)
def test_bins_of_one_score_each_lose_nothing(rows):
    outcome, values, codes, _ = np.array(rows).T
    difference, error = find_difference(outcome, (values // 10) / 10, codes)
    known = ~np.isnan(difference)
    assert np.abs(difference[known]).max(initial=0) < 1e-12
    assert (error.bound[known] == 0).all()
    assert (error.spread[known] == 0).all()


def draw_scores(rng, n, level, spread):
    logit = level + spread * rng.normal(size=n)
    outcome = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
    values = 1 / (1 + np.exp(-logit - 0.3 * rng.normal(size=n)))
    return outcome, values, rng.choice(3, n, p=[0.1, 0.3, 0.6])


@pytest.mark.parametrize(
    ("n", "level", "spread"),
    [(2_000, -1.0, 1.0), (20_000, -1.0, 0.4), (20_000, 0.0, 6.0), (60_000, -6.0, 1.2), (60_000, 5.0, 2.0)],
)
def test_difference_is_far_below_the_standard_error(n, level, spread):
    """Areas from 0.6 to 0.99, and risks below 0.01; the least standard error is that of separate pairs."""
    outcome, values, codes = draw_scores(np.random.default_rng(5), n, level, spread)
    difference, error = find_difference(outcome, values, codes)
    events, others = bin_records(outcome, values, codes)
    area = read_areas(sum_placements(rank_levels(outcome, values), codes, 3))
    fewer = np.minimum(events.held.sum(axis=1)[:, None], others.held.sum(axis=1))
    least = np.sqrt(area * (1 - area) / fewer) / 3
    assert (np.abs(difference) <= error.bound).all()
    assert (np.abs(difference) < 3 * error.spread).all()
    assert (error.spread < least / 10).all()


@pytest.mark.slow
@pytest.mark.parametrize(("level", "spread"), [(-1.0, 1.0), (-6.0, 1.2)])
def test_difference_of_a_million_records_is_far_below_what_is_to_be_expected(level, spread):
    outcome, values, codes = draw_scores(np.random.default_rng(6), 1_000_000, level, spread)
    difference, error = find_difference(outcome, values, codes)
    assert (np.abs(difference) < error.spread).all()
    assert (error.spread < 5e-5).all()


def test_bound_by_hand():
    events, others = (
        BinnedLabel(*(np.array([[x]]) for x in part)) for part in ((1, 0.5, 0.25), (2, 1.0, 0.6))
    )
    found = measure_bin_error(events, others, [1.0])
    assert found.lean[0, 0] == 0
    assert found.bound[0, 0] == 0.5
    assert found.spread[0, 0] == pytest.approx(np.sqrt(2 * 4 / 12) / 2)


def test_without_width_nothing_leans():
    events, others = (
        BinnedLabel(*(np.array([[x]]) for x in part)) for part in ((2, 1.2, 0.8), (2, 0.8, 0.4))
    )
    assert measure_bin_error(events, others, [np.inf]).lean[0, 0] == 0


@settings(max_examples=25)
@given(records)
def test_parts_add_up_to_the_whole(rows):
    outcome, values, codes, part = np.array(rows).T
    runs = np.arange(101) // 7
    held, steps = np.zeros((3, 2, 101), int), np.zeros((4, 3, 2, 15), int)
    np.add.at(held, (codes, outcome, values), 1)
    np.add.at(steps, (part, codes, outcome, runs[values]), 1)
    found, whole = place_parts(held, steps, runs), sum_bin_placements(held)
    assert found.event_sum.sum(axis=0) == pytest.approx(whole.event_sum)
    assert found.other_sum.sum(axis=0) == pytest.approx(whole.other_sum)
    assert (found.events.sum(axis=0) == whole.events).all()


@settings(max_examples=25)
@given(records)
def test_parts_are_exact_where_each_run_is_one_bin(rows):
    outcome, values, codes, part = np.array(rows).T
    held, steps = np.zeros((3, 2, 101), int), np.zeros((4, 3, 2, 101), int)
    np.add.at(held, (codes, outcome, values), 1)
    np.add.at(steps, (part, codes, outcome, values), 1)
    found = place_parts(held, steps, np.arange(101))
    exact = sum_placements(rank_levels(outcome, values), codes, 3, site=part, n_sites=4).by_site
    assert found.event_sum == pytest.approx(exact.event_sum)
    assert found.other_sum == pytest.approx(exact.other_sum)
