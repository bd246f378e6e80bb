"""Draws of the wild cluster bootstrap."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from auditbook.pockets.cell_support import gather_cell, split_cells
from auditbook.pockets.contributions import sum_contributions
from auditbook.pockets.wild_bootstrap import (
    HIGH,
    LOW,
    adjusted_p,
    critical_value,
    draw_maxima,
    draw_weights,
    redraw_ratios,
)

SAME = 1e-10  # rounding of sums of a few hundred numbers


def draw_family(rng, n, *, units, gaps=False, floor=0.0, cells=3):
    """Draw errors and the quantities of a family: cell means, or differences of two cells."""
    errors = rng.normal(0.1, 1, n)
    unit = np.unique(rng.integers(0, units, n), return_inverse=True)[1]
    codes = rng.integers(0, cells * (2 if gaps else 1), n)
    parts = split_cells(codes, codes.max() + 1, unit)
    quantities = [parts[2 * k : 2 * k + 2] if gaps else parts[k : k + 1] for k in range(cells)]
    family = sum_contributions(errors, quantities, np.full(cells, floor), n_units=unit.max() + 1)
    return errors, unit, quantities, family


def slow_ratio(errors, unit, cells, floor, weight):
    """Perturb every record's residual, then estimate the quantity and its standard error from scratch."""
    estimate, psi, seen = 0.0, {}, set()
    for sign, cell in zip((1, -1), cells, strict=False):
        values = errors[cell.positions]
        fake = [weight[unit[i]] * (errors[i] - values.mean()) for i in cell.positions]
        mean = sum(fake) / len(fake)
        estimate += sign * mean
        for i, value in zip(cell.positions, fake, strict=True):
            psi[unit[i]] = psi.get(unit[i], 0.0) + sign / len(fake) * (value - mean)
            seen.add(unit[i])
    se = np.sqrt(len(seen) / (len(seen) - 1) * sum(part**2 for part in psi.values()))
    return estimate / max(se, floor)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(("units", "floor"), [(12, 0.0), (300, 0.0), (40, 0.12)])
def test_draws_agree_with_a_loop_over_records(gaps, units, floor):
    rng = np.random.default_rng(1)
    errors, unit, quantities, family = draw_family(rng, 200, units=units, gaps=gaps, floor=floor)
    weights = draw_weights(rng, unit.max() + 1, 30)
    fast = redraw_ratios(family, family.sums.T @ weights)
    slow = [[slow_ratio(errors, unit, cells, floor, column) for column in weights.T] for cells in quantities]
    np.testing.assert_allclose(fast, slow, rtol=SAME, atol=SAME)


@pytest.mark.parametrize(
    "units", [40, 3000]
)  # filled sums and mostly empty ones; more than one block of units
def test_maxima_are_those_of_the_same_weights_drawn_at_once(units):
    rng = np.random.default_rng(2)
    n = 4 * units
    _, unit, _, one = draw_family(rng, n, units=units, gaps=True)
    _, _, _, two = draw_family(np.random.default_rng(2), n, units=units, gaps=True, floor=0.1)
    found = draw_maxima([one, two], draws=600, seed=5)
    blocks = []
    for source, size in zip(np.random.SeedSequence(5).spawn(3), (250, 250, 100), strict=True):
        rng = np.random.default_rng(source)
        n_units = unit.max() + 1
        parts = [draw_weights(rng, min(512, n_units - first), size) for first in range(0, n_units, 512)]
        blocks.append(np.concatenate(parts))
    weights = np.concatenate(blocks, axis=1)
    for family, maxima in zip((one, two), found, strict=True):
        slow = np.abs(redraw_ratios(family, family.sums.T @ weights)).max(axis=0)
        np.testing.assert_allclose(maxima, np.sort(slow), rtol=SAME)
