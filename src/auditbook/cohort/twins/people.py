"""Who is in the twin? Race, sex, ethnicity, age and long stay, fitted to the published counts."""

import contextlib
import io
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from ipfn.ipfn import ipfn
from numpy.typing import NDArray

from auditbook.cohort.twins.recipe import (
    AGE_BANDS,
    BAND_STARTS,
    CODE_WIDTHS,
    ETHNICITIES,
    LONG_STAY_DAYS,
    LONGEST_STAY_DAYS,
    RACES,
    SEXES,
    SHARE_LONG,
    Recipe,
)
from auditbook.project import project_file

AXES = {"race": RACES, "sex": SEXES, "ethnicity": ETHNICITIES, "age": AGE_BANDS}
SHAPE = (len(RACES), len(SEXES), len(ETHNICITIES), len(AGE_BANDS), 2)


@dataclass(frozen=True)
class People:
    """Codes of every record, each an int array of shape (n,)."""

    # Positions in the tuples of names of the recipe
    race: NDArray[np.integer]
    sex: NDArray[np.integer]
    ethnicity: NDArray[np.integer]
    band: NDArray[np.integer]

    long: NDArray[np.integer]  # 1 where the stay is longer than three days
    age: NDArray[np.integer]  # THCIC age code, 0-21
    days: NDArray[np.integer]  # Length of stay, at least 1


def read_reference(name: str) -> pd.DataFrame:
    """Read one table of published figures from ``data/reference``."""
    return pd.read_csv(project_file("data", "reference", f"texas100x_{name}.csv"))


def draw_codes(
    weights: NDArray[np.floating], rows: NDArray[np.integer], rng: np.random.Generator
) -> NDArray[np.integer]:
    """Draw one column of a weight table for each record."""
    steps = np.cumsum(weights, axis=1)
    steps /= steps[:, -1:]
    ladder = (steps + np.arange(len(weights))[:, None]).ravel()
    drawn = np.searchsorted(ladder, rows + rng.random(len(rows)), side="right")
    return np.clip(drawn - rows * weights.shape[1], 0, weights.shape[1] - 1)


@cache
def joint_counts() -> NDArray[np.floating]:
    """Fit race x sex x ethnicity x age band x long stay to the published counts.

    Iterative proportional fitting from a table of ones, twice: first to the pairwise counts of the published
    test set (no interaction beyond the published ones is put in), then to the margins of the full cohort, so
    that these hold exactly and the interactions stay as they are.
    """
    pairs = read_reference("pairwise_counts")
    counts, axes = [], []
    for pair in sorted(pairs["pair"].unique()):
        counts.append(_pair_counts(pairs, pair))
        axes.append([*(list(AXES).index(name) for name in pair.split(" x ")), len(AXES)])
    margins = [_margin(name) for name in AXES]
    by_pairs = fit_table(np.ones(SHAPE), counts, axes)
    fitted = fit_table(by_pairs, margins, [[axis, len(AXES)] for axis in range(len(AXES))])
    fitted.flags.writeable = False
    return fitted


def fit_table(
    start: NDArray[np.floating], aggregates: list[NDArray[np.floating]], dimensions: list[list[int]]
) -> NDArray[np.floating]:
    """Fit a table to margins by iterative proportional fitting, quietly."""
    with contextlib.redirect_stdout(io.StringIO()):
        return ipfn(start, aggregates, dimensions, max_iteration=60).iteration()


def _margin(name: str) -> NDArray[np.floating]:
    """Return short and long stays of each group of one attribute in the full cohort, shape (n_groups, 2).

    Rates are published with three digits, so the long stays of the four attributes add up to totals that
    differ a little; each is brought to the published 45.0 % by moving the log odds of its groups alike.
    """
    rates = read_reference("group_rates")
    rates = rates[rates["attribute"] == name].set_index("group").loc[list(AXES[name])]
    records, rate = rates["n_full"].to_numpy(float), rates["rate_los_gt3"].to_numpy(float)
    by_stay = np.array([1 - SHARE_LONG, SHARE_LONG]) * records.sum()
    start = np.stack([records * (1 - rate), records * rate], axis=1)
    return fit_table(start, [by_stay, records], [[1], [0]])


