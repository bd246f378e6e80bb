"""Halves of a cohort, and the records and sites that are drawn from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.errors import InputError
from auditbook.verdicts.forecast_draw import audit_halves, count_taken, resample_freely, resample_halves
from auditbook.verdicts.forecast_halve import halve_records, halve_sites, order_sites

AT_SITE = np.array([[[8, 2, 2, 8], [5, 5, 3, 7]], [[4, 1, 1, 4], [9, 0, 2, 9]], [[0, 1, 0, 3], [2, 2, 2, 2]]])
LONG_RUN = 0.05  # 4,000 draws leave a mean of a few records uncertain by less than this, relatively


@given(st.integers(0, 1000))
def test_half_of_the_records_are_in_the_first_half_and_none_is_invented(seed):
    first = halve_records(AT_SITE, halvings=5, rng=np.random.default_rng(seed))
    assert (first.sum(axis=(1, 2, 3)) == AT_SITE.sum() // 2).all()
    assert (first >= 0).all()
    assert (first <= AT_SITE).all()


def test_every_record_is_in_the_first_half_half_of_the_time():
    first = halve_records(AT_SITE, halvings=4000, rng=np.random.default_rng(1))
    expected = AT_SITE * (AT_SITE.sum() // 2) / AT_SITE.sum()
    np.testing.assert_allclose(first.mean(axis=0), expected, rtol=LONG_RUN, atol=0.03)


@given(st.lists(st.integers(1, 400), min_size=2, max_size=30), st.integers(0, 1000))
def test_both_halves_have_a_site(sizes, seed):
    first = halve_sites(sizes, halvings=6, rng=np.random.default_rng(seed))
    assert (first.sum(axis=1) > 0).all()
    assert (~first).any(axis=1).all()


def test_halves_of_sites_hold_about_as_many_records():
    sizes = np.random.default_rng(1).integers(10, 60, 100)
    first = halve_sites(sizes, halvings=200, rng=np.random.default_rng(2))
    held = first @ sizes
    assert np.abs(2 * held - sizes.sum()).max() <= sizes.max()
    assert first.mean(axis=0).min() > 0.35  # no site stays in one half


def test_a_site_larger_than_all_others_stands_alone_or_with_few():
    first = halve_sites([1000, 10, 10, 10], halvings=50, rng=np.random.default_rng(1))
    assert 0.2 < first[:, 0].mean() < 0.8


def orders(*, replace, sizes=(10, 20, 30, 40), repeats=2000):
    eligible = np.array([True, True, True, False])
    rng = np.random.default_rng(3)
    return order_sites(sizes, eligible, repeats=repeats, most=60, replace=replace, rng=rng)


def test_audits_take_a_site_once_and_never_one_of_the_other_half():
    taken = orders(replace=False).take(60).toarray()
    assert (taken == [1, 1, 1, 0]).all()
    some = orders(replace=False).take(25).toarray()
    assert some.max() == 1
    assert (some[:, 3] == 0).all()


def test_resamples_can_take_a_site_twice_and_come_near_the_size():
    taken = orders(replace=True).take(50).toarray()
    assert taken.max() == 3
    held = taken @ [10, 20, 30, 40]
    assert abs(held.mean() - 50) < 5


def test_at_least_one_site_is_taken_however_small_the_audit():
    assert (orders(replace=False).take(1).toarray().sum(axis=1) == 1).all()


def test_counts_of_sites_are_added_up():
    order = order_sites(
        [40, 30, 12], np.ones(3, bool), repeats=5, most=500, replace=False, rng=np.random.default_rng(1)
    )
    drawn = count_taken([order.take(500)], AT_SITE[None])
    assert (drawn == AT_SITE.sum(axis=0)).all()


def test_resamples_keep_the_strata_and_free_ones_do_not():
    halves = np.array([[[40, 10, 10, 40], [20, 20, 30, 30]]])
    kept = resample_halves(halves, size=100, resamples=50, rng=np.random.default_rng(1))
    free = resample_freely(halves, size=100, resamples=50, rng=np.random.default_rng(1))
    assert (kept.sum(axis=-1) == 50).all()
    assert len(np.unique(free.sum(axis=-1))) > 5
    assert (free.sum(axis=(-1, -2)) == 100).all()
    np.testing.assert_allclose(free.mean(axis=1)[0] * 2, halves[0], rtol=0.25)


def test_an_audit_larger_than_its_half_is_refused():
    with pytest.raises(InputError, match="a subsample of 500 records cannot be drawn from 200"):
        audit_halves(np.array([[[50, 50, 50, 50]]]), size=500, audits=2, rng=np.random.default_rng(1))
