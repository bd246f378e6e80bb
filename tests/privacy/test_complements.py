"""No withheld cell follows from those that are shown: held against linear programming."""

import numpy as np
import pytest
from scipy.optimize import linprog

from auditbook.privacy.complements import Cells, find_determined, withhold
from auditbook.privacy.groups import is_small, lay_out, settle

SMALLEST = 10


def find_range(cells, hidden, place):
    """Find by linear programming between which values a withheld cell lies, seen from what is shown."""
    columns = np.flatnonzero(hidden)
    part = cells.relations[:, columns]
    known = part @ cells.values[columns]
    cost = (columns == place).astype(float)
    ends = [linprog(sign * cost, A_eq=part, b_eq=known, bounds=(0, None)) for sign in (1, -1)]
    assert all(end.status in (0, 3) for end in ends)
    return ends[0].fun, -ends[1].fun if ends[1].status == 0 else np.inf


def table_cells(table):
    """A table of two ways with its margins known."""
    rows, columns = table.shape
    by_row = np.kron(np.eye(rows), np.ones(columns))
    by_column = np.kron(np.ones(rows), np.eye(columns))
    return Cells(table.ravel().astype(float), np.vstack([by_row, by_column]), np.ones(table.size, bool))


def test_a_small_cell_alone_takes_its_smallest_large_neighbour_with_it():
    cells = Cells(np.array([500.0, 7.0, 80.0, 300.0]), np.ones((1, 4)), np.ones(4, bool))
    assert withhold(cells, is_small(cells.values, SMALLEST), SMALLEST).tolist() == [False, True, True, False]


def test_parts_that_are_few_together_are_joined_by_another():
    cells = Cells(np.array([500.0, 3.0, 4.0, 300.0]), np.ones((1, 4)), np.ones(4, bool))
    assert withhold(cells, is_small(cells.values, SMALLEST), SMALLEST).tolist() == [False, True, True, True]


def test_parts_that_are_enough_together_stay_as_they_are():
    cells = Cells(np.array([500.0, 7.0, 8.0, 300.0]), np.ones((1, 4)), np.ones(4, bool))
    assert withhold(cells, is_small(cells.values, SMALLEST), SMALLEST).sum() == 2


def test_a_withheld_zero_hides_nothing():
    cells = Cells(np.array([0.0, 7.0, 90.0]), np.ones((1, 3)), np.ones(3, bool))
    hidden = np.array([True, True, False])
    assert find_determined(cells, hidden).tolist() == [False, True, False]


def test_nobody_is_withheld_where_nobody_is_few():
    cells = Cells(np.array([0.0, 10.0, 90.0]), np.ones((1, 3)), np.ones(3, bool))
    assert not withhold(cells, is_small(cells.values, SMALLEST), SMALLEST).any()


@pytest.mark.parametrize("seed", range(40))
def test_every_withheld_cell_of_a_table_can_be_more_and_less(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(3, 7, 2)
    cells = table_cells(rng.poisson(rng.choice([4, 15, 60], shape)))
    small = is_small(cells.values, SMALLEST)
    hidden = withhold(cells, small, SMALLEST)
    assert hidden[small].all()
    safe = [find_range(cells, hidden, place) for place in np.flatnonzero(small & hidden)]
    exposed = [low for low, high in safe if high - low < 1 - 1e-6]
    whole = np.flatnonzero(~hidden & (cells.values > 0))
    assert not exposed or not len(whole), "a cell follows although others could still be withheld"


@pytest.mark.parametrize("seed", range(15))
def test_crosses_do_not_give_away_what_their_parts_withhold(seed):
    rng = np.random.default_rng(seed)
    race, sex = ["A", "B", "C", "D"], ["F", "M"]
    crossed = rng.poisson(rng.choice([3, 20, 200], (4, 2))).astype(float)
    keys = [("race", one) for one in race] + [("sex", one) for one in sex]
    keys += [("both", f"{one}, {other}") for one in race for other in sex]
    values = np.concatenate([crossed.sum(axis=1), crossed.sum(axis=0), crossed.ravel()])
    layout = lay_out(keys, {"both": ["race", "sex"]})
    small = is_small(values, SMALLEST)
    hidden = settle(layout, values, values, small, SMALLEST)
    cells = Cells(values, layout.relations, np.ones(len(values), bool))
    for place in np.flatnonzero(small):
        low, high = find_range(cells, hidden, place)
        assert high - low > 1 - 1e-6
