"""Flip rates over sizes, the gap of equal groups, and how often two audits disagree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.verdicts.flip_sweeps import (
    compare_disagreement,
    disagreement,
    sweep_flip_rates,
    sweep_group_size,
)


def test_gap_between_equal_groups_falls_with_their_size_and_stays_above_zero():
    table = sweep_group_size([10, 1000], rate=0.8, groups=(5,), resamples=200, rng=np.random.default_rng(1))
    small, large = table["value"]
    assert small > 5 * large > 0


@given(p=st.floats(0, 1))
def test_two_audits_never_disagree_less_often_than_the_flip_rate(p):
    flip, two = compare_disagreement([p])["value"]
    assert two >= flip - 1e-12
    assert two <= 0.5 + 1e-12


def test_two_stable_audits_disagree_in_eighteen_of_a_hundred():
    assert compare_disagreement([0.1])["value"].tolist() == pytest.approx([0.1, 0.18])


def test_flip_rates_fall_as_the_resample_grows_where_the_gap_lies_off_the_threshold():
    counts = np.array([[400, 100, 100, 400], [340, 100, 160, 400]])
    table = sweep_flip_rates(
        counts, ["EOPP"], sizes=[100, 2_000], resamples=400, rng=np.random.default_rng(2)
    )
    small, large = table["value"]
    assert 0.5 >= small > large
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()


def test_an_unknown_share_has_no_disagreement():
    assert np.isnan(disagreement(np.nan))
