"""Simulated crossings whose true rates are known: what pooling gains, and whom it hides."""

import numpy as np
import pytest

from auditbook.studies.crossings import CROSSED_WORLDS, compare_pooling


def test_pooling_gains_where_crossings_are_the_sum_of_their_parts_and_hides_one_that_is_not():
    found = compare_pooling(replicates=60, rng=np.random.default_rng(1)).set_index("world")
    assert list(found.index) == list(CROSSED_WORLDS)
    assert found.error_pooled["no interaction"] < 0.9 * found.error_counted["no interaction"]
    assert found.error_pooled["one crossing apart"] > found.error_counted["one crossing apart"]
    assert found.last_pooled["one crossing apart"] < found.last_true["one crossing apart"] - 0.05
    assert (found.cover_pooled[:3] > 0.92).all()


@pytest.mark.slow
def test_the_figures_that_the_chapter_tells_are_found_again():
    found = compare_pooling(replicates=2_000, rng=np.random.default_rng(2))
    assert found.error_counted.round(3).tolist() == [0.076, 0.073, 0.071, 0.073]
    assert found.error_pooled.round(3).tolist() == [0.053, 0.062, 0.07, 0.106]
    assert (100 * found.cover_pooled[:3]).round().tolist() == [96, 95, 94]
    last = found.iloc[-1]
    assert [round(100 * last[name]) for name in ("last_true", "last_counted", "last_pooled")] == [74, 73, 61]
    assert round(100 * last.last_cover) == 65
