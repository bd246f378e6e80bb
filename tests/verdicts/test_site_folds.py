"""Folds of sites: whole sites, even loads, and the same whatever the sites are called."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold

from auditbook.records import Attribute
from auditbook.verdicts.site_folds import name_folds, plan_folds
from small_audits import random_audit


def partition(folds):
    """Say which records stand together, whatever the folds are numbered."""
    return [folds.of_record.tolist().index(fold) for fold in folds.of_record.tolist()]


def shuffle(records, order, names):
    """Shuffle the rows and rename the sites."""
    return replace(
        records,
        outcome=records.outcome[order],
        attributes=tuple(replace(part, codes=part.codes[order]) for part in records.attributes),
        scores=tuple(replace(part, values=part.values[order]) for part in records.scores),
        site=names[records.site][order],
    )


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), n_sites=st.integers(2, 40), n_folds=st.integers(2, 20))
def test_folds_depend_neither_on_the_order_of_rows_nor_on_the_names_of_sites(seed, n_sites, n_folds):
    rng = np.random.default_rng(seed)
    records = random_audit(rng, 120, "ab", models=2, n_sites=n_sites)
    order, names = rng.permutation(120), rng.permutation(n_sites) * 7
    again = plan_folds(shuffle(records, order, names), n_folds=n_folds)
    assert (plan_folds(records, n_folds=n_folds).of_record[order] == again.of_record).all()


def test_sites_alike_in_all_counts_are_told_apart_by_their_scores():
    records = random_audit(np.random.default_rng(1), 40, "a", models=1)
    outcome = np.tile(np.array([0, 1], np.int8), 20)
    records = replace(records, outcome=outcome, site=np.repeat(np.arange(10), 4))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        order, names = rng.permutation(40), rng.permutation(10)
        again = plan_folds(shuffle(records, order, names), n_folds=3)
        assert (plan_folds(records, n_folds=3).of_record[order] == again.of_record).all()


def test_sites_of_different_sizes_stand_as_in_group_k_fold():
    sizes = np.random.default_rng(5).permutation(np.arange(3, 63))
    site = np.repeat(np.arange(60), sizes)
    records = replace(random_audit(np.random.default_rng(2), len(site), "ab"), site=site)
    mine = plan_folds(records, n_folds=20).of_record
    theirs = np.zeros(len(site), int)
    for fold, (_, rows) in enumerate(GroupKFold(n_splits=20).split(site, groups=site)):
        theirs[rows] = fold
    assert (mine == theirs).all()


def test_a_site_is_never_divided_and_every_fold_holds_one():
    records = random_audit(np.random.default_rng(3), 500, "ab", n_sites=30)
    folds = plan_folds(records, n_folds=20)
    for site, fold in folds.of_site.items():
        assert set(folds.of_record[records.site == site]) == {fold}
    assert set(folds.of_site.values()) == set(range(20))


def test_fewer_sites_than_folds_make_a_fold_each():
    assert plan_folds(random_audit(np.random.default_rng(4), 90, "ab", n_sites=3), n_folds=20).count == 3


def test_groups_declared_in_another_order_leave_the_folds_alone():
    records = random_audit(np.random.default_rng(6), 100, "ab", n_sites=12)
    (race,) = records.attributes
    turned = replace(records, attributes=(Attribute("race", ("b", "x", "a"), 2 - 2 * race.codes),))
    assert partition(plan_folds(records, n_folds=5)) == partition(plan_folds(turned, n_folds=5))


@pytest.mark.parametrize("site", [None, np.zeros(50, int)])
def test_without_two_sites_there_are_no_folds(site):
    records = replace(random_audit(np.random.default_rng(7), 50, "ab"), site=site)
    assert plan_folds(records, n_folds=20) is None
    assert name_folds(None, []) == {}
