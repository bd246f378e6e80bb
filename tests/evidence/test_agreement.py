"""Agreement of raters: by hand, at its extremes, against statsmodels and against published values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_kappa

from auditbook.errors import InputError
from auditbook.evidence.agreement import (
    correlate_ranks,
    count_passes,
    fleiss_kappa,
    gwet_ac1,
    jackknife_kappa,
    name_band,
    raw_agreement,
    share_categories,
)

NAN = float("nan")
# Ratings of twelve subjects by four raters in five categories, some missing (0): the example data of Gwet's
# Handbook of Inter-Rater Reliability and of his package irrCAC. Published: AC1 0.77544, kappa 0.76117.
GWET = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 0],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
)
PUBLISHED = 1e-5  # digits printed
tables = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=2, max_size=6)


def gwet_table():
    return np.stack([(category == GWET).sum(axis=0) for category in range(1, 6)], axis=1)


def test_four_items_that_each_pass_on_eighteen_of_twenty_folds_agree_less_than_chance():
    table = [[18, 2]] * 4
    assert raw_agreement(table) == pytest.approx((18 * 17 + 2) / (20 * 19))
    assert fleiss_kappa(table) == pytest.approx(-1 / 19)
    assert round(fleiss_kappa(table), 3) == -0.053
    assert name_band(fleiss_kappa(table)) == "poor"
    assert gwet_ac1(table) == pytest.approx((0.8105263158 - 0.18) / 0.82)


def test_published_example_with_missing_ratings_is_met():
    table = gwet_table()
    assert raw_agreement(table) == pytest.approx(0.81818, abs=PUBLISHED)
    assert gwet_ac1(table) == pytest.approx(0.77544, abs=PUBLISHED)
    assert fleiss_kappa(table) == pytest.approx(0.76117, abs=PUBLISHED)


def test_two_raters_who_nearly_always_say_yes_have_the_published_ac1():
    """Gwet (2002): 118 of 125 both yes, 7 divided, none both no; AC1 0.9408 while kappa is below 0."""
    table = [[2, 0]] * 118 + [[1, 1]] * 7
    assert gwet_ac1(table) == pytest.approx(0.9408, abs=5e-5)
    assert fleiss_kappa(table) < 0


def test_unanimous_raters_on_different_items_agree_fully():
    assert fleiss_kappa([[20, 0], [0, 20]]) == pytest.approx(1.0)
    assert gwet_ac1([[20, 0], [0, 20]]) == pytest.approx(1.0)


@pytest.mark.parametrize("table", [[[20, 0]] * 4, [[0, 7]] * 2, [[3, 0], [2, 0]]])
def test_equal_ratings_leave_kappa_undefined_and_raw_agreement_at_one(table):
    assert np.isnan(fleiss_kappa(table))
    assert raw_agreement(table) == 1.0
    assert gwet_ac1(table) == 1.0


def test_one_item_has_no_kappa_because_it_would_not_depend_on_the_ratings():
    assert {round(statsmodels_kappa([[k, 20 - k]]), 6) for k in range(1, 20)} == {round(-1 / 19, 6)}
    assert np.isnan(fleiss_kappa([[12, 8]]))


@pytest.mark.parametrize("table", [[[1, 0], [0, 1]], [[0, 0], [0, 0]], np.zeros((0, 2), int)])
def test_without_two_ratings_on_any_item_nothing_can_be_said(table):
    assert np.isnan(fleiss_kappa(table))
    assert np.isnan(raw_agreement(table))
    assert np.isnan(gwet_ac1(table))


def test_items_count_once_however_many_raters_they_had():
    assert share_categories([[1, 1], [18, 0]]).tolist() == [0.75, 0.25]


@pytest.mark.parametrize("table", [[1, 2], [[0.5, 1]], [[-1, 2]]])
def test_a_table_that_counts_nothing_is_refused(table):
    with pytest.raises(InputError, match="a table of whole numbers"):
        fleiss_kappa(table)


@given(st.integers(2, 12), st.lists(st.integers(0, 12), min_size=2, max_size=6))
def test_complete_ratings_have_the_kappa_of_statsmodels_by_either_way(raters, passes):
    table = np.array([[min(k, raters), raters - min(k, raters)] for k in passes])
    if len(np.unique(table.sum(axis=0) > 0)) == 2:
        return
    shares = share_categories(table)
    chance = (shares**2).sum()
    general = (raw_agreement(table) - chance) / (1 - chance)
    assert fleiss_kappa(table) == pytest.approx(statsmodels_kappa(table))
    assert general == pytest.approx(statsmodels_kappa(table))


@given(tables)
def test_kappa_and_ac1_do_not_depend_on_the_order_of_items_or_on_which_verdict_is_called_a_pass(table):
    turned = np.array(table)[::-1, ::-1]
    for measure in (fleiss_kappa, gwet_ac1, raw_agreement):
        assert measure(turned) == pytest.approx(measure(table), nan_ok=True)


def test_leaving_out_each_rater_is_the_jackknife_written_out():
    rng = np.random.default_rng(3)
    ratings = (rng.random((4, 9)) < np.array([[0.9], [0.6], [0.5], [0.2]])).astype(float)
    ratings[rng.random(ratings.shape) < 0.15] = NAN
    without = [fleiss_kappa(count_passes(np.delete(ratings, j, axis=1))) for j in range(9)]
    error = 1.96 * np.sqrt(8 / 9 * ((without - np.mean(without)) ** 2).sum())
    bounds = jackknife_kappa(ratings)
    assert bounds.high - fleiss_kappa(count_passes(ratings)) == pytest.approx(error)
    assert fleiss_kappa(count_passes(ratings)) - bounds.low == pytest.approx(error)


@pytest.mark.parametrize("ratings", [np.ones((3, 5)), np.ones((2, 2)), [[1, 1, 1, 0], [1, 1, 1, 1]]])
def test_no_interval_is_given_where_kappa_is_undefined_without_some_rater(ratings):
    bounds = jackknife_kappa(ratings)
    assert np.isnan(bounds.low)
    assert np.isnan(bounds.high)


@pytest.mark.parametrize(
    ("kappa", "band"),
    [
        (-0.1, "poor"),
        (0.2, "slight"),
        (0.21, "fair"),
        (0.6, "moderate"),
        (0.8, "substantial"),
        (1, "almost perfect"),
    ],
)
def test_bands_are_those_of_landis_and_koch(kappa, band):
    assert name_band(kappa) == band
    assert name_band(NAN) == ""


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=30))
def test_rank_correlation_is_scipys(pairs):
    one, other = zip(*pairs, strict=True)
    found = correlate_ranks(one, other)
    if len(set(one)) < 2 or len(set(other)) < 2:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)


@pytest.mark.parametrize("passes", [1, 10, 18])
def test_kappa_of_attributes_that_pass_equally_often_does_not_know_how_often(passes):
    ratings = [[passes, 20 - passes]] * 4
    assert fleiss_kappa(ratings) == pytest.approx(-1 / 19)
    assert (raw_agreement(ratings) < 0.5) == (passes == 10)
