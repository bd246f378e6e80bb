"""Groups that are ordered equally well show a gap all the same."""

import numpy as np
import pytest

from auditbook.ranking.chance import simulate_areas, spread_by_chance


def test_simulated_areas_have_their_true_mean():
    areas = simulate_areas(3, 200, area=0.75, repeats=400, rng=np.random.default_rng(2))
    assert areas.shape == (400, 3)
    assert areas.mean() == pytest.approx(0.75, abs=4 * areas.std() / np.sqrt(areas.size))


def test_the_gap_by_chance_lies_within_its_bounds_and_the_smallest_area_below_the_true_one():
    table = spread_by_chance([2, 4], [40], area=0.7, repeats=100, rng=np.random.default_rng(4))
    assert table["name"].tolist() == ["2 groups", "4 groups"]
    assert table["value"].between(table["low"], table["high"]).all()
    assert (table["smallest"] < 0.7).all()