def _pair_counts(pairs: pd.DataFrame, pair: str) -> NDArray[np.floating]:
    """Return short and long stays of one published pair, shape (n_first, n_second, 2)."""
    groups = [AXES[name] for name in pair.split(" x ")]
    table = pairs[pairs["pair"] == pair].set_index(["first", "second"])[["n", "n_los_gt3"]]
    n, long = table.reindex(pd.MultiIndex.from_product(groups)).to_numpy(float).T
    return np.stack([n - long, long], axis=1).reshape(len(groups[0]), len(groups[1]), 2)


def allot(expected: NDArray[np.floating], rows: int) -> NDArray[np.integer]:
    """Turn expected counts into whole records whose running totals are never more than half a record off."""
    running = np.cumsum(expected.ravel())
    whole = np.rint(running * (rows / running[-1])).astype(np.int64)
    return np.diff(whole, prepend=0).reshape(expected.shape)


def age_weights(recipe: Recipe) -> NDArray[np.floating]:
    """Return the weight of each age code in each band, for short and long stays, shape (4 * 2, 22)."""
    weights = np.zeros((len(AGE_BANDS), 2, len(CODE_WIDTHS)))
    for band, shape in enumerate(recipe.ages):
        codes = slice(BAND_STARTS[band], BAND_STARTS[band + 1])
        place = np.linspace(-1.0, 1.0, BAND_STARTS[band + 1] - BAND_STARTS[band])
        density = np.array(CODE_WIDTHS[codes]) * np.exp(
            np.polyval([shape.density[1], shape.density[0], 0], place)
        )
        risk = 1 / (1 + np.exp(-np.polyval(shape.long_stay[::-1], place)))
        weights[band, 0, codes] = density * (1 - risk)
        weights[band, 1, codes] = density * risk
    return weights.reshape(-1, len(CODE_WIDTHS))


def stay_shares(recipe: Recipe) -> NDArray[np.floating]:
    """Return the fitted share of all stays that are short or long and have each length, shape (2, 180).

    The curve gives the shares among short and among long stays; the published rate of long stays weighs them.
    """
    edges = np.arange(LONGEST_STAY_DAYS + 1) + 0.5
    curve = 1 - (1 + (edges / recipe.stay_scale) ** recipe.stay_shape) ** -recipe.stay_tail
    curve[0] = 0.0
    long = np.arange(1, LONGEST_STAY_DAYS + 1) > LONG_STAY_DAYS
    share = np.where(np.stack([~long, long]), np.diff(curve), 0.0)
    return share / share.sum(axis=1, keepdims=True) * np.array([[1 - SHARE_LONG], [SHARE_LONG]])


def stay_weights(recipe: Recipe) -> NDArray[np.floating]:
    """Return weights of the lengths of stay by age band and short or long, shape (4 * 2, 180).

    The planted differences between age bands are fitted so that the whole cohort keeps the curve.
    """
    days = np.arange(1, LONGEST_STAY_DAYS + 1)
    tilt = np.exp(np.array(recipe.stay_by_band)[:, None, None] * np.log(days))
    people = joint_counts().sum(axis=(0, 1, 2))
    whole = stay_shares(recipe).sum(axis=0) * people.sum()
    fitted = fit_table(tilt * stay_shares(recipe), [whole, people], [[2], [0, 1]])
    return fitted.reshape(-1, LONGEST_STAY_DAYS)


def draw_people(rows: int, recipe: Recipe, rng: np.random.Generator) -> People:
    """Draw who is in the twin and how long each stays."""
    counts = allot(joint_counts(), rows)
    cell = rng.permutation(np.repeat(np.arange(counts.size), counts.ravel()))
    race, sex, ethnicity, band, long = np.unravel_index(cell, SHAPE)
    age = draw_codes(age_weights(recipe), band * 2 + long, rng)
    days = draw_codes(stay_weights(recipe), band * 2 + long, rng) + 1
    return People(race, sex, ethnicity, band, long, age, days)
