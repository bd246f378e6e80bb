"""Are areas from bins within their bound, and resamples from bins those of records?"""

import numpy as np
import pytest

from auditbook.evidence import (
    UNIT,
    BinnedLabel,
    group_auc,
    list_edges,
    measure_bin_error,
    order_scores,
    rank_levels,
    tally_records,
)
from auditbook.evidence.area_limits import area_influence, cluster_areas
from auditbook.evidence.area_sums import find_areas
from auditbook.evidence.binned_areas import cut_bins, influence_bins, join_cells
from auditbook.evidence.binned_cells import bin_cells
from auditbook.evidence.resample import draw_scores
from auditbook.evidence.score_cells import sort_cells
from auditbook.evidence.tally import find_widths
from auditbook.records import Attribute, AuditRecords, Score

WIDTH = find_widths("probability", list_edges())


def draw(n=4_000, seed=1, decimals=None):
    rng = np.random.default_rng(seed)
    risk = 1 / (1 + np.exp(-rng.normal(-2, 1.2, n)))
    values = risk if decimals is None else np.round(risk, decimals)
    return (rng.random(n) < risk).astype(np.int8), values, rng.integers(0, 3, n)


def bin_scores(outcome, values, codes):
    attribute = Attribute("a", ("x", "y", "z"), codes)
    records = AuditRecords(outcome, (attribute,), (Score("m", "probability", 0.5, values),))
    return tally_records(records).attributes[0].fine[0]


@pytest.mark.parametrize("decimals", [None, 2])
def test_areas_lie_within_the_bound_and_far_below_the_standard_error(decimals):
    outcome, values, codes = draw(decimals=decimals)
    fine = bin_scores(outcome, values, codes)
    exact = group_auc(outcome, values, codes, 3)
    labels = [
        BinnedLabel(fine.count[:, k], fine.score[:, k] * UNIT, fine.square[:, k] * UNIT) for k in (1, 0)
    ]
    bound = measure_bin_error(*labels, WIDTH).bound
    error = np.sqrt(
        np.diagonal(cluster_areas(area_influence(rank_levels(outcome, values), codes, 3)).covariance)
    )
    for found in (
        influence_bins(fine, WIDTH).areas,
        find_areas(join_cells(fine, WIDTH, cut_bins(fine)).total()),
    ):
        assert (np.abs(found - exact) <= np.diagonal(bound) + 1e-12).all()
        assert (np.abs(found - exact) < error / 50).all()


def test_variance_of_areas_is_that_of_the_records():
    outcome, values, codes = draw()
    one = cluster_areas(area_influence(rank_levels(outcome, values), codes, 3))
    two = cluster_areas(influence_bins(bin_scores(outcome, values, codes), WIDTH))
    np.testing.assert_allclose(np.diagonal(two.covariance), np.diagonal(one.covariance), rtol=1e-3)
    np.testing.assert_allclose(two.events, one.events)
    np.testing.assert_allclose(two.df, one.df, rtol=1e-3)
    assert two.clusters.tolist() == one.clusters.tolist()


def test_areas_of_scores_with_few_values_are_exact():
    outcome, values, codes = draw(decimals=1)
    fine = bin_scores(outcome, values, codes)
    np.testing.assert_allclose(
        influence_bins(fine, WIDTH).areas, group_auc(outcome, values, codes, 3), atol=1e-12
    )


def test_resampled_sums_are_those_of_the_records():
    outcome, values, codes = draw()
    one = sort_cells(order_scores(outcome, values), codes, 3)
    two = bin_cells(bin_scores(outcome, values, codes))
    assert two.held.tolist() == one.held.tolist()
    np.testing.assert_allclose(two.mean, one.mean, atol=1e-6)
    np.testing.assert_allclose(two.root, one.root, atol=1e-4)
    drawn = [
        draw_scores(cells, size=2_000, resamples=50, rng=np.random.default_rng(5)) for cells in (one, two)
    ]
    assert drawn[0].records.tolist() == drawn[1].records.tolist()
    for first, second in zip(drawn[0].parts()[2:], drawn[1].parts()[2:], strict=True):
        np.testing.assert_allclose(first, second, atol=0.05)  # of sums over up to 700 records
