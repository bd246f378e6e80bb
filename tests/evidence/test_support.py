import numpy as np
import pytest

from auditbook.evidence import (
    SELECTED,
    Shortfall,
    count_held,
    find_short_groups,
    list_shortfalls,
    write_shortfalls,
)
from auditbook.settings import Protocol

STRATA = np.array([[400, 600], [20, 180]])


def test_selected_records_are_asked_for_where_they_are_needed():
    needs = ("records", SELECTED)
    short = find_short_groups(STRATA, protocol=Protocol(), needs=needs, selected=np.array([400, 1]))
    assert short.tolist() == [False, True]
    enough = find_short_groups(STRATA, protocol=Protocol(), needs=needs, selected=np.array([400, 10]))
    assert enough.tolist() == [False, False]
    assert find_short_groups(STRATA, protocol=Protocol()).tolist() == [False, False]


def test_selected_records_that_are_needed_and_not_given_are_an_error():
    with pytest.raises(TypeError, match="selected records are needed"):
        find_short_groups(STRATA, protocol=Protocol(), needs=(SELECTED,))


@pytest.mark.parametrize(
    ("held", "told"), [(0, "0 selected records, 10 needed"), (1, "1 selected record, 10 needed")]
)
def test_a_lack_of_selected_records_is_told_in_singular_and_plural(held, told):
    found = list_shortfalls(count_held(20, 180, held), protocol=Protocol(), needs=("records", SELECTED))
    assert found == [Shortfall(SELECTED, held, 10)]
    assert write_shortfalls(found) == told
