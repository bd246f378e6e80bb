"""Simulated hospitals: how often do the intervals hold the truth, with few and many, equal and unequal?"""

from itertools import product

import numpy as np
import pytest

from auditbook.pooling import compare_hospitals, pool_effects

TRUTH = 0.1


def draw_world(k: int, unequal: bool, spread: float, rng: np.random.Generator) -> tuple[bool, bool]:
    """Draw hospitals whose true differences vary, and one more; tell which intervals hold the truth."""
    sizes = np.maximum(5, np.rint(60 * np.exp(rng.normal(-0.72, 1.2, k)))) if unequal else np.full(k, 60.0)
    trials = np.stack([sizes, np.maximum(4, sizes // 2)]).astype(int)
    other = np.clip(0.6 + rng.normal(0, 0.05, k + 1), 0.02, 0.98)
    one = np.clip(other + rng.normal(TRUTH, spread, k + 1), 0.01, 0.99)
    hits = rng.binomial(trials, np.stack([one, other])[:, :k])
    found = compare_hospitals(hits.astype(float), trials.astype(float), tuple(map(str, range(k))))
    effect = pool_effects(found.difference, found.variance)
    ahead = effect.prediction_low <= one[k] - other[k] <= effect.prediction_high
    return effect.low <= TRUTH <= effect.high, bool(ahead)


def share_held(k: int, unequal: bool, spread: float, *, worlds: int) -> np.ndarray:
    rng = np.random.default_rng([k, unequal, round(100 * spread)])
    return np.mean([draw_world(k, unequal, spread, rng) for _ in range(worlds)], axis=0)


def test_intervals_of_few_unequal_hospitals_hold_the_truth():
    held = share_held(5, True, 0.1, worlds=150)
    assert (held > 0.93 - 4 * np.sqrt(0.07 * 0.93 / 150)).all()  # four standard errors of 150 worlds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "unequal", "spread"), list(product((3, 5, 15, 40), (False, True), (0.0, 0.05, 0.1)))
)
def test_intervals_hold_the_truth_in_every_world(k, unequal, spread):
    held = share_held(k, unequal, spread, worlds=1000)
    assert (held > 0.93 - 3 * np.sqrt(0.07 * 0.93 / 1000)).all()  # three standard errors of 1,000 worlds
