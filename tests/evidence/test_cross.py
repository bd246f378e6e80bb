"""Two attributes taken together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditbook.errors import InputError
from auditbook.evidence.cross import cross_attributes
from auditbook.records import Attribute

text = st.lists(st.text("ab x", max_size=4), min_size=1, max_size=3, unique=True)


@given(text, text, st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=20))
def test_every_record_keeps_both_of_its_groups_and_names_are_unique(one, other, pairs):
    first = np.array([a % len(one) for a, _ in pairs], int)
    second = np.array([b % len(other) for _, b in pairs], int)
    both = cross_attributes(Attribute("race", tuple(one), first), Attribute("sex", tuple(other), second))
    assert len(set(both.groups)) == len(both.groups) == len(one) * len(other)
    for code, a, b in zip(both.codes, first, second, strict=True):
        assert both.groups[code].startswith(f"{one[a]} x {other[b]}")


def test_different_records_are_refused():
    one, other = Attribute("race", ("a",), np.zeros(3, int)), Attribute("sex", ("b",), np.zeros(2, int))
    with pytest.raises(InputError, match="race has 3 records and sex 2"):
        cross_attributes(one, other)
